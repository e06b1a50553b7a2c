//! The way from lists to ranges: a loader of pages of children and of lengths. The keys of a round are
//! loaded together, and equal keys once.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _};

use crate::budget::OwnedList;
use crate::database::{self, Child, Children, ChildrenPage, DocumentKey};
use crate::document::path::Place;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::limits::PAGES_AT_ONCE;
use crate::store::Read;

/// What is read below a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListKey {
    pub(crate) document: Arc<DocumentKey>,
    pub(crate) place: Place,
    /// The page of children; none for the number of members.
    pub(crate) page: Option<ChildrenPage>,
}

/// What a key has.
#[derive(Clone)]
pub(crate) enum LoadedList {
    /// The children of a page, and whether there are more.
    Children(Arc<OwnedList<Child>>, bool),
    Members(u64),
}

/// Loads lists from one snapshot or transaction.
pub(crate) struct ListLoader {
    pub(crate) read: Arc<dyn Read>,
    pub(crate) request_budget: Arc<RequestBudget>,
}

impl ListLoader {
    async fn list(&self, key: &ListKey) -> Result<LoadedList> {
        let ListKey {
            document,
            place,
            page,
        } = key;
        self.request_budget.check()?;
        let Some(page) = page else {
            let budget = self.request_budget.budget();
            let members = database::length(&*self.read, document, place, budget);
            return Ok(LoadedList::Members(members.await?));
        };
        let memory = &self.request_budget.memory;
        let found = database::children(&*self.read, document, place, page, memory);
        let Children { page, more } = found.await?;
        Ok(LoadedList::Children(page.into(), more))
    }
}

impl Loader<ListKey> for ListLoader {
    type Value = Result<LoadedList>;
    type Error = Error;

    /// Each key has a result of its own. Several are read at a time. The next one begins when another has
    /// ended, so that no more than these take memory for what they do.
    async fn load(&self, keys: &[ListKey]) -> Result<HashMap<ListKey, Result<LoadedList>>> {
        let mut lists: Vec<BoxFuture<'_, (ListKey, Result<LoadedList>)>> = Vec::new();
        for key in keys {
            lists.push(Box::pin(async move { (key.clone(), self.list(key).await) }));
        }
        let lists = stream::iter(lists).buffer_unordered(PAGES_AT_ONCE);
        Ok(lists.collect().await)
    }
}
