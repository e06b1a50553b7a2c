//! The GraphQL interface without HTTP: results, cost in the store, and errors.
#![expect(
    clippy::needless_raw_string_hashes,
    clippy::format_collect,
    reason = "texts in a table are written alike, and the long ones are few"
)]

#[macro_use]
#[path = "../cases/mod.rs"]
mod cases;
#[path = "../checked/mod.rs"]
mod checked;

use checked::empty_store;

mod abandoned;
mod aggregating;
mod amplification;
mod appending;
mod bindings;
mod bounds;
mod branches;
mod bulk;
mod category_costs;
mod changing;
mod checking;
mod children;
mod concurrency;
mod copying;
mod counting;
mod covering;
mod deletions;
mod dropping;
mod entities;
mod errors;
mod every_field;
mod exactness;
mod extensions;
mod finding;
mod follow;
mod following;
mod formats;
mod from_end;
mod hints;
mod id_from;
mod if_absent;
mod index_progress;
mod indexing;
mod indexing_large;
#[path = "../store_conformance/injected.rs"]
mod injected;

mod inverses;
mod lengths;
mod levels;
mod log_size;
#[path = "../model/mod.rs"]
mod model;
mod names;
mod nodes;
mod one_budget;
mod operations;
mod parents;
mod partial;
mod patching;
mod path_ranges;
mod plans;
mod projecting;
mod random_aggregates;
mod random_changes;
mod random_queries;
mod random_store;
mod random_updates;
mod reading;
mod references;
mod references_concurrency;
mod references_model;
mod replica;
mod required_references;
mod results_without_memory;
mod rights;
mod scan_limits;
mod schema;
#[path = "../seed/mod.rs"]
mod seed;
mod selecting;
mod selecting_ranges;
#[path = "../skip/mod.rs"]
mod skip;
mod snapshot;
mod sorting;
mod suites;
mod support;
mod taking;
mod timeouts;
mod totals;
mod typed;
mod typed_limits;
mod typed_live;
mod typed_pages;
mod typed_writes;
mod types;
mod types_checks;
mod types_model;
mod unique_values;
mod unknown_commits;
mod updating;
mod updating_one;
mod variables;
mod versions;
mod write_list;
mod writing;

/// Random sequences of changes, and random databases that are queried.
fn sequences() -> u32 {
    skip::rounds(20, 200)
}

/// How many stores a case may have at the same time.
fn stores_at_once() -> usize {
    16
}
