//! Users' tokens: JSON Web Tokens of an identity provider.

mod example_rules;
mod key_sets;
mod keys;
mod provider;
mod refusals;
mod start;
mod telemetry;
mod transports;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::json;
use tempfile::TempDir;

use crate::access::{QUERY, bearer};
use crate::support::{JSON, Response, Server};

use keys::{AUDIENCE, ISSUER};

/// Rules that allow users everything, so that only their tokens are tested.
const RULES: &str = "[[allow]]\nwho = \"user\"\n\
                     actions = [\"read\", \"list\", \"write\", \"create\", \"delete\", \"index\"]\n\
                     collection = \"*\"\n";

/// A directory with files of a server.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// Writes a file that only its owner can read, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, Permissions::from_mode(0o600)).expect("its owner");
        path.to_str().expect("a plain path").to_owned()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The flags of a server that accepts tokens of these keys, and further flags.
    pub(crate) fn flags(&self, keys: &str, more: &[&str]) -> Vec<String> {
        let rules = self.write("rules.toml", RULES);
        let flags = [
            "--jwt-keys",
            keys,
            "--jwt-issuer",
            ISSUER,
            "--jwt-audience",
            "another",
            "--jwt-audience",
            AUDIENCE,
            "--rules",
            &rules,
        ];
        let flags = flags.iter().chain(more);
        flags.map(|flag| (*flag).to_owned()).collect()
    }
}

/// Starts a server, and logs everything that the server itself can log.
pub(crate) fn start(flags: &[String]) -> Server {
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    Server::logged_at("trace", &flags)
}

/// A server whose keys are in a file.
pub(crate) fn server_with(files: &Files, keys: &str, more: &[&str]) -> Server {
    let keys = files.write("keys.json", keys);
    start(&files.flags(&keys, more))
}

/// The response to a query with a token.
pub(crate) fn ask(server: &Server, token: &str) -> Response {
    let token = bearer(token);
    let headers = [JSON, ("authorization", token.as_str())];
    let body = json!({ "query": QUERY }).to_string();
    server.ask("POST", "/graphql", &headers, body)
}

/// The message of the first error.
pub(crate) fn message(response: &Response) -> String {
    let message = &response.json()["errors"][0]["message"];
    message.as_str().expect("a message").to_owned()
}
