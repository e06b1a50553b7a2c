//! The suite of the GraphQL interface, on a cluster.
#![expect(
    clippy::needless_raw_string_hashes,
    clippy::format_collect,
    reason = "as the suite has it"
)]

use super::case::Case;
use super::shared::empty_store;

#[path = "../graphql/abandoned.rs"]
mod abandoned;
#[path = "../graphql/aggregating.rs"]
mod aggregating;
#[path = "../graphql/amplification.rs"]
mod amplification;
#[path = "../graphql/appending.rs"]
mod appending;
#[path = "../graphql/bindings.rs"]
mod bindings;
#[path = "../graphql/bounds.rs"]
mod bounds;
#[path = "../graphql/branches.rs"]
mod branches;
#[path = "../graphql/bulk.rs"]
mod bulk;
#[path = "../graphql/changing.rs"]
mod changing;
#[path = "../graphql/checking.rs"]
mod checking;
#[path = "../graphql/children.rs"]
mod children;
#[path = "../graphql/concurrency.rs"]
mod concurrency;
#[path = "../graphql/copying.rs"]
mod copying;
#[path = "../graphql/counting.rs"]
mod counting;
#[path = "../graphql/covering.rs"]
mod covering;
#[path = "../graphql/deletions.rs"]
mod deletions;
#[path = "../graphql/dropping.rs"]
mod dropping;
#[path = "../graphql/entities.rs"]
mod entities;
#[path = "../graphql/errors.rs"]
mod errors;
#[path = "../graphql/exactness.rs"]
mod exactness;
#[path = "../graphql/extensions.rs"]
mod extensions;
#[path = "../graphql/finding.rs"]
mod finding;
#[path = "../graphql/follow.rs"]
mod follow;
#[path = "../graphql/following.rs"]
mod following;
#[path = "../graphql/formats.rs"]
mod formats;
#[path = "../graphql/from_end.rs"]
mod from_end;
#[path = "../graphql/id_from.rs"]
mod id_from;
#[path = "../graphql/if_absent.rs"]
mod if_absent;
#[path = "../graphql/index_progress.rs"]
mod index_progress;
#[path = "../graphql/indexing.rs"]
mod indexing;
#[path = "../graphql/indexing_large.rs"]
mod indexing_large;
#[path = "../graphql/inverses.rs"]
mod inverses;
#[path = "../graphql/lengths.rs"]
mod lengths;
#[path = "../graphql/levels.rs"]
mod levels;
#[path = "../graphql/log_size.rs"]
mod log_size;
#[path = "../graphql/names.rs"]
mod names;
#[path = "../graphql/nodes.rs"]
mod nodes;
#[path = "../graphql/operations.rs"]
mod operations;
#[path = "../graphql/parents.rs"]
mod parents;
#[path = "../graphql/partial.rs"]
mod partial;
#[path = "../graphql/patching.rs"]
mod patching;
#[path = "../graphql/path_ranges.rs"]
mod path_ranges;
#[path = "../graphql/plans.rs"]
mod plans;
#[path = "../graphql/projecting.rs"]
mod projecting;
#[path = "../graphql/random_aggregates.rs"]
mod random_aggregates;
#[path = "../graphql/random_changes/mod.rs"]
mod random_changes;
#[path = "../graphql/random_queries.rs"]
mod random_queries;
#[path = "../graphql/random_store.rs"]
mod random_store;
#[path = "../graphql/random_updates.rs"]
mod random_updates;
#[path = "../graphql/reading.rs"]
mod reading;
#[path = "../graphql/references.rs"]
mod references;
#[path = "../graphql/references_concurrency.rs"]
mod references_concurrency;
#[path = "../graphql/references_model.rs"]
mod references_model;
#[path = "../graphql/replica.rs"]
mod replica;
#[path = "../graphql/required_references.rs"]
mod required_references;
#[path = "../graphql/rights/mod.rs"]
mod rights;
#[path = "../graphql/scan_limits.rs"]
mod scan_limits;
#[path = "../graphql/selecting.rs"]
mod selecting;
#[path = "../graphql/selecting_ranges.rs"]
mod selecting_ranges;
#[path = "../graphql/snapshot.rs"]
mod snapshot;
#[path = "../graphql/suites.rs"]
mod suites;
#[path = "../graphql/support.rs"]
pub(crate) mod support;
#[path = "../graphql/taking.rs"]
mod taking;
#[path = "../graphql/timeouts.rs"]
mod timeouts;
#[path = "../graphql/totals.rs"]
mod totals;
#[path = "../graphql/typed.rs"]
mod typed;
#[path = "../graphql/typed_live.rs"]
mod typed_live;
#[path = "../graphql/typed_pages.rs"]
mod typed_pages;
#[path = "../graphql/typed_writes.rs"]
mod typed_writes;
#[path = "../graphql/types.rs"]
mod types;
#[path = "../graphql/types_checks.rs"]
mod types_checks;
#[path = "../graphql/types_model.rs"]
mod types_model;
#[path = "../graphql/unique_values.rs"]
mod unique_values;
#[path = "../graphql/unknown_commits.rs"]
mod unknown_commits;
#[path = "../graphql/updating.rs"]
mod updating;
#[path = "../graphql/updating_one.rs"]
mod updating_one;
#[path = "../graphql/variables.rs"]
mod variables;
#[path = "../graphql/versions.rs"]
mod versions;
#[path = "../graphql/write_list.rs"]
mod write_list;
#[path = "../graphql/writing.rs"]
mod writing;

