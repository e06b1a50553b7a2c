//! The audits of npm's `graphql-http`, which its authors derive from the specification
//! (<https://graphql.github.io/graphql-over-http/>): all of them, MUST, SHOULD and MAY.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Server;

/// The audits with their packages, in a folder that is kept for the next time; none, and a line
/// that says so, where they cannot be had.
fn install() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("audits");
    fs::create_dir_all(&folder).expect("a directory");
    for file in ["package.json", "package-lock.json", ".npmrc", "audits.mjs"] {
        fs::copy(Path::new("tests/audits").join(file), folder.join(file)).expect(file);
    }
    let installed = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--silent"])
        .current_dir(&folder)
        .status();
    if installed.is_ok_and(|status| status.success()) {
        return Some(folder);
    }
    println!("skipped: the audits of GraphQL over HTTP, because npm or its packages cannot be had");
    None
}

#[test]
fn every_audit_of_graphql_over_http_is_met() {
    let Some(folder) = install() else {
        return;
    };
    let server = Server::start();
    let audited = Command::new("node")
        .arg("audits.mjs")
        .arg(format!("http://{}/graphql", server.address))
        .current_dir(&folder)
        .output()
        .expect("node comes with npm");
    let failed = String::from_utf8_lossy(&audited.stderr);
    assert!(audited.status.success(), "{failed}");
    assert_eq!(String::from_utf8_lossy(&audited.stdout).trim(), "61");
}
