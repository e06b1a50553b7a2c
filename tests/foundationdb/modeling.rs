//! The models of docs/data-modeling.md, on a cluster.

use super::case::Case;
use super::shared::empty_store;

#[path = "../modeling/counter.rs"]
mod counter;
#[path = "../modeling/linked_list.rs"]
mod linked_list;
#[path = "../modeling/multimap.rs"]
mod multimap;
#[path = "../modeling/page.rs"]
mod page;

pub(crate) fn suite() -> Vec<Case> {
    [
        counter::suite(),
        linked_list::suite(),
        multimap::suite(),
        page::suite(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
