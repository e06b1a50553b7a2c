//! One target, named by the environment, under libFuzzer: `fuzz/run` builds and starts it.

#![no_main]

#[path = "../../tests/fuzz/targets/mod.rs"]
mod targets;

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use targets::{TARGETS, Target};

static TARGET: OnceLock<Target> = OnceLock::new();

/// Finds the target, and puts what it begins with into its corpus.
fn begin() -> Target {
    let name = std::env::var("PHYLLO_FUZZ_TARGET").unwrap_or_default();
    let target = TARGETS.into_iter().find(|target| target.name == name);
    let target = target.unwrap_or_else(|| {
        let names = TARGETS.map(|target| target.name).join(", ");
        panic!("PHYLLO_FUZZ_TARGET is one of {names}")
    });
    if let Some(corpus) = std::env::var_os("PHYLLO_FUZZ_CORPUS").map(PathBuf::from) {
        for (number, seed) in target.seeds.iter().enumerate() {
            std::fs::write(corpus.join(format!("seed-{number}")), seed).expect("a corpus");
        }
    }
    target
}

fuzz_target!(
    init: {
        TARGET.get_or_init(begin);
    },
    |data: &[u8]| {
        (TARGET.get_or_init(begin).check)(data);
    }
);
