//! The responses to the changes that a subscriber follows.

use futures::future::BoxFuture;

use crate::database::{ChangeFollower, FollowedChange};
use crate::error::Error;
use crate::graphql::execute::streaming::{ResponseStream, StreamedResponse};

/// One response for each change, until the changes cannot be followed any more. `respond` executes
/// the subscription for one change, `refuse` writes the response for an error.
pub(crate) fn responses_to_changes(
    follower: ChangeFollower,
    refuse: fn(&Error) -> Vec<u8>,
    respond: impl Fn(FollowedChange) -> BoxFuture<'static, Vec<u8>> + Send + 'static,
) -> ResponseStream {
    // Boxed, because the stream has its state twice.
    let begin = Some(Box::new((follower, respond)));
    ResponseStream::new(futures::stream::unfold(begin, move |state| async move {
        let mut state = state?;
        match state.0.next().await {
            Ok(change) => {
                let cursor = Some(change.cursor.to_string());
                let json = (state.1)(change).await.into();
                Some((StreamedResponse { json, cursor }, Some(state)))
            }
            Err(error) => {
                let json = refuse(&error).into();
                Some((StreamedResponse { json, cursor: None }, None))
            }
        }
    }))
}
