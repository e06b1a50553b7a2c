//! Makes the lookups of a bound plan, and holds what they found.

pub(super) mod children;
pub(super) mod element;
pub(super) mod finder;
pub(super) mod found;
pub(super) mod lists;
pub(super) mod page;
pub(super) mod rounds;
mod selected;
