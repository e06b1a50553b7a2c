//! The input `DocumentPlace`.

use std::sync::Arc;

use async_graphql::{ID, InputObject};

use super::required::{in_argument, path_of_change};
use crate::budget::Reservation;
use crate::database::{DocumentKey, DocumentReference, ValuePlace};
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::scalars::scalar_types::PathScalar;
use crate::key::Leaves;
use crate::store::Transaction;

/// The collection of a field without the argument `collection`.
pub(crate) const DEFAULT_COLLECTION: &str = "D";

/// The input `DocumentPlace`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentPlace")]
pub(crate) struct PlaceInput {
    #[graphql(default_with = "DEFAULT_COLLECTION.to_owned()")]
    collection: String,
    id: Option<ID>,
    id_from: Option<Box<PlaceInput>>,
    #[graphql(default_with = "Some(PathScalar::default())")]
    path: Option<PathScalar>,
}

/// Which document arguments name.
pub(crate) enum NamedDocument<'p> {
    /// The document with this key.
    Key(DocumentKey),
    /// The document of the collection whose key is stored at a place.
    Stored(&'p str, &'p PlaceInput),
    /// None: the document that is changed, where there is one.
    Changed,
}

impl<'p> NamedDocument<'p> {
    /// The document of a collection that `id` or `idFrom` name.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: both are given. As [`DocumentId::parse`] and [`DocumentKey::new`].
    pub(crate) fn of(
        collection: &'p str,
        id: Option<&str>,
        id_from: Option<&'p PlaceInput>,
    ) -> Result<Self> {
        match (id, id_from) {
            (Some(_), Some(_)) => Err(Error::bad_input(
                "`id` and `idFrom` are given, which both name the document",
            )),
            (Some(id), None) => Ok(Self::Key(DocumentKey::new(
                collection,
                DocumentId::parse(id)?,
            )?)),
            (None, Some(at)) => Ok(Self::Stored(collection, at)),
            (None, None) => Ok(Self::Changed),
        }
    }
}

impl PlaceInput {
    /// Which document the place is in.
    ///
    /// # Errors
    /// As [`NamedDocument::of`].
    pub(crate) fn document(&self) -> Result<NamedDocument<'_>> {
        let id = self.id.as_ref().map(|id| id.as_str());
        NamedDocument::of(&self.collection, id, self.id_from.as_deref())
    }

    /// The path in the document.
    ///
    /// # Errors
    /// `INVALID_PATH`, `BAD_USER_INPUT`: the path is invalid or null.
    pub(crate) fn path(&self) -> Result<Path> {
        path_of_change(self.path.as_ref())
    }

    /// The place.
    ///
    /// # Errors
    /// As [`PlaceInput::document`] and [`PlaceInput::path`].
    pub(crate) fn place(&self) -> Result<ValuePlace> {
        // The recursion is bounded by the limit on the levels of arguments.
        let document = match self.document()? {
            NamedDocument::Key(document) => DocumentReference::Key(Arc::new(document)),
            NamedDocument::Stored(collection, at) => DocumentReference::Stored {
                collection: collection.into(),
                at: Box::new(at.place()?),
            },
            NamedDocument::Changed => DocumentReference::Changed,
        };
        Ok(ValuePlace {
            document,
            path: self.path()?,
        })
    }

    /// Reads the value in the transaction of the operation. `memory` holds it. `changed` is the document that
    /// the field changes, if it is one.
    ///
    /// # Errors
    /// Each error names the argument `from`. `NOT_FOUND`: nothing is stored there. `INVALID_PATH`,
    /// `BAD_USER_INPUT`: the path or the id is invalid. As [`ValuePlace::source`].
    pub(crate) async fn read(
        &self,
        transaction: &dyn Transaction,
        request_budget: &RequestBudget,
        memory: &Reservation,
        changed: Option<&Arc<DocumentKey>>,
    ) -> Result<Leaves> {
        let read = async {
            let place = self.place()?;
            request_budget.places(place.reads())?;
            let source = place.source(transaction, memory, changed).await?;
            source.read(transaction, memory).await
        };
        read.await.map_err(|error| in_argument("from", error))
    }

    /// Reads the key that is stored at the place. `memory` holds it.
    ///
    /// # Errors
    /// Each error names the argument `idFrom`. `BAD_USER_INPUT`: the value is no key. As [`PlaceInput::read`].
    pub(crate) async fn read_key(
        &self,
        transaction: &dyn Transaction,
        request_budget: &RequestBudget,
        memory: &Reservation,
    ) -> Result<DocumentId> {
        let read = async {
            let place = self.place()?;
            request_budget.places(place.reads())?;
            let source = place.source(transaction, memory, None).await?;
            source.read_key(transaction, memory).await
        };
        read.await.map_err(|error| in_argument("idFrom", error))
    }
}
