//! Ids that contain the version of the current commit, which the response writer fills in.

use std::borrow::Cow;

use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::{ContextSelectionSet, ID, OutputType, Positioned, ServerResult, Value};

/// Begins a placeholder for a text with the version of the commit. Not a JSON text.
const COMMIT_TEXT: &[u8] = b"\0text:";
/// The position of the version in it.
const COMMIT: u8 = 0;

/// The hexadecimal digits of the commit's version, with which a versionstamp begins.
const COMMIT_DIGITS: usize = 20;
/// The hexadecimal digits of a versionstamp.
const STAMP_DIGITS: usize = 24;

/// An `ID` that contains the hexadecimal digits of the current commit's version.
pub(crate) struct CommitText {
    before: String,
    after: String,
}

impl CommitText {
    /// Of a text that ends with the pending versionstamp of a document, as its key and its global id
    /// do.
    pub(crate) fn of(text: &str) -> Self {
        let (before, stamp) = text.split_at(text.len() - STAMP_DIGITS);
        Self {
            before: before.to_owned(),
            after: stamp[COMMIT_DIGITS..].to_owned(),
        }
    }
}

impl OutputType for CommitText {
    fn type_name() -> Cow<'static, str> {
        ID::type_name()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        ID::create_type_info(registry)
    }

    async fn resolve(
        &self,
        _: &ContextSelectionSet<'_>,
        _: &Positioned<Field>,
    ) -> ServerResult<Value> {
        let text = [
            COMMIT_TEXT,
            self.before.as_bytes(),
            &[COMMIT],
            self.after.as_bytes(),
        ];
        Ok(Value::Binary(text.concat().into()))
    }
}

/// The texts before and after the version, if `text` is the placeholder of a [`CommitText`]. Both
/// can be copied into a JSON string.
pub(crate) fn around_commit(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let text = text.strip_prefix(COMMIT_TEXT)?;
    let at = memchr::memchr(COMMIT, text)?;
    Some((&text[..at], &text[at + 1..]))
}
