//! Writes the fields that are known when a lookup has found something.

use crate::database::query::{Aggregation, ValueSummary};
use crate::database::{Misfit, State, StoredIndex, StoredType};
use crate::document::json::{write_list, write_string};
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::{Place, Segment};
use crate::graphql::execute::planned::finding::children::FoundChildren;
use crate::graphql::execute::planned::finding::document_pages::FoundPage;
use crate::graphql::execute::planned::finding::element::NULL;
use crate::graphql::execute::planned::finding::found::Found;
use crate::graphql::prepare::plan::{ElementField, PageField, ValuesField};

/// Writes a field of a page of documents.
pub(super) fn of_page(out: &mut Vec<u8>, of: &FoundPage, field: PageField) {
    let (found, page) = (&of.found, &of.found.page);
    let index = page.index.as_ref();
    match field {
        PageField::TotalCount => number(out, found.total_count().0),
        PageField::HasNextPage => boolean(out, found.has_next_page),
        PageField::HasPreviousPage => boolean(out, found.has_previous_page),
        PageField::StartCursor => string(out, found.cursor(0).as_deref()),
        PageField::EndCursor => {
            let last = page.rows.len().checked_sub(1);
            string(out, last.and_then(|last| found.cursor(last)).as_deref());
        }
        PageField::Index => string(out, index.map(|index| &*index.names)),
        PageField::Partial => boolean(out, index.is_some_and(|index| index.partial)),
        PageField::Scanned => number(out, Some(page.scanned)),
        PageField::Examined => number(out, Some(page.examined)),
        PageField::Covered => boolean(out, of.covered),
        PageField::Returned => number(out, Some(page.rows.len())),
        PageField::TotalCountReason => string(out, found.total_count().1),
        PageField::GroupCount => out.extend_from_slice(NULL),
    }
}

/// Writes a field of a page of children.
pub(super) fn of_children(out: &mut Vec<u8>, page: &FoundChildren, field: PageField) {
    let cursor = |child: Option<usize>| child.and_then(|child| page.cursor(child));
    match field {
        PageField::HasNextPage => boolean(out, page.has_next_page),
        PageField::HasPreviousPage => boolean(out, page.has_previous_page),
        PageField::StartCursor => string(out, cursor(Some(0)).as_deref()),
        PageField::EndCursor => string(out, cursor(page.page.len().checked_sub(1)).as_deref()),
        _ => out.extend_from_slice(NULL),
    }
}

pub(super) fn boolean(out: &mut Vec<u8>, value: bool) {
    out.extend_from_slice(if value { b"true" } else { b"false" });
}

pub(super) fn number(out: &mut Vec<u8>, value: Option<impl itoa::Integer>) {
    match value {
        Some(value) => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
        None => out.extend_from_slice(NULL),
    }
}

pub(super) fn string(out: &mut Vec<u8>, value: Option<&str>) {
    match value {
        Some(value) => write_string(out, value),
        None => out.extend_from_slice(NULL),
    }
}

/// Writes a field of an aggregation or of its plan.
pub(super) fn of_aggregation(out: &mut Vec<u8>, found: &Aggregation, field: PageField) {
    let index = found.index.as_ref();
    match field {
        PageField::GroupCount => number(out, Some(found.group_count)),
        PageField::Index => string(out, index.map(|index| &*index.names)),
        PageField::Partial => boolean(out, index.is_some_and(|index| index.partial)),
        PageField::Scanned => number(out, Some(found.scanned)),
        PageField::Examined => number(out, Some(found.examined)),
        PageField::Covered => boolean(out, found.examined == 0),
        _ => out.extend_from_slice(NULL),
    }
}

/// Writes an aggregate of the values of a group.
pub(super) fn of_values(out: &mut Vec<u8>, values: &ValueSummary, field: ValuesField) {
    let leaf = match field {
        ValuesField::Sum => values.sum(),
        ValuesField::Average => values.average(),
        ValuesField::Min => values.least(),
        ValuesField::Max => values.greatest(),
    };
    leaf.unwrap_or(Leaf::Null).write_json(out);
}

