//! Portions of a collection, for work that processes all documents in many transactions.

use super::matcher::Matcher;
use super::search::Search;
use crate::budget::Budget;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::limits::SORTED_IDS_MAX;
use crate::store::Read;

/// Some documents of a collection, in the order of their ids.
#[derive(Clone, Debug)]
pub struct Portion {
    /// The examined ids, and whether each document matches.
    pub documents: Vec<(DocumentId, bool)>,
    /// Whether more documents may follow.
    pub more: bool,
}

/// The documents after `after` that the best index, or else the catalog, yields, at most
/// `documents_max`, and whether each one matches.
///
/// # Errors
/// `INTERNAL`: a document is damaged. Errors of the store.
pub async fn portion(
    read: &dyn Read,
    budget: &Budget,
    collection: &str,
    filter: &Filter,
    after: Option<&DocumentId>,
    documents_max: usize,
) -> Result<Portion> {
    let search = Search::new(read, budget, collection, filter, usize::MAX, String::new());
    let indexes = search.indexes(false).await?;
    let plan = search.plan(&indexes).await?;
    let source = search.source(documents_max, false, after);
    let mut chosen = search.choose(&plan, source, SORTED_IDS_MAX).await?;
    let memory = budget.share();
    let ids = chosen.ids.next(documents_max, false, (budget, &memory));
    let ids = ids.await?;
    let mut matcher = Matcher::new(read, budget, collection, chosen.filter, None);
    matcher.in_a_row = chosen.index.is_none();
    let passed = matcher.at(&ids).await?;
    Ok(Portion {
        more: ids.len() == documents_max,
        documents: ids
            .into_iter()
            .zip(passed.iter().map(Option::is_some))
            .collect(),
    })
}
