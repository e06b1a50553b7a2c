//! What a schema says about a place besides its values.

use std::sync::Arc;

use crate::types::shape::Reference;

/// What a schema says about a place besides its values.
#[derive(Default)]
pub(super) struct Annotations {
    pub(super) title: Option<Arc<str>>,
    pub(super) description: Option<Arc<str>>,
    pub(super) deprecated: bool,
    pub(super) graphql_name: Option<Arc<str>>,
    pub(super) graphql_plural: Option<Arc<str>>,
    pub(super) reference: Option<Arc<Reference>>,
}

/// Whether a text is a name of GraphQL that is not reserved for introspection.
pub fn is_graphql_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    text.bytes().next().is_some_and(is_letter)
        && text
            .bytes()
            .all(|byte| is_letter(byte) || byte.is_ascii_digit())
        && !text.starts_with("__")
}
