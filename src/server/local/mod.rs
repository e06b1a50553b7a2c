//! The local socket: how commands reach a store that a running server holds.
//!
//! The embedded engine's lock is exclusive. While a server runs, commands send their requests to it
//! by HTTP over a Unix domain socket in the store's directory. A request is one of the commands'
//! [`operations`], never a single read or write of the store. So a batch of documents is one
//! transaction, and an export reads one snapshot.
//!
//! Only the user who runs the server can open the socket.

pub mod backup_records;
pub mod checked;
pub mod following;

pub mod removal;
pub(crate) mod socket;
pub mod sweeping;
pub mod typing;
pub mod wire;

use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::Stream;
pub use socket::{LocalSocket, SOCKET_NAME, with_short_path};
use tokio::runtime::Handle;
use tokio::time::Instant;

use crate::database::{Check, Database, DocumentKey, Scan, Value};
use crate::document::id::DocumentId;
use crate::document::path;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::GraphQl;
use crate::limits::EXPORT_CHUNK_BYTES;
use crate::operations::{self, Policy};
use crate::store::Backup;

/// Serves the local socket of `directory` until `stop` completes and the accepted requests are
/// answered, then removes it. The caller must hold the store of that directory.
///
/// # Errors
/// `UNAVAILABLE`: the socket cannot be created.
pub async fn serve_local(
    directory: &Path,
    database: Database,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<()> {
    LocalSocket::bind(directory)?.serve(database, stop).await
}

/// The routes of the local socket. If they change types, the schema of `graphql` follows before the command
/// ends.
pub fn router(database: Database, graphql: Option<GraphQl>) -> Router {
    let changing_types = Router::new()
        .route(removal::DROP, post(drop_collection))
        .route(typing::SET_TYPE, post(set_type))
        .route(typing::DROP_TYPE, post(drop_type))
        .layer(from_fn_with_state(graphql, refresh_types));
    Router::new()
        .route(wire::PUT_BATCH, post(put_batch))
        .route(wire::ADOPT, post(adopt))
        .route(wire::GET, get(get_json))
        .route(wire::PAIRS, get(get_pairs))
        .route(wire::EXPORT, get(export))
        .route(checked::CHECK, get(check))
        .route(backup_records::BACKUP, get(back_up))
        .route(wire::COLLECTIONS, get(collections))
        .route(sweeping::SWEEP, post(sweep))
        .route(removal::NAMES, get(names))
        .route(typing::TYPES, get(types))
        .route(typing::CHECK_TYPE, post(check_type))
        .route(following::CHANGES, get(changes))
        .route(following::WATCH, get(watch))
        .merge(changing_types)
        .layer(DefaultBodyLimit::disable())
        .with_state(database)
}

async fn refresh_types(
    State(graphql): State<Option<GraphQl>>,
    request: Request,
    next: Next,
) -> Response {
    let response = next.run(request).await;
    if let Some(graphql) = graphql {
        let deadline = Instant::now() + graphql.bounds().request_time;
        graphql.refresh_types_until(deadline).await;
    }
    response
}

struct LocalError(Error);

impl From<Error> for LocalError {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl IntoResponse for LocalError {
    fn into_response(self) -> Response {
        let Self(error) = self;
        let status = match error.kind().for_clients() {
            ErrorKind::Conflict
            | ErrorKind::Timeout
            | ErrorKind::OutcomeUnknown
            | ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            _ => StatusCode::BAD_REQUEST,
        };
        (status, wire::error_text(&log(error))).into_response()
    }
}

/// Logs the detail of an error, which is not sent over the socket.
fn log(error: Error) -> Error {
    if let Some(detail) = error.detail() {
        tracing::error!(code = error.kind().code(), detail, "{}", error.message());
    }
    error
}

/// Runs one transaction. It runs on a blocking thread, because parsing and writing documents is
/// CPU-bound, and it completes even if the client disconnects.
async fn put_batch(
    State(database): State<Database>,
    uri: Uri,
    body: Bytes,
) -> Result<Vec<u8>, LocalError> {
    let collection = parameter(&uri, "collection")?;
    let policy = Policy::parse(&parameter(&uri, "existing")?, &parameter(&uri, "on-error")?)?;
    let put = move || {
        let documents = wire::read_documents(&body, policy)?;
        let put = operations::put_batch(&database, &collection, Arc::new(documents), policy);
        Handle::current().block_on(put)
    };
    let results = tokio::task::spawn_blocking(put).await;
    let results = results.map_err(|error| Error::internal(format!("batch failed: {error}")))??;
    Ok(wire::write_results(&results))
}

/// Runs one transaction, beginning at the key in the body.
async fn adopt(
    State(database): State<Database>,
    uri: Uri,
    body: Bytes,
) -> Result<Vec<u8>, LocalError> {
    let begin = (!body.is_empty()).then(|| body.to_vec());
    let adopted = operations::adopt(&database, &parameter(&uri, "collection")?, begin).await?;
    Ok(wire::write_adopted(&adopted))
}

async fn get_json(State(database): State<Database>, uri: Uri) -> Result<Response, LocalError> {
    let (document, path) = place(&uri)?;
    Ok(match operations::get(&database, document, path).await? {
        Some(json) => json.into_response(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

async fn get_pairs(State(database): State<Database>, uri: Uri) -> Result<Vec<u8>, LocalError> {
    let (document, path) = place(&uri)?;
    let part = operations::part(&database, document, path).await?;
    Ok(wire::write_pairs(part.iter().flat_map(Value::pairs)))
}

async fn collections(State(database): State<Database>) -> Result<Vec<u8>, LocalError> {
    let collections = operations::collections(&database).await?;
    Ok(wire::write_collections(&collections))
}

async fn export(State(database): State<Database>, uri: Uri) -> Result<Body, LocalError> {
    let scan = operations::scan(&database, &parameter(&uri, "collection")?).await?;
    Ok(Body::from_stream(parts(scan, export_chunk)))
}

/// Streams the parts of a body. Each call of `next` returns a part and the state for the next part.
fn parts<T, F: Future<Output = (Vec<u8>, Option<T>)>>(
    first: T,
    next: impl Fn(T) -> F + Copy,
) -> impl Stream<Item = Result<Vec<u8>, Infallible>> {
    futures::stream::unfold(Some(first), move |from| async move {
        let (part, from) = next(from?).await;
        Some((Ok(part), from))
    })
}

/// The next chunk of an export, and the scan unless it has ended. The last record says how
/// the export ended, so that a client can detect a broken connection.
async fn export_chunk(mut scan: Scan) -> (Vec<u8>, Option<Scan>) {
    let mut chunk = Vec::new();
    while chunk.len() < EXPORT_CHUNK_BYTES {
        let record = match scan.next().await {
            Ok(Some(Ok(document))) => wire::ExportRecord::Document(document),
            Ok(Some(Err(foreign))) => wire::ExportRecord::Foreign(foreign),
            Ok(None) => wire::ExportRecord::End,
            Err(error) => wire::ExportRecord::Failed(log(error)),
        };
        record.write(&mut chunk);
        if record.is_last() {
            return (chunk, None);
        }
    }
    (chunk, Some(scan))
}

async fn check(State(database): State<Database>, uri: Uri) -> Result<Body, LocalError> {
    let collection = optional(&uri, "collection");
    let check = operations::check(&database, collection.as_deref()).await?;
    Ok(Body::from_stream(parts(check, check_record)))
}

/// The next record of a check, and the check unless it has ended.
async fn check_record(mut check: Check) -> (Vec<u8>, Option<Check>) {
    let record = match check.next_finding().await {
        Ok(Some(finding)) => checked::CheckRecord::Finding(finding),
        Ok(None) => checked::CheckRecord::End(check.summary()),
        Err(error) => checked::CheckRecord::Failed(log(error)),
    };
    let goes_on = matches!(record, checked::CheckRecord::Finding(_));
    (record.to_field(), goes_on.then_some(check))
}

/// Streams changes.
async fn changes(State(database): State<Database>, uri: Uri) -> Result<Body, LocalError> {
    let id = optional(&uri, "id");
    let request = operations::ChangeRequest {
        collection: parameter(&uri, "collection")?,
        id: id.as_deref().map(DocumentId::parse).transpose()?,
        path: path::Path::parse(&optional(&uri, "path").unwrap_or_default())?,
        after: optional(&uri, "after"),
        follow: parameter(&uri, "follow")? == "true",
    };
    let lines = operations::ChangeLines::begin(&database, request).await?;
    Ok(Body::from_stream(parts(lines, change_record)))
}

/// The next record, and the state unless it was the last.
async fn change_record(
    mut lines: operations::ChangeLines,
) -> (Vec<u8>, Option<operations::ChangeLines>) {
    match lines.next().await {
        Ok(Some(line)) => (following::LineRecord::Line(line).to_field(), Some(lines)),
        Ok(None) => (following::LineRecord::End.to_field(), None),
        Err(error) => (following::LineRecord::Failed(log(error)).to_field(), None),
    }
}

/// Streams a value that changes.
async fn watch(State(database): State<Database>, uri: Uri) -> Result<Body, LocalError> {
    let id = DocumentId::parse(&parameter(&uri, "id")?)?;
    let document = DocumentKey::new(parameter(&uri, "collection")?, id)?;
    let path = path::Path::parse(&parameter(&uri, "path")?)?;
    let lines = operations::ValueLines::begin(&database, document, path).await?;
    Ok(Body::from_stream(parts(lines, value_record)))
}

/// The next record, and the state unless it was the last.
async fn value_record(
    mut lines: operations::ValueLines,
) -> (Vec<u8>, Option<operations::ValueLines>) {
    match lines.next().await {
        Ok(line) => (following::LineRecord::Line(line).to_field(), Some(lines)),
        Err(error) => (following::LineRecord::Failed(log(error)).to_field(), None),
    }
}

/// Takes a snapshot before the response begins and keeps it until the backup is sent.
async fn back_up(State(database): State<Database>) -> Result<Body, LocalError> {
    let backup = operations::backup(&database).await?;
    let begin = backup_records::BackupRecord::Begin(backup.last_commit()).to_field();
    let begin = futures::stream::iter([Ok(begin)]);
    let parts = parts(backup, backup_record);
    Ok(Body::from_stream(futures::StreamExt::chain(begin, parts)))
}

/// The next record of a backup, and the backup unless it has ended.
async fn backup_record(mut backup: Backup) -> (Vec<u8>, Option<Backup>) {
    let record = match backup.next().await {
        Ok(Some(pairs)) => backup_records::BackupRecord::Pairs(pairs),
        Ok(None) => backup_records::BackupRecord::End,
        Err(error) => backup_records::BackupRecord::Failed(log(error)),
    };
    let goes_on = matches!(record, backup_records::BackupRecord::Pairs(_));
    (record.to_field(), goes_on.then_some(backup))
}

/// Runs one transaction.
async fn drop_collection(State(database): State<Database>, uri: Uri) -> Result<String, LocalError> {
    let collection = parameter(&uri, "collection")?;
    let documents = operations::drop_collection(&database, &collection).await?;
    Ok(documents.to_string())
}

async fn types(State(database): State<Database>, uri: Uri) -> Result<Vec<u8>, LocalError> {
    let collection = optional(&uri, "collection");
    let types = operations::types(&database, collection.as_deref()).await?;
    Ok(typing::write_types(&types))
}

/// Runs one transaction.
async fn set_type(
    State(database): State<Database>,
    uri: Uri,
    schema: String,
) -> Result<Vec<u8>, LocalError> {
    let collection = parameter(&uri, "collection")?;
    let dry_run = parameter(&uri, "dry-run")? == "true";
    let defined = operations::set_type(&database, &collection, &schema, dry_run).await?;
    Ok(typing::write_defined(&defined))
}

/// Runs one transaction.
async fn check_type(State(database): State<Database>, uri: Uri) -> Result<String, LocalError> {
    let begun = operations::check_type(&database, &parameter(&uri, "collection")?).await?;
    Ok(begun.to_string())
}

/// Runs one transaction.
async fn drop_type(State(database): State<Database>, uri: Uri) -> Result<String, LocalError> {
    let dropped = operations::drop_type(&database, &parameter(&uri, "collection")?).await?;
    Ok(dropped.to_string())
}

/// Runs one transaction, beginning after the id in `after`.
async fn sweep(
    State(database): State<Database>,
    uri: Uri,
    body: Bytes,
) -> Result<Vec<u8>, LocalError> {
    let (filter, change) = sweeping::read_sweep(&parameter(&uri, "change")?, &body)?;
    let sweep = operations::Sweep {
        collection: parameter(&uri, "collection")?,
        filter,
        everything: parameter(&uri, "everything")? == "true",
        change,
    };
    let after = optional(&uri, "after").map(|id| DocumentId::parse(&id));
    let documents = parameter(&uri, "documents")?;
    let documents = wire::number(documents.as_bytes())?;
    let after = after.transpose()?;
    let swept = operations::sweep_portion(&database, &sweep, after, documents).await?;
    Ok(sweeping::write_swept(&swept))
}

async fn names(State(database): State<Database>, uri: Uri) -> Result<Response, LocalError> {
    let collection = parameter(&uri, "collection")?;
    Ok(
        match operations::other_names(&database, &collection).await? {
            Some(names) => removal::write_names(&names).into_response(),
            None => StatusCode::NO_CONTENT.into_response(),
        },
    )
}

fn place(uri: &Uri) -> Result<(DocumentKey, path::Path)> {
    let id = DocumentId::parse(&parameter(uri, "id")?)?;
    let document = DocumentKey::new(parameter(uri, "collection")?, id)?;
    Ok((document, path::Path::parse(&parameter(uri, "path")?)?))
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
