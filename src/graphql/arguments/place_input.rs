//! The input `DocumentPlace`.

use std::sync::Arc;

use async_graphql::{ID, InputObject};

use super::required::{in_argument, path_of_change};
use crate::budget::Reservation;
use crate::database::{DocumentKey, ValueSource};
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::Result;
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
    id: ID,
    #[graphql(default_with = "Some(PathScalar::default())")]
    path: Option<PathScalar>,
}

impl PlaceInput {
    /// The document and the path.
    ///
    /// # Errors
    /// `INVALID_PATH`, `BAD_USER_INPUT`: the path or the id is invalid.
    pub(crate) fn place(&self) -> Result<(DocumentKey, Path)> {
        let document = DocumentKey::new(&*self.collection, DocumentId::parse(&self.id)?)?;
        Ok((document, path_of_change(self.path.as_ref())?))
    }

    /// Reads the value in the transaction of the operation. `memory` holds it.
    ///
    /// # Errors
    /// Each error names the argument `from`. `NOT_FOUND`: nothing is stored there. `INVALID_PATH`,
    /// `BAD_USER_INPUT`: the path or the id is invalid. As [`ValueSource::read`].
    pub(crate) async fn read(
        &self,
        transaction: &dyn Transaction,
        request_budget: &RequestBudget,
        memory: &Reservation,
    ) -> Result<Leaves> {
        let read = async {
            let (document, path) = self.place()?;
            let source = ValueSource {
                document: Arc::new(document),
                path,
            };
            request_budget.places(1)?;
            source.read(transaction, memory).await
        };
        read.await.map_err(|error| in_argument("from", error))
    }
}
