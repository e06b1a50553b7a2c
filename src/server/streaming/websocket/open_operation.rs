//! An operation of a connection.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Bytes;
use futures::Stream;
use futures::future::BoxFuture;

use super::client_message::OperationId;
use crate::graphql::{ResponseStream, Started};

/// An operation from its message until its end. It yields what is sent to the client.
pub(crate) struct OpenOperation {
    id: OperationId,
    stage: Stage,
}

enum Stage {
    Starting(BoxFuture<'static, Started>),
    Responding(ResponseStream),
    Over,
}

/// What an operation sends to the client.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OperationOutput {
    /// The JSON of a response.
    Next(Bytes),
    /// The JSON of a response without data. It ends the operation.
    Error(Vec<u8>),
    Complete,
}

impl OpenOperation {
    pub(crate) fn new(id: OperationId, started: BoxFuture<'static, Started>) -> Self {
        Self {
            id,
            stage: Stage::Starting(started),
        }
    }

    fn end(&mut self, output: OperationOutput) -> Poll<Option<(OperationId, OperationOutput)>> {
        self.stage = Stage::Over;
        Poll::Ready(Some((self.id.clone(), output)))
    }
}

impl Stream for OpenOperation {
    type Item = (OperationId, OperationOutput);

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            match &mut self.stage {
                Stage::Starting(started) => match started.as_mut().poll(context) {
                    Poll::Ready(Started::Responses(responses)) => {
                        self.stage = Stage::Responding(responses);
                    }
                    Poll::Ready(Started::Refused(json)) => {
                        return self.end(OperationOutput::Error(json));
                    }
                    Poll::Pending => return Poll::Pending,
                },
                Stage::Responding(responses) => match Pin::new(responses).poll_next(context) {
                    Poll::Ready(Some(response)) => {
                        let next = OperationOutput::Next(response.json);
                        return Poll::Ready(Some((self.id.clone(), next)));
                    }
                    Poll::Ready(None) => return self.end(OperationOutput::Complete),
                    Poll::Pending => return Poll::Pending,
                },
                Stage::Over => return Poll::Ready(None),
            }
        }
    }
}
