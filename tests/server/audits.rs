//! Runs all audits of npm's `graphql-http`, which its authors derive from the specification
//! (<https://graphql.github.io/graphql-over-http/>): MUST, SHOULD and MAY.

use std::process::Command;

use crate::npm;
use crate::skip::{skipped, skips_long};
use crate::support::Server;

#[test]
fn every_graphql_over_http_audit_passes() {
    let what = "the audits of GraphQL over HTTP";
    if skips_long(what) {
        return;
    }
    let Some(folder) = npm::install("audits") else {
        skipped(what, "npm or its packages could not be installed");
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
