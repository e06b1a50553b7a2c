//! The routes that only an operator may use: those about the store as a whole, and about what other programs
//! have stored in it.

use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures::StreamExt as _;
use serde_json::{Value, json};

use super::backup_records::{BACKUP, BackupRecord};
use super::operator_streams::{backup_records, check_lines, pair_lines};
use crate::database::{Database, DocumentKey};
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::{from_hex, hex, tuple_text};
use crate::operations;
use crate::server::documents::problem::Problem;

/// `POST ?collection=…`, and `begin` to continue: adopts a batch of documents that other programs have stored.
/// Returns an object: `adopted` and `known` are numbers of documents, `unsupported` lists the keys of those that
/// stay unchanged, and `next` is the `begin` of the next batch, or null.
pub(crate) const ADOPT: &str = "/operator/adopt";
/// `GET ?collection=…`, or without it for the whole store: returns a line for each finding of a check, and a last
/// one with the `summary`, or with the `error` that ended the check.
pub(crate) const CHECK: &str = "/operator/check";
/// `POST ?collection=…`: checks the stored documents of a collection against its type again. Returns an object:
/// `begun` says whether there is a type.
pub(crate) const CHECK_TYPE: &str = "/operator/check-type";
/// `GET ?collection=…`: returns an object: `names` lists the existing collections if this one does not exist, also
/// those of other programs; otherwise it is null.
pub(crate) const NAMES: &str = "/operator/names";
/// `GET ?collection=…&id=…&path=…`: returns a line for each pair that is stored there: `key` and `value` as tuples,
/// `keyHex` and `valueHex` as bytes.
pub(crate) const PAIRS: &str = "/operator/pairs";

pub(super) fn routes(database: Database) -> Router {
    Router::new()
        .route(ADOPT, post(adopt))
        .route(CHECK, get(check))
        .route(CHECK_TYPE, post(check_type))
        .route(NAMES, get(names))
        .route(PAIRS, get(pairs))
        .route(BACKUP, get(back_up))
        .with_state(database)
}

/// An error, whose response is a problem.
struct OperatorError(Error);

impl From<Error> for OperatorError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for OperatorError {
    fn into_response(self) -> Response {
        let Self(error) = self;
        if let Some(detail) = error.detail() {
            tracing::error!(code = error.kind().code(), detail, "{}", error.message());
        }
        Problem::of(&error).response()
    }
}

/// Runs one transaction.
async fn adopt(State(database): State<Database>, uri: Uri) -> Result<Json<Value>, OperatorError> {
    let begin = match optional(&uri, "begin") {
        Some(begin) => Some(from_hex(&begin).ok_or_else(|| {
            Error::bad_input("the parameter \"begin\" must be the `next` of another batch")
        })?),
        None => None,
    };
    let adopted = operations::adopt(&database, &parameter(&uri, "collection")?, begin).await?;
    let foreign = adopted
        .foreign
        .iter()
        .map(|foreign| tuple_text(&foreign.key));
    Ok(Json(json!({
        "adopted": adopted.entered,
        "known": adopted.known,
        "unsupported": foreign.collect::<Vec<_>>(),
        "next": adopted.next.as_deref().map(hex),
    })))
}

async fn check(State(database): State<Database>, uri: Uri) -> Result<Body, OperatorError> {
    let collection = optional(&uri, "collection");
    let check = operations::check(&database, collection.as_deref()).await?;
    Ok(Body::from_stream(check_lines(check)))
}

/// Runs one transaction.
async fn check_type(
    State(database): State<Database>,
    uri: Uri,
) -> Result<Json<Value>, OperatorError> {
    let begun = operations::check_type(&database, &parameter(&uri, "collection")?).await?;
    Ok(Json(json!({ "begun": begun })))
}

async fn names(State(database): State<Database>, uri: Uri) -> Result<Json<Value>, OperatorError> {
    let names = operations::other_names(&database, &parameter(&uri, "collection")?).await?;
    Ok(Json(json!({ "names": names })))
}

async fn pairs(State(database): State<Database>, uri: Uri) -> Result<Body, OperatorError> {
    let id = DocumentId::parse(&parameter(&uri, "id")?)?;
    let document = DocumentKey::new(parameter(&uri, "collection")?, id)?;
    let path = Path::parse(&parameter(&uri, "path")?)?;
    let part = operations::part(&database, document, path).await?;
    Ok(Body::from_stream(pair_lines(part.as_ref())))
}

/// Takes a snapshot before the response begins and keeps it until the backup is sent.
async fn back_up(State(database): State<Database>) -> Result<Body, OperatorError> {
    let backup = operations::backup(&database).await?;
    let begin = BackupRecord::Begin(backup.last_commit()).to_field();
    let begin = futures::stream::iter([Ok(begin)]);
    Ok(Body::from_stream(begin.chain(backup_records(backup))))
}

fn parameter(uri: &Uri, name: &str) -> Result<String> {
    optional(uri, name)
        .ok_or_else(|| Error::bad_input(format!("the parameter {name:?} is missing")))
}

fn optional(uri: &Uri, name: &str) -> Option<String> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.into_owned())
}
