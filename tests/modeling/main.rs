//! The models of docs/data-modeling.md, over HTTP.

#[macro_use]
#[path = "../cases/mod.rs"]
mod cases;
#[path = "../checked/mod.rs"]
mod checked;

use checked::empty_store;

mod counter;
mod linked_list;
mod multimap;
mod page;
#[path = "../pages/mod.rs"]
mod pages;
mod reference;
