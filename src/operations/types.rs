//! Types of collections.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::budget::{Budget, Steps};
use crate::database;
use crate::database::{Database, DefinedType, StoredType};
use crate::document::flatten::json_text;
use crate::error::{Error, Result};
use crate::key::Leaves;
use crate::limits::IMPORT_BATCH_TIME_MAX;
use crate::store::{Decision, Transaction, TransactionResult};
use crate::types::{CollectionType, Inference, NotValidated};

/// Gives a collection a type, or only says what it would mean for the stored documents.
///
/// # Errors
/// `BAD_USER_INPUT`: the schema is not a type. Errors of [`database::define_type`] and
/// [`database::simulate_type`].
pub async fn set_type(
    database: &Database,
    collection: &str,
    schema: &str,
    dry_run: bool,
) -> Result<DefinedType> {
    let budget = Budget::of_background();
    let parse = |steps: &Steps<'_>| CollectionType::parse(collection, schema, steps);
    let parsed = budget.compute(parse).await?;
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let (parsed, budget) = (parsed.clone(), budget.clone());
        Box::pin(async move {
            Ok(if dry_run {
                let simulated = database::simulate_type(&*transaction, &budget, &parsed).await?;
                Decision::Abort(simulated)
            } else {
                let defined = database::define_type(&*transaction, &budget, &parsed).await?;
                Decision::Commit(defined)
            })
        })
    };
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(defined, _) | TransactionResult::Aborted(defined) => {
            Ok(defined)
        }
    }
}

/// A schema that is inferred from documents.
#[derive(Default)]
pub struct InferredType(Inference);

impl InferredType {
    /// Adds a document, given as JSON text.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON. `TOO_LARGE`: the documents have too many places.
    pub fn add(&mut self, json: &[u8]) -> Result<()> {
        let budget = Budget::of_background();
        let steps = Steps::of(&budget);
        let leaves = Leaves::from_json(json_text(json)?)?;
        let mut document = self.0.document(&steps);
        for (key, value) in leaves.iter() {
            document.push(key, value).map_err(not_inferred)?;
        }
        document.finish().map_err(not_inferred)
    }

    /// The text of a schema that all the documents fit.
    ///
    /// # Errors
    /// As [`InferredType::add`].
    pub fn into_schema(self) -> Result<String> {
        let budget = Budget::of_background();
        self.0.into_schema(&Steps::of(&budget))
    }
}

fn not_inferred(error: NotValidated) -> Error {
    match error {
        NotValidated::Malformed(error) => Error::internal(error.to_string()),
        NotValidated::Failed(error) => error,
    }
}

/// Drops the type of a collection. Returns whether it had one.
///
/// # Errors
/// Errors of [`database::drop_type`].
pub async fn drop_type(database: &Database, collection: &str) -> Result<bool> {
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let collection = collection.to_owned();
        Box::pin(async move {
            let dropped = database::drop_type(&*transaction, &collection).await?;
            Ok(if dropped {
                Decision::Commit(true)
            } else {
                Decision::Abort(false)
            })
        })
    };
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(dropped, _) | TransactionResult::Aborted(dropped) => {
            Ok(dropped)
        }
    }
}

/// The type of a collection, if it has one, or the types of all collections, in the order of their
/// names.
///
/// # Errors
/// Errors of [`database::stored_type`].
pub async fn types(database: &Database, collection: Option<&str>) -> Result<Vec<StoredType>> {
    let snapshot = database.snapshot().await?;
    let collections = match collection {
        Some(collection) => vec![collection.to_owned()],
        None => database::typed_collections(&*snapshot).await?,
    };
    let mut types = Vec::new();
    for collection in collections {
        types.extend(database::stored_type(&*snapshot, &collection).await?);
    }
    Ok(types)
}
