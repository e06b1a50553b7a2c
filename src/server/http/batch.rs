//! Batches: several requests in one body.

use tokio::time::Instant;

use super::endpoint::Endpoint;
use crate::error::{Error, Limit};
use crate::graphql::{GraphQl, GraphQlResponse, Left, Request};
use crate::limits::Bounds;
use crate::server::access::caller::Caller;

/// Executes the requests one after another and returns their responses as a JSON array. The limits
/// of a single request on time and response bytes apply to the whole batch: each request gets what
/// the previous ones left.
pub(crate) async fn answer(
    endpoint: &Endpoint,
    requests: Vec<Request>,
    caller: &Caller,
) -> Vec<u8> {
    let bounds = endpoint.graphql.bounds();
    let deadline = Instant::now() + bounds.request_time;
    let mut answers = vec![b'['];
    for mut request in requests {
        if answers.len() > 1 {
            answers.push(b',');
        }
        answers.extend(match left(&answers, deadline, bounds) {
            Ok(left) => {
                request.left = Some(left);
                request.principal = caller.principal.clone();
                json(endpoint.execute(request, caller.methods).await.0)
            }
            Err(error) => GraphQl::refuse(&error),
        });
    }
    answers.push(b']');
    answers
}

/// The remaining response bytes and the deadline for the next request.
fn left(answers: &[u8], deadline: Instant, bounds: &Bounds) -> Result<Left, Error> {
    let limit = bounds.response_bytes;
    let response_bytes = limit.saturating_sub(answers.len());
    if response_bytes == 0 {
        return Err(Error::too_large(
            Limit::new("responseBytes", limit),
            format!(
                "the responses before this one in the batch reach the limit of {limit} bytes: \
                 this request was not executed"
            ),
        ));
    }
    if Instant::now() > deadline {
        return Err(Error::timeout(
            Some(Limit::of_time("requestMilliseconds", bounds.request_time)),
            format!(
                "the batch exceeded its time limit of {:?}: this request was not executed",
                bounds.request_time
            ),
        ));
    }
    Ok(Left {
        deadline,
        response_bytes,
    })
}

fn json(answer: GraphQlResponse) -> Vec<u8> {
    match answer {
        GraphQlResponse::Executed(json)
        | GraphQlResponse::Refused(json)
        | GraphQlResponse::MutationRefused(json)
        | GraphQlResponse::Forbidden(json) => json,
    }
}
