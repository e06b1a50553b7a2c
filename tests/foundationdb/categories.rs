//! The category hierarchy, on a cluster.

use super::case::Case;
use super::shared::empty_store;

#[path = "../categories/concurrent_readers.rs"]
mod concurrent_readers;
#[path = "../categories/page.rs"]
mod page;
#[path = "../categories/partial_changes.rs"]
mod partial_changes;
#[path = "../categories/random_changes.rs"]
mod random_changes;
#[path = "../categories/references_page.rs"]
mod references_page;
#[path = "../categories/tree.rs"]
mod tree;

pub(crate) fn suite() -> Vec<Case> {
    [
        partial_changes::suite(),
        concurrent_readers::suite(),
        page::suite(),
        random_changes::suite(),
        references_page::suite(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
