//! Random rules and callers, compared with an oracle that knows nothing of the program. Every leaf of a document is
//! a unique canary, so whatever a response reveals is found in its text.

mod documents;
mod followed;
mod lines;
mod moments;
mod oracle;
mod requests;
mod responses;
mod streams;
mod subscriptions;

use super::super::{sequences, stores_at_once};
use super::{Client, NONE, client, user};

cases!(modules [responses, streams]);

/// The number of cases of a random test: `PHYLLO_CANARY_CASES`, or so many for each sequence.
fn cases(per_sequence: usize) -> usize {
    std::env::var("PHYLLO_CANARY_CASES").map_or_else(
        |_| sequences() as usize * per_sequence,
        |cases| cases.parse().expect("PHYLLO_CANARY_CASES is a number"),
    )
}

/// The seed of the first store of a random test. Each other one has the next seed.
fn first_seed() -> u64 {
    let seed = std::env::var("PHYLLO_TEST_SEED");
    let seed = seed.map_or(1, |seed| {
        seed.parse().expect("PHYLLO_TEST_SEED is a number")
    });
    println!("PHYLLO_TEST_SEED={seed} repeats this test");
    seed
}
