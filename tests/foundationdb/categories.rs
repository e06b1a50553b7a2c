//! The category hierarchy, on a cluster.

use super::case::Case;
use super::shared::empty_store;

#[path = "../categories/halfway.rs"]
mod halfway;
#[path = "../categories/meanwhile.rs"]
mod meanwhile;
#[path = "../categories/page.rs"]
mod page;
#[path = "../categories/tree.rs"]
mod tree;

pub(crate) fn suite() -> Vec<Case> {
    [halfway::suite(), meanwhile::suite(), page::suite()]
        .into_iter()
        .flatten()
        .collect()
}
