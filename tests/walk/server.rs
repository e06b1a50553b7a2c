//! The real server, as a process.

#![allow(dead_code, reason = "each program that has it uses a part")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that is killed when dropped.
pub(crate) struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Serves a store on a free port and returns when the server is ready.
    pub(crate) fn start(store: &Path) -> Self {
        Self::run(Command::new(env!("CARGO_BIN_EXE_phyllo")), store, &[])
    }

    /// Like [`Server::start`], with a command that ends with the program, and additional arguments.
    pub(crate) fn run(mut command: Command, store: &Path, more: &[&str]) -> Self {
        let mut process = command
            .args(["serve", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let out = process.stdout.take().expect("piped");
        let first = BufReader::new(out).lines().next();
        let first = first.expect("it says where it serves").expect("text");
        let url = first.split_whitespace().last().expect("an address");
        let url = url.trim_end_matches('/').to_owned();
        Self { process, url }
    }

    /// The memory use of the process, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.expect("Linux tells");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.parse::<usize>().ok())
            .expect("a number")
            << 10
    }

    /// Stops the server and waits for a successful exit.
    pub(crate) fn stop(&mut self) {
        let asked = Command::new("kill")
            .args(["-s", "TERM", &self.process.id().to_string()])
            .status();
        assert!(asked.expect("kill runs").success());
        let status = self.process.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }

    /// The URL of the server, without a trailing slash.
    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended by itself, which the test has detected.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}
