//! Makes the lookups of a bound plan, and holds what they found.

pub(super) mod children;
pub(super) mod document_pages;
pub(super) mod element;
mod entry_reads;
pub(super) mod finder;
pub(super) mod followed;
pub(super) mod found;
pub(super) mod list_loader;
mod read_elements;
mod referring;
pub(super) mod rounds;
mod selected;
