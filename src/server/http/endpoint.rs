//! State and responses that the handlers of `/graphql` share.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use axum::http::header::{ALLOW, CACHE_CONTROL};
use axum::http::{Response, StatusCode};
use futures::Stream;
use futures::future::{BoxFuture, FutureExt as _};
use prometheus_client::metrics::counter::Counter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::Instrument as _;

use crate::error::{Error, ErrorKind, Limit};
use crate::graphql::{
    GraphQl, GraphQlResponse, Methods, Request, RequestStats, ResponseStream, Started,
    StreamedResponse,
};
use crate::server::access::Access;
use crate::server::access::admission::forbidden;
use crate::server::access::caller::Caller;
use crate::server::access::operation_files::OperationFiles;
use crate::server::observe::metrics::counters::{GaugeGuard, Metrics};
use crate::server::observe::requests::{operation_span, report_operation};
use crate::server::options::ServeOptions;
use crate::server::response::json::{response, with};
use crate::server::response::media::Media;
use crate::server::response::response_body;
use crate::server::streaming::open_streams::OpenStreams;
use crate::server::streaming::source::{OperationSource, Transport};

const MAX_PERMITS: usize = Semaphore::MAX_PERMITS;

/// The state of the handlers of `/graphql`.
pub(crate) struct Endpoint {
    pub(crate) graphql: GraphQl,
    pub(crate) batch_max: Option<usize>,
    /// Whether only listed operations are executed.
    pub(crate) listed_only: bool,
    pub(crate) metrics: Metrics,
    pub(crate) access: Access,
    pub(crate) streams: OpenStreams,
    /// Permits of operations that are executed. Without it, one connection could have many.
    executing: Arc<Semaphore>,
    /// Permits of open subscriptions.
    subscriptions: Arc<Semaphore>,
}

impl Endpoint {
    pub(crate) fn new(graphql: GraphQl, options: &ServeOptions) -> Self {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits.min(MAX_PERMITS)));
        Self {
            graphql,
            batch_max: options.batch_max,
            listed_only: (options.operations.as_ref()).is_some_and(OperationFiles::only),
            metrics: options.metrics.clone(),
            access: options.access.clone(),
            streams: options.streams.clone(),
            executing: semaphore(options.bounds.connections),
            subscriptions: semaphore(options.bounds.subscriptions),
        }
    }

    /// Executes a request and records metrics, a span and a log line. The second value says whether
    /// the response has errors.
    pub(crate) async fn execute(
        &self,
        request: Request,
        methods: Methods,
    ) -> (GraphQlResponse, bool) {
        let _executing = self.executing.acquire().await;
        let begun = Instant::now();
        let mut report = RequestStats::default();
        let answer = self
            .graphql
            .answer_and_report(request, methods, &mut report);
        let span = operation_span();
        let answer = answer.instrument(span.clone()).await;
        report_operation(&self.metrics, &report, begun.elapsed(), &span);
        (answer, report.error.is_some())
    }

    /// Waits until a portion of a stream may be read, and lets it count as an operation that is executed.
    pub(crate) async fn begin_portion(&self) -> Option<OwnedSemaphorePermit> {
        self.executing.clone().acquire_owned().await.ok()
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

impl OperationSource for Arc<Endpoint> {
    fn start(
        &self,
        request: Request,
        methods: Methods,
        after: Option<String>,
        transport: Transport,
    ) -> BoxFuture<'static, Started> {
        let endpoint = self.clone();
        async move { endpoint.started(request, methods, after, transport).await }.boxed()
    }
}

impl Endpoint {
    /// Starts an operation, and records metrics, a span and a log line for its start.
    async fn started(
        self: Arc<Self>,
        request: Request,
        methods: Methods,
        after: Option<String>,
        transport: Transport,
    ) -> Started {
        let _executing = self.executing.acquire().await;
        let begun = Instant::now();
        let mut report = RequestStats::default();
        let span = operation_span();
        let started = self
            .graphql
            .start(request, methods, after, &mut report)
            .instrument(span.clone())
            .await;
        let started = match started {
            Started::Responses(responses) => self.counted(responses, transport, &mut report),
            refused @ Started::Refused(_) => refused,
        };
        report_operation(&self.metrics, &report, begun.elapsed(), &span);
        started
    }

    /// Counts the responses, and a subscription as open. Refuses it if too many are open.
    fn counted(
        &self,
        responses: ResponseStream,
        transport: Transport,
        report: &mut RequestStats,
    ) -> Started {
        let mut open = None;
        if report.ty == Some("subscription") {
            let Ok(permit) = self.subscriptions.clone().try_acquire_owned() else {
                report.error = Some(ErrorKind::Unavailable);
                return Started::Refused(GraphQl::refuse(&self.too_many_subscriptions()));
            };
            open = Some((permit, self.metrics.subscription(transport.label())));
        }
        Started::Responses(ResponseStream::new(CountedResponses {
            responses,
            sent: self.metrics.stream_messages(transport.label()),
            _open: open,
        }))
    }

    fn too_many_subscriptions(&self) -> Error {
        let limit = self.graphql.bounds().subscriptions;
        let message =
            format!("{limit} subscriptions of this server are open, which is the limit: try later");
        let error = Error::unavailable(message, "");
        error.with_limit(Limit::new("subscriptions", limit))
    }
}

/// The responses of an operation, which are counted.
struct CountedResponses {
    responses: ResponseStream,
    sent: Counter,
    _open: Option<(OwnedSemaphorePermit, GaugeGuard)>,
}

impl Stream for CountedResponses {
    type Item = StreamedResponse;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let response = Pin::new(&mut self.responses).poll_next(context);
        if let Poll::Ready(Some(_)) = response {
            self.sent.inc();
        }
        response
    }
}
