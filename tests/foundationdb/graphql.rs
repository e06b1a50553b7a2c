//! The suite of the GraphQL interface, on a cluster.
#![expect(
    clippy::needless_raw_string_hashes,
    clippy::format_collect,
    reason = "as the suite has it"
)]

use super::case::Case;
use super::shared::empty_store;

#[path = "../graphql/bounds.rs"]
mod bounds;
#[path = "../graphql/changing.rs"]
mod changing;
#[path = "../graphql/children.rs"]
mod children;
#[path = "../graphql/concurrency.rs"]
mod concurrency;
#[path = "../graphql/counting.rs"]
mod counting;
#[path = "../graphql/entities.rs"]
mod entities;
#[path = "../graphql/errors.rs"]
mod errors;
#[path = "../graphql/exactness.rs"]
mod exactness;
#[path = "../graphql/model/mod.rs"]
mod model;
#[path = "../graphql/operations.rs"]
mod operations;
#[path = "../graphql/patching.rs"]
mod patching;
#[path = "../graphql/reading.rs"]
mod reading;
#[path = "../graphql/snapshot.rs"]
mod snapshot;
#[path = "../graphql/suites.rs"]
mod suites;
#[path = "../graphql/support.rs"]
pub(crate) mod support;
#[path = "../graphql/variables.rs"]
mod variables;
#[path = "../graphql/versions.rs"]
mod versions;
#[path = "../graphql/writing.rs"]
mod writing;

/// Random sequences of changes: a cluster takes its time.
const SEQUENCES: u32 = 30;

pub(crate) fn suite() -> Vec<Case> {
    [
        bounds::suite(),
        changing::suite(),
        children::suite(),
        concurrency::suite(),
        counting::suite(),
        entities::suite(),
        errors::suite(),
        exactness::suite(),
        model::suite(),
        operations::suite(),
        patching::suite(),
        reading::suite(),
        snapshot::suite(),
        suites::suite(),
        variables::suite(),
        versions::suite(),
        writing::suite(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
