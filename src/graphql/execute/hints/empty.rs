//! Finds the empty results in the text of a response.

use std::borrow::Cow;

use async_graphql::PathSegment;

use crate::document::json::{Event, Reader};
use crate::graphql::execute::planned::PlanArguments;
use crate::graphql::prepare::plan::{ElementField, Field, PageField, PlannedField, Selection};
use crate::limits::HINTED_LOOKUPS_MAX;

/// The members of an object in the response, with their texts.
pub(super) struct ObjectMembers<'t>(Vec<(Cow<'t, str>, &'t str)>);

impl<'t> ObjectMembers<'t> {
    /// None if the text is no object.
    pub(super) fn of(text: &'t str) -> Option<Self> {
        let mut reader = Reader::new(text, usize::MAX);
        let mut members = Vec::new();
        if reader.next().ok()? != Event::BeginObject {
            return None;
        }
        while let Some(member) = reader.next_member().ok()? {
            members.push(member);
        }
        Some(Self(members))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'t str> {
        let mut members = self.0.iter();
        let member = members.find(|(member, _)| member == name);
        member.map(|(_, text)| *text)
    }
}

/// The elements of an array. Empty if the text is no array.
fn elements(text: &str) -> Vec<&str> {
    let mut reader = Reader::new(text, usize::MAX);
    let mut elements = Vec::new();
    if matches!(reader.next(), Ok(Event::BeginArray)) {
        while let Ok(Some(element)) = reader.next_element() {
            elements.push(element);
        }
    }
    elements
}

/// Whether a root field with this text found nothing.
pub(super) fn is_empty(arguments: PlanArguments<'_>, field: &PlannedField, text: &str) -> bool {
    match &field.field {
        Field::Document { .. } | Field::TypedDocument { .. } | Field::NodeById(..) => {
            text == "null"
        }
        Field::NodesById(..) => !nulls(text).is_empty(),
        Field::Documents(_, below) | Field::Aggregate(_, below) => {
            has_nothing(arguments, below, text)
        }
        _ => false,
    }
}

/// Whether a page or a list of groups is empty, or the only group has no document.
fn has_nothing(arguments: PlanArguments<'_>, selected: &Selection, text: &str) -> bool {
    let Some(members) = ObjectMembers::of(text) else {
        return false;
    };
    let mut selected = arguments.included(selected).take(HINTED_LOOKUPS_MAX);
    selected.any(|selected| {
        let text = members.get(&selected.key).unwrap_or_default();
        match &selected.field {
            Field::Nodes(_) | Field::Edges(_) => text == "[]",
            Field::OfPage(PageField::TotalCount | PageField::GroupCount) => text == "0",
            Field::Groups(below) => match elements(text)[..] {
                [] => text == "[]",
                [group] => has_no_document(arguments, below, group),
                _ => false,
            },
            _ => false,
        }
    })
}

/// Whether a group has no document.
fn has_no_document(arguments: PlanArguments<'_>, selected: &Selection, group: &str) -> bool {
    let group = ObjectMembers::of(group);
    let mut selected = arguments.included(selected).take(HINTED_LOOKUPS_MAX);
    group.is_some_and(|group| {
        selected.any(|selected| {
            matches!(selected.field, Field::OfElement(ElementField::GroupCount))
                && group.get(&selected.key) == Some("0")
        })
    })
}

/// The numbers of the elements of a list that are null.
pub(super) fn nulls(text: &str) -> Vec<usize> {
    let elements = elements(text).into_iter().enumerate();
    elements
        .filter(|(_, element)| *element == "null")
        .map(|(at, _)| at)
        .collect()
}

/// The position of a root field in the response, or of an element of its list.
pub(super) fn path(field: &PlannedField, element: Option<usize>) -> Vec<PathSegment> {
    let name = PathSegment::Field(field.key.to_string());
    let element = element.map(PathSegment::Index);
    std::iter::once(name).chain(element).collect()
}
