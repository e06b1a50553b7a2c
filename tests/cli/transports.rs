//! The ways of a command to its data: in process, over the local socket, and to a URL.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use super::harness::{Ran, Store};

/// A way to a store.
pub(crate) struct Reached {
    /// Ends before the store is checked.
    server: Option<HttpServer>,
    pub(crate) store: Store,
    token: &'static str,
}

/// A server process that holds the store, killed when dropped.
struct HttpServer {
    process: Child,
    url: String,
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // The process may have ended.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}

/// Runs a test over all three ways.
pub(crate) fn everywhere(test: impl Fn(&Reached)) {
    for store in [Store::alone(), Store::served()] {
        test(&Reached {
            server: None,
            store,
            token: "",
        });
    }
    test(&Reached::at_url(&[], ""));
}

impl Reached {
    /// A server at a URL, with these options. Commands send the token.
    pub(crate) fn at_url(options: &[&str], token: &'static str) -> Self {
        let store = Store::alone();
        store.import("", &["--collection", "none"]);
        Self::serving(store, options, token)
    }

    /// A server at a URL on a store that exists.
    pub(crate) fn serving(store: Store, options: &[&str], token: &'static str) -> Self {
        let arguments = [&["serve", "--listen", "127.0.0.1:0"], options].concat();
        let mut command = store.command(&arguments);
        let mut process = command.stderr(Stdio::null()).spawn().expect("it starts");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let first = lines.next().expect("it serves").expect("UTF-8");
        let url = first.strip_prefix("Phyllo serves on ").expect("its URL");
        let url = url.to_owned();
        Self {
            server: Some(HttpServer { process, url }),
            store,
            token,
        }
    }

    pub(crate) fn url(&self) -> &str {
        self.server.as_ref().map_or("", |server| &server.url)
    }

    fn arguments<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        match &self.server {
            Some(server) => [arguments, &["--url", &server.url]].concat(),
            None => arguments.to_vec(),
        }
    }

    /// Runs a command over the way.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.store.command(&self.arguments(arguments));
        command.env("PHYLLO_TOKEN", self.token);
        Ran::from(command.output().expect("the binary runs"))
    }

    /// As [`Reached::run`], with standard input.
    pub(crate) fn run_on(&self, stdin: &str, arguments: &[&str]) -> Ran {
        self.store.run_on(stdin, &self.arguments(arguments))
    }

    /// The output of a command that must succeed.
    #[track_caller]
    pub(crate) fn out(&self, arguments: &[&str]) -> String {
        self.run(arguments).expect(0).out
    }
}
