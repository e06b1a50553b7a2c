//! Phyllo as a subgraph: composition by two tools, queries through two gateways, and subscriptions
//! through a third one. Each test starts the real server on a store with data and drives it from
//! Node.js.
//!
//! These are long tests. They need npm packages; if these cannot be installed, the tests are skipped.

#[path = "../notes/mod.rs"]
mod notes;
#[path = "../npm/mod.rs"]
mod npm;
#[path = "../walk/server.rs"]
mod server;
#[path = "../skip/mod.rs"]
mod skip;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use notes::import;
use server::Server;
use skip::{skipped, skips_long};

/// Runs a script with the address of a server with data as its argument, and returns its output. An
/// exception in the script fails the test.
fn run(script: &str) -> Option<String> {
    static PACKAGES: OnceLock<Option<PathBuf>> = OnceLock::new();
    let what = format!("tests/federation/{script}");
    if skips_long(&what) {
        return None;
    }
    let Some(folder) = PACKAGES.get_or_init(install) else {
        skipped(&what, "npm or its packages could not be installed");
        return None;
    };
    let store = tempfile::tempdir().expect("a directory");
    import(&folder.join("notes.ndjson"), store.path());
    let program = Command::new(env!("CARGO_BIN_EXE_phyllo"));
    let server = Server::run(program, store.path(), &["--change-retention", "1h"]);
    let ran = Command::new("node")
        .arg(script)
        .arg(format!("{}/graphql", server.url()))
        .current_dir(folder)
        .output()
        .expect("npm came with node");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{script}: {told}");
    Some(String::from_utf8(ran.stdout).expect("UTF-8"))
}

/// Installs the packages of the scripts.
fn install() -> Option<PathBuf> {
    let folder = npm::install("federation")?;
    fs::copy("docs/federation.md", folder.join("federation.md")).expect("a copy");
    Some(folder)
}

#[test]
fn two_tools_compose_phyllo_with_other_subgraphs_without_errors_or_hints() {
    run("composition.mjs");
}

#[test]
fn queries_and_mutations_work_through_apollos_gateway() {
    run("apollo.mjs");
}

#[test]
fn queries_and_mutations_work_through_the_guilds_gateway() {
    run("stitched.mjs");
}

#[test]
fn a_collection_with_a_type_is_an_entity_that_another_subgraph_extends() {
    run("typed.mjs");
}

#[test]
fn subscriptions_work_through_hive_gateway() {
    run("gateway.mjs");
}

/// Runs the queries of Apollo's compatibility suite with Phyllo's types.
#[test]
fn subgraph_features_match_the_documentation() {
    let Some(told) = run("compatibility.mjs") else {
        return;
    };
    let page = fs::read_to_string("docs/federation.md").expect("the page is there");
    let table = page.split("## Features").nth(1).expect("the heading");
    let table = table.split("\n## ").next().expect("a text");
    let rows = table.lines().skip_while(|line| !line.starts_with("|---"));
    let row = |row: &str| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        format!("{}: {}", cells[1], cells[2])
    };
    let rows = rows.skip(1).filter(|line| line.starts_with('|')).map(row);
    assert_eq!(
        rows.collect::<Vec<String>>(),
        told.lines().collect::<Vec<&str>>()
    );
}
