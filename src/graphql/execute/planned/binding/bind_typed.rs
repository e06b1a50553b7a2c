//! Binds the fields of typed documents. They read what the same selection of an untyped document reads:
//! values at paths, and pages of children for lists and maps.

use std::borrow::Cow;

use super::bind::{Binder, Here, join};
use super::bound::{DocumentAt, ROOT, ResponseStep, TypedStep};
use crate::database::DocumentKey;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::arguments::children_request::ChildrenRequest;
use crate::graphql::arguments::typed_children::{TypedListRequest, TypedMapRequest};
use crate::graphql::execute::planned::binding::field_reads::PlaceField;
use crate::graphql::prepare::plan::{Field, PlannedField, Selection, TypedSelection};
use crate::graphql::schema::typed::typed_fields::{LeafType, TypedPlace, TypedValue};

/// The place of a document that may not exist.
pub(crate) static DOCUMENT: TypedPlace = TypedPlace {
    value: TypedValue::Object,
    required: false,
    nullable: false,
};

impl<'p> Binder<'p> {
    /// Binds the selection of a typed document, which may not exist.
    pub(crate) fn typed_document(
        &mut self,
        document: DocumentKey,
        below: &'p Selection,
    ) -> Result<()> {
        let document = self.document(Cow::Owned(document));
        let first = self.scopes[ROOT].reads.0.len();
        let whole = Here::whole(DocumentAt::Bound(document), (ROOT, first));
        self.typed_object(&whole, Cow::Borrowed(Path::root()), &DOCUMENT, below)
    }

    /// Binds a field of an object of a typed document.
    pub(crate) fn typed(&mut self, here: &Here<'p>, selected: &'p TypedSelection) -> Result<()> {
        let TypedSelection {
            path,
            place,
            arguments,
            below,
        } = selected;
        let path = join(&here.path, Cow::Borrowed(path));
        match &place.value {
            TypedValue::List(element) => {
                let request: TypedListRequest = self.arguments.request(arguments)?;
                let is_whole = request.is_of_whole();
                self.typed_list(
                    here,
                    path,
                    place,
                    (element, below),
                    (is_whole, request.children()?),
                )
            }
            TypedValue::Map => {
                let request: TypedMapRequest = self.arguments.request(arguments)?;
                let is_whole = request.is_of_whole();
                self.typed_map(here, path, place, below, (is_whole, request.children()))
            }
            _ => self.typed_value(here, path, place, below),
        }
    }

    /// Binds a value of a typed document, all of it if it is a list or a map.
    fn typed_value(
        &mut self,
        here: &Here<'p>,
        path: Cow<'p, Path>,
        place: &'p TypedPlace,
        below: &'p Selection,
    ) -> Result<()> {
        match &place.value {
            TypedValue::Leaf(leaf) => {
                self.typed_leaf(here, path, place, leaf);
                Ok(())
            }
            TypedValue::Object => self.typed_object(here, path, place, below),
            TypedValue::List(element) => {
                let request = TypedListRequest::default().children()?;
                self.typed_list(here, path, place, (element, below), (true, request))
            }
            TypedValue::Map => {
                let request = TypedMapRequest::default().children();
                self.typed_map(here, path, place, below, (true, request))
            }
        }
    }

    fn typed_leaf(
        &mut self,
        here: &Here<'p>,
        path: Cow<'p, Path>,
        place: &'p TypedPlace,
        leaf: &'p LeafType,
    ) {
        let read = self.read(here, path, PlaceField::Value);
        let typed = TypedStep {
            document: here.document,
            read,
            place,
            position: self.position(),
        };
        self.steps.push(ResponseStep::TypedLeaf { typed, leaf });
    }

    pub(crate) fn typed_object(
        &mut self,
        above: &Here<'p>,
        path: Cow<'p, Path>,
        place: &'p TypedPlace,
        below: &'p Selection,
    ) -> Result<()> {
        self.open_typed(
            above,
            path,
            place,
            PlaceField::Subdocument,
            |binder, here| binder.object(below, |binder, field| binder.member(here, field)),
        )
    }

