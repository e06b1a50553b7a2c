//! Finds the empty results in the text of a response.

use std::borrow::Cow;

use async_graphql::PathSegment;

use super::asked::{AskedField, AskedOperation};
use crate::document::json::{Event, Reader};

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
pub(super) fn is_empty(asked: AskedOperation<'_>, field: &AskedField<'_>, text: &str) -> bool {
    match field.name {
        "document" | "node" => text == "null",
        "nodes" => !nulls(text).is_empty(),
        "documents" | "aggregate" => has_nothing(asked, field, text),
        _ => false,
    }
}

/// Whether a page or a list of groups is empty.
fn has_nothing(asked: AskedOperation<'_>, field: &AskedField<'_>, text: &str) -> bool {
    let Some(members) = ObjectMembers::of(text) else {
        return false;
    };
    let has = |name: &str, texts: &[&str]| {
        let below = asked.below(field, name);
        let mut found = below.iter().filter_map(|below| members.get(below.key));
        found.any(|text| texts.contains(&text))
    };
    has("nodes", &["[]"])
        || has("edges", &["[]"])
        || has("groups", &["[]"])
        || has("totalCount", &["0"])
        || has("groupCount", &["0"])
        || has_no_document(asked, field, &members)
}

/// Whether the only group has no document.
fn has_no_document(
    asked: AskedOperation<'_>,
    field: &AskedField<'_>,
    members: &ObjectMembers<'_>,
) -> bool {
    asked.below(field, "groups").iter().any(|groups| {
        let text = members.get(groups.key).unwrap_or_default();
        let [group] = elements(text)[..] else {
            return false;
        };
        let group = ObjectMembers::of(group);
        let counts = asked.below(groups, "count");
        let mut counts = counts.iter();
        group.is_some_and(|group| counts.any(|count| group.get(count.key) == Some("0")))
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
pub(super) fn path(field: &AskedField<'_>, element: Option<usize>) -> Vec<PathSegment> {
    let name = PathSegment::Field(field.key.to_owned());
    let element = element.map(PathSegment::Index);
    std::iter::once(name).chain(element).collect()
}
