//! Binds the lookups: pages of documents and of children, the parts that a JSONPath query selects, and
//! lengths.

use std::borrow::Cow;

use async_graphql::Name;
use async_graphql_value::Value as Input;

use super::bind::{Binder, Here, join};
use super::bound::{
    DocumentAt, Lookup, LookupOf, PositionKind, ROOT, ResponseStep, Scope, SelectedParts,
};
use crate::budget::Steps;
use crate::database::{Extent, first_reads};
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
        let (page, scope) = self.list(ROOT, LookupOf::Documents(arguments), selection)?;
        self.lookups[page].total |= total;
        let document = Here::whole(DocumentAt::Element(scope), (scope, 0));
        self.object(selection, |binder, field| {
            binder.field_of_page((page, scope), &document, field)
        })
    }

    /// Binds a page of the children of the value at a place.
    pub(super) fn children(
        &mut self,
        above: &Here<'p>,
        arguments: &'p [(Name, Input)],
        selection: &'p Selection,
    ) -> Option<()> {
        let of = LookupOf::Children {
            of: above.value(),
            arguments,
        };
        let (page, scope) = self.list(above.scope, of, selection)?;
        let child = self.element(above, scope);
        self.text(b"{");
        self.found(page)?;
        self.members(selection, |binder, field| {
            binder.field_of_page((page, scope), &child, field)
        })
    }

    /// Binds the parts that a JSONPath query selects in the value at a place.
    pub(super) fn select(
        &mut self,
        above: &Here<'p>,
        query: &'p Input,
        selection: &'p Selection,
    ) -> Option<()> {
        let budget = self.request_budget.budget();
        let query = query_in(self.arguments.string(query)?, budget)?;
        let reads = first_reads(&query, &Steps::of(budget)).ok()?;
        let before = self.scopes[above.scope].reads.0.len() - above.first;
        if before + reads.len() > READS_AHEAD_MAX {
            return None;
        }
        let reads = reads.into_iter().map(|(below, extent)| {
            let path = join(&above.path, Cow::Owned(below));
            (self.read_extent(above, path, extent).read, extent)
        });
        let selected = SelectedParts {
            of: above.value(),
            query,
            reads: reads.collect(),
        };
        self.scopes[above.scope].needs_pairs = true;
        let (list, scope) = self.list(above.scope, LookupOf::Selected(selected), selection)?;
        let part = self.element(above, scope);
        self.found(list)?;
        self.elements((list, scope), |binder| {
            binder.object(selection, |binder, field| binder.member(&part, field))
        })
    }

    /// Binds the length of the value at a place.
    pub(super) fn length(&mut self, here: &Here<'p>) -> Option<()> {
        let first = self.read(here, here.path.clone(), PlaceField::Kind);
        let last = self.read_extent(here, here.path.clone(), Extent::Last);
        self.scopes[here.scope].needs_pairs = true;
        let of = here.value();
        let lookup = self.lookup(here.scope, LookupOf::Length { of, first, last })?;
        let position = self.position?;
        self.steps.push(ResponseStep::Length { lookup, position });
        Some(())
    }

    fn field_of_page(
        &mut self,
        page: (usize, usize),
        node: &Here<'p>,
        field: &'p Field,
    ) -> Option<()> {
        match field {
            Field::Typename(name) => self.text(name.as_bytes()),
            Field::OfPage(field) => self.steps.push(ResponseStep::OfPage(page.0, *field)),
            Field::AboutPage(below) => {
                return self.object(below, |binder, field| {
                    binder.field_of_page(page, node, field)
                });
            }
            Field::Nodes(below) => {
                return self.elements(page, |binder| {
                    binder.object(below, |binder, field| binder.member(node, field))
                });
            }
            Field::Edges(below) => {
                return self.elements(page, |binder| {
                    binder.object(below, |binder, field| binder.field_of_edge(node, field))
                });
            }
            _ => return None,
        }
        Some(())
    }

    fn field_of_edge(&mut self, node: &Here<'p>, field: &'p Field) -> Option<()> {
        match field {
            Field::Typename(name) => self.text(name.as_bytes()),
            Field::Cursor => self.steps.push(ResponseStep::Cursor(node.scope)),
            Field::Node(below) => {
                return self.object(below, |binder, field| binder.member(node, field));
            }
            _ => return None,
        }
        Some(())
    }

    /// The part that an element of `scope` is, below a place.
    fn element(&mut self, above: &Here<'p>, scope: usize) -> Here<'p> {
        let mut part = Here {
            scope,
            path: Cow::Borrowed(Path::root()),
            read: None,
            first: 0,
            ..above.clone()
        };
        part.read = Some(self.read(&part, part.path.clone(), PlaceField::Subdocument));
        part
    }

    /// Fails the current field if a lookup has failed.
    fn found(&mut self, lookup: usize) -> Option<()> {
        let position = self.position?;
        self.steps.push(ResponseStep::Found { lookup, position });
        Some(())
    }

    /// Adds a list to a scope, unless it has the same one. Returns the numbers of its lookup and of
    /// the scope of its elements. None if there are too many lookups.
    fn list(
        &mut self,
        scope: usize,
        of: LookupOf<'p>,
        selection: &Selection,
    ) -> Option<(usize, usize)> {
        let fields = self.arguments.fields(selection);
        let lookup = self.lookup(scope, of)?;
        let elements = match self.lookups[lookup].elements {
            Some(elements) => elements,
            None => {
                self.scopes.push(Scope::default());
                self.scopes.len() - 1
            }
        };
        self.lookups[lookup].elements = Some(elements);
        self.scopes[elements].fields += fields;
        Some((lookup, elements))
    }

    fn lookup(&mut self, scope: usize, of: LookupOf<'p>) -> Option<usize> {
        let present = self.scopes[scope].lookups.iter();
        let mut present = present.filter(|lookup| self.lookups[**lookup].of.is_same(&of));
        if let Some(lookup) = present.next() {
            return Some(*lookup);
        }
        if self.lookups.len() == PLANNED_LISTS_MAX {
            return None;
        }
        let lookup = self.lookups.len();
        self.lookups.push(Lookup {
            of,
            position: self.position?,
            scope,
            number: self.scopes[scope].lookups.len(),
            elements: None,
            total: false,
        });
        self.scopes[scope].lookups.push(lookup);
        Some(lookup)
    }

    /// Binds the elements of a list with `element`, which binds one of them.
    fn elements(
        &mut self,
        (lookup, scope): (usize, usize),
        element: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let begin = self.steps.len();
        self.steps.push(ResponseStep::Elements { lookup, end: 0 });
        let around = self.enter(PositionKind::CurrentElement(scope));
        element(self)?;
        self.position = around;
        let after = self.steps.len();
        if let Some(ResponseStep::Elements { end, .. }) = self.steps.get_mut(begin) {
            *end = after;
        }
        Some(())
    }
}
