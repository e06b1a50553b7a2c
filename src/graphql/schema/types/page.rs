//! The type `PageInfo`. Its fields are executed from plans.
#![expect(
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::Object;

use crate::error::Result;
use crate::graphql::schema::declared::declared;

pub(crate) struct PageInfo;

/// The boundaries of a page. A cursor holds a key and a digest of the query; using it with another query fails with `BAD_USER_INPUT`.
// Every subgraph with connections has this type. Two such subgraphs compose only if it is
// shareable.
#[Object(shareable)]
impl PageInfo {
    /// Whether more items follow this page. When paging backwards: whether `before` is given.
    async fn has_next_page(&self) -> Result<bool> {
        declared()
    }

    /// Whether `after` is given. When paging backwards: whether more items precede this page.
    async fn has_previous_page(&self) -> Result<bool> {
        declared()
    }

    /// The cursor of the first item; null if the page is empty.
    async fn start_cursor(&self) -> Result<Option<String>> {
        declared()
    }

    /// The cursor of the last item; null if the page is empty.
    async fn end_cursor(&self) -> Result<Option<String>> {
        declared()
    }
}
