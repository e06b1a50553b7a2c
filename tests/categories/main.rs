//! The category hierarchy of docs/category-hierarchy.md, over HTTP: the page, consistent reads
//! during concurrent changes, and random changes compared with a model.

#[macro_use]
#[path = "../cases/mod.rs"]
mod cases;
#[path = "../checked/mod.rs"]
mod checked;

use checked::empty_store;

mod concurrent_readers;
mod page;
#[path = "../pages/mod.rs"]
mod pages;
mod partial_changes;
mod random_changes;
mod references_page;
#[path = "../seed/mod.rs"]
mod seed;
mod tree;
