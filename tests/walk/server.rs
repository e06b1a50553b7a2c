//! The real server, as a process.

#![allow(dead_code, reason = "each program that has it uses a part")]

#[path = "../sound/files/mod.rs"]
mod files;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use files::assert_sound;

/// A server that is killed when dropped. Its store must then be sound.
pub(crate) struct Server {
    process: Child,
    url: String,
    /// The store, until the server is stopped.
    store: Option<PathBuf>,
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
        Self {
            process,
            url,
            store: Some(store.to_owned()),
        }
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

    /// Stops the server, waits for a successful exit and checks the store.
    pub(crate) fn stop(&mut self) {
        let asked = Command::new("kill")
            .args(["-s", "TERM", &self.process.id().to_string()])
            .status();
        assert!(asked.expect("kill runs").success());
        let status = self.process.wait().expect("it ends");
        assert!(status.success(), "{status}");
        self.check();
    }

    /// Checks the store, once. Another server can hold it afterwards.
    fn check(&mut self) {
        if let Some(store) = self.store.take() {
            assert_sound(&store);
        }
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
        self.check();
    }
}
