//! Values that an edit takes from another place.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::editor::nothing_at;
use crate::budget::Reservation;
use crate::database::document_key::DocumentKey;
use crate::database::read::load::load;
use crate::database::read::range_plan::Extent;
use crate::database::read::request::{Answer, ReadRequest};
use crate::database::read::value_ref::malformed;
use crate::document::id::DocumentId;
use crate::document::leaf::{Leaf, abridged};
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::{Leaves, decode_leaf};
use crate::store::Transaction;

/// A place in a document, from which a value is taken.
#[derive(Clone, Debug)]
pub struct ValueSource {
    /// The document.
    pub document: Arc<DocumentKey>,
    /// The path in the document.
    pub path: Path,
}

/// A place from which a value is taken, in a document that may be known only in the transaction.
#[derive(Clone, Debug)]
pub struct ValuePlace {
    /// The document.
    pub document: DocumentReference,
    /// The path in the document.
    pub path: Path,
}

/// A document of a [`ValuePlace`].
#[derive(Clone, Debug)]
pub enum DocumentReference {
    /// The document with this key.
    Key(Arc<DocumentKey>),
    /// The document of the collection whose key is stored at a place.
    Stored {
        /// The collection.
        collection: Arc<str>,
        /// The place of the key.
        at: Box<ValuePlace>,
    },
    /// The document that is changed.
    Changed,
}

impl ValuePlace {
    /// Whether the place depends on which document is changed.
    pub fn depends_on_changed(&self) -> bool {
        match &self.document {
            DocumentReference::Key(_) => false,
            DocumentReference::Stored { at, .. } => at.depends_on_changed(),
            DocumentReference::Changed => true,
        }
    }

    /// The number of values that are read: this one, and the keys that lead to it.
    pub fn reads(&self) -> usize {
        match &self.document {
            DocumentReference::Stored { at, .. } => 1 + at.reads(),
            DocumentReference::Key(_) | DocumentReference::Changed => 1,
        }
    }

    /// Reads which document the place is in. `changed` is the document that is changed, if there is one.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a stored value is no key, or no document is changed. As [`ValueSource::read`].
    pub fn source<'v>(
        &'v self,
        transaction: &'v dyn Transaction,
        memory: &'v Reservation,
        changed: Option<&'v Arc<DocumentKey>>,
    ) -> BoxFuture<'v, Result<ValueSource>> {
        Box::pin(async move {
            let document = match &self.document {
                DocumentReference::Key(document) => document.clone(),
                DocumentReference::Changed => changed.cloned().ok_or_else(|| {
                    Error::bad_input("`id` or `idFrom` is required: no document is changed here")
                })?,
                DocumentReference::Stored { collection, at } => {
                    let source = at.source(transaction, memory, changed).await?;
                    let id = source.read_key(transaction, memory).await?;
                    Arc::new(DocumentKey::new(&**collection, id)?)
                }
            };
            Ok(ValueSource {
                document,
                path: self.path.clone(),
            })
        })
    }
}

impl ValueSource {
    /// Reads a key: a string is the text form of an id, and an integer is one. The transaction depends on the
    /// value.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the value is no key. As [`ValueSource::read`].
    pub async fn read_key(
        &self,
        transaction: &dyn Transaction,
        memory: &Reservation,
    ) -> Result<DocumentId> {
        let leaves = self.read(transaction, memory).await?;
        match leaves.as_leaf().and_then(decode_leaf) {
            Some(Leaf::Integer(integer)) => Ok(DocumentId::Integer(integer)),
            Some(Leaf::String(text)) => DocumentId::parse(&text),
            _ => Err(Error::bad_input(format!(
                "the value at {:?} of the document {} in the collection {:?} is no key: it is neither a string \
                 nor a 64-bit integer",
                abridged(&self.path.to_string()),
                self.document.id,
                self.document.collection
            ))),
        }
    }

    /// Reads the value. The transaction depends on the value, and on nothing else in the document.
    /// `memory` holds the pairs that are read, and the leaves.
    ///
    /// # Errors
    /// `NOT_FOUND`: nothing is stored there. `TOO_LARGE`: the value exceeds the limit of `memory`,
    /// or its path that of a key. Errors of the store.
    pub async fn read(
        &self,
        transaction: &dyn Transaction,
        memory: &Reservation,
    ) -> Result<Leaves> {
        let request = ReadRequest::Value(self.document.clone(), self.path.clone(), Extent::Whole);
        let answer = load(transaction, &[&request], memory).await.pop();
        let Some(Answer::Value(value)) = answer.transpose()? else {
            return Err(Error::internal("a load returned no part"));
        };
        let value = value.ok_or_else(|| nothing_at(&self.document, &self.path))?;
        memory.hold(value.pair_bytes())?;
        let copy = memory.budget().compute(|steps| {
            steps.spend(value.pair_count() as u64)?;
            let leaves = Leaves::from_stored(value.relative_pairs());
            leaves.map_err(|(error, key)| malformed(error, &[value.key(), key].concat()))
        });
        copy.await
    }
}
