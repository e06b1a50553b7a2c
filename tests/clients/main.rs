//! Common clients with a real server: what a normalizing cache reads and how it applies updates,
//! code generated from the schema, and the schema as tools read it.
//!
//! Each test runs a script with packages of npm or of Python. If these cannot be installed, the test
//! is skipped, and one in a browser if there is no Chromium. Tests with a script are long tests.

#[path = "../browser/mod.rs"]
mod browser;
#[path = "../notes/mod.rs"]
mod notes;
#[path = "../npm/mod.rs"]
mod npm;
mod python;
mod rust;
#[path = "../walk/server.rs"]
mod server;
#[path = "../skip/mod.rs"]
mod skip;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use notes::import;
use server::Server;
use skip::{skipped, skips_long};

/// Starts a server on a store with notes.
fn start(store: &Path, flags: &[&str]) -> Server {
    import("tests/clients/notes.ndjson".as_ref(), store);
    Server::run(Command::new(env!("CARGO_BIN_EXE_phyllo")), store, flags)
}

/// Runs a Node.js script with the addresses of these servers as arguments. An exception in the
/// script fails the test.
fn run(script: &str, servers: &[&[&str]]) {
    static PACKAGES: OnceLock<Option<PathBuf>> = OnceLock::new();
    let what = format!("tests/clients/{script}");
    if skips_long(&what) {
        return;
    }
    let Some(folder) = PACKAGES.get_or_init(install) else {
        skipped(&what, "npm or its packages could not be installed");
        return;
    };
    let stores: Vec<_> = servers
        .iter()
        .map(|_| tempfile::tempdir().expect("a directory"))
        .collect();
    let servers: Vec<Server> = servers
        .iter()
        .zip(&stores)
        .map(|(flags, store)| start(store.path(), flags))
        .collect();
    let ran = Command::new("node")
        .arg(script)
        .args(
            servers
                .iter()
                .map(|server| format!("{}/graphql", server.url())),
        )
        .env("PHYLLO", env!("CARGO_BIN_EXE_phyllo"))
        .current_dir(folder)
        .output()
        .expect("npm came with node");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{script}: {told}");
}

/// Runs a script that drives a browser, as [`run`] does.
fn run_in_browser(script: &str, flags: &[&str]) {
    let what = format!("tests/clients/{script}");
    if !skips_long(&what) && browser::chromium(&what).is_some() {
        run(script, &[flags]);
    }
}

/// Installs the packages, and copies the scripts, the schema and the pages whose code is run.
fn install() -> Option<PathBuf> {
    let folder = npm::install("clients")?;
    for file in [
        "schema.graphql",
        "docs/clients.md",
        "docs/live.md",
        "docs/types.md",
    ] {
        let name = Path::new(file).file_name().expect("a name");
        fs::copy(file, folder.join(name)).expect("a copy");
    }
    Some(folder)
}

#[test]
fn schema_files_of_every_scope_match_introspection() {
    run("schema.mjs", &[&[], &["--no-admin"], &["--read-only"]]);
}

#[test]
fn apollo_client_normalizes_documents_and_parts_without_configuration() {
    run("apollo.mjs", &[&[]]);
}

#[test]
fn urql_normalizes_documents_and_parts_without_configuration() {
    run("urql.mjs", &[&[]]);
}

#[test]
fn clients_of_the_transports_for_subscriptions_execute_operations() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("tokens");
    fs::write(&file, "reader read-only reader-0123456789abcdef\n").expect("a file");
    fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("its owner");
    let file = file.to_str().expect("a plain path");
    run("transports.mjs", &[&[], &["--token-file", file]]);
}

#[test]
fn clients_follow_changes_and_live_documents_on_every_transport() {
    run("live.mjs", &[&["--change-retention", "1h"]]);
}

#[test]
fn the_documented_react_program_shows_in_one_page_what_another_changes() {
    let allowed = ["--cors-origin", "http://localhost:5173"];
    run_in_browser(
        "react.mjs",
        &[&["--change-retention", "1h"], &allowed[..]].concat(),
    );
}

#[test]
fn relay_compiles_refetches_pages_and_subscribes() {
    run("relay.mjs", &[&["--change-retention", "1h"]]);
}

#[test]
fn typescript_types_with_documented_scalars_compile_strictly() {
    run("codegen.mjs", &[&[]]);
}

#[test]
fn typed_collections_need_no_configuration_of_clients() {
    run("typed.mjs", &[&["--change-retention", "1h"]]);
}

#[test]
fn sample_data_become_typescript_without_configuration() {
    run("sample.mjs", &[]);
}

#[test]
fn relay_shows_changes_of_typed_documents_in_every_view() {
    run("typed_relay.mjs", &[&["--change-retention", "1h"]]);
}

#[test]
fn operations_in_the_manifests_of_build_tools_are_executed_by_their_ids() {
    run("listed.mjs", &[]);
}
