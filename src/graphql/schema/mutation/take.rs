//! The mutation that takes documents from a queue.

use async_graphql::{Context, Object};

use super::deletion::DocumentDeletion;
use crate::budget::pause;
use crate::database::{delete, first_documents};
use crate::document::path::Path;
use crate::error::{Error, Limit, Result};
use crate::graphql::context::session::Session;
use crate::graphql::objects::filter::{KeyFilterInput, read_keys};
use crate::limits::TAKEN_DOCUMENTS_MAX;

#[derive(Default)]
pub(crate) struct QueueMutations;

#[Object]
impl QueueMutations {
    /// Removes the first documents of a collection, or of those with `keys`, in the order of their keys (strings, then integers, then versionstamps), and returns them. Returns fewer than `first` if there are fewer. Two operations never take the same document. Send an `Idempotency-Key` to get the same documents again if the response is lost. Documents that other programs stored and that were not adopted are not taken.
    async fn take_documents(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(
            default = 1,
            desc = "The maximum number of documents to take, from 1 to 1,000."
        )]
        first: i32,
        #[graphql(desc = "The keys that documents must have; by default every key.")] keys: Option<
            KeyFilterInput,
        >,
    ) -> Result<Vec<DocumentDeletion>> {
        let count = document_count(first)?;
        let session = Session::of(context);
        session.request_budget().check()?;
        let keys = read_keys(&collection, keys, session.request_budget()).await?;
        let (transaction, budget) = (session.transaction()?, session.budget());
        let documents = first_documents(transaction, budget, &collection, &keys, count).await?;
        let whole = Path::root();
        let before = DocumentDeletion::before(context, &documents, whole).await?;
        let mut taken = Vec::with_capacity(documents.len());
        for (document, before) in documents.into_iter().zip(before) {
            session.expect_version(&document, None).await?;
            delete(transaction, budget, &document, whole).await?;
            session.wrote(context, [document.clone()]);
            let deletion = DocumentDeletion::new(document, whole.clone(), true, before);
            taken.push(deletion);
            // An engine may complete every call without waiting, so yield explicitly.
            pause().await;
            budget.check()?;
        }
        Ok(taken)
    }
}

fn document_count(first: i32) -> Result<usize> {
    let count = usize::try_from(first).ok();
    let count = count.filter(|count| (1..=TAKEN_DOCUMENTS_MAX).contains(count));
    count.ok_or_else(|| {
        Error::bad_input(format!(
            "`first` is {first}; one operation takes from 1 to {TAKEN_DOCUMENTS_MAX} documents"
        ))
        .with_limit(Limit::new("takenDocuments", TAKEN_DOCUMENTS_MAX))
    })
}
