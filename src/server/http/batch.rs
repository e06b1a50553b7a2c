//! Several requests in one body.

use tokio::time::Instant;

use super::Endpoint;
use crate::error::{Error, ErrorKind};
use crate::graphql::{Answer, GraphQl, Methods, Request};
use crate::limits::Bounds;

/// Answers one request after the other, each by itself, as a JSON array. The bounds of a single
/// request on time and on what a response may carry hold for all together: what has not begun
/// when one of them is passed is refused.
pub(super) async fn answer(
    endpoint: &Endpoint,
    requests: Vec<Request>,
    methods: Methods,
) -> Vec<u8> {
    let bounds = endpoint.graphql.bounds();
    let deadline = Instant::now() + bounds.request_time;
    let mut answers = vec![b'['];
    for request in requests {
        if answers.len() > 1 {
            answers.push(b',');
        }
        answers.extend(match left(&answers, deadline, bounds) {
            Ok(()) => json(endpoint.execute(request, methods).await),
            Err(error) => GraphQl::refuse(&error),
        });
    }
    answers.push(b']');
    answers
}

/// Whether there is room and time for one more.
fn left(answers: &[u8], deadline: Instant, bounds: &Bounds) -> Result<(), Error> {
    let limit = bounds.response_bytes;
    if answers.len() > limit {
        return Err(Error::too_large(format!(
            "the answers before this one in the batch have more than {limit} bytes, \
             which is the limit: it was not executed"
        )));
    }
    if Instant::now() > deadline {
        return Err(Error::new(
            ErrorKind::Timeout,
            format!(
                "the time for the batch is over ({:?}, which is the limit): this request was not \
                 executed",
                bounds.request_time
            ),
        ));
    }
    Ok(())
}

fn json(answer: Answer) -> Vec<u8> {
    match answer {
        Answer::Executed(json)
        | Answer::Refused(json)
        | Answer::MutationRefused(json)
        | Answer::Forbidden(json) => json,
    }
}
