//! The messages that a client sends.

use std::sync::Arc;

use axum::body::Bytes;

use super::closing::Closing;
use crate::document::json::{self, Event, JsonError, Reader, write_string};
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind};
use crate::graphql::Request;
use crate::limits::OPERATION_ID_BYTES_MAX;

/// A message of a client.
#[derive(Debug)]
pub(crate) enum ClientMessage {
    ConnectionInit {
        /// The token in the payload, if it has one.
        token: Option<String>,
    },
    Ping {
        /// The JSON of the payload, which the answer repeats.
        payload: Option<Bytes>,
    },
    Pong,
    Subscribe {
        id: OperationId,
        /// An error is one of the operation, not of the connection.
        request: Result<Request, Error>,
    },
    Complete {
        id: OperationId,
    },
}

/// The id of an operation, as JSON text in its only canonical form.
pub(crate) type OperationId = Arc<str>;

/// The members of a message, as JSON text.
#[derive(Default)]
struct MessageMembers<'t> {
    ty: Option<&'t str>,
    id: Option<&'t str>,
    payload: Option<&'t str>,
}

impl ClientMessage {
    /// Reads a message.
    ///
    /// # Errors
    /// 4400: the message is not one of the protocol.
    pub(crate) fn read(message: &Bytes) -> Result<Self, Closing> {
        let text = json::utf8(message).map_err(|_| invalid("a message is not UTF-8"))?;
        let members = MessageMembers::read(text).map_err(|error| {
            let problem = error.describe(text);
            invalid(&format!("a message is not a JSON object: {problem}"))
        })?;
        let ty = members
            .ty
            .and_then(text_of)
            .ok_or_else(|| invalid("a message has no `type` that is a string"))?;
        match ty.as_str() {
            "connection_init" => {
                let token = members.object()?.and_then(token);
                Ok(Self::ConnectionInit { token })
            }
            "ping" => {
                let payload = members.object()?;
                let payload = payload.map(|payload| message.slice_ref(payload.as_bytes()));
                Ok(Self::Ping { payload })
            }
            "pong" => members.object().map(|_| Self::Pong),
            "subscribe" => {
                let id = members.id()?;
                let payload = members.object()?;
                let payload = payload.ok_or_else(|| invalid("`subscribe` has no `payload`"))?;
                let request = Request::from_json(&message.slice_ref(payload.as_bytes()));
                if let Err(error) = &request
                    && error.kind() == ErrorKind::BadUserInput
                {
                    return Err(invalid(&format!("the payload: {}", error.message())));
                }
                Ok(Self::Subscribe { id, request })
            }
            "complete" => Ok(Self::Complete { id: members.id()? }),
            // Some clients offer the older protocol too, and speak it although it was not chosen.
            "start" | "stop" | "connection_terminate" => Err(invalid(&format!(
                "{ty:?} is a message of an older protocol; this connection uses graphql-transport-ws"
            ))),
            other => Err(invalid(&format!(
                "a client sends no message of type {:?}",
                abridged(other)
            ))),
        }
    }
}

impl<'t> MessageMembers<'t> {
    fn read(text: &'t str) -> Result<Self, JsonError> {
        let mut reader = Reader::new(text, usize::MAX);
        let mut members = Self::default();
        if reader.peek_value() != Some(b'{') {
            reader.skip_value()?;
            return Ok(members);
        }
        reader.next()?;
        while let Some((name, value)) = reader.next_member()? {
            match &*name {
                "type" => members.ty = Some(value),
                "id" => members.id = Some(value),
                "payload" => members.payload = Some(value),
                _ => {}
            }
        }
        reader.next()?;
        Ok(members)
    }

    /// The payload, if it is an object. Null is as if it were absent.
    fn object(&self) -> Result<Option<&'t str>, Closing> {
        match self.payload {
            None | Some("null") => Ok(None),
            Some(payload) if payload.starts_with('{') => Ok(Some(payload)),
            Some(_) => Err(invalid("the payload of a message is not an object")),
        }
    }

    fn id(&self) -> Result<OperationId, Closing> {
        let id = self.id.and_then(text_of).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| invalid("a message has no `id` that is a string"))?;
        if id.len() > OPERATION_ID_BYTES_MAX {
            return Err(invalid(&format!(
                "the `id` of a message has more than {OPERATION_ID_BYTES_MAX} bytes"
            )));
        }
        let mut json = Vec::with_capacity(id.len() + 2);
        write_string(&mut json, &id);
        Ok(String::from_utf8_lossy(&json).into())
    }
}

/// The token in the payload of `connection_init`: the member `Authorization`, in the form of the
/// header, or `token`.
fn token(payload: &str) -> Option<String> {
    let mut reader = Reader::new(payload, usize::MAX);
    reader.next().ok()?;
    let mut token = None;
    while let Ok(Some((name, value))) = reader.next_member() {
        if name.eq_ignore_ascii_case("authorization") {
            let text = text_of(value)?;
            let (scheme, sent) = text.split_once(' ').unwrap_or(("", &text));
            let bearer = scheme.is_empty() || scheme.eq_ignore_ascii_case("bearer");
            return bearer.then(|| sent.trim().to_owned());
        }
        if name == "token" {
            token = text_of(value);
        }
    }
    token
}

