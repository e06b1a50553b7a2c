//! Every kind of request at the same time.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::client::ask;
use super::npm;
use super::server::Server;
use super::skip::{skipped, skips_long};

/// How often memory is looked at.
const LOOK: Duration = Duration::from_millis(250);
/// What an allocator may hold more at one moment than at another.
const SLACK: usize = 16 << 20;

#[test]
fn mixed_traffic_is_answered_without_an_error_and_memory_is_flat_at_the_end() {
    let what = "mixed traffic";
    if std::env::var_os("PHYLLO_LOAD_SECONDS").is_none() && skips_long(what) {
        return;
    }
    let Some(folder) = npm::install("load") else {
        skipped(what, "npm or its packages could not be installed");
        return;
    };
    let seconds = std::env::var("PHYLLO_LOAD_SECONDS").unwrap_or_else(|_| "60".to_owned());
    let store = tempfile::tempdir().expect("a directory");
    let server = Server::start(store.path());
    let mut load = Command::new("node")
        .args(["load.mjs", &server.url(), &seconds])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("npm came with node");
    let mut held = Vec::new();
    while load.try_wait().expect("a process").is_none() {
        held.push(server.memory());
        std::thread::sleep(LOOK);
    }
    let output = load.wait_with_output().expect("it ended");
    assert!(output.status.success(), "the load failed");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    println!("{told}");
    for nothing in ["errors", "refused"] {
        assert_eq!(told[nothing], 0, "{told}");
    }
    let number = |name: &str| told[name].as_u64().expect("a number");
    assert!(number("answered") > 0, "{told}");
    // What was under way at the end may have been counted without being answered.
    let (acknowledged, counted) = (number("acknowledged"), number("counted"));
    let under_way = counted.checked_sub(acknowledged).expect("none was lost");
    assert!(under_way <= number("connections"), "{told}");
    let quarter = held.len() / 4;
    let most = |part: &[usize]| part.iter().copied().max().expect("some");
    let (second, last) = (
        most(&held[quarter..2 * quarter]),
        most(&held[3 * quarter..]),
    );
    println!("memory: {second} bytes in the second quarter, {last} in the last");
    assert!(last <= second + second / 8 + SLACK, "{held:?}");
    assert!(ask(&server.url(), "{ __typename }")["errors"].is_null());
}
