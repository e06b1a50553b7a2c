//! What the rules allow of the documents that must exist because a mutation has written references to them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::followed_rights::FollowedRights;
use crate::budget::in_turns;
use crate::database::DocumentKey;
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::rights::{Action, PlaceUsed, RequestRights};
use crate::store::Read;

/// Those of these documents that the rules do not allow to read, so that the caller may not know whether they exist.
///
/// # Errors
/// As [`FollowedRights::allow`].
pub(crate) async fn hidden_documents(
    rights: &RequestRights,
    documents: HashSet<DocumentKey>,
    (read, request_budget): (&dyn Read, &RequestBudget),
) -> Result<HashSet<DocumentKey>> {
    let mut by_collection: BTreeMap<String, Vec<DocumentId>> = BTreeMap::new();
    let mut each = in_turns(documents);
    while let Some(document) = each.next().await {
        let ids = by_collection.entry(document.collection).or_default();
        ids.push(document.id);
    }
    let mut hidden = HashSet::new();
    for (collection, ids) in by_collection {
        let whole = PlaceUsed {
            action: Action::Read,
            collection: Cow::Owned(collection.clone()),
            id: None,
            path: Cow::Owned(Path::default()),
        };
        let places = FollowedRights::ByKey(vec![whole]);
        let from = (read, request_budget);
        let allowed = places.allow((rights, &collection), &ids, from).await?;
        let refused = ids.into_iter().zip(allowed).filter(|(_, allowed)| !allowed);
        hidden.extend(refused.map(|(id, _)| DocumentKey {
            collection: collection.clone(),
            id,
        }));
    }
    Ok(hidden)
}
