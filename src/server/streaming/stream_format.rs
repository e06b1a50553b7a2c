//! The forms of a stream of responses in the body of an HTTP response.
//!
//! - Server-sent events: <https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md>, in the
//!   mode of distinct connections
//! - multipart: <https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol>

use axum::body::Bytes;
use axum::http::HeaderValue;

use crate::graphql::StreamedResponse;
use crate::server::response::media::StreamMedia;
use crate::server::streaming::source::errors_of;

/// The end of a part in front of each next one, so that a client need not wait for the next one to
/// know that the part is complete.
const BETWEEN_PARTS: &[u8] = b"\r\n--graphql";
const PART: &str = "\r\ncontent-type: application/json\r\n\r\n";

impl StreamMedia {
    pub(crate) const fn content_type(self) -> HeaderValue {
        match self {
            Self::Events => HeaderValue::from_static("text/event-stream; charset=utf-8"),
            Self::Multipart => HeaderValue::from_static(
                "multipart/mixed;boundary=\"graphql\";subscriptionSpec=1.0",
            ),
        }
    }

    /// The begin of the body. Some browsers report that a stream is open once it has a byte.
    pub(crate) const fn opening(self) -> Bytes {
        match self {
            Self::Events => Bytes::from_static(b":\n\n"),
            Self::Multipart => Bytes::from_static(b"--graphql"),
        }
    }

    /// A response, in pieces.
    pub(crate) fn response(self, response: StreamedResponse) -> [Bytes; 3] {
        let cursor = response.cursor;
        match self {
            Self::Events => {
                let id = cursor.map(|cursor| format!("id: {cursor}\n"));
                let head = format!("event: next\n{}data: ", id.unwrap_or_default());
                let json = one_line(response.json);
                [head.into(), json, Bytes::from_static(b"\n\n")]
            }
            Self::Multipart => [
                format!("{PART}{{\"payload\":").into(),
                response.json,
                [b"}", BETWEEN_PARTS].concat().into(),
            ],
        }
    }

    /// What shows that the server is there.
    pub(crate) fn heartbeat(self) -> Bytes {
        match self {
            Self::Events => Bytes::from_static(b":\n\n"),
            Self::Multipart => [PART.as_bytes(), b"{}", BETWEEN_PARTS].concat().into(),
        }
    }

    /// The end of an operation that is complete.
    pub(crate) const fn complete(self) -> Bytes {
        match self {
            // Without data, browsers ignore the event.
            Self::Events => Bytes::from_static(b"event: complete\ndata: \n\n"),
            Self::Multipart => Bytes::from_static(b"--\r\n"),
        }
    }

    /// The end of a stream whose client lost its right to it. `refusal` is the response that says so.
    pub(crate) fn refused(self, refusal: Vec<u8>) -> Bytes {
        match self {
            // A client that connected again would be refused, so the operation is complete.
            Self::Events => {
                let last = StreamedResponse {
                    json: refusal.into(),
                    cursor: None,
                };
                [&self.response(last).concat()[..], &self.complete()]
                    .concat()
                    .into()
            }
            Self::Multipart => self.broken(&refusal),
        }
    }

    /// The end of a stream because of an error of the server, whose response is `refusal`.
    pub(crate) fn broken(self, refusal: &[u8]) -> Bytes {
        match self {
            // Clients connect again after a stream that ends without `complete`.
            Self::Events => Bytes::from_static(b": the server ends the stream\n\n"),
            Self::Multipart => [
                format!("{PART}{{\"payload\":null,\"errors\":").as_bytes(),
                errors_of(refusal),
                b"}",
                BETWEEN_PARTS,
                b"--\r\n",
            ]
            .concat()
            .into(),
        }
    }
}

/// JSON without line breaks. Ours has none, except in text that a client sent as JSON. Between
/// tokens, a blank is the same.
fn one_line(json: Bytes) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', &json).is_none() {
        return json;
    }
    let blank = |byte: &u8| match byte {
        b'\n' | b'\r' => b' ',
        byte => *byte,
    };
    json.iter().map(blank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::graphql::GraphQl;

    fn text(pieces: &[Bytes]) -> String {
        String::from_utf8(pieces.concat()).expect("UTF-8")
    }

    fn response(json: &str, cursor: Option<&str>) -> StreamedResponse {
        StreamedResponse {
            json: json.as_bytes().to_vec().into(),
            cursor: cursor.map(str::to_owned),
        }
    }

    #[test]
    fn events_have_their_cursor_as_id() {
        let media = StreamMedia::Events;
        let next = media.response(response(r#"{"data":1}"#, Some("7.2")));
        assert_eq!(text(&next), "event: next\nid: 7.2\ndata: {\"data\":1}\n\n");
        let next = media.response(response("{\n\"data\":\r\n1}", None));
        assert_eq!(text(&next), "event: next\ndata: { \"data\":  1}\n\n");
        assert_eq!(text(&[media.complete()]), "event: complete\ndata: \n\n");
    }

    #[test]
    fn parts_end_before_the_next_begins() {
        let media = StreamMedia::Multipart;
        let mut body = text(&[media.opening()]);
        body += &text(&[media.heartbeat()]);
        body += &text(&media.response(response(r#"{"data":1}"#, Some("7"))));
        let whole = body.clone() + &text(&[media.complete()]);
        let part = "\r\ncontent-type: application/json\r\n\r\n";
        let parts = format!("--graphql{part}{{}}\r\n--graphql{part}{{\"payload\":{{\"data\":1}}}}");
        assert_eq!(whole, format!("{parts}\r\n--graphql--\r\n"));
        let refusal = GraphQl::refuse(&Error::unavailable("no", ""));
        let broken = body + &text(&[media.broken(&refusal)]);
        let error =
            r#"{"payload":null,"errors":[{"message":"no","extensions":{"code":"UNAVAILABLE"}}]}"#;
        assert_eq!(
            broken,
            format!("{parts}\r\n--graphql{part}{error}\r\n--graphql--\r\n")
        );
    }
}
