"""How often in a second some threads do with the recipe's code what they are asked to.

    rate.py CLUSTER_FILE SECONDS THREADS read ID MEMBER
    rate.py CLUSTER_FILE SECONDS THREADS hundred ID APART
    rate.py CLUSTER_FILE SECONDS THREADS insert FILE
"""

import sys
import threading
import time

import fdb
from hierarchical_documents import get_doc, insert_doc


@fdb.transactional
def get_all(tr, doc_id, paths):
    return [get_doc(tr, doc_id, path) for path in paths]


def task(db, what, argument, *rest):
    if what == "read":
        return lambda: get_doc(db, int(argument), (rest[0],))
    if what == "hundred":
        paths = [("record%07d" % (at * int(rest[0])),) for at in range(100)]
        return lambda: get_all(db, int(argument), paths)
    with open(argument) as file:
        text = file.read()
    return lambda: insert_doc(db, text)


def main():
    cluster_file, seconds, threads = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    work = task(fdb.open(cluster_file), *sys.argv[4:])
    work()
    counts = [0] * threads
    begin = time.monotonic()

    def run(number):
        while time.monotonic() - begin < seconds:
            work()
            counts[number] += 1

    workers = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(sum(counts) / (time.monotonic() - begin))


if __name__ == "__main__":
    main()
