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
#[path = "../graphql/counting.rs"]
mod counting;
#[path = "../graphql/entities.rs"]
mod entities;
#[path = "../graphql/errors.rs"]
mod errors;
#[path = "../graphql/exactness.rs"]
mod exactness;
#[path = "../graphql/operations.rs"]
mod operations;
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
#[path = "../graphql/writing.rs"]
mod writing;

pub(crate) fn suite() -> Vec<Case> {
    [
        bounds::suite(),
        changing::suite(),
        children::suite(),
        counting::suite(),
        entities::suite(),
        errors::suite(),
        exactness::suite(),
        operations::suite(),
        reading::suite(),
        snapshot::suite(),
        suites::suite(),
        variables::suite(),
        writing::suite(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
