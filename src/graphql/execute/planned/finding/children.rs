//! A page of the children of a value.

use std::sync::Arc;

use crate::budget::OwnedList;
use crate::database::{Answer, Child, ChildrenPage, DocumentKey, Value};
use crate::document::path::Place;
use crate::error::{Error, Limit, Result};
use crate::graphql::arguments::children_request::{
    ChildrenRequest, decode_cursor, digest, encode_cursor,
};
use crate::graphql::arguments::page_arguments::PageBounds;
use crate::graphql::context::request_budget::mismatch;
use crate::limits::PAGE_MAX;

/// A page of children, and whether there are more after and before it.
pub(crate) struct FoundChildren {
    pub(crate) page: Arc<OwnedList<Child>>,
    pub(crate) has_next_page: bool,
    pub(crate) has_previous_page: bool,
    /// Binds cursors to the place and the bounds.
    digest: u64,
    /// The numbers of the children that were not read as a whole.
    partial: Vec<usize>,
    /// The answers to the reads of these children, in their order.
    answers: Vec<Result<Answer>>,
}

/// A page of children that is to be read.
pub(crate) struct AskedChildren {
    pub(crate) page: ChildrenPage,
    /// Binds cursors to the place and the bounds.
    digest: u64,
    /// Whether the page has to have all children within the bounds.
    complete: bool,
}

impl AskedChildren {
    /// The page that a field `children` of a place requests.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the page arguments contradict each other, or a cursor is of another query.
    pub(crate) fn of(
        document: &DocumentKey,
        place: &Place,
        request: ChildrenRequest,
    ) -> Result<Self> {
        let ChildrenRequest {
            page,
            within,
            complete,
        } = request;
        let PageBounds {
            size,
            backward,
            cursor,
            cursor_argument,
        } = page.bounds("children")?;
        let digest = digest(document, place, &within)?;
        let from = cursor.map(|cursor| decode_cursor(&cursor, digest, cursor_argument));
        let page = ChildrenPage {
            size,
            backward,
            from: from.transpose()?,
            within,
        };
        Ok(Self {
            page,
            digest,
            complete,
        })
    }

    /// The page with these children, and whether there are `more`.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: there are more, and the page has to have all.
    pub(crate) fn found(&self, page: Arc<OwnedList<Child>>, more: bool) -> Result<FoundChildren> {
        if self.complete && more {
            return Err(Error::too_complex(
                Limit::new("listedChildren", PAGE_MAX),
                format!(
                    "there are more than {PAGE_MAX} elements or entries, which is the limit of a list: request \
                     a part of them with `first`"
                ),
            ));
        }
        let children = page.iter().enumerate();
        let partial = children
            .filter(|(_, child)| !child.part.is_whole())
            .map(|(number, _)| number)
            .collect();
        let began = self.page.from.is_some();
        let (has_next_page, has_previous_page) = if self.page.backward {
            (began, more)
        } else {
            (more, began)
        };
        Ok(FoundChildren {
            page,
            has_next_page,
            has_previous_page,
            digest: self.digest,
            partial,
            answers: Vec::new(),
        })
    }
}

impl FoundChildren {
    /// The values of the children that were not read as a whole.
    pub(crate) fn partial(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.partial.iter().map(|child| &self.page[*child].part)
    }

    /// Sets the answers to the reads of [`Self::partial`], in their order.
    pub(crate) fn answer(&mut self, answers: Vec<Result<Answer>>) {
        self.answers = answers;
    }

    /// The answers to the reads of a child that was not read as a whole.
    pub(crate) fn answers(&self, child: usize, reads: usize) -> Result<&[Result<Answer>]> {
        let number = self.partial.binary_search(&child);
        let first = number.map_err(|_| mismatch())? * reads;
        let answers = self.answers.get(first..first + reads);
        answers.ok_or_else(mismatch)
    }

    /// The cursor of a child.
    pub(crate) fn cursor(&self, child: usize) -> Option<String> {
        let child = self.page.get(child)?;
        Some(encode_cursor(self.digest, &child.segment))
    }
}
