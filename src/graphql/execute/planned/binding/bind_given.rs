//! Binds the selection of the result of a mutation, or of a change.

use std::borrow::Cow;

use super::bind::{Binder, Here};
use super::bound::{DocumentAt, LookupOf, ROOT, ResponseStep};
use crate::database::DocumentKey;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::given::{Given, Outcome, WriteResult};
use crate::graphql::prepare::plan::{ElementField, Field, Selection};

impl<'p> Binder<'p> {
    /// Binds what is selected from `given`.
    pub(crate) fn given(&mut self, given: Given<'p>, below: &'p Selection) -> Result<()> {
        match given {
            Given::Outcome(Outcome::Document(document) | Outcome::IfAbsent(document, _)) => {
                if let Given::Outcome(Outcome::IfAbsent(_, created)) = given {
                    self.created = Some(*created);
                }
                let document = self.document(Cow::Borrowed(&**document));
                let whole = Here::whole(DocumentAt::Bound(document), (ROOT, 0));
                self.object(below, |binder, field| binder.member(&whole, field))
            }
            Given::Outcome(Outcome::IndexDrop(dropped) | Outcome::TypeDrop(dropped)) => {
                self.text(if *dropped { b"true" } else { b"false" });
                Ok(())
            }
            Given::Outcome(Outcome::Written(results)) => {
                self.elements_of(results.iter(), |binder, result| {
                    binder.is_written = result.is_written;
                    binder.object(below, |binder, field| binder.field_of_write(result, field))
                })
            }
            Given::Outcome(Outcome::Taken(_)) => {
                self.objects(ROOT, LookupOf::Given, below, |binder, scope, field| {
                    binder.field_of_given(given, scope, field)
                })
            }
            Given::Outcome(
                Outcome::Deletion(_)
                | Outcome::Appended(_)
                | Outcome::Bulk(_)
                | Outcome::Index(_)
                | Outcome::TypeDefinition(_)
                | Outcome::CollectionDrop(..),
            )
            | Given::Change(_) => {
                let only = self.list(ROOT, LookupOf::Given, below);
                self.found(only.0);
                self.element_alone(only, |binder| {
                    binder.object(below, |binder, field| {
                        binder.field_of_given(given, only.1, field)
                    })
                })
            }
        }
    }

    /// Binds a field of the result of a write.
    fn field_of_write(&mut self, result: &'p WriteResult, field: &'p Field) -> Result<()> {
        match field {
            Field::OfElement(ElementField::WrittenKey) => self.text(&result.key),
            Field::OfElement(ElementField::WrittenCollection) => self.text(&result.collection),
            Field::OfElement(ElementField::WrittenCreated) => self.text(flag(result.created)),
            Field::OfElement(ElementField::WrittenDeleted) => self.text(flag(result.deleted)),
            Field::DocumentNow(below) => match &result.document {
                Some(document) => {
                    let document = Cow::Borrowed(&**document);
                    return self.document_at(document, Cow::Borrowed(Path::root()), below);
                }
                None => self.text(b"null"),
            },
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    /// Binds a field of the elements of `scope`, which are what is given.
    fn field_of_given(&mut self, given: Given<'p>, scope: usize, field: &'p Field) -> Result<()> {
        match field {
            Field::Updates(below) => {
                self.objects(scope, LookupOf::Updates, below, Self::field_of_element)
            }
            Field::TypeViolations(below) => {
                let misfits = LookupOf::Misfits(scope);
                self.objects(scope, misfits, below, Self::field_of_element)
            }
            Field::Patch => {
                let position = self.position();
                let lookup = self.lookup(ROOT, LookupOf::Patch);
                self.steps
                    .push(ResponseStep::FoundText { lookup, position });
                Ok(())
            }
            Field::DocumentNow(below) => {
                let Some(document) = document_now(given)? else {
                    self.text(b"null");
                    return Ok(());
                };
                self.document_at(document, Cow::Borrowed(Path::root()), below)
            }
            field => self.field_of_element(scope, field),
        }
    }
}

/// A flag as JSON.
fn flag(flag: Option<bool>) -> &'static [u8] {
    match flag {
        Some(true) => b"true",
        Some(false) => b"false",
        None => b"null",
    }
}

/// The document that a part was removed from, or that a change is of. None if there is none.
///
/// # Errors
/// As [`DocumentKey::new`].
fn document_now(given: Given<'_>) -> Result<Option<Cow<'_, DocumentKey>>> {
    match given {
        Given::Outcome(Outcome::Deletion(deletion)) => {
            let part = (!deletion.is_of_whole()).then_some(&*deletion.document);
            Ok(part.map(Cow::Borrowed))
        }
        // Whole documents are taken.
        Given::Outcome(Outcome::Taken(_)) => Ok(None),
        Given::Change(change) => {
            let collection = &*change.logged().collection;
            let id = change.id().cloned();
            let document = id.map(|id| DocumentKey::new(collection, id));
            document
                .map(|document| document.map(Cow::Owned))
                .transpose()
        }
        Given::Outcome(_) => Err(mismatch()),
    }
}
