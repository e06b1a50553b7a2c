//! The functions that create and drop indexes and drop collections.

use super::call::{Call, CallError};
use crate::database;
use crate::document::leaf::abridged;
use crate::error::Error;
use crate::graphql::arguments::filter_input::FilterInput;
use crate::graphql::execute::planned::given::Outcome;
use crate::graphql::scalars::scalar_types::JsonPath;

pub(super) async fn create_index(call: &Call<'_>) -> Result<Outcome, CallError> {
    let collection = call.collection()?;
    let name: String = call.argument("name")?;
    let on: Vec<JsonPath> = call.argument("on")?;
    let unique = call.argument_or("unique", false)?;
    let filter: Option<FilterInput> = call.argument("where")?;
    let session = call.session;
    let on: Vec<String> = on.into_iter().map(|JsonPath(text)| text).collect();
    let filter = filter.unwrap_or_default();
    let filter = filter.read(&session.request_budget).await;
    let filter = filter.map_err(|error| error.at("the argument `where`"))?;
    let transaction = session.transaction();
    let index = database::create_index(transaction, &collection, &name, &on, unique, filter);
    Ok(Outcome::Index(index.await?))
}

pub(super) async fn drop_index(call: &Call<'_>) -> Result<Outcome, CallError> {
    let collection = call.collection()?;
    let name: String = call.argument("name")?;
    let dropped = database::drop_index(call.session.transaction(), &collection, &name);
    Ok(Outcome::IndexDrop(dropped.await?))
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
