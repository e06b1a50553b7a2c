//! What lookups are made from.

use crate::document::path::{Path, Place};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::mismatch;
use crate::graphql::execute::planned::binding::arguments::PlanArguments;
use crate::graphql::execute::planned::binding::bound::{Bound, Lookup, Scope};
use crate::store::Read;

/// Who makes the lookups, and from what.
pub(crate) struct Finder<'a> {
    pub(crate) bound: &'a Bound<'a>,
    pub(crate) arguments: PlanArguments<'a>,
    pub(crate) read: &'a dyn Read,
    pub(crate) request_budget: &'a RequestBudget,
}

/// Where a value is.
pub(crate) struct ValuePlace {
    pub(crate) place: Place,
    /// The path from the root of the document.
    pub(crate) path: Path,
}

impl<'a> Finder<'a> {
    /// The scope of the elements of a lookup.
    pub(crate) fn elements(&self, lookup: &Lookup<'_>) -> Result<&'a Scope<'a>> {
        let scope = lookup.elements.ok_or_else(mismatch)?;
        Ok(&self.bound.scopes[scope])
    }
}
