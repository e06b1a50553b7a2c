//! Representations of entities, as a federated graph's gateway sends them.

use async_graphql::Value;

use super::scalars::name;

/// The scalar that representations are of.
pub(super) const REPRESENTATION: &str = "_Any";

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
