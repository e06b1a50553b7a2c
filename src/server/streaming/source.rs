//! The operations that transports carry.

use futures::future::BoxFuture;

use crate::document::json::{Event, Reader};
use crate::graphql::{Methods, Request, Started};
use crate::server::response::media::StreamMedia;

/// A transport that carries any number of responses per operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    WebSocket,
    Events,
    Multipart,
}

impl From<StreamMedia> for Transport {
    fn from(media: StreamMedia) -> Self {
        match media {
            StreamMedia::Events => Self::Events,
            StreamMedia::Multipart => Self::Multipart,
        }
    }
}

impl Transport {
    /// The label of the transport in metrics.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::WebSocket => "websocket",
            Self::Events => "sse",
            Self::Multipart => "multipart",
        }
    }
}

/// Starts operations. Tests of transports have their own.
pub(crate) trait OperationSource: Clone + Send + Sync + 'static {
    /// Starts an operation. A subscription resumes after the cursor `after`.
    fn start(
        &self,
        request: Request,
        methods: Methods,
        after: Option<String>,
        transport: Transport,
    ) -> BoxFuture<'static, Started>;
}

/// The array of errors in the JSON of a refusal.
pub(crate) fn errors_of(refusal: &[u8]) -> &[u8] {
    let found = std::str::from_utf8(refusal).ok().and_then(|text| {
        let mut reader = Reader::new(text, usize::MAX);
        if !matches!(reader.next(), Ok(Event::BeginObject)) {
            return None;
        }
        while let Ok(Some((name, value))) = reader.next_member() {
            if name == "errors" {
                return Some(value.as_bytes());
            }
        }
        None
    });
    found.unwrap_or(b"[]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::graphql::GraphQl;

    #[test]
    fn errors_are_taken_from_a_refusal() {
        let refusal = GraphQl::refuse(&Error::bad_input("no"));
        let errors = String::from_utf8_lossy(errors_of(&refusal));
        assert!(errors.starts_with(r#"[{"message":"no""#), "{errors}");
        assert!(errors.ends_with("}]"), "{errors}");
        assert_eq!(errors_of(b"{}"), b"[]");
    }
}
