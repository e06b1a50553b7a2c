//! Binds the lookups: pages of documents and of children, the parts that a JSONPath query selects, and
//! lengths.

use std::borrow::Cow;

use async_graphql::Name;
use async_graphql_value::Value as Input;

use super::arguments::PageArguments;
use super::bind::{Binder, Here, join};
use super::bound::{
    DocumentAt, Lookup, LookupOf, PositionKind, ROOT, ResponseStep, Scope, SelectedParts,
};
use crate::budget::Steps;
use crate::database::{Extent, first_reads};
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::arguments::aggregate_request::AggregatedValues;
use crate::graphql::arguments::children_request::ChildrenRequest;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::field_reads::PlaceField;
use crate::graphql::prepare::plan::{ElementField, Field, PageField, Selection, ValuesField};
use crate::graphql::scalars::jsonpath::query_in;
use crate::limits::{LOOKUPS_COMPARED_MAX, READS_AHEAD_MAX};

impl<'p> Binder<'p> {
    /// Binds a page of documents.
    pub(crate) fn documents(
        &mut self,
        arguments: PageArguments<'p>,
        selection: &'p Selection,
    ) -> Result<()> {
        let mut fields = self.arguments.included(selection);
        let total =
            fields.any(|selected| matches!(selected.field, Field::OfPage(PageField::TotalCount)));
        let (page, scope) = self.list(ROOT, LookupOf::Documents(arguments), selection);
        self.lookups[page].total |= total;
        let document = Here::whole(DocumentAt::Element(scope), (scope, 0));
        self.object(selection, |binder, field| {
            binder.field_of_page((page, scope), &document, field)
        })
    }

    /// Binds a page of the children of the value at a place.
    pub(crate) fn children(
        &mut self,
        above: &Here<'p>,
        arguments: &'p [(Name, Input)],
        selection: &'p Selection,
    ) -> Result<()> {
        let request = self.arguments.request(arguments)?;
        let (page, scope) = self.children_of(above, request, selection);
        let child = self.element(above, scope);
        self.text(b"{");
        self.found(page);
        self.members(selection, |binder, field| {
            binder.field_of_page((page, scope), &child, field)
        })
    }

    /// Adds the lookup of a page of the children of the value at a place. Returns the numbers of the
    /// lookup and of the scope of the children.
    pub(crate) fn children_of(
        &mut self,
        above: &Here<'p>,
        request: ChildrenRequest,
        selection: &Selection,
    ) -> (usize, usize) {
        let of = above.value();
        self.scopes[above.scope].needs_pairs = true;
        self.list(above.scope, LookupOf::Children { of, request }, selection)
    }

    /// Binds the parts that a JSONPath query selects in the value at a place.
    pub(crate) fn select(
        &mut self,
        above: &Here<'p>,
        query: &'p Input,
        selection: &'p Selection,
    ) -> Result<()> {
        let budget = self.request_budget.budget();
        let query = self.arguments.json_path(query)?;
        let parsed = query_in(&query, budget);
        let ahead = parsed
            .as_ref()
            .and_then(|query| first_reads(query, &Steps::of(budget)).ok());
        let before = self.scopes[above.scope].reads.0.len() - above.first;
        let ahead = ahead.filter(|reads| before + reads.len() <= READS_AHEAD_MAX);
        let reads = ahead.map(|reads| {
            let reads = reads.into_iter().map(|(below, extent)| {
                let path = join(&above.path, Cow::Owned(below));
                (self.read_extent(above, path, extent).read, extent)
            });
            reads.collect()
        });
        let selected = SelectedParts {
            of: above.value(),
            query,
            parsed,
            reads,
        };
        self.scopes[above.scope].needs_pairs = true;
        let (list, scope) = self.list(above.scope, LookupOf::Selected(selected), selection);
        let part = self.element(above, scope);
        self.found(list);
        self.elements((list, scope), |binder| {
            binder.object(selection, |binder, field| binder.member(&part, field))
        })
    }

