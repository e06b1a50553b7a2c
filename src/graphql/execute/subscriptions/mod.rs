//! Executes subscriptions.
//!
//! A subscription is executed as a query, again and again: `document` and `documents` when a commit
//! may have changed their result, `changes` once for each change. So its responses are computed,
//! limited and written as those of queries.

pub(crate) mod changes;
pub(crate) mod followed_place;
pub(crate) mod live;
mod live_response;
pub(crate) mod target;
