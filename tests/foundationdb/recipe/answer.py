"""Does with the recipe's code what the lines of standard input ask for, and answers each by a line.

    insert DOCUMENT        answers the document's id
    get [ID, SEGMENT, …]   answers what get_doc returns, without the path that it leaves around it
"""

import json
import sys

import fdb
from hierarchical_documents import get_doc, insert_doc


def unwrapped(found, path):
    # For a path element 0, get_doc treats the parent as an array, for any other one as an object.
    for segment in path:
        found = found[0] if isinstance(found, list) else found[segment]
    return found


def get(db, doc_id, *path):
    return unwrapped(get_doc(db, doc_id, path), path)


def main():
    db = fdb.open(sys.argv[1])
    for line in sys.stdin:
        command, argument = line.split(" ", 1)
        if command == "insert":
            answer = insert_doc(db, argument)
        else:
            answer = get(db, *json.loads(argument))
        print(json.dumps(answer, allow_nan=False), flush=True)


if __name__ == "__main__":
    main()
