//! Finds the documents that refer to one, through an index on their keys.

use super::document_pages::FoundPage;
use super::finder::Finder;
use crate::document::filter::{Condition, Filter, Test};
use crate::document::id::DocumentId;
use crate::document::tree::Tree;
use crate::error::Result;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::arguments::PageArguments;
use crate::graphql::execute::planned::binding::bound::Lookup;
use crate::graphql::execute::planned::permit::apply_rules::without_advice;
use crate::graphql::prepare::plan::InverseSelection;

/// The page of the documents that refer to the one with this id.
///
/// # Errors
/// As [`PageQuery::search`](crate::graphql::arguments::documents_request::PageQuery::search).
pub(super) async fn find_referring(
    finder: &Finder<'_>,
    (number, lookup): (usize, &Lookup<'_>),
    selected: &InverseSelection,
    id: &DocumentId,
) -> Result<FoundPage> {
    let request_budget = finder.request_budget;
    let query = if let Some(permit) = finder.permit {
        permit.page(number).ok_or_else(mismatch)?.clone()
    } else {
        let page = PageArguments::Typed(&selected.page);
        let request = finder.arguments.page(page)?;
        request.query(request_budget, lookup.total).await?
    };
    let query = query.within(refers_to(selected, id));
    let found = query
        .search(finder.read()?, request_budget)
        .await
        .map_err(|error| match finder.permit {
            Some(_) => without_advice(error),
            None => error,
        })?;
    FoundPage::new(found, finder.elements(lookup)?, request_budget)
}

/// Whether a document has this key where references have theirs.
fn refers_to(selected: &InverseSelection, id: &DocumentId) -> Filter {
    let Some(key) = selected.inverse.keys.key_of(id) else {
        return Filter::Any(Vec::new());
    };
    Filter::Where(Condition {
        at: selected.inverse.selected.clone(),
        tests: vec![Test::Equal(Tree::Leaf(key))].into(),
    })
}
