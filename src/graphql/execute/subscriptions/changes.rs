//! The responses to the changes that a subscriber follows.

use std::future::Future;

use crate::database::{ChangeFollower, FollowedChange};
use crate::error::Error;
use crate::graphql::execute::streaming::{ResponseStream, StreamedResponse};

/// One response for each change, until the changes cannot be followed any more. `respond` executes
/// the subscription for one change, `refuse` writes the response for an error.
pub(crate) fn responses_to_changes<F: Future<Output = Vec<u8>> + Send + 'static>(
    follower: ChangeFollower,
    refuse: fn(&Error) -> Vec<u8>,
    respond: impl Fn(FollowedChange) -> F + Send + 'static,
) -> ResponseStream {
    let begin = Some((follower, respond));
    ResponseStream::new(futures::stream::unfold(begin, move |state| async move {
        let (mut follower, respond) = state?;
        match follower.next().await {
            Ok(change) => {
                let cursor = Some(change.cursor.to_string());
                let json = respond(change).await.into();
                Some((StreamedResponse { json, cursor }, Some((follower, respond))))
            }
            Err(error) => {
                let json = refuse(&error).into();
                Some((StreamedResponse { json, cursor: None }, None))
            }
        }
    }))
}
