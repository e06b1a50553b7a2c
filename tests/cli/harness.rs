//! A store in its own directory, and a runner of commands on it.

#[path = "../sound/files/mod.rs"]
mod files;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use files::assert_sound;
use phyllo::database::{Builder, Database, TypeChecker};
use phyllo::graphql::{GraphQl, GraphQlResponse, Methods, Request};
use phyllo::server::local::LocalSocket;
use phyllo::store::{Embedded, EmbeddedOptions};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// A store, and possibly a server that holds it. It must be sound when it is dropped.
pub(crate) struct Store {
    directory: TempDir,
    path: PathBuf,
    server: Option<Server>,
    /// Why it is not checked.
    damaged: OnceLock<&'static str>,
}

impl Drop for Store {
    fn drop(&mut self) {
        self.stop();
        if self.damaged.get().is_none() {
            assert_sound(&self.path);
        }
    }
}

struct Server {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The outcome of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a test on a store that is opened directly, and on one that a server holds.
pub(crate) fn both(test: impl Fn(&Store)) {
    test(&Store::alone());
    test(&Store::served());
}

/// As [`both`], on stores with indexes: their names, paths, and whether they are unique.
pub(crate) fn both_indexed(indexes: &[(&str, &str, bool)], test: impl Fn(&Store)) {
    for served in [false, true] {
        let mut store = Store::alone();
        store.create_indexes(indexes);
        if served {
            store.serve();
        }
        test(&store);
    }
}

impl Store {
    pub(crate) fn alone() -> Self {
        Self::at("store")
    }

    pub(crate) fn served() -> Self {
        let mut store = Self::alone();
        store.serve();
        store
    }

    /// A store of before new stores had a change log.
    pub(crate) fn without_log() -> Self {
        let store = Self::alone();
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        runtime.block_on(async { drop(open(&store.path).await) });
        store
    }

    /// A store at this path below a new directory.
    pub(crate) fn at(below: &str) -> Self {
        let directory = TempDir::new().expect("a directory");
        Self {
            path: directory.path().join(below),
            directory,
            server: None,
            damaged: OnceLock::new(),
        }
    }

    /// Exempts the store from the check when it is dropped, because of `why`.
    pub(crate) fn damaged(&self, why: &'static str) {
        let _repeated = self.damaged.set(why);
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Starts a server that holds the store.
    pub(crate) fn serve(&mut self) {
        let (stop, stopped) = oneshot::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let directory = self.path.clone();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new().expect("threads");
            runtime.block_on(async {
                let database = open(&directory).await;
                let socket = LocalSocket::bind(&directory).expect("a socket");
                let checking = tokio::spawn(TypeChecker::new(database.clone()).run());
                let building = tokio::spawn(Builder::new(database.clone()).run());
                ready.send(()).expect("the test waits");
                let stop = async {
                    let _stopped = stopped.await;
                };
                socket.serve(database, stop).await.expect("serving");
                checking.abort();
                building.abort();
            });
        });
        is_ready.recv().expect("the server is up");
        self.server = Some(Server {
            stop: Some(stop),
            thread: Some(thread),
        });
    }

    /// Creates indexes of the collection `D`. No server may hold the store.
    pub(crate) fn create_indexes(&self, indexes: &[(&str, &str, bool)]) {
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        runtime.block_on(async {
            let graphql = GraphQl::new(open(&self.path).await);
            for (name, on, unique) in indexes {
                let query = format!(
                    "mutation {{ createIndex(name: {name:?}, on: [{on:?}], unique: {unique}) \
                     {{ state }} }}"
                );
                let body = serde_json::json!({"query": query}).to_string();
                let request = Request::from_json(&body.into()).expect("a request");
                let answer = graphql.answer(request, Methods::All).await;
                let GraphQlResponse::Executed(answer) = answer else {
                    panic!("{name} was not created");
                };
                let answer = String::from_utf8(answer).expect("UTF-8");
                assert!(answer.contains("READY"), "{answer}");
            }
        });
    }

    /// Switches the change log on. No server may hold the store.
    pub(crate) fn log_changes(&self) {
        self.keep_changes(Duration::from_secs(3600));
    }

    /// Sets the retention of the change log. Zero switches it off. No server may hold the store.
    pub(crate) fn keep_changes(&self, retention: Duration) {
        let runtime = tokio::runtime::Runtime::new().expect("threads");
        runtime.block_on(async {
            let database = open(&self.path).await;
            let deadline = Instant::now() + Duration::from_secs(10);
            let set = database.set_change_retention(deadline, retention);
            set.await.expect("it is set");
        });
    }

    /// Stops the server, which releases the store.
    pub(crate) fn stop(&mut self) {
        self.server = None;
    }

    /// Writes a file next to the store.
    pub(crate) fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        let path = self.directory.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        std::fs::write(&path, contents).expect("a file");
        path.to_str().expect("a plain path").to_owned()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phyllo"));
        command
            .args(arguments)
            .env_remove("PHYLLO_STORE")
            .env_remove("PHYLLO_LISTEN")
            .arg("--store")
            .arg(&self.path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().expect("the binary runs"))
    }

    pub(crate) fn run_on(&self, stdin: impl AsRef<[u8]>, arguments: &[&str]) -> Ran {
        let mut child = self.spawn(arguments);
        let mut pipe = child.stdin.take().expect("a pipe");
        let bytes = stdin.as_ref().to_vec();
        let writer = thread::spawn(move || {
            // A command that fails early does not read everything.
            let _written = pipe.write_all(&bytes);
        });
        let ran = child.wait_with_output().expect("the binary runs");
        writer.join().expect("writing");
        Ran::from(ran)
    }

    pub(crate) fn spawn(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped());
        command.spawn().expect("the binary runs")
    }

    /// Imports documents. Must succeed.
    pub(crate) fn import(&self, stdin: impl AsRef<[u8]>, arguments: &[&str]) -> Ran {
        let ran = self.run_on(stdin, &[&["import", "-"], arguments].concat());
        ran.expect(0)
    }

    /// The output of a command that must succeed.
    pub(crate) fn out(&self, arguments: &[&str]) -> String {
        self.run(arguments).expect(0).out
    }

    /// The ids in a collection, in order.
    pub(crate) fn ids(&self, collection: &str) -> Vec<String> {
        let export = self.out(&["export", "--collection", collection]);
        let id = |line: &str| {
            let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
            record["id"].as_str().expect("a string").to_owned()
        };
        export.lines().map(id).collect()
    }

    /// The number of documents in `D`.
    pub(crate) fn count(&self) -> usize {
        let collections = self.out(&["collections"]);
        let counts = collections
            .lines()
            .find_map(|line| line.strip_prefix("D\t"));
        counts.map_or(0, |count| count.parse().expect("a number"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _told = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking(), "the server panicked");
        }
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Asserts that standard error contains `what`.
    #[track_caller]
    pub(crate) fn says(self, what: &str) -> Self {
        assert!(self.err.contains(what), "{what:?} in {}", self.err);
        self
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

pub(crate) async fn open(directory: &Path) -> Database {
    let store = Embedded::open(directory, EmbeddedOptions::default(), |_| {}).expect("a store");
    let deadline = Instant::now() + Duration::from_secs(10);
    Database::open(Arc::new(store), deadline)
        .await
        .expect("a database")
}
