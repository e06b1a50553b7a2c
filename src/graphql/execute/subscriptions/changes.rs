//! The responses to the changes that a subscriber follows.

use futures::future::BoxFuture;

use crate::database::{ChangeFollower, FollowedChange};
use crate::error::{Error, Result};
use crate::graphql::context::rules_in_force::{RulesInForce, replaced};
use crate::graphql::execute::streaming::{EventResponse, ResponseStream, StreamedResponse};
use crate::key::Version;

/// One response for each change, up to the version `end` if it is given, until the changes cannot be followed any
/// more, or the subscriber loses its rights. `respond` executes the subscription for one change, `refuse` writes the response for an error.
/// `check` is called when the access `rules` are replaced, and returns why the subscriber may not follow the
/// changes any more.
pub(crate) fn responses_to_changes(
    (follower, end): (ChangeFollower, Option<Version>),
    rules: Option<RulesInForce>,
    refuse: fn(&Error) -> Vec<u8>,
    check: impl Fn() -> Result<()> + Send + 'static,
    respond: impl Fn(FollowedChange) -> BoxFuture<'static, EventResponse> + Send + 'static,
) -> ResponseStream {
    // Boxed, because the stream has its state twice.
    let begin = Some(Box::new((follower, rules, check, respond)));
    ResponseStream::new(futures::stream::unfold(begin, move |state| async move {
        let mut state = state?;
        let (follower, rules, check, respond) = &mut *state;
        let next = loop {
            tokio::select! {
                biased;
                () = replaced(rules) => {
                    if let Err(error) = check() {
                        break Err(error);
                    }
                }
                next = next_change(follower, end) => break next,
            }
        };
        match next {
            Ok(None) => None,
            Ok(Some(change)) => {
                let cursor = Some(change.cursor.to_string());
                let EventResponse { json, is_last } = respond(change).await;
                let json = json.into();
                let rest = (!is_last).then_some(state);
                Some((StreamedResponse { json, cursor }, rest))
            }
            Err(error) => {
                let json = refuse(&error).into();
                Some((StreamedResponse { json, cursor: None }, None))
            }
        }
    }))
}

async fn next_change(
    follower: &mut ChangeFollower,
    end: Option<Version>,
) -> Result<Option<FollowedChange>> {
    match end {
        None => follower.next().await.map(Some),
        Some(end) => follower.next_until(end).await,
    }
}
