//! The category hierarchy of docs/category-hierarchy.md, over HTTP: the page, and consistent reads
//! during concurrent changes.

#[macro_use]
#[path = "../cases/mod.rs"]
mod cases;

use cases::empty_store;

mod concurrent_readers;
mod page;
#[path = "../pages/mod.rs"]
mod pages;
mod partial_changes;
mod tree;
