//! Values that an edit takes from another place.

use std::sync::Arc;

use super::editor::nothing_at;
use crate::budget::Reservation;
use crate::database::document_key::DocumentKey;
use crate::database::read::load::load;
use crate::database::read::range_plan::Extent;
use crate::database::read::request::{Answer, ReadRequest};
use crate::database::read::value_ref::malformed;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::Leaves;
use crate::store::Transaction;

/// A place in a document, from which a value is taken.
#[derive(Clone, Debug)]
pub struct ValueSource {
    /// The document.
    pub document: Arc<DocumentKey>,
    /// The path in the document.
    pub path: Path,
}

impl ValueSource {
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
