//! The server, as a process on its own store.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tempfile::TempDir;

use super::client::Client;
use super::limits::Limits;
use super::skip::skips_long;

/// The program to test.
fn program() -> String {
    std::env::var("PHYLLO_PROGRAM").unwrap_or_else(|_| env!("CARGO_BIN_EXE_phyllo").to_owned())
}

/// Whether the program is a release build.
pub(crate) fn is_release() -> bool {
    !cfg!(debug_assertions) || std::env::var_os("PHYLLO_PROGRAM").is_some()
}

/// The variables of which each asks for these tests also if long tests do not run.
const ASKING: [&str; 3] = [
    "PHYLLO_HOSTILE_SECONDS",
    "PHYLLO_HOSTILE_FAMILIES",
    "PHYLLO_PROGRAM",
];

/// Keeps other tests waiting, because latencies are measured; none if the test is to be skipped.
pub(crate) fn alone() -> Option<MutexGuard<'static, ()>> {
    static ALONE: Mutex<()> = Mutex::new(());
    static SKIPS: LazyLock<bool> = LazyLock::new(|| {
        let asked_for = ASKING.iter().any(|name| std::env::var_os(name).is_some());
        !asked_for && skips_long("hostile requests on a real server, tests/hostile")
    });
    (!*SKIPS).then(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A running server, killed when dropped.
pub(crate) struct Server {
    process: Child,
    _stdout: BufReader<ChildStdout>,
    pub(crate) address: String,
    directory: TempDir,
}

impl Server {
    /// Serves an empty store. The engine's cache, which is not part of the held memory, is small.
    pub(crate) fn start(limits: &Limits) -> Self {
        Self::start_with(limits, &[])
    }

    /// The same, with additional arguments.
    pub(crate) fn start_with(limits: &Limits, arguments: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = Command::new(program());
        command.arg("serve").arg("--store").arg(directory.path());
        command.args(["--listen", "127.0.0.1:0", "--cache-mib", "32"]);
        for (flag, value) in limits.flags() {
            command.args([flag, &value]);
        }
        command.args(arguments);
        for variable in ["PHYLLO_LISTEN", "PHYLLO_STORE", "PHYLLO_TOKEN_FILE"] {
            command.env_remove(variable);
        }
        command.env("RUST_LOG", "error").stdout(Stdio::piped());
        let mut process = command.spawn().expect("the program starts");
        let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Phyllo serves on http://");
        let address = address.and_then(|address| address.strip_suffix('/'));
        Self {
            address: address.expect("an address").to_owned(),
            process,
            _stdout: stdout,
            directory,
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.address)
    }

    /// Imports JSON lines, whose ids are their members `k`.
    pub(crate) fn import(&self, collection: &str, lines: &str) {
        let mut command = Command::new(program());
        command.args(["import", "-", "--id", "/k", "--collection", collection]);
        command.arg("--store").arg(self.directory.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut import = command.spawn().expect("the program starts");
        let mut stdin = import.stdin.take().expect("a pipe");
        stdin.write_all(lines.as_bytes()).expect("it reads");
        drop(stdin);
        let status = import.wait().expect("it ends");
        assert!(status.success(), "the import fails: {status}");
    }

    /// The peak memory, in bytes.
    pub(crate) fn memory_peak(&self) -> usize {
        self.memory("VmHWM:")
    }

    /// The present memory, in bytes.
    pub(crate) fn memory_now(&self) -> usize {
        self.memory("VmRSS:")
    }

    fn memory(&self, which: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.expect("the server runs, on Linux");
        let line = status.lines().find_map(|line| line.strip_prefix(which));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.parse::<usize>().ok())
            .expect("a number")
            << 10
    }

    /// Resets the peak.
    pub(crate) fn forget_memory_peak(&self) {
        // 5 resets the peak (proc_pid_clear_refs(5)). If that is not permitted, the peak includes
        // the creation of the documents.
        let _refused = fs::write(format!("/proc/{}/clear_refs", self.process.id()), "5");
    }

    /// The disk space of the store, in bytes.
    pub(crate) fn disk(&self) -> usize {
        disk(self.directory.path())
    }

    /// Stops the server and checks its store. Returns the violations.
    pub(crate) fn stop_and_check(mut self) -> Vec<String> {
        let asked = Command::new("kill")
            .args(["-s", "TERM", &self.process.id().to_string()])
            .status();
        assert!(asked.expect("kill runs").success());
        let mut wrong = Vec::new();
        match ended(&mut self.process, STOP_TIME_MAX) {
            None => wrong.push(format!("the server does not stop within {STOP_TIME_MAX:?}")),
            Some(status) if !status.success() => wrong.push(format!("the server ends: {status}")),
            Some(_) => wrong.extend(self.check()),
        }
        wrong
    }

    fn check(&self) -> Option<String> {
        let check = Command::new(program())
            .args(["check", "--store"])
            .arg(self.directory.path())
            .stdout(Stdio::piped())
            .spawn();
        let mut check = check.expect("the program runs");
        let begin = Instant::now();
        let Some(status) = ended(&mut check, CHECK_TIME_MAX) else {
            check.kill().expect("it runs");
            check.wait().expect("it ends");
            return Some(format!("check takes more than {CHECK_TIME_MAX:?}"));
        };
        let mut told = String::new();
        let mut output = check.stdout.take().expect("a pipe");
        output.read_to_string(&mut told).expect("UTF-8");
        println!("check, after {:?}: {}", begin.elapsed(), told.trim());
        (!status.success()).then(|| format!("check ends with {status}: {told:.2000}"))
    }
}

/// The time to stop. Index builds end after their batch.
const STOP_TIME_MAX: Duration = Duration::from_secs(40);
/// The time to check a store of 100 megabytes.
const CHECK_TIME_MAX: Duration = Duration::from_secs(120);

/// How a process ended. `None` if it did not end in time. Its output fits in a pipe.
fn ended(process: &mut Child, time: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    loop {
        if let Some(status) = process.try_wait().expect("a process") {
            return Some(status);
        }
        if begin.elapsed() > time {
            return None;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// The disk space of the files of a directory, without holes.
fn disk(directory: &Path) -> usize {
    use std::os::unix::fs::MetadataExt;
    let entries = fs::read_dir(directory).expect("a directory");
    let blocks = entries.map(|entry| {
        let metadata = entry.and_then(|entry| entry.metadata());
        // A file may disappear meanwhile.
        metadata.map_or(0, |metadata| metadata.blocks())
    });
    usize::try_from(512 * blocks.sum::<u64>()).expect("it fits")
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}
