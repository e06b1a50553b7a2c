//! The streams of the routes for an operator. The last line or record of a check and of a backup says how it ended,
//! so that a client notices a broken connection.

use std::convert::Infallible;

use futures::Stream;
use futures::stream::{iter, unfold};
use serde_json::{Value as JsonValue, json};

use super::backup_records::BackupRecord;
use crate::database::{Check, Finding, Severity, Summary, Value};
use crate::error::Error;
use crate::key::{hex, tuple_text};
use crate::server::documents::problem::Problem;
use crate::store::Backup;

/// A part of a body.
type Part = Result<Vec<u8>, Infallible>;

/// The findings of a check, a line each.
pub(super) fn check_lines(check: Check) -> impl Stream<Item = Part> {
    unfold(Some(check), |check| async {
        let mut check = check?;
        let (next, goes_on) = match check.next_finding().await {
            Ok(Some(finding)) => (finding_line(&finding), true),
            Ok(None) => (summary_line(&check.summary()), false),
            Err(error) => (json!({ "error": logged(&error).members() }), false),
        };
        Some((Ok(line(&next)), goes_on.then_some(check)))
    })
}

/// The pairs of a value, a line each.
pub(super) fn pair_lines(part: Option<&Value>) -> impl Stream<Item = Part> + use<> {
    let mut text = Vec::new();
    for (key, value) in part.into_iter().flat_map(Value::pairs) {
        text.extend(line(&json!({
            "key": tuple_text(key),
            "value": tuple_text(value),
            "keyHex": hex(key),
            "valueHex": hex(value),
        })));
    }
    iter([Ok(text)])
}

/// The records of a backup, without the first one.
pub(super) fn backup_records(backup: Backup) -> impl Stream<Item = Part> {
    unfold(Some(backup), |backup| async {
        let mut backup = backup?;
        let record = match backup.next().await {
            Ok(Some(pairs)) => BackupRecord::Pairs(pairs),
            Ok(None) => BackupRecord::End,
            Err(error) => {
                logged(&error);
                BackupRecord::Failed(error.message().to_owned())
            }
        };
        let goes_on = matches!(record, BackupRecord::Pairs(_));
        Some((Ok(record.to_field()), goes_on.then_some(backup)))
    })
}

fn finding_line(finding: &Finding) -> JsonValue {
    let severity = match finding.severity {
        Severity::Fault => "FAULT",
        Severity::Unverified => "UNVERIFIED",
        Severity::Information => "INFORMATION",
    };
    json!({
        "severity": severity,
        "code": finding.code,
        "message": finding.message,
        "tuple": tuple_text(&finding.key),
        "key": hex(&finding.key),
    })
}

fn summary_line(summary: &Summary) -> JsonValue {
    let numbers = summary.numbers();
    let numbers = numbers.map(|(name, number)| (name.to_owned(), json!(number)));
    json!({ "summary": serde_json::Map::from_iter(numbers) })
}

fn line(value: &JsonValue) -> Vec<u8> {
    let mut text = value.to_string().into_bytes();
    text.push(b'\n');
    text
}

/// The problem that an error is. Its detail is only logged.
fn logged(error: &Error) -> Problem {
    if let Some(detail) = error.detail() {
        tracing::error!(code = error.kind().code(), detail, "{}", error.message());
    }
    Problem::of(error)
}
