//! The functions that create and drop indexes, set and drop types, and drop collections.

use async_graphql::MaybeUndefined;

use super::call::{Call, CallError};
use crate::budget::Steps;
use crate::database;
use crate::document::flatten::json_text;
use crate::document::leaf::abridged;
use crate::error::Error;
use crate::graphql::arguments::filter_input::FilterInput;
use crate::graphql::arguments::required::{in_argument, required_json};
use crate::graphql::execute::planned::given::Outcome;
use crate::graphql::scalars::scalar_types::{Json, JsonPath};
use crate::graphql::schema::typed::check_schema::check_schema_of;
use crate::types::CollectionType;

pub(super) async fn create_index(call: &Call<'_>) -> Result<Outcome, CallError> {
    let collection = call.collection()?;
    let name: String = call.argument("name")?;
    let on: Vec<JsonPath> = call.argument("on")?;
    let unique = call.argument_or("unique", false)?;
    let filter: Option<FilterInput> = call.argument("where")?;
    let session = call.session;
    let on: Vec<String> = on.into_iter().map(|JsonPath(text)| text).collect();
    let filter = filter
        .unwrap_or_default()
        .read(&session.request_budget)
        .await
        .map_err(|error| error.at("the argument `where`"))?;
    let transaction = session.transaction();
    let index = database::create_index(transaction, &collection, &name, &on, unique, filter);
    let index = index.await?;
    // The build of an index that exists advances in other transactions, which this one tolerates.
    let progress = transaction.without_conflict();
    let stored = database::stored_index(progress, &collection, index);
    Ok(Outcome::Index(stored.await?))
}

pub(super) async fn drop_index(call: &Call<'_>) -> Result<Outcome, CallError> {
    let collection = call.collection()?;
    let name: String = call.argument("name")?;
    let dropped = database::drop_index(call.session.transaction(), &collection, &name);
    Ok(Outcome::IndexDrop(dropped.await?))
}

/// The type that the arguments of `setCollectionType` define.
///
/// # Errors
/// As [`CollectionType::parse`].
pub(super) async fn given_type(call: &Call<'_>) -> Result<CollectionType, CallError> {
    let collection: String = call.argument("collection")?;
    let schema: MaybeUndefined<Json> = call.argument("schema")?;
    let schema = required_json("schema", &schema)?;
    let text = json_text(&schema)?;
    let parse = |steps: &Steps<'_>| CollectionType::parse(&collection, text, steps);
    let parsed = call.session.budget().compute(parse).await;
    Ok(parsed.map_err(|error| in_argument("schema", error))?)
}

pub(super) async fn set_type(call: &Call<'_>) -> Result<Outcome, CallError> {
    let parsed = given_type(call).await?;
    let collection = parsed.collection();
    let dry_run = call.argument_or("dryRun", false)?;
    let (transaction, budget) = (call.session.transaction(), call.session.budget());
    let others = database::types_beside(transaction, collection).await?;
    let checked = budget.compute_long(|| check_schema_of(&parsed, &others));
    checked
        .await
        .map_err(|error| in_argument("schema", error))?;
    let defined = if dry_run {
        database::simulate_type(transaction, budget, &parsed).await?
    } else {
        database::define_type(transaction, budget, &parsed).await?
    };
    Ok(Outcome::TypeDefinition(defined))
}

pub(super) async fn drop_type(call: &Call<'_>) -> Result<Outcome, CallError> {
    let collection: String = call.argument("collection")?;
    let dropped = database::drop_type(call.session.transaction(), &collection);
    Ok(Outcome::TypeDrop(dropped.await?))
}

pub(super) async fn drop_collection(call: &Call<'_>) -> Result<Outcome, CallError> {
    let collection: String = call.argument("collection")?;
    if !call.argument_or("everything", false)? {
        let error = Error::bad_input(format!(
            "dropping the collection {:?} removes all of its documents and indexes: give \
             `everything: true` to confirm",
            abridged(&collection)
        ));
        return Err(error.into());
    }
    let documents = database::drop_collection(call.session.transaction(), &collection).await?;
    Ok(Outcome::CollectionDrop(collection, documents))
}
