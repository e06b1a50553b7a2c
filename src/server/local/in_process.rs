//! The interfaces of a server without a server: a command that has the store open calls them in its own process.

use std::error::Error as StdError;

use axum::body::Body;
use axum::http::header::HOST;
use axum::http::{HeaderValue, Request, Response};
use bytes::Bytes;
use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use tower::ServiceExt as _;

use super::operator_interface::OperatorInterface;
use crate::database::Database;
use crate::error::Result;

/// Why the body of a response ended early.
pub type StreamFailure = Box<dyn StdError + Send + Sync>;

/// The body of a response.
pub type AnswerBody = UnsyncBoxBody<Bytes, StreamFailure>;

/// The interfaces of a database that this process has open.
pub struct InProcess {
    database: Database,
    interface: OperatorInterface,
}

impl InProcess {
    /// The interfaces of a database.
    pub fn new(database: Database) -> Self {
        Self {
            interface: OperatorInterface::new(database.clone(), None),
            database,
        }
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Reads the types of the collections, which are part of the schema from then on.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn refresh_types(&self) -> Result<()> {
        self.interface.graphql.refresh_types().await
    }

    /// The response to a request.
    pub async fn call(&self, mut request: Request<Bytes>) -> Response<AnswerBody> {
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        let router = self.interface.router.clone();
        let response = match router.oneshot(request.map(Body::from)).await {
            Ok(response) => response,
            Err(never) => match never {},
        };
        response.map(|body| body.map_err(Into::into).boxed_unsync())
    }
}
