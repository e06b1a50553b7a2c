//! A command of a page that prints lines until it is ended.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The time for a line to arrive.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running command, ended when dropped.
pub(crate) struct Stream {
    process: Child,
    lines: Receiver<String>,
    /// The documented lines that have not been printed yet.
    expected: Vec<String>,
}

impl Stream {
    /// Starts a command and waits for the first of its documented lines.
    pub(crate) fn start(mut command: Command, output: &str) -> Self {
        let command = command.process_group(0).stdout(Stdio::piped());
        let mut process = command.spawn().expect("bash is there");
        let out = BufReader::new(process.stdout.take().expect("piped"));
        let (printed, lines) = channel();
        std::thread::spawn(move || {
            for line in out.lines().map_while(Result::ok) {
                // Lines after the end of the test are ignored.
                let _sent = printed.send(line);
            }
        });
        let mut expected: Vec<String> = output.lines().map(str::to_owned).collect();
        expected.reverse();
        let mut stream = Self {
            process,
            lines,
            expected,
        };
        stream.assert_next();
        stream
    }

    fn assert_next(&mut self) {
        let expected = self.expected.pop().expect("a documented line");
        let line = self.lines.recv_timeout(PATIENCE);
        assert_eq!(line, Ok(expected));
    }

    /// Asserts that the command prints the other documented lines.
    pub(crate) fn assert_rest(mut self) {
        while !self.expected.is_empty() {
            self.assert_next();
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // The command is a group of processes: the shell, and those that it started.
        let group = format!("-{}", self.process.id());
        let killed = Command::new("kill")
            .args(["-s", "KILL", "--", &group])
            .status();
        assert!(killed.is_ok() || std::thread::panicking(), "kill runs");
        let _ended = self.process.wait();
    }
}
