//! `POST` of a collection: writes the lines of the body.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, Response};

use super::line_reader::LineReader;
use super::upload::Upload;
use super::upload_options::{UploadMode, UploadOptions};
use super::upload_stream::UploadStream;
use super::{NDJSON, StreamRights};
use crate::database::{Database, check_collection};
use crate::error::{Error, ErrorKind};
use crate::graphql::{SameCaller, caller_digest};
use crate::key::hex;
use crate::rights::Action;
use crate::server::access::caller::Caller;
use crate::server::documents::part_write::{coding, may_write, media_type, unsupported};
use crate::server::documents::problem::Problem;
use crate::server::http::endpoint::Endpoint;
use crate::server::http::methods::idempotency_key;

/// The response to `POST` of a collection.
///
/// # Errors
/// The response to an upload that does not begin.
pub(crate) fn respond(
    endpoint: &Arc<Endpoint>,
    database: &Database,
    caller: Caller,
    collection: &str,
    request: Request<Body>,
) -> Result<Response<Body>, Response<Body>> {
    let refused = |error: Error| Problem::of(&error).response();
    may_write(&caller).map_err(|problem| problem.response())?;
    if media_type(request.headers()).as_deref() != Some(NDJSON) {
        let problem = unsupported("the content type must be application/x-ndjson");
        return Err(problem.response());
    }
    let coding = coding(request.headers())?;
    let key = idempotency_key(request.headers()).map_err(refused)?;
    let query = request.uri().query().unwrap_or_default();
    let options = UploadOptions::parse(query).map_err(refused)?;
    check_collection(collection).map_err(refused)?;
    let mut rights = StreamRights::of(endpoint, &caller).map_err(refused)?;
    let begins = rights.now();
    let action = match options.mode {
        UploadMode::Insert | UploadMode::Skip => Action::Create,
        UploadMode::Compare | UploadMode::Replace | UploadMode::Merge => Action::Write,
    };
    if !begins.allow_somewhere(action, collection) {
        let message = format!("no rule allows to {action} anything in collection {collection:?}");
        return Err(refused(Error::new(ErrorKind::Forbidden, message)));
    }
    let digest = caller_digest(&begins, SameCaller::User);
    let sender = digest.map(|digest| hex(&digest)).unwrap_or_default();
    let graphql = &endpoint.graphql;
    let share = graphql.pool().share();
    let lines = LineReader::new(request.into_body(), coding, graphql.bounds(), share);
    let lines = lines.map_err(refused)?;
    let once_only = key.map(|key| format!("lines:{sender}:{key}"));
    let upload = Upload::new(
        endpoint,
        database,
        collection,
        options,
        (lines, rights),
        once_only,
    );
    Ok(UploadStream::response(upload, endpoint, caller))
}
