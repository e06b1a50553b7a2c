//! What the rules allow a subscriber of changes to see.
//!
//! The log has changes from before the newest rules, and a change names all places that it touched. So a
//! subscriber needs rules without a condition, and sees only what is at or below the places that it
//! follows. If a change is above such a place, as when the document is replaced, the subscriber is told to
//! read the place again.

use crate::database::Interest;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::graphql::execute::planned::permit::apply_rules::{needs_all, refusal};
use crate::rights::{Action, Decision, PlaceUsed, RequestRights};

/// Asks the rules whether a subscriber may follow what it is interested in. Returns what its changes are
/// cut to. None if it may see all of them.
///
/// # Errors
/// `FORBIDDEN`: no rule covers the named place, or only with a condition.
pub(crate) fn cut_to<'i>(
    rights: &RequestRights,
    interest: &'i Interest,
) -> Result<Option<&'i Interest>> {
    if rights.rules_in_force().is_none() {
        return Ok(None);
    }
    let Interest {
        collection,
        id,
        places,
    } = interest;
    let paths: Vec<Path> = places.iter().map(Path::from).collect();
    let place = |action, path| match id {
        Some(id) => PlaceUsed::in_document(action, collection, id, path),
        None => PlaceUsed::in_collection(action, collection, path),
    };
    let mut used: Vec<PlaceUsed<'_>> = paths.iter().map(|path| place(Action::Read, path)).collect();
    if id.is_none() {
        used.push(place(Action::List, Path::root()));
    }
    match rights.decide(&used) {
        Decision::Allowed => {}
        Decision::Refused(place) => return Err(refusal(&place)),
        Decision::Depends(conditions) => {
            let first = conditions.places().next().and_then(|first| used.get(first));
            let error = || Error::internal("a condition on no place");
            return Err(first.map_or_else(error, needs_all));
        }
    }
    let whole = [place(Action::Read, Path::root())];
    Ok(match rights.decide(&whole) {
        Decision::Allowed => None,
        Decision::Refused(_) | Decision::Depends(_) => Some(interest),
    })
}