/// The text of a JSON string.
fn text_of(json: &str) -> Option<String> {
    match Reader::new(json, 0).next() {
        Ok(Event::String(text)) => Some(text.into_owned()),
        _ => None,
    }
}

fn invalid(why: &str) -> Closing {
    Closing::with(Closing::INVALID_MESSAGE, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ClientMessage, Closing> {
        ClientMessage::read(&Bytes::from(text.to_owned()))
    }

    #[test]
    fn invalid_messages_close_with_4400_and_the_reason() {
        for (message, reason) in [
            ("", "not a JSON object"),
            ("{", "not a JSON object"),
            ("{} {}", "not a JSON object"),
            ("[]", "no `type`"),
            ("1", "no `type`"),
            ("{}", "no `type`"),
            (r#"{"type":1}"#, "no `type`"),
            (r#"{"type":"start","id":"1"}"#, "uses graphql-transport-ws"),
            (r#"{"type":"start","id":"1"}"#, r#""start""#),
            (r#"{"type":"next","id":"1","payload":{}}"#, r#""next""#),
            (r#"{"type":"connection_ack"}"#, r#""connection_ack""#),
            (
                r#"{"type":"connection_init","payload":[]}"#,
                "not an object",
            ),
            (r#"{"type":"ping","payload":1}"#, "not an object"),
            (r#"{"type":"pong","payload":"x"}"#, "not an object"),
            (r#"{"type":"complete"}"#, "no `id`"),
            (r#"{"type":"complete","id":""}"#, "no `id`"),
            (r#"{"type":"complete","id":1}"#, "no `id`"),
            (
                r#"{"type":"subscribe","payload":{"query":"{ a }"}}"#,
                "no `id`",
            ),
            (r#"{"type":"subscribe","id":"1"}"#, "no `payload`"),
            (r#"{"type":"subscribe","id":"1","payload":{}}"#, "`query`"),
            (
                r#"{"type":"subscribe","id":"1","payload":{"query":1}}"#,
                "`query`",
            ),
            (
                r#"{"type":"subscribe","id":"1","payload":{"query":"{a}","variables":[]}}"#,
                "`variables`",
            ),
        ] {
            let closing = read(message).map(|_| ()).expect_err(message);
            assert_eq!(closing.code(), 4400, "{message}");
            assert!(closing.reason().contains(reason), "{message}: {closing:?}");
        }
        let long = format!(
            r#"{{"type":"complete","id":"{}"}}"#,
            "x".repeat(OPERATION_ID_BYTES_MAX + 1)
        );
        assert_eq!(read(&long).expect_err("it is long").code(), 4400);
    }

    #[test]
    fn tokens_are_read_from_connection_init() {
        for (payload, expected) in [
            (r#"{"Authorization":"Bearer abc"}"#, Some("abc")),
            (r#"{"authorization":"bearer  abc "}"#, Some("abc")),
            (r#"{"authorization":"abc"}"#, Some("abc")),
            (r#"{"authorization":"Basic abc"}"#, None),
            (r#"{"authorization":1}"#, None),
            (r#"{"token":"abc"}"#, Some("abc")),
            (
                r#"{"token":"def","x":{},"Authorization":"Bearer abc"}"#,
                Some("abc"),
            ),
            (r#"{"token":1}"#, None),
            ("{}", None),
            ("null", None),
        ] {
            let message = format!(r#"{{"type":"connection_init","payload":{payload}}}"#);
            match read(&message) {
                Ok(ClientMessage::ConnectionInit { token }) => {
                    assert_eq!(token.as_deref(), expected, "{payload}");
                }
                other => panic!("{payload}: {other:?}"),
            }
        }
    }

    #[test]
    fn ids_that_are_spelled_differently_are_the_same() {
        let id = |message: &str| match read(message) {
            Ok(ClientMessage::Complete { id }) => id,
            other => panic!("{message}: {other:?}"),
        };
        let escaped = id(r#"{"type":"complete","id":"\u0061\""}"#);
        assert_eq!(escaped, id(r#"{"id":"a\u0022","type":"complete"}"#));
        assert_eq!(&*escaped, r#""a\"""#);
    }

    #[test]
    fn variables_of_a_request_keep_their_text() {
        let message = r#"{"type":"subscribe","id":"1","payload":{"query":"{ a }",
            "variables":{"n": 1.0e400}}}"#;
        match read(message) {
            Ok(ClientMessage::Subscribe { request, .. }) => {
                let request = request.expect("a request");
                let variables: Vec<_> = request.variables.iter().collect();
                assert_eq!(variables, [(&b"n"[..], &Bytes::from_static(b"1.0e400"))]);
            }
            other => panic!("{other:?}"),
        }
    }
}
