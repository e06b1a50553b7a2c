//! Writes the fields that the result of a mutation, or a change, has.

use super::fields::{boolean, number, of_index, string, write_place};
use super::given::{BulkResult, Deletion, Given, Outcome, UpdateResult};
use super::seen_change::SeenChange;
use crate::database::{DefinedType, DocumentKey, TypeChange};
use crate::document::json::{write_list, write_string};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::finding::element::NULL;
use crate::graphql::prepare::plan::ElementField;
use crate::graphql::response::commit_version::{OF_COMMIT, text_of_commit};
use crate::graphql::scalars::node_id;
use crate::key::ChangeKind;

/// Writes a field of an element of what is given.
///
/// # Errors
/// `TOO_COMPLEX`, `TOO_LARGE`: the named limit is exceeded.
pub(super) fn of_given(
    out: &mut Vec<u8>,
    given: Given<'_>,
    element: usize,
    field: ElementField,
    request_budget: &RequestBudget,
) -> Result<()> {
    match given {
        Given::Change(change) => of_change(out, change, field, request_budget),
        Given::Outcome(Outcome::Deletion(deletion)) => {
            of_deletion(out, deletion, field, request_budget)
        }
        Given::Outcome(Outcome::Taken(taken)) => {
            let deletion = taken.get(element).ok_or_else(mismatch)?;
            of_deletion(out, deletion, field, request_budget)
        }
        Given::Outcome(Outcome::Appended(document)) => of_append(out, document, field),
        Given::Outcome(Outcome::Bulk(result)) => of_bulk(out, result, field),
        Given::Outcome(Outcome::CollectionDrop(collection, documents)) => {
            match field {
                ElementField::DroppedCollection => write_string(out, collection),
                ElementField::DroppedDocuments => number(out, Some(*documents)),
                _ => return Err(mismatch()),
            }
            Ok(())
        }
        Given::Outcome(Outcome::Index(index)) => of_index(out, index, field).ok_or_else(mismatch),
        Given::Outcome(Outcome::TypeDefinition(definition)) => {
            of_type_definition(out, definition, field)
        }
        Given::Outcome(
            Outcome::Document(_)
            | Outcome::IfAbsent(..)
            | Outcome::Written(_)
            | Outcome::IndexDrop(_)
            | Outcome::TypeDrop(_),
        ) => Err(mismatch()),
    }
}

fn of_deletion(
    out: &mut Vec<u8>,
    deletion: &Deletion,
    field: ElementField,
    request_budget: &RequestBudget,
) -> Result<()> {
    let Deletion { document, path, .. } = deletion;
    match field {
        ElementField::DeletionKey => write_string(out, &document.id.to_string()),
        ElementField::Deleted => boolean(out, deletion.deleted),
        ElementField::DeletedId if !deletion.deleted => out.extend_from_slice(NULL),
        ElementField::DeletedId if deletion.is_of_whole() => {
            write_string(out, &node_id::of_document(document));
        }
        ElementField::DeletedId => write_string(out, &node_id::of_subdocument(document, path)),
        ElementField::DeletedValue => match &deletion.value {
            Some(json) => {
                let budget = request_budget.budget();
                budget.check_response(out.len() + json.len())?;
                out.extend_from_slice(json);
            }
            None => out.extend_from_slice(NULL),
        },
        _ => return Err(mismatch()),
    }
    Ok(())
}

fn of_append(out: &mut Vec<u8>, document: &DocumentKey, field: ElementField) -> Result<()> {
    match field {
        ElementField::AppendedId => text_of_commit(out, &node_id::of_document(document)),
        ElementField::AppendedKey => text_of_commit(out, &document.id.to_string()),
        ElementField::AppendedCollection => write_string(out, &document.collection),
        ElementField::AppendedVersion => out.extend_from_slice(OF_COMMIT),
        _ => return Err(mismatch()),
    }
    Ok(())
}

fn of_bulk(out: &mut Vec<u8>, result: &BulkResult, field: ElementField) -> Result<()> {
    let count = match field {
        ElementField::Matched => result.matched,
        ElementField::Changed => result.changed,
        ElementField::Unchanged => result.matched - result.changed,
        ElementField::BulkExamined => {
            number(out, result.portion.as_ref().map(|portion| portion.examined));
            return Ok(());
        }
        ElementField::BulkNext => {
            let next = result.portion.as_ref();
            let next = next.and_then(|portion| portion.next.as_ref());
            string(out, next.map(ToString::to_string).as_deref());
            return Ok(());
        }
        _ => return Err(mismatch()),
    };
    number(out, Some(count));
    Ok(())
}

fn of_type_definition(
    out: &mut Vec<u8>,
    definition: &DefinedType,
    field: ElementField,
) -> Result<()> {
    match field {
        ElementField::TypedCollection => write_string(out, &definition.collection),
        ElementField::TypeEffect => out.extend_from_slice(match definition.effect {
            TypeChange::Unchanged => b"\"UNCHANGED\"",
            TypeChange::Compatible => b"\"COMPATIBLE\"",
            TypeChange::NeedsCheck => b"\"NEEDS_CHECK\"",
        }),
        ElementField::ChangedTypeState => write_string(out, definition.state.name()),
        ElementField::TypeExamined => number(out, definition.examined),
        ElementField::TypeComplete => boolean(out, definition.complete),
        _ => return Err(mismatch()),
    }
    Ok(())
}

/// Writes a field of what an element of the operator lists did. None if it has no such field.
pub(super) fn of_update(
    out: &mut Vec<u8>,
    update: &UpdateResult,
    field: ElementField,
) -> Option<()> {
    match field {
        // The names in the enum are those of the arguments in capitals.
        ElementField::UpdateOperator => {
            write_string(out, &update.operator.name().to_uppercase());
        }
        ElementField::UpdateAt => write_string(out, &update.at),
        ElementField::UpdatePlaces => number(out, Some(update.places)),
        _ => return None,
    }
    Some(())
}

fn of_change(
    out: &mut Vec<u8>,
    seen: SeenChange<'_>,
    field: ElementField,
    request_budget: &RequestBudget,
) -> Result<()> {
    let SeenChange { followed, .. } = seen;
    let change = seen.logged();
    match field {
        ElementField::ChangeCursor => write_string(out, &followed.cursor.to_string()),
        ElementField::ChangeVersion => write_string(out, &followed.commit.version.to_string()),
        ElementField::ChangeCollection => write_string(out, &change.collection),
        ElementField::ChangeKey => {
            let key = seen.id().map(ToString::to_string);
            string(out, key.as_deref());
        }
        ElementField::ChangeKind => out.extend_from_slice(match seen.kind() {
            ChangeKind::Created => b"\"CREATED\"",
            ChangeKind::Updated => b"\"UPDATED\"",
            ChangeKind::Deleted => b"\"DELETED\"",
            ChangeKind::CollectionDropped => b"\"COLLECTION_DROPPED\"",
            ChangeKind::CollectionChanged => b"\"COLLECTION_CHANGED\"",
        }),
        ElementField::ChangePaths => {
            let places = seen.changed_places();
            request_budget.fields(places.len().max(1))?;
            write_list(out, places.iter(), write_place);
        }
        ElementField::ChangeResync => boolean(out, seen.needs_resync()),
        ElementField::ChangeTime => number(out, Some(followed.commit.time)),
        _ => return Err(mismatch()),
    }
    Ok(())
}
