//! Several requests in one body.

use tokio::time::Instant;

use super::endpoint::Endpoint;
use crate::error::{Error, Limit};
use crate::graphql::{GraphQl, GraphQlResponse, Left, Methods, Request};
use crate::limits::Bounds;

/// Answers one request after the other, each by itself, as a JSON array. The bounds of a single
/// request on time and on the bytes of its response hold for all together: each has what the ones
/// before it have left.
pub(crate) async fn answer(
    endpoint: &Endpoint,
    requests: Vec<Request>,
    methods: Methods,
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
                json(endpoint.execute(request, methods).await.0)
            }
            Err(error) => GraphQl::refuse(&error),
        });
    }
    answers.push(b']');
    answers
}

/// The room and time that there is for one more.
fn left(answers: &[u8], deadline: Instant, bounds: &Bounds) -> Result<Left, Error> {
    let limit = bounds.response_bytes;
    let response_bytes = limit.saturating_sub(answers.len());
    if response_bytes == 0 {
        return Err(Error::too_large(
            Limit::new("responseBytes", limit),
            format!(
                "the answers before this one in the batch have {limit} bytes, which is the limit: \
                 it was not executed"
            ),
        ));
    }
    if Instant::now() > deadline {
        return Err(Error::timeout(
            Some(Limit::of_time("requestMilliseconds", bounds.request_time)),
            format!(
                "the time for the batch is over ({:?}, which is the limit): this request was not \
                 executed",
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
