//! State and responses that the handlers of `/graphql` share.

use std::time::Instant;

use axum::body::Body;
use axum::http::header::{ALLOW, CACHE_CONTROL};
use axum::http::{Response, StatusCode};
use tracing::Instrument as _;

use crate::graphql::{GraphQl, GraphQlResponse, Methods, Request, RequestStats};
use crate::server::access::{Caller, forbidden};
use crate::server::observe::metrics::counters::Metrics;
use crate::server::observe::requests::{operation_span, tell};
use crate::server::response::json::{response, with};
use crate::server::response::media::Media;
use crate::server::response::response_body;

/// The state of the handlers of `/graphql`.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) graphql: GraphQl,
    pub(crate) batch_max: Option<usize>,
    pub(crate) metrics: Metrics,
}

impl Endpoint {
    /// Executes a request and records metrics, a span and a log line. The second value says whether
    /// the response has errors.
    pub(crate) async fn execute(
        &self,
        request: Request,
        methods: Methods,
    ) -> (GraphQlResponse, bool) {
        let begun = Instant::now();
        let mut report = RequestStats::default();
        let answer = self.graphql.answer_and_tell(request, methods, &mut report);
        let span = operation_span();
        let answer = answer.instrument(span.clone()).await;
        tell(&self.metrics, &report, begun.elapsed(), &span);
        (answer, report.error.is_some())
    }

    pub(crate) fn answer(
        &self,
        media: Media,
        answer: GraphQlResponse,
        caller: &Caller,
    ) -> Response<Body> {
        match answer {
            GraphQlResponse::Executed(json) => self.executed(media, json),
            GraphQlResponse::Refused(json) => {
                // A rejected query may succeed later, for example once it is persisted.
                let response = response(media, media.refused(), json);
                with(response, CACHE_CONTROL, "no-store")
            }
            GraphQlResponse::MutationRefused(json) => {
                let response = response(media, StatusCode::METHOD_NOT_ALLOWED, json);
                with(response, ALLOW, "POST")
            }
            GraphQlResponse::Forbidden(body) => forbidden(caller, media, body),
        }
    }

    pub(crate) fn executed(&self, media: Media, json: Vec<u8>) -> Response<Body> {
        let body = response_body::body(json, self.graphql.pool());
        response(media, StatusCode::OK, body)
    }
}
