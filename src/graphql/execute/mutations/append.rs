//! The function `appendDocument`.

use async_graphql::MaybeUndefined;

use super::call::{Call, CallError};
use crate::database;
use crate::graphql::execute::planned::given::Outcome;
use crate::graphql::scalars::scalar_types::Json;

pub(super) async fn append_document(call: &Call<'_>) -> Result<Outcome, CallError> {
    let document: MaybeUndefined<Json> = call.argument("document")?;
    let collection = call.collection()?;
    database::check_collection(&collection)?;
    let session = call.session;
    let leaves = call.leaves(&document).await?;
    let (transaction, budget) = (session.transaction(), session.budget());
    let number = session.next_append()?;
    let appended = database::append(transaction, budget, &collection, number, &leaves);
    Ok(Outcome::Appended(appended.await?))
}
