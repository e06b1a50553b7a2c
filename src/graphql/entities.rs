//! Representations of entities, as a federated graph's gateway sends them.

use async_graphql::Value;

use super::scalars::name;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::ENTITIES_MAX;

/// The scalar that representations are of.
pub(super) const REPRESENTATION: &str = "_Any";

/// Bounds the entities of one request.
///
/// # Errors
/// `TOO_COMPLEX`: names the limit.
pub(super) fn check_number(entities: usize) -> Result<()> {
    if entities <= ENTITIES_MAX {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::TooComplex,
        format!("{entities} entities in one request; the limit is {ENTITIES_MAX}"),
    ))
}

/// The same representation or, if it matches no key of this graph, one of a document that cannot
/// be: `async_graphql` fails all entities because of one that it does not know.
pub(super) fn known(representation: Value) -> Value {
    let matches = matches!(&representation, Value::Object(members)
        if matches!(members.get("__typename"), Some(Value::String(ty)) if ty == "Document")
            && matches!(members.get("collection"), Some(Value::String(_)))
            && matches!(members.get("id"), Some(Value::String(_) | Value::Number(_))));
    if matches {
        return representation;
    }
    let members = [("__typename", "Document"), ("collection", ""), ("id", "")];
    let members = members.map(|(member, text)| (name(member), Value::String(text.to_owned())));
    Value::Object(members.into_iter().collect())
}
