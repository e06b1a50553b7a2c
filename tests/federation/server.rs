//! The real server, as a process.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server that is killed when the test is over.
pub(crate) struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Serves a store on a free port, and returns when it is up.
    pub(crate) fn start(store: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_phyllo"))
            .args(["serve", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
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

    /// Where it serves, without a slash at the end.
    pub(crate) fn url(&self) -> String {
        self.url.clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself, which the test has noticed.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}
