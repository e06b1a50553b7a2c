//! The responses to operations that fail, and what the log is told.

use async_graphql::ServerError;

use super::hints::QueryAnswer;
use crate::error::{Error, ErrorKind};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_stats::RequestStats;
use crate::graphql::response::write_errors::{complete, server_error, without_data};

/// The error of a request whose time limit has passed.
pub(super) fn out_of_time(request_budget: &RequestBudget) -> Error {
    let checked = request_budget.check();
    checked
        .err()
        .unwrap_or_else(|| Error::internal("the deadline passed, but the budget has time left"))
}

/// The conflict that a field failed with, if any. The whole operation is then retried.
pub(super) fn conflict(errors: &[ServerError]) -> Option<&Error> {
    let ours = errors.iter().filter_map(ServerError::source::<Error>);
    ours.into_iter()
        .find(|error| error.kind() == ErrorKind::Conflict)
}

/// Whether the rules do not allow a field.
pub(super) fn is_forbidden(errors: &[ServerError]) -> bool {
    let mut ours = errors.iter().filter_map(ServerError::source::<Error>);
    ours.any(|error| error.kind() == ErrorKind::Forbidden)
}

/// The response to a request that was not executed.
pub(super) fn refusal(error: &Error) -> Vec<u8> {
    let errors = [server_error(error)];
    log(&errors);
    without_data(&errors)
}

/// As [`refusal`], and records the error in `report`.
pub(super) fn error_response(error: &Error, report: &mut RequestStats) -> Vec<u8> {
    report.error = Some(error.kind());
    refusal(error)
}

/// The response to an operation that had no effect: `data` is null.
pub(super) fn undone(errors: &[ServerError], report: &mut RequestStats) -> Vec<u8> {
    report.note(errors);
    log(errors);
    complete(b"{\"data\":null".to_vec(), errors)
}

/// The answer to a failed query.
pub(super) fn unanswered(error: &Error, report: &mut RequestStats) -> QueryAnswer {
    QueryAnswer::without_hints(undone(&[server_error(error)], report))
}

/// Logs the details of errors, which clients do not receive.
pub(super) fn log(errors: &[ServerError]) {
    for error in errors.iter().filter_map(ServerError::source::<Error>) {
        if let Some(detail) = error.detail() {
            tracing::error!(code = error.kind().code(), detail, "{}", error.message());
        }
    }
}
