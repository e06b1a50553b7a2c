//! What lookups are made from.

use std::sync::{Arc, OnceLock};

use crate::database::DocumentKey;
use crate::document::path::{Path, Place};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::mismatch;
use crate::graphql::execute::planned::binding::arguments::PlanArguments;
use crate::graphql::execute::planned::binding::bound::{Bound, Lookup, Scope};
use crate::graphql::variables::coerced::Coerced;
use crate::store::Read;

/// Who makes the lookups, and from what.
pub(crate) struct Finder<'a> {
    pub(crate) bound: &'a Bound<'a>,
    pub(crate) arguments: PlanArguments<'a>,
    pub(crate) read: &'a dyn Read,
    pub(crate) request_budget: &'a RequestBudget,
    /// The documents that are bound, as what is found shares them. Empty until it does.
    documents: Vec<OnceLock<Arc<DocumentKey>>>,
}

/// Where a value is.
pub(crate) struct ValuePlace {
    pub(crate) place: Place,
    /// The path from the root of the document.
    pub(crate) path: Path,
}

impl<'a> Finder<'a> {
    pub(crate) fn new(
        bound: &'a Bound<'a>,
        variables: &'a Coerced,
        read: &'a dyn Read,
        request_budget: &'a RequestBudget,
    ) -> Self {
        Self {
            bound,
            arguments: PlanArguments(variables),
            read,
            request_budget,
            documents: bound.documents.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The document with this number, which all that is found in it shares.
    pub(crate) fn document(&self, number: usize) -> &Arc<DocumentKey> {
        let document = &self.bound.documents[number];
        self.documents[number].get_or_init(|| Arc::new(DocumentKey::clone(document)))
    }

    /// The scope of the elements of a lookup.
    pub(crate) fn elements(&self, lookup: &Lookup<'_>) -> Result<&'a Scope<'a>> {
        let scope = lookup.elements.ok_or_else(mismatch)?;
        Ok(&self.bound.scopes[scope])
    }
}