/// Random sequences of changes, and random databases that are queried: few, as a cluster is slower.
fn sequences() -> u32 {
    30
}

/// How many stores a case may have at the same time. The cluster has one.
fn stores_at_once() -> usize {
    1
}

pub(crate) fn suite() -> Vec<Case> {
    [
        abandoned::suite(),
        aggregating::suite(),
        amplification::suite(),
        appending::suite(),
        bounds::suite(),
        bulk::suite(),
        changing::suite(),
        checking::suite(),
        children::suite(),
        concurrency::suite(),
        copying::suite(),
        counting::suite(),
        covering::suite(),
        deletions::suite(),
        bindings::suite(),
        branches::suite(),
        dropping::suite(),
        entities::suite(),
        errors::suite(),
        exactness::suite(),
        extensions::suite(),
        finding::suite(),
        follow::suite(),
        following::suite(),
        formats::suite(),
        from_end::suite(),
        id_from::suite(),
        if_absent::suite(),
        indexing::suite(),
        index_progress::suite(),
        indexing_large::suite(),
        inverses::suite(),
        lengths::suite(),
        levels::suite(),
        log_size::suite(),
        names::suite(),
        nodes::suite(),
        operations::suite(),
        parents::suite(),
        partial::suite(),
        patching::suite(),
        path_ranges::suite(),
        plans::suite(),
        projecting::suite(),
        random_aggregates::suite(),
        random_changes::suite(),
        random_queries::suite(),
        random_updates::suite(),
        reading::suite(),
        references::suite(),
        references_concurrency::suite(),
        references_model::suite(),
        required_references::suite(),
        rights::suite(),
        scan_limits::suite(),
        selecting::suite(),
        selecting_ranges::suite(),
        snapshot::suite(),
        suites::suite(),
        taking::suite(),
        timeouts::suite(),
        totals::suite(),
        typed::suite(),
        typed_live::suite(),
        typed_pages::suite(),
        typed_writes::suite(),
        types::suite(),
        types_checks::suite(),
        types_model::suite(),
        unique_values::suite(),
        unknown_commits::suite(),
        updating::suite(),
        updating_one::suite(),
        variables::suite(),
        versions::suite(),
        write_list::suite(),
        writing::suite(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
