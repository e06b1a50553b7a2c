//! Short runs of each fuzz target, with its seeds, former failures, and some thousands of random
//! mutations of both. docs/fuzzing.md explains longer runs.

mod mutate;
#[path = "../seed/mod.rs"]
mod seed;
mod targets;

use std::fs;
use std::path::Path;

use mutate::mutated;
use rand::SeedableRng;
use rand::rngs::StdRng;
use seed::test_seed;
use targets::{TARGETS, Target};

const INPUTS: usize = 10_000;
/// For targets that send each input over a connection.
const INPUTS_BY_CONNECTION: usize = 2_000;

/// Inputs that once made a target fail, in a directory with its name.
fn found(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new("tests/fuzz/found").join(target.name);
    let Ok(files) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let read = |file: std::io::Result<fs::DirEntry>| fs::read(file?.path());
    let found: std::io::Result<_> = files.map(read).collect();
    found.expect("readable")
}

fn briefly(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name);
    let target = target.expect("a target of this name");
    let mut corpus: Vec<Vec<u8>> = target.seeds.iter().map(|seed| seed.to_vec()).collect();
    corpus.extend(found(target));
    let mut chance = StdRng::seed_from_u64(test_seed());
    for input in &corpus {
        throw(target, input);
    }
    let inputs = if name == "server" {
        INPUTS_BY_CONNECTION
    } else {
        INPUTS
    };
    for _ in 0..inputs {
        throw(target, &mutated(&corpus, &mut chance));
    }
}

/// Runs the target and prints the input if it fails.
fn throw(target: &Target, input: &[u8]) {
    let thrown = std::panic::catch_unwind(|| (target.check)(input));
    if let Err(panic) = thrown {
        println!("{} fails on b\"{}\"", target.name, input.escape_ascii());
        std::panic::resume_unwind(panic);
    }
}

macro_rules! tests {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                briefly(stringify!($name));
            }
        )*

        #[test]
        fn every_target_has_a_test() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(tested, TARGETS.map(|target| target.name));
        }
    };
}

tests! { assemble extended_json json jsonpath patch path query request schema server table tuple }
