//! `phyllo copy` from a directory to a cluster and back, and `phyllo backup`, which does not
//! support clusters.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use foundationdb_tuple::pack;
use phyllo::store::{RangeRead, Store};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::cluster::{Cluster, Redundancy, phyllo};
use super::servers::run;
use super::shared::open;

cases!(
    threads [
        a_store_copied_to_a_cluster_and_back_is_equal,
        a_killed_copy_can_be_resumed,
        clusters_with_other_contents_are_rejected,
        backup_refers_to_the_tools_of_the_cluster,
    ]
);

/// The `phyllo` command on a directory.
fn local(directory: &Path, arguments: &[&str]) -> Command {
    let mut phyllo = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    phyllo.args(arguments).arg("--store").arg(directory);
    phyllo
}

fn import(directory: &Path, text: &str, arguments: &[&str]) {
    let mut import = local(directory, &["import", "-"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let mut stdin = import.stdin.take().expect("a pipe");
    stdin.write_all(text.as_bytes()).expect("it reads");
    drop(stdin);
    assert!(import.wait().expect("it ends").success());
}

fn copy(from: &str, to: &str) -> Command {
    let mut copy = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    copy.args(["copy", "--from", from, "--to", to]);
    copy
}

fn name(directory: &Path) -> &str {
    directory.to_str().expect("a plain path")
}

fn cluster_name(cluster: &Cluster) -> String {
    format!("fdb:{}", cluster.file().display())
}

/// A document larger than a transaction of a cluster.
fn large(seed: &str) -> String {
    let mut text = String::from("{\"rows\":[0");
    for n in 0..120_000 {
        write!(
            text,
            ",\"{seed}: the row of the number {n}, and some text behind it\""
        )
        .expect("a string");
    }
    text + "]}"
}

async fn a_store_copied_to_a_cluster_and_back_is_equal() {
    let cluster = Cluster::start(Redundancy::Single);
    let directory = TempDir::new().expect("a directory");
    let (first, second) = (
        directory.path().join("first"),
        directory.path().join("second"),
    );
    import(
        &first,
        &large("a"),
        &["--name", "large", "--format", "document"],
    );
    import(
        &first,
        &"{\"k\":[1,{}]}\n".repeat(3_000),
        &["--collection", "c"],
    );
    import(
        &first,
        "[{\"a\":\"\\u0000\"},-0.0,[],123456789012345678901234567890]",
        &[],
    );
    let there = run(&mut copy(name(&first), &cluster_name(&cluster))).expect("it is copied");
    let back = run(&mut copy(&cluster_name(&cluster), name(&second))).expect("it is copied");
    let digest = |out: &str| -> Vec<String> {
        let lines = out.lines().filter(|line| line.contains("sha256"));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(digest(&there).len(), 4);
    assert_eq!(digest(&there), digest(&back));
    for collection in ["D", "c"] {
        let export = ["export", "--collection", collection];
        let [first, second] = [&first, &second].map(|store| run(&mut local(store, &export)));
        let cluster = run(phyllo(&cluster.file(), "export").args(["--collection", collection]));
        assert_eq!(first, second);
        assert_eq!(first, cluster);
        assert!(first.expect("it is exported").lines().count() >= 5);
    }
    let counts = run(&mut phyllo(&cluster.file(), "collections"));
    assert_eq!(counts.expect("it runs"), "D\t5\nc\t3000\n");
    run(&mut phyllo(&cluster.file(), "check")).expect("the cluster is right");
    run(&mut local(&second, &["check"])).expect("so is what came back");
}

async fn a_killed_copy_can_be_resumed() {
    let cluster = Cluster::start(Redundancy::Single);
    let store = open(&cluster);
    let directory = TempDir::new().expect("a directory");
    let first = directory.path().join("first");
    for large_one in ["a", "b", "c"] {
        let arguments = ["--name", large_one, "--format", "document"];
        import(&first, &large(large_one), &arguments);
    }
    import(&first, &"{\"k\":1}\n".repeat(3_000), &[]);
    // Once in the first document, and once after it.
    for reached in [
        pack(&("D", "a", "rows", 30_000)),
        pack(&("D", "b", "rows", 1)),
    ] {
        let mut killed = copy(name(&first), &cluster_name(&cluster))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_there(&store, &reached).await {
            assert!(Instant::now() < deadline, "nothing is copied");
            sleep(Duration::from_millis(2)).await;
        }
        killed.kill().expect("it runs still");
        killed.wait().expect("it ends");
    }
    let last = pack(&("D", "stdin-3000"));
    assert!(!is_there(&store, &last).await, "it was killed too late");
    let said = run(&mut copy(name(&first), &cluster_name(&cluster))).expect("it is copied");
    assert!(said.contains("documents\t3003\n"), "{said}");
    run(&mut phyllo(&cluster.file(), "check")).expect("the cluster is right");
    let local = run(&mut local(&first, &["export"])).expect("it is exported");
    let cluster = run(&mut phyllo(&cluster.file(), "export")).expect("it is exported");
    assert!(local == cluster, "the exports differ");
}

/// Whether there is a leaf at or below a key.
async fn is_there(store: &dyn Store, key: &[u8]) -> bool {
    let end = [key, &[0xFF]].concat();
    let snapshot = store.snapshot().await.expect("the cluster serves");
    let found = snapshot.range(RangeRead::new(key, &end).at_most(1)).await;
    !found.expect("it can be read").pairs.is_empty()
}

async fn clusters_with_other_contents_are_rejected() {
    let cluster = Cluster::start(Redundancy::Single);
    let store = open(&cluster);
    let directory = TempDir::new().expect("a directory");
    let first = directory.path().join("first");
    import(&first, "[1,2]", &["--name", "x"]);
    let transaction = store.begin().await.expect("a transaction");
    transaction.set(&pack(&("D", "another program's", "n")), &pack(&(1,)));
    transaction.commit().await.expect("nobody else writes");
    let said = run(&mut copy(name(&first), &cluster_name(&cluster)));
    let said = said.expect_err("it is refused");
    assert!(said.contains("holds a different document"), "{said}");
    assert!(!is_there(&store, &pack(&("D", "x-1"))).await);
}

async fn backup_refers_to_the_tools_of_the_cluster() {
    let cluster = Cluster::start(Redundancy::Single);
    let directory = TempDir::new().expect("a directory");
    let file = directory.path().join("x.json");
    std::fs::write(&file, "[1]").expect("a file");
    run(phyllo(&cluster.file(), "import").arg(&file)).expect("it is stored");
    let target = directory.path().join("backup");
    let said = run(phyllo(&cluster.file(), "backup").arg(&target)).expect_err("it is refused");
    assert!(said.contains("fdbbackup"), "{said}");
    assert!(!target.exists());
}
