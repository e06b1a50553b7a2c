//! Other processes: this test binary, started again with its role in an environment variable.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use phyllo::store::{Embedded, EmbeddedOptions, Store};

use crate::{all, assert_unavailable, begin, get, set};

/// The directory of the store that the other process opens. Without the variable, its test does
/// nothing.
const DIRECTORY: &str = "PHYLLO_TEST_DIRECTORY";
/// The line that the other process prints after its commit.
const COMMITTED: &str = "committed";
const COMMITS: u32 = 200;

#[tokio::test]
async fn a_store_held_by_another_process_is_rejected_until_it_ends() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut holder = Process::start(
        "process::the_other_process_holds_the_store",
        directory.path(),
    );
    holder.wait_until(COMMITTED);
    let file = directory.path().join(phyllo::store::FILE_NAME);
    let before = std::fs::read(&file).expect("read");
    for _ in 0..3 {
        let error = assert_unavailable(open(directory.path()).map(|_| ()));
        assert!(error.message().contains("another process"), "{error}");
        let place = file.display().to_string();
        assert!(error.message().contains(&place), "{error}");
    }
    assert!(std::fs::read(&file).expect("read") == before, "untouched");
    holder.end();
    let (store, _) = open(directory.path()).expect("the other has ended");
    assert_eq!(get(&store, "held").await, Some(b"value".to_vec()));
}

#[tokio::test]
async fn one_process_cannot_open_a_store_twice() {
    let directory = tempfile::tempdir().expect("a directory");
    let (store, _) = open(directory.path()).expect("a new store");
    let error = assert_unavailable(open(directory.path()).map(|_| ()));
    assert!(error.message().contains("has locked it"), "{error}");
    // The rejected attempt did not affect the open store.
    set(&store, "key", "value").await.expect("committed");
    assert_unavailable(open(directory.path()).map(|_| ()));
    drop(store);
    let (store, _) = open(directory.path()).expect("it is free");
    assert_eq!(get(&store, "key").await, Some(b"value".to_vec()));
}

#[tokio::test]
async fn a_closed_store_opens_without_recovery() {
    let directory = tempfile::tempdir().expect("a directory");
    for round in 0..5 {
        let (store, repairs) = open(directory.path()).expect("it opens");
        assert_eq!(repairs.load(Ordering::SeqCst), 0, "round {round}");
        assert_eq!(all(&store).await.len(), round * 20);
        for number in 0..20 {
            set(&store, format!("{round}, {number}"), [0; 3_000])
                .await
                .expect("committed");
        }
        let undone = begin(&store).await;
        undone.set(b"undone", b"");
        if round % 2 == 0 {
            undone.abort().await.expect("undone");
        }
        drop(undone);
    }
}

#[tokio::test]
async fn a_store_of_an_aborted_process_is_recovered_completely() {
    let directory = tempfile::tempdir().expect("a directory");
    for round in 1..=2 {
        let mut aborted = Process::start("process::the_other_process_is_aborted", directory.path());
        let mut acknowledged = Vec::new();
        for line in aborted.lines() {
            if let Some(number) = line.strip_prefix("acknowledged ") {
                acknowledged.push(number.to_owned());
            }
        }
        aborted.wait_for_abort();
        assert_eq!(acknowledged.len(), COMMITS as usize);
        let (store, repairs) = open(directory.path()).expect("it is repaired");
        assert!(repairs.load(Ordering::SeqCst) > 0, "round {round}");
        for number in &acknowledged {
            assert!(get(&store, number).await.is_some(), "{number}");
        }
        assert_eq!(get(&store, "not committed").await, None);
    }
    let (_, repairs) = open(directory.path()).expect("it was closed");
    assert_eq!(repairs.load(Ordering::SeqCst), 0);
}

/// Not a test: [`Process::start`] runs it.
#[tokio::test]
#[ignore = "another test runs it in a process of its own"]
async fn the_other_process_holds_the_store() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let (store, _) = open(Path::new(&directory)).expect("it is free");
    set(&store, "held", "value").await.expect("committed");
    say(COMMITTED);
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).expect("ended");
}

/// Not a test: [`Process::start`] runs it.
#[tokio::test]
#[ignore = "another test runs it in a process of its own"]
async fn the_other_process_is_aborted() {
    let Some(directory) = std::env::var_os(DIRECTORY) else {
        return;
    };
    let (store, _) = open(Path::new(&directory)).expect("it opens");
    for number in 0..COMMITS {
        let key = format!("{} {number}", std::process::id());
        set(&store, &key, [0; 500]).await.expect("committed");
        say(&format!("acknowledged {key}"));
    }
    let transaction = store.begin().await.expect("begun");
    transaction.set(b"not committed", b"");
    transaction.get(b"not committed").await.expect("written");
    std::process::abort();
}

/// The directory that this process was given, if it is the other process.
pub(crate) fn said_directory() -> Option<std::ffi::OsString> {
    std::env::var_os(DIRECTORY)
}

pub(crate) fn say(line: &str) {
    // The test harness prints to the same output, so this begins a new line.
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{line}").expect("printed");
    out.flush().expect("printed");
}

/// Opens a store and counts the progress calls of a recovery.
pub(crate) fn open(directory: &Path) -> phyllo::error::Result<(Embedded, Arc<AtomicUsize>)> {
    let repairs = Arc::new(AtomicUsize::new(0));
    let counter = repairs.clone();
    let options = EmbeddedOptions {
        cache_bytes: 16 << 20,
        ..EmbeddedOptions::default()
    };
    let store = Embedded::open(directory, options, move |progress| {
        assert!((0.0..=1.0).contains(&progress));
        counter.fetch_add(1, Ordering::SeqCst);
    })?;
    Ok((store, repairs))
}

/// This binary, running one test.
pub(crate) struct Process {
    child: Child,
    out: BufReader<ChildStdout>,
}

impl Process {
    pub(crate) fn start(test: &str, directory: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this binary"))
            .args(["--exact", test])
            .args(["--ignored", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        Self { child, out }
    }

    fn lines(&mut self) -> impl Iterator<Item = String> {
        (&mut self.out).lines().map(|line| line.expect("text"))
    }

    /// Passes its lines to `kills` until that returns true, and kills it. Then passes the rest.
    pub(crate) fn until_killed(mut self, mut kills: impl FnMut(&str) -> bool) {
        let killed = self.lines().any(|line| kills(&line));
        assert!(killed, "it has ended");
        self.child.kill().expect("killed");
        for line in self.lines() {
            kills(&line);
        }
        let status = self.child.wait().expect("waited");
        assert!(!status.success(), "{status}");
    }

    pub(crate) fn wait_until(&mut self, said: &str) {
        assert!(self.lines().any(|line| line == said), "it says {said}");
    }

    /// Closes its input, upon which it closes the store.
    fn end(mut self) {
        drop(self.child.stdin.take());
        let status = self.child.wait().expect("waited");
        assert!(status.success(), "{status}");
    }

    pub(crate) fn wait_for_abort(mut self) {
        let status = self.child.wait().expect("waited");
        assert!(!status.success(), "{status}");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process has ended already, unless the test failed.
        let _killed = self.child.kill();
        let _status = self.child.wait();
    }
}
