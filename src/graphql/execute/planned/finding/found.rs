//! What the lookups of a plan found.

use std::sync::Arc;

use super::children::FoundChildren;
use super::document_pages::FoundPage;
use super::followed::FollowedDocuments;
use crate::database::{self, DocumentKey, QuerySelection, query};
use crate::error::Result;
use crate::graphql::execute::planned::binding::bound::{Bound, ROOT};
use crate::graphql::execute::planned::given::{Given, Outcome, UpdateResult};

/// What one lookup found for one element of its scope.
pub(crate) struct Instance<'a> {
    /// The element for which the lookup was made: its instance, and its number there.
    pub(crate) around: (usize, usize),
    /// The number of the lookup. None for the root, which has one element.
    pub(crate) lookup: Option<usize>,
    pub(crate) found: Result<Found<'a>>,
    /// For each lookup of the elements' scope, the number of the instance for the first element. Those
    /// of the other elements follow.
    pub(crate) lookups: Vec<usize>,
}

pub(crate) enum Found<'a> {
    Root,
    Page(&'a FoundPage),
    /// A page of the documents that refer to one.
    Referring(Box<FoundPage>),
    Selected(QuerySelection),
    Children(FoundChildren),
    Followed(FollowedDocuments),
    Length(Option<u64>),
    Groups(query::Aggregation),
    Text(Option<String>),
    Collections(Vec<database::Collection>),
    Indexes(Vec<database::StoredIndex>),
    Type(Option<Box<database::StoredType>>),
    Misfits(Vec<database::Misfit>),
    /// What the selection is of.
    Given(Given<'a>),
    Updates(&'a [UpdateResult]),
    Json(Option<Vec<u8>>),
    /// Nothing is stored at the place whose lookup this is.
    Nothing,
}

impl Found<'_> {
    /// The documents that are the elements.
    pub(crate) fn documents(&self) -> Option<&[Arc<DocumentKey>]> {
        match self {
            Self::Page(page) => Some(&page.documents),
            Self::Referring(page) => Some(&page.documents),
            Self::Followed(found) => Some(&found.documents),
            _ => None,
        }
    }

    /// The number of elements.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Page(page) => page.documents.len(),
            Self::Referring(page) => page.documents.len(),
            Self::Selected(selection) => selection.nodes().len(),
            Self::Children(found) => found.page.len(),
            Self::Followed(found) => found.documents.len(),
            Self::Groups(found) => found.groups.len(),
            Self::Collections(found) => found.len(),
            Self::Indexes(found) => found.len(),
            Self::Type(found) => found.iter().len(),
            Self::Misfits(found) => found.len(),
            Self::Given(Given::Outcome(Outcome::Taken(taken))) => taken.len(),
            Self::Root | Self::Given(_) => 1,
            Self::Updates(updates) => updates.len(),
            Self::Length(_) | Self::Text(_) | Self::Json(_) | Self::Nothing => 0,
        }
    }
}

impl Instance<'_> {
    /// The scope of its elements.
    pub(crate) fn scope(&self, bound: &Bound<'_>) -> Option<usize> {
        match self.lookup {
            None => Some(ROOT),
            Some(lookup) => bound.lookups[lookup].elements,
        }
    }
}
