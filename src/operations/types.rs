//! Types of collections.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::transact::transact;
use crate::budget::{Budget, Steps};
use crate::database;
use crate::database::{Database, DefinedType};
use crate::document::flatten::json_text;
use crate::error::{Error, Result};
use crate::graphql::check_schema_of;
use crate::key::Leaves;
use crate::store::{Decision, Transaction};
use crate::types::{CollectionType, Inference, NotValidated};

/// Gives a collection a type, or only says what it would mean for the stored documents.
///
/// # Errors
/// `BAD_USER_INPUT`: the schema is not a type. Errors of [`check_schema_of`], [`database::define_type`] and
/// [`database::simulate_type_in_snapshots`].
// Boxed, as the other functions, so that other crates do not compile the future again.
pub fn set_type<'a>(
    database: &'a Database,
    collection: &'a str,
    schema: &'a str,
    dry_run: bool,
) -> BoxFuture<'a, Result<DefinedType>> {
    Box::pin(async move {
        let budget = Budget::of_background();
        let parse = |steps: &Steps<'_>| CollectionType::parse(collection, schema, steps);
        let parsed = budget.compute(parse).await?;
        if dry_run {
            let found = database.collection_types(None).await?.unwrap_or_default();
            let mut others = found.types;
            others.retain(|other| other.collection() != collection);
            budget
                .compute_long(|| check_schema_of(&parsed, &others))
                .await?;
            return database::simulate_type_in_snapshots(database, &budget, &parsed).await;
        }
        let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let (parsed, budget) = (parsed.clone(), budget.clone());
            Box::pin(async move {
                let others = database::types_beside(&*transaction, parsed.collection()).await?;
                budget
                    .compute_long(|| check_schema_of(&parsed, &others))
                    .await?;
                let defined = database::define_type(&*transaction, &budget, &parsed);
                Ok(Decision::Commit(defined.await?))
            })
        };
        transact(database, body).await
    })
}

/// Checks the stored documents of a collection against its type again. Returns whether it has one.
///
/// # Errors
/// Errors of [`database::check_type`].
pub fn check_type<'a>(database: &'a Database, collection: &str) -> BoxFuture<'a, Result<bool>> {
    let collection = collection.to_owned();
    Box::pin(async move {
        let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let collection = collection.clone();
            Box::pin(async move {
                let begun = database::check_type(&*transaction, &collection).await?;
                Ok(Decision::Commit(begun))
            })
        };
        transact(database, body).await
    })
}

/// A type, from the text of its schema.
///
/// # Errors
/// Errors of [`CollectionType::parse`].
pub fn parse_type(collection: &str, schema: &str) -> Result<CollectionType> {
    let budget = Budget::of_background();
    CollectionType::parse(collection, schema, &Steps::of(&budget))
}

/// A schema that is inferred from documents.
#[derive(Default)]
pub struct InferredType(Inference);

impl InferredType {
    /// Adds a document, given as JSON text.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON. `TOO_COMPLEX`: the documents have too many places.
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
