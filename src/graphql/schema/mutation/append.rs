//! The field `appendDocument`.
#![expect(
    unused_variables,
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::{MaybeUndefined, Object};

use super::results::DocumentAppend;
use crate::error::Result;
use crate::graphql::scalars::types::Json;
use crate::graphql::schema::declared::declared;

#[derive(Default)]
pub(crate) struct AppendMutations;

#[Object]
impl AppendMutations {
    /// Stores a new document under a key that is the versionstamp of this commit: `@` and 24 hexadecimal digits. Sorted by key, such documents are in the order in which they were committed, and those of one operation in the order of its fields. Appends never conflict with each other, and read nothing. `documents(after:)` returns what was appended since the last page.
    async fn append_document(
        &self,
        #[graphql(desc = "Any JSON value. It is required, but may be null.")]
        document: MaybeUndefined<Json>,
        #[graphql(default = "D", desc = "The collection to store the document in.")]
        collection: String,
    ) -> Result<DocumentAppend> {
        declared()
    }
}
