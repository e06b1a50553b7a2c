//! The way from lists and strings to ranges: a loader of pages of children and of lengths. The keys of a
//! round are loaded together, and equal keys once.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::dataloader::Loader;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt as _};

use crate::budget::OwnedList;
use crate::database::{
    self, Answer, Child, Children, ChildrenPage, DocumentKey, Extent, ReadRequest, load,
};
use crate::document::path::{Path, Place};
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::{RequestBudget, mismatch};
use crate::limits::PAGES_AT_ONCE;
use crate::store::Read;

/// What is read below a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListKey {
    pub(crate) document: Arc<DocumentKey>,
    pub(crate) place: Place,
    pub(crate) of: ListPart,
}

/// What is read of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ListPart {
    Children(ChildrenPage),
    /// The number of members of an object.
    Members,
    /// The number of characters of a string.
    Characters,
}

/// What a key has.
#[derive(Clone)]
pub(crate) enum LoadedList {
    /// The children of a page, and whether there are more.
    Children(Arc<OwnedList<Child>>, bool),
    /// None for values that have none.
    Length(Option<u64>),
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
            of,
        } = key;
        self.request_budget.check()?;
        let budget = self.request_budget.budget();
        let memory = &self.request_budget.memory;
        let page = match of {
            ListPart::Children(page) => page,
            ListPart::Members => {
                let members = database::length(&*self.read, document, place, budget).await?;
                return Ok(LoadedList::Length(Some(members)));
            }
            ListPart::Characters => {
                let path = Path::from(place);
                let text = ReadRequest::Value(document.clone(), path, Extent::Whole);
                let text = load(&*self.read, &[&text], memory).await.pop();
                let Answer::Value(Some(text)) = text.ok_or_else(mismatch)?? else {
                    return Err(mismatch());
                };
                let length = budget.compute(|steps| text.characters(steps)).await?;
                return Ok(LoadedList::Length(length));
            }
        };
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
