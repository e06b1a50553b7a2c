//! Servers of other programs, such as an older version, to compare this one with by turns.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The programs to compare, separated by commas. Without the variable nothing is compared.
pub(crate) const PROGRAMS: &str = "PHYLLO_BENCH_PROGRAMS";

/// A server process with its own store.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    child: Child,
    _directory: tempfile::TempDir,
}

/// The paths in [`PROGRAMS`].
pub(crate) fn paths() -> Vec<PathBuf> {
    let programs = std::env::var(PROGRAMS).unwrap_or_default();
    let paths = programs.split(',').filter(|path| !path.is_empty());
    paths.map(PathBuf::from).collect()
}

/// Starts a server of each program of [`PROGRAMS`].
pub(crate) fn programs() -> Vec<Program> {
    let start = |path: &PathBuf| Program::start_with(path, None, &["--change-retention", "0"]);
    paths().iter().map(start).collect()
}

impl Program {
    /// Starts a server with more arguments, on a new directory if no store is given.
    pub(crate) fn start_with(path: &Path, store: Option<&str>, arguments: &[&str]) -> Self {
        let parent = std::env::var_os("PHYLLO_BENCH_DIRECTORY").map(PathBuf::from);
        let directory = match parent {
            Some(parent) => tempfile::tempdir_in(parent),
            None => tempfile::tempdir(),
        };
        let directory = directory.expect("a directory");
        let mut child = Command::new(path)
            .args(["serve", "--listen", "127.0.0.1:0", "--store"])
            .arg(store.map_or(directory.path(), Path::new))
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let out = child.stdout.take().expect("piped");
        let first = BufReader::new(out).lines().next();
        let first = first.expect("it says where it serves").expect("text");
        let address = first.trim_end_matches('/').rsplit("//").next();
        let address = address.and_then(|address| address.parse().ok());
        Self {
            name: path.display().to_string(),
            address: address.expect("it says where it listens"),
            child,
            _directory: directory,
        }
    }

    /// The memory of the process.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("this is Linux");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.parse::<u64>().ok())
            .expect("a number")
            << 10
    }

    /// Bytes that the process has sent to the disk so far.
    pub(crate) fn written_bytes(&self) -> u64 {
        let io = std::fs::read_to_string(format!("/proc/{}/io", self.child.id()));
        let io = io.expect("this is Linux");
        let line = io
            .lines()
            .find_map(|line| line.strip_prefix("write_bytes: "));
        line.and_then(|bytes| bytes.parse().ok()).expect("a number")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It has ended already, unless a measurement failed.
        let _killed = self.child.kill();
        let _status = self.child.wait();
    }
}
