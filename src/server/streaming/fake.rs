//! A source of operations for tests. The text of a query says what it does.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll};

use futures::Stream;
use futures::future::{BoxFuture, FutureExt as _};
use futures::stream::{iter, pending, repeat_with};

use super::source::{OperationSource, Transport};
use crate::error::Error;
use crate::graphql::{GraphQl, Methods, Request, ResponseStream, Started, StreamedResponse};

/// Counts its operations.
#[derive(Clone, Default)]
pub(crate) struct FakeSource {
    /// The operations that are open.
    pub(crate) open: Arc<AtomicUsize>,
    /// The responses that were taken.
    pub(crate) taken: Arc<AtomicUsize>,
    /// What the last operation was allowed to execute.
    pub(crate) methods: Arc<std::sync::Mutex<Option<Methods>>>,
}

/// Counts an operation as open until it is dropped.
struct FakeOperation(Arc<AtomicUsize>);

impl Drop for FakeOperation {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

struct FakeResponses<S> {
    responses: S,
    taken: Arc<AtomicUsize>,
    _opened: FakeOperation,
}

impl<S: Stream<Item = StreamedResponse> + Unpin> Stream for FakeResponses<S> {
    type Item = StreamedResponse;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = Pin::new(&mut self.responses).poll_next(context);
        if let Poll::Ready(Some(_)) = next {
            self.taken.fetch_add(1, SeqCst);
        }
        next
    }
}

pub(crate) fn fake_response(number: usize) -> StreamedResponse {
    StreamedResponse {
        json: format!(r#"{{"data":{number}}}"#).into_bytes().into(),
        cursor: Some(number.to_string()),
    }
}

impl FakeSource {
    fn responses(
        &self,
        responses: impl Stream<Item = StreamedResponse> + Send + Unpin + 'static,
    ) -> Started {
        self.open.fetch_add(1, SeqCst);
        Started::Responses(ResponseStream::new(FakeResponses {
            responses,
            taken: self.taken.clone(),
            _opened: FakeOperation(self.open.clone()),
        }))
    }

    pub(crate) fn started(&self, query: &str) -> Started {
        let large = || StreamedResponse {
            json: "x".repeat(1 << 20).into_bytes().into(),
            cursor: None,
        };
        match query {
            "one" => self.responses(iter([fake_response(1)])),
            "three" => self.responses(iter((1..=3).map(fake_response))),
            "silent" => self.responses(pending()),
            "endless" => self.responses(repeat_with(large)),
            _ => Started::Refused(GraphQl::refuse(&Error::bad_input(query))),
        }
    }
}

impl OperationSource for FakeSource {
    fn start(
        &self,
        request: Request,
        methods: Methods,
        _: Option<String>,
        _: Transport,
    ) -> BoxFuture<'static, Started> {
        *self.methods.lock().expect("no panic") = Some(methods);
        let source = self.clone();
        async move { source.started(&request.query) }.boxed()
    }
}
