//! The responses of an operation, one after the other: one for a query or a mutation, any number for
//! a subscription.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::Stream;
use futures::stream::BoxStream;

/// One response of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamedResponse {
    /// The JSON of the response. Responses to subscribers of the same data share it.
    pub json: Bytes,
    /// The cursor after which the subscription can be resumed, if it has one. It is visible ASCII.
    pub cursor: Option<String>,
}

/// A response to one event of a subscription.
pub(crate) struct EventResponse {
    pub(crate) json: Vec<u8>,
    /// Whether it is the last one, because the subscriber has lost its rights.
    pub(crate) is_last: bool,
}

/// The responses of an operation. The operation ends when the stream does, and is cancelled when the
/// stream is dropped. A stream that is polled slowly holds a bounded amount of memory: a
/// subscription then drops states that a newer one replaces, or ends with an error.
pub struct ResponseStream(BoxStream<'static, StreamedResponse>);

impl ResponseStream {
    /// The responses of a stream.
    pub fn new(responses: impl Stream<Item = StreamedResponse> + Send + 'static) -> Self {
        Self(Box::pin(responses))
    }

    /// One response.
    pub fn once(json: Vec<u8>) -> Self {
        Self::new(futures::stream::once(async move {
            StreamedResponse {
                json: json.into(),
                cursor: None,
            }
        }))
    }
}

impl Stream for ResponseStream {
    type Item = StreamedResponse;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

/// The result of starting an operation.
pub enum Started {
    /// The operation was accepted.
    Responses(ResponseStream),
    /// The JSON of the response to a request that was rejected before execution: an object with
    /// `errors`.
    Refused(Vec<u8>),
}