    /// Binds the length of the value at a place.
    pub(crate) fn length(&mut self, here: &Here<'p>) {
        let first = self.read(here, here.path.clone(), PlaceField::Kind);
        let last = self.read_extent(here, here.path.clone(), Extent::Last);
        self.scopes[here.scope].needs_pairs = true;
        let of = here.value();
        let lookup = self.lookup(here.scope, LookupOf::Length { of, first, last });
        let position = self.position();
        self.steps.push(ResponseStep::Length { lookup, position });
    }

    pub(crate) fn field_of_page(
        &mut self,
        page: (usize, usize),
        node: &Here<'p>,
        field: &'p Field,
    ) -> Result<()> {
        match field {
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
            Field::TypedNodes(below) => {
                return self.elements(page, |binder| binder.typed_element(node, below));
            }
            Field::Edges(below) => {
                return self.elements(page, |binder| {
                    binder.object(below, |binder, field| binder.field_of_edge(node, field))
                });
            }
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    fn field_of_edge(&mut self, node: &Here<'p>, field: &'p Field) -> Result<()> {
        match field {
            Field::Cursor => {
                self.steps.push(ResponseStep::Cursor(node.scope));
                Ok(())
            }
            Field::Node(below) => self.object(below, |binder, field| binder.member(node, field)),
            Field::TypedNode(below) => self.typed_element(node, below),
            _ => Err(mismatch()),
        }
    }

    /// The part that an element of `scope` is, below a place.
    pub(crate) fn element(&mut self, above: &Here<'p>, scope: usize) -> Here<'p> {
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
    pub(crate) fn found(&mut self, lookup: usize) {
        let position = self.position();
        self.steps.push(ResponseStep::Found { lookup, position });
    }

    /// Adds a list to a scope, unless it has the same one. Returns the numbers of its lookup and of
    /// the scope of its elements.
    pub(crate) fn list(
        &mut self,
        scope: usize,
        of: LookupOf<'p>,
        selection: &Selection,
    ) -> (usize, usize) {
        let fields = self.arguments.fields(selection);
        let lookup = self.lookup(scope, of);
        let elements = self.lookups[lookup].elements.unwrap_or_else(|| {
            self.scopes.push(Scope::default());
            self.scopes.len() - 1
        });
        self.lookups[lookup].elements = Some(elements);
        self.scopes[elements].fields += fields;
        (lookup, elements)
    }

    /// Adds a lookup to a scope, unless one of its first lookups is the same. Returns its number.
    pub(crate) fn lookup(&mut self, scope: usize, of: LookupOf<'p>) -> usize {
        let mut present = self.scopes[scope]
            .lookups
            .iter()
            .take(LOOKUPS_COMPARED_MAX)
            .filter(|lookup| self.lookups[**lookup].of.is_same(&of));
        if let Some(lookup) = present.next() {
            return *lookup;
        }
        let lookup = self.lookups.len();
        self.lookups.push(Lookup {
            of,
            position: self.position(),
            scope,
            number: self.scopes[scope].lookups.len(),
            elements: None,
            total: false,
        });
        self.scopes[scope].lookups.push(lookup);
        lookup
    }

    /// Binds the groups of documents.
    pub(crate) fn aggregate(
        &mut self,
        arguments: &'p [(Name, Input)],
        selection: &'p Selection,
    ) -> Result<()> {
        let of = LookupOf::Groups {
            arguments,
            values: AggregatedValues::default(),
        };
        let (groups, scope) = self.list(ROOT, of, selection);
        self.text(b"{");
        self.found(groups);
        self.members(selection, |binder, field| {
            binder.field_of_aggregation((groups, scope), field)
        })
    }

    fn field_of_aggregation(&mut self, groups: (usize, usize), field: &'p Field) -> Result<()> {
        match field {
            Field::OfPage(field) => self.steps.push(ResponseStep::OfPage(groups.0, *field)),
            Field::AboutPage(below) => {
                return self.object(below, |binder, field| {
                    binder.field_of_aggregation(groups, field)
                });
            }
            Field::Groups(below) => {
                return self.elements(groups, |binder| {
                    binder.object(below, |binder, field| binder.field_of_group(groups, field))
                });
            }
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    fn field_of_group(&mut self, (lookup, scope): (usize, usize), field: &'p Field) -> Result<()> {
        match field {
            Field::OfValues(field, of) => {
                let path = self.arguments.json_path(of)?;
                let sum = matches!(field, ValuesField::Sum | ValuesField::Average);
                let LookupOf::Groups { values, .. } = &mut self.lookups[lookup].of else {
                    return Err(mismatch());
                };
                let number = values.add(&path, sum, !sum);
                let field = *field;
                self.steps.push(ResponseStep::OfValues {
                    scope,
                    field,
                    number,
                });
                Ok(())
            }
            field => {
                if let (
                    Field::OfElement(ElementField::GroupCount),
                    LookupOf::Groups { values, .. },
                ) = (field, &mut self.lookups[lookup].of)
                {
                    values.counts = true;
                }
                self.field_of_element(scope, field)
            }
        }
    }

    /// Binds the list of collections, or of the one with this name.
    pub(crate) fn collections(
        &mut self,
        name: Option<String>,
        selection: &'p Selection,
    ) -> Result<()> {
        self.objects(
            ROOT,
            LookupOf::Collections(name),
            selection,
            |binder, scope, field| match field {
                Field::Indexes(below) => binder.objects(
                    scope,
                    LookupOf::Indexes(scope),
                    below,
                    Self::field_of_element,
                ),
                Field::CollectionType(below) => binder.collection_type(scope, below),
                field => binder.field_of_element(scope, field),
            },
        )
    }

    /// Binds the type of a collection, if it has one.
    fn collection_type(&mut self, collections: usize, below: &'p Selection) -> Result<()> {
        let only = self.list(collections, LookupOf::Type(collections), below);
        self.found(only.0);
        self.element_alone(only, |binder| {
            binder.object(below, |binder, field| match field {
                Field::TypeViolations(below) => {
                    let misfits = LookupOf::Misfits(only.1);
                    binder.objects(only.1, misfits, below, Self::field_of_element)
                }
                field => binder.field_of_element(only.1, field),
            })
        })
    }

    /// Binds a list of objects with `member`, which gets the scope of the elements.
    pub(crate) fn objects(
        &mut self,
        scope: usize,
        of: LookupOf<'p>,
        selection: &'p Selection,
        mut member: impl FnMut(&mut Self, usize, &'p Field) -> Result<()>,
    ) -> Result<()> {
        let list = self.list(scope, of, selection);
        self.found(list.0);
        self.elements(list, |binder| {
            binder.object(selection, |binder, field| member(binder, list.1, field))
        })
    }

    pub(crate) fn field_of_element(&mut self, scope: usize, field: &'p Field) -> Result<()> {
        let Field::OfElement(field) = field else {
            return Err(mismatch());
        };
        self.steps.push(ResponseStep::OfElement(scope, *field));
        Ok(())
    }

    /// Binds the elements of a list with `element`, which binds one of them.
    pub(crate) fn elements(
        &mut self,
        (lookup, scope): (usize, usize),
        element: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let around = self.enter(PositionKind::CurrentElement(scope));
        self.each(lookup, true, element)?;
        self.position = around;
        Ok(())
    }

    /// As [`Binder::elements`], of a lookup that finds one element, which is not in a list. If it finds
    /// none, null is written.
    pub(crate) fn element_alone(
        &mut self,
        (lookup, _): (usize, usize),
        element: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        self.each(lookup, false, element)
    }

    fn each(
        &mut self,
        lookup: usize,
        is_list: bool,
        element: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let begin = self.steps.len();
        self.steps.push(ResponseStep::Elements {
            lookup,
            end: 0,
            is_list,
        });
        element(self)?;
        let after = self.steps.len();
        if let Some(ResponseStep::Elements { end, .. }) = self.steps.get_mut(begin) {
            *end = after;
        }
        Ok(())
    }
}
