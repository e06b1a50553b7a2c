//! What lookups are made from.

use std::sync::{Arc, OnceLock};

use super::list_loader::ListLoader;
use crate::database::DocumentKey;
use crate::document::path::{Path, Place};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::arguments::PlanArguments;
use crate::graphql::execute::planned::binding::bound::{Bound, Lookup, Scope};
use crate::graphql::execute::planned::given::Given;
use crate::graphql::execute::planned::permit::apply_rules::Permit;
use crate::graphql::execute::planned::permit::hidden_documents::HiddenDocuments;
use crate::graphql::variables::coerced::Coerced;
use crate::store::Read;

/// Who makes the lookups, and from what.
pub(crate) struct Finder<'a> {
    pub(crate) bound: &'a Bound<'a>,
    pub(crate) arguments: PlanArguments<'a>,
    /// None if nothing is read.
    loader: Option<ListLoader>,
    pub(crate) request_budget: &'a RequestBudget,
    /// What the selection is of, if not of the root of a query.
    pub(crate) given: Option<Given<'a>>,
    /// What the rules allow. None if there are no rules.
    pub(crate) permit: Option<&'a Permit<'a>>,
    pub(crate) hidden: &'a HiddenDocuments,
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
        read: Option<&Arc<dyn Read>>,
        request_budget: &'a Arc<RequestBudget>,
        given: Option<Given<'a>>,
        permit: (Option<&'a Permit<'a>>, &'a HiddenDocuments),
    ) -> Self {
        Self {
            bound,
            arguments: PlanArguments(variables),
            loader: read.map(|read| ListLoader {
                read: read.clone(),
                request_budget: request_budget.clone(),
            }),
            request_budget,
            given,
            permit: permit.0,
            hidden: permit.1,
            documents: bound.documents.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// The snapshot or transaction.
    pub(crate) fn read(&self) -> Result<&dyn Read> {
        self.loader().map(|loader| &*loader.read)
    }

    /// The loader of lists.
    pub(crate) fn loader(&self) -> Result<&ListLoader> {
        self.loader.as_ref().ok_or_else(mismatch)
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
