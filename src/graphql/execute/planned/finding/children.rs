//! A page of the children of a value.

use std::sync::Arc;

use crate::database::{Answer, Child, Children, ChildrenPage, DocumentKey, Value, children};
use crate::document::path::Place;
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::mismatch;
use crate::graphql::execute::planned::binding::bound::ChildrenRequest;
use crate::graphql::objects::page::{PageBounds, decode_cursor, digest, encode_cursor};
use crate::store::Read;

/// A page of children, and whether there are more after and before it.
pub(crate) struct FoundChildren {
    pub(crate) page: Vec<Child>,
    pub(crate) has_next_page: bool,
    pub(crate) has_previous_page: bool,
    /// Binds cursors to the place and the bounds.
    digest: u64,
    /// The numbers of the children of which only the beginning was read.
    begun: Vec<usize>,
    /// The answers to the reads of these children, in their order.
    answers: Vec<Result<Answer>>,
}

impl FoundChildren {
    /// Reads the page.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the page arguments contradict each other, or a cursor is of another query. As
    /// [`children`] and [`RequestBudget::places`].
    pub(crate) async fn read(
        read: &dyn Read,
        (document, place): (&Arc<DocumentKey>, &Place),
        request: ChildrenRequest,
        request_budget: &RequestBudget,
    ) -> Result<Self> {
        let ChildrenRequest { page, within } = request;
        let PageBounds {
            size,
            backward,
            cursor,
            cursor_argument,
        } = page.bounds("children")?;
        let digest = digest(document, place, &within)?;
        let began = cursor.is_some();
        let from = cursor.map(|cursor| decode_cursor(&cursor, digest, cursor_argument));
        let page = ChildrenPage {
            size,
            backward,
            from: from.transpose()?,
            within,
        };
        request_budget.places(1)?;
        let found = children(read, document, place, &page, &request_budget.memory).await?;
        let Children { page, more } = found;
        let begun = page.iter().enumerate();
        let begun = begun.filter(|(_, child)| !child.part.is_whole());
        let begun = begun.map(|(number, _)| number).collect();
        let (has_next_page, has_previous_page) = if backward {
            (began, more)
        } else {
            (more, began)
        };
        Ok(Self {
            page,
            has_next_page,
            has_previous_page,
            digest,
            begun,
            answers: Vec::new(),
        })
    }

    /// The values of the children of which only the beginning was read.
    pub(crate) fn begun(&self) -> impl ExactSizeIterator<Item = &Value> {
        self.begun.iter().map(|child| &self.page[*child].part)
    }

    /// Sets the answers to the reads of [`Self::begun`], in their order.
    pub(crate) fn answer(&mut self, answers: Vec<Result<Answer>>) {
        self.answers = answers;
    }

    /// The answers to the reads of a child of which only the beginning was read.
    pub(crate) fn answers(&self, child: usize, reads: usize) -> Result<&[Result<Answer>]> {
        let begun = self.begun.binary_search(&child);
        let first = begun.map_err(|_| mismatch())? * reads;
        let answers = self.answers.get(first..first + reads);
        answers.ok_or_else(mismatch)
    }

    /// The cursor of a child.
    pub(crate) fn cursor(&self, child: usize) -> Option<String> {
        let child = self.page.get(child)?;
        Some(encode_cursor(self.digest, &child.segment))
    }
}