    fn typed_list(
        &mut self,
        above: &Here<'p>,
        path: Cow<'p, Path>,
        place: &'p TypedPlace,
        (element, below): (&'p TypedPlace, &'p Selection),
        (is_whole, request): (bool, ChildrenRequest),
    ) -> Result<()> {
        let field = read_of_list(is_whole && is_leaf(&element.value));
        let list = (place, field, request);
        self.list_of(above, path, list, below, |binder, part| {
            binder.typed_value(part, Cow::Borrowed(Path::root()), element, below)
        })
    }

    /// Binds a list of values, each with `element`, which gets its place. `field` says how much of the list
    /// is read with its first pair.
    pub(crate) fn list_of(
        &mut self,
        above: &Here<'p>,
        path: Cow<'p, Path>,
        (place, field, request): (&'p TypedPlace, PlaceField, ChildrenRequest),
        below: &Selection,
        element: impl FnOnce(&mut Self, &Here<'p>) -> Result<()>,
    ) -> Result<()> {
        self.open_typed(above, path, place, field, |binder, here| {
            let list = binder.children_of(here, request, below);
            let part = binder.element(here, list.1);
            binder.found(list.0);
            binder.elements(list, |binder| element(binder, &part))
        })
    }

    fn typed_map(
        &mut self,
        above: &Here<'p>,
        path: Cow<'p, Path>,
        place: &'p TypedPlace,
        below: &'p Selection,
        (is_whole, request): (bool, ChildrenRequest),
    ) -> Result<()> {
        let is_leaf = |selected| value_of_entry(selected).map(is_leaf);
        let values: Vec<bool> = self.arguments.included(below).filter_map(is_leaf).collect();
        let only_leaves = !values.is_empty() && !values.contains(&false);
        let field = read_of_list(is_whole && only_leaves);
        self.open_typed(above, path, place, field, |binder, here| {
            let list = binder.children_of(here, request, below);
            let entry = binder.element(here, list.1);
            binder.found(list.0);
            binder.elements(list, |binder| {
                binder.object(below, |binder, field| binder.member(&entry, field))
            })
        })
    }

    /// Binds the selection of a document of a page, which is null if it fails.
    pub(crate) fn typed_element(&mut self, node: &Here<'p>, below: &'p Selection) -> Result<()> {
        self.null_if_it_fails(|binder| {
            binder.object(below, |binder, field| binder.member(node, field))
        })
    }

    /// Binds steps that write one value, which is null if one of them fails.
    pub(crate) fn null_if_it_fails(
        &mut self,
        inside: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let open = self.steps.len();
        self.steps.push(ResponseStep::OpenElement { end: 0 });
        inside(self)?;
        let after = self.steps.len();
        if let Some(ResponseStep::OpenElement { end }) = self.steps.get_mut(open) {
            *end = after;
        }
        Ok(())
    }

    /// Binds what is inside an object, a list or a map, which may not be there.
    fn open_typed(
        &mut self,
        above: &Here<'p>,
        path: Cow<'p, Path>,
        place: &'p TypedPlace,
        field: PlaceField,
        inside: impl FnOnce(&mut Self, &Here<'p>) -> Result<()>,
    ) -> Result<()> {
        let read = self.read(above, path.clone(), field);
        let open = self.steps.len();
        let typed = TypedStep {
            document: above.document,
            read,
            place,
            position: self.position(),
        };
        self.steps.push(ResponseStep::OpenTyped { typed, end: 0 });
        let here = Here {
            path,
            read: Some(read),
            ..above.clone()
        };
        inside(self, &here)?;
        let after = self.steps.len();
        if let Some(ResponseStep::OpenTyped { end, .. }) = self.steps.get_mut(open) {
            *end = after;
        }
        Ok(())
    }
}

/// What is read of a list or a map with its first pair. The elements are then taken from memory if it is
/// read as a whole.
pub(crate) fn read_of_list(is_whole: bool) -> PlaceField {
    if is_whole {
        PlaceField::Value
    } else {
        PlaceField::Subdocument
    }
}

fn is_leaf(value: &TypedValue) -> bool {
    matches!(value, TypedValue::Leaf(_))
}

/// The value that a field of an entry reads.
fn value_of_entry(selected: &PlannedField) -> Option<&TypedValue> {
    match &selected.field {
        Field::Typed(value) => Some(&value.place.value),
        _ => None,
    }
}
