//! Binds the lists whose length is not known yet: pages of documents, and the parts that a JSONPath
//! query selects.

use std::borrow::Cow;

use async_graphql::Name;
use async_graphql_value::Value as Input;

use super::bind::{Binder, Here, join};
use super::bound::{BoundList, BoundReads, ListOf, PositionKind, ResponseStep, SelectedParts};
use crate::budget::Steps;
use crate::database::first_reads;
use crate::document::path::Path;
use crate::graphql::objects::field_reads::PlaceField;
use crate::graphql::prepare::plan::{Field, PageField, Selection};
use crate::graphql::scalars::jsonpath::query_in;
use crate::limits::{PLANNED_LISTS_MAX, READS_AHEAD_MAX};

impl<'p> Binder<'p> {
    /// Binds a page of documents.
    pub(super) fn documents(
        &mut self,
        arguments: &'p [(Name, Input)],
        selection: &'p Selection,
    ) -> Option<()> {
        let mut fields = self.arguments.included(selection);
        let total =
            fields.any(|selected| matches!(selected.field, Field::OfPage(PageField::TotalCount)));
        let page = self.list(ListOf::Documents { arguments, total }, selection)?;
        self.object(selection, |binder, field| binder.field_of_page(page, field))
    }

    fn field_of_page(&mut self, page: usize, field: &'p Field) -> Option<()> {
        match field {
            Field::Typename(name) => self.text(name.as_bytes()),
            Field::OfPage(field) => self.steps.push(ResponseStep::OfPage(page, *field)),
            Field::AboutPage(below) => {
                return self.object(below, |binder, field| binder.field_of_page(page, field));
            }
            Field::Nodes(below) => return self.elements(page, |binder| binder.node(below)),
            Field::Edges(below) => {
                return self.elements(page, |binder| binder.object(below, Self::field_of_edge));
            }
            _ => return None,
        }
        Some(())
    }

    fn field_of_edge(&mut self, field: &'p Field) -> Option<()> {
        match field {
            Field::Typename(name) => self.text(name.as_bytes()),
            Field::Cursor => self.steps.push(ResponseStep::Cursor),
            Field::Node(below) => return self.node(below),
            _ => return None,
        }
        Some(())
    }

    /// Binds the document of the current element.
    fn node(&mut self, selection: &'p Selection) -> Option<()> {
        let here = Here {
            document: 0,
            path: Cow::Borrowed(Path::root()),
            read: None,
            first: 0,
        };
        self.object(selection, |binder, field| binder.member(&here, field))
    }

    /// Binds the parts that a JSONPath query selects in the value at a place.
    pub(super) fn select(
        &mut self,
        here: &Here<'p>,
        query: &'p Input,
        selection: &'p Selection,
    ) -> Option<()> {
        let budget = self.request_budget.budget();
        let query = query_in(self.arguments.string(query)?, budget)?;
        let reads = first_reads(&query, &Steps::of(budget)).ok()?;
        let before = self.reads.0.len() - here.first;
        if query.has_regexps() || before + reads.len() > READS_AHEAD_MAX {
            return None;
        }
        let reads = reads.into_iter().map(|(below, extent)| {
            let path = join(&here.path, Cow::Owned(below));
            let read = self.read_extent(here.first, here.document, path, extent);
            (read, extent)
        });
        let selected = SelectedParts {
            query,
            document: here.document,
            path: here.path.clone(),
            reads: reads.collect(),
        };
        let list = self.list(ListOf::Selected(selected), selection)?;
        self.elements(list, |binder| {
            let part = Cow::Borrowed(Path::root());
            let here = Here {
                document: here.document,
                path: part.clone(),
                read: Some(binder.read(0, here.document, part, PlaceField::Subdocument)),
                first: 0,
            };
            binder.object(selection, |binder, field| binder.member(&here, field))
        })
    }

    /// Adds a list, and returns its number. None if there are too many lists.
    fn list(&mut self, of: ListOf<'p>, selection: &Selection) -> Option<usize> {
        if self.lists.len() == PLANNED_LISTS_MAX {
            return None;
        }
        self.lists.push(BoundList {
            of,
            position: self.position?,
            reads: BoundReads::default(),
            fields: self.arguments.fields(selection),
            needs_pairs: false,
        });
        Some(self.lists.len() - 1)
    }

    /// Binds the elements of a list with `element`, which binds one of them.
    fn elements(
        &mut self,
        list: usize,
        element: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let begin = self.steps.len();
        self.steps.push(ResponseStep::Elements { list, end: 0 });
        let around = self.enter(PositionKind::CurrentElement);
        self.element_of = Some(list);
        element(self)?;
        self.element_of = None;
        self.position = around;
        let after = self.steps.len();
        if let Some(ResponseStep::Elements { end, .. }) = self.steps.get_mut(begin) {
            *end = after;
        }
        Some(())
    }
}