/// Writes a field of a group, a collection or an index. None if the element has no such field.
pub(super) fn of_element(
    out: &mut Vec<u8>,
    found: &Found<'_>,
    element: usize,
    field: ElementField,
) -> Option<()> {
    match found {
        Found::Groups(found) => {
            let group = found.groups.get(element)?;
            match field {
                ElementField::GroupKey => write_list(out, group.key.iter(), |out, json| {
                    out.extend_from_slice(json.as_bytes());
                }),
                ElementField::GroupCount => number(out, Some(group.count)),
                _ => return None,
            }
        }
        Found::Collections(found) => {
            let collection = found.get(element)?;
            match field {
                ElementField::CollectionName => write_string(out, &collection.name),
                ElementField::CollectionCount => number(out, Some(collection.count)),
                _ => return None,
            }
        }
        Found::Indexes(found) => return of_index(out, found.get(element)?, field),
        Found::Type(found) => return of_type(out, found.as_deref()?, field),
        Found::Misfits(found) => return of_misfit(out, found.get(element)?, field),
        _ => return None,
    }
    Some(())
}

/// Writes a field of an index. None if it has no such field.
pub(super) fn of_index(out: &mut Vec<u8>, stored: &StoredIndex, field: ElementField) -> Option<()> {
    let StoredIndex { index, indexed } = stored;
    match field {
        ElementField::IndexName => write_string(out, &index.name),
        ElementField::IndexOn => write_list(out, index.on.iter(), |out, path| {
            write_string(out, path.text());
        }),
        ElementField::IndexUnique => boolean(out, index.unique),
        ElementField::IndexWhere => match &index.filter {
            Some(filter) => out.extend_from_slice(filter.json().as_bytes()),
            None => out.extend_from_slice(NULL),
        },
        ElementField::IndexState => out.extend_from_slice(match index.state {
            State::Building => b"\"BUILDING\"",
            State::Ready => b"\"READY\"",
            State::Failed => b"\"FAILED\"",
        }),
        ElementField::IndexIndexed => number(out, *indexed),
        ElementField::IndexError => string(out, index.error.as_deref()),
        _ => return None,
    }
    Some(())
}

/// Writes a field of the type of a collection. None if it has no such field.
fn of_type(out: &mut Vec<u8>, stored: &StoredType, field: ElementField) -> Option<()> {
    match field {
        ElementField::TypeSchema => {
            out.extend_from_slice(stored.schema_line().as_bytes());
        }
        ElementField::TypeText => write_string(out, stored.schema.as_deref().unwrap_or_default()),
        ElementField::TypeState => write_string(out, stored.state.name()),
        ElementField::TypeChecked => number(out, stored.checked),
        _ => return None,
    }
    Some(())
}

/// Writes a field of a place that does not fit a type. None if it has no such field.
fn of_misfit(out: &mut Vec<u8>, misfit: &Misfit, field: ElementField) -> Option<()> {
    let Misfit { id, violation } = misfit;
    match field {
        ElementField::MisfitKey => write_string(out, &id.to_string()),
        ElementField::MisfitPlace => write_string(out, &violation.place),
        ElementField::MisfitKeyword => write_string(out, &violation.keyword),
        ElementField::MisfitExpected => write_string(out, &violation.expected),
        ElementField::MisfitValue => string(out, violation.value.as_deref()),
        _ => return None,
    }
    Some(())
}

/// Writes a place in list form.
pub(super) fn write_place(out: &mut Vec<u8>, place: &Place) {
    write_list(out, place.0.iter(), |out, segment| match segment {
        Segment::Key(key) => write_string(out, key),
        Segment::Index(index) => out.extend_from_slice(index.to_string().as_bytes()),
    });
}

/// The name of a kind in the schema.
pub(super) fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Object => "OBJECT",
        Kind::Array => "ARRAY",
        Kind::String => "STRING",
        Kind::Number => "NUMBER",
        Kind::Boolean => "BOOLEAN",
        Kind::Null => "NULL",
    }
}
