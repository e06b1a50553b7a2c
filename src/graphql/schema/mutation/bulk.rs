//! The mutations that change every document that matches a filter.

use std::sync::Arc;

use async_graphql::{Context, Object, SimpleObject};

use super::updates::{
    AppendInput, IncrementInput, MergeInput, RemoveInput, SetInput, UpdateLists, UpdateResult,
};
use crate::database::query::KeySet;
use crate::database::{Bulk, DocumentKey, Update, bulk, bulk_documents};
use crate::document::filter;
use crate::error::{Error, Result};
use crate::graphql::context::session::Session;
use crate::graphql::objects::filter::{FilterInput, KeyFilterInput, read_documents};
use crate::graphql::scalars::types::JsonPath;

/// The result of `updateDocuments` or `deleteDocuments`.
#[derive(SimpleObject)]
#[graphql(name = "DocumentBulkResult")]
pub(crate) struct BulkResult {
    /// The number of documents that match the filter.
    matched: usize,
    /// The number of matching documents that were changed or removed.
    changed: usize,
    /// The number of matching documents that were not changed.
    unchanged: usize,
    /// One entry for each element of the operator lists of `updateDocuments`, in the order in which they were applied. Empty for `deleteDocuments`.
    updates: Vec<UpdateResult>,
}

#[derive(Default)]
pub(crate) struct BulkMutations;

#[Object]
impl BulkMutations {
    /// Changes every document that matches `where`, at the places that JSONPaths select in it, for example `$.ancestors[?@._id == 'x'].name`. First come all elements of `set`, then `unset`, `increment`, `remove`, `append` and `merge`; within a list the order is that of the list. Each element applies to the result of the elements before it; at least one is required. A value `from` a place is read once, before the field changes anything. If one selected place is inside another, only the outer one is changed. `set`, `increment`, `append` and `merge` create the value at a missing place if the path consists of names and indexes alone and the place is a new member of an existing object, or the next element of an existing array. Like `deleteDocuments`, rejects a filter that is always true unless `everything` is true, and changes that exceed one transaction.
    #[expect(clippy::too_many_arguments, reason = "they are the field's")]
    async fn update_documents(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(name = "where", desc = "The filter that documents must match.")]
        filter: FilterInput,
        #[graphql(desc = "The keys that documents must have; by default every key.")] keys: Option<
            KeyFilterInput,
        >,
        #[graphql(desc = "Values to store.")] set: Option<Vec<SetInput>>,
        #[graphql(
            desc = "Paths whose values are removed. The later elements of an array move up. It cannot select the whole document."
        )]
        unset: Option<Vec<JsonPath>>,
        #[graphql(desc = "Numbers to add. A created value is the number itself.")]
        increment: Option<Vec<IncrementInput>>,
        #[graphql(
            desc = "Values to remove from arrays. Numbers are compared by value, objects and arrays as a whole. The later elements of an array move up."
        )]
        remove: Option<Vec<RemoveInput>>,
        #[graphql(
            desc = "Values to add at the end of arrays. A created value is an array of them."
        )]
        append: Option<Vec<AppendInput>>,
        #[graphql(desc = "JSON Merge Patches to apply.")] merge: Option<Vec<MergeInput>>,
        #[graphql(
            default = false,
            desc = "Whether to accept a filter that is always true, such as an empty one, without `keys`."
        )]
        everything: bool,
    ) -> Result<BulkResult> {
        let selected = selected(context, &collection, filter, keys, everything).await?;
        let lists = UpdateLists {
            set,
            unset,
            increment,
            remove,
            append,
            merge,
        };
        let memory = Session::of(context).budget().reserve();
        let updates = lists.read(context, &memory).await?;
        change(context, &collection, &selected, &Bulk::Update(updates)).await
    }

    /// Removes every document that matches `where`.
    async fn delete_documents(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(name = "where", desc = "The filter that documents must match.")]
        filter: FilterInput,
        #[graphql(desc = "The keys that documents must have; by default every key.")] keys: Option<
            KeyFilterInput,
        >,
        #[graphql(
            default = false,
            desc = "Whether to accept a filter that is always true, such as an empty one, without `keys`."
        )]
        everything: bool,
    ) -> Result<BulkResult> {
        let selected = selected(context, &collection, filter, keys, everything).await?;
        change(context, &collection, &selected, &Bulk::Delete).await
    }
}

/// The filter and the keys of the documents to change.
async fn selected(
    context: &Context<'_>,
    collection: &str,
    filter: FilterInput,
    keys: Option<KeyFilterInput>,
    everything: bool,
) -> Result<(filter::Filter, KeySet)> {
    let request_budget = Session::of(context).request_budget();
    let (filter, keys) = read_documents(collection, Some(filter), keys, request_budget).await?;
    if everything || !keys.is_all() {
        return Ok((filter, keys));
    }
    let budget = request_budget.budget();
    if budget.compute(|steps| filter.is_always_true(steps)).await? {
        let what = if filter.is_empty() {
            "the filter is empty, so every document matches it"
        } else {
            "the filter is always true, so every document matches it"
        };
        return Err(Error::bad_input(format!(
            "{what}: give `everything: true` to confirm"
        )));
    }
    Ok((filter, keys))
}

async fn change(
    context: &Context<'_>,
    collection: &str,
    (filter, keys): &(filter::Filter, KeySet),
    change: &Bulk,
) -> Result<BulkResult> {
    let session = Session::of(context);
    let transaction = session.transaction()?;
    let documents: Vec<Arc<DocumentKey>> =
        bulk_documents(transaction, session.budget(), collection, (filter, keys)).await?;
    for document in &documents {
        session.expect_version(document, None).await?;
    }
    let changes = bulk(
        transaction,
        session.budget(),
        documents,
        change,
        session.bytes_max(),
    )
    .await?;
    let updates: &[Update] = match change {
        Bulk::Update(updates) => updates,
        Bulk::Delete => &[],
    };
    let updates = updates.iter().zip(changes.places);
    let result = BulkResult {
        matched: changes.matched,
        changed: changes.changed.len(),
        unchanged: changes.matched - changes.changed.len(),
        updates: updates
            .map(|(update, places)| UpdateResult::new(update, places))
            .collect(),
    };
    session.wrote(context, changes.changed);
    Ok(result)
}
