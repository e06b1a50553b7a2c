//! The messages that the server sends, as frames.

use axum::body::Bytes;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::open_operation::OperationOutput;
use crate::limits::WEBSOCKET_WRITTEN_BYTES;
use crate::server::streaming::source::errors_of;

/// The frames of one message. A large message has several, because the socket copies a frame into a
/// buffer that it keeps.
pub(crate) struct Frames {
    /// The parts of the text that are still to be sent, last first.
    parts: Vec<Bytes>,
    first: bool,
}

/// `connection_ack`.
pub(crate) fn ack() -> Frames {
    Frames::of([Bytes::from_static(br#"{"type":"connection_ack"}"#)])
}

/// `pong` with the payload of the `ping`.
pub(crate) fn pong(payload: Option<Bytes>) -> Frames {
    match payload {
        None => Frames::of([Bytes::from_static(br#"{"type":"pong"}"#)]),
        Some(payload) => Frames::of([
            Bytes::from_static(br#"{"type":"pong","payload":"#),
            payload,
            Bytes::from_static(b"}"),
        ]),
    }
}

/// The message of an operation, whose id is given as JSON.
pub(crate) fn of_operation(id: &str, output: OperationOutput) -> Frames {
    let head = |ty| Bytes::from(format!(r#"{{"id":{id},"type":"{ty}","payload":"#));
    match output {
        OperationOutput::Next(json) => Frames::of([head("next"), json, END]),
        OperationOutput::Error(json) => {
            let errors = Bytes::copy_from_slice(errors_of(&json));
            Frames::of([head("error"), errors, END])
        }
        OperationOutput::Complete => {
            Frames::of([Bytes::from(format!(r#"{{"id":{id},"type":"complete"}}"#))])
        }
    }
}

const END: Bytes = Bytes::from_static(b"}");

impl Frames {
    fn of(parts: impl IntoIterator<Item = Bytes>) -> Self {
        let mut parts: Vec<Bytes> = parts.into_iter().collect();
        let bytes: usize = parts.iter().map(Bytes::len).sum();
        if bytes <= WEBSOCKET_WRITTEN_BYTES {
            parts = vec![parts.concat().into()];
        }
        parts.reverse();
        Self { parts, first: true }
    }
}

impl Iterator for Frames {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        let part = self.parts.last_mut()?;
        let payload = part.split_to(part.len().min(WEBSOCKET_WRITTEN_BYTES));
        if part.is_empty() {
            self.parts.pop();
        }
        let data = if self.first {
            Data::Text
        } else {
            Data::Continue
        };
        self.first = false;
        let frame = Frame::message(payload, OpCode::Data(data), self.parts.is_empty());
        Some(Message::Frame(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::graphql::GraphQl;

    /// The text of the frames, and their number.
    fn text(frames: Frames) -> (String, usize) {
        let frames: Vec<Frame> = frames
            .map(|frame| match frame {
                Message::Frame(frame) => frame,
                other => panic!("{other:?}"),
            })
            .collect();
        let mut text = String::new();
        for (at, frame) in frames.iter().enumerate() {
            let header = frame.header();
            let opcode = if at == 0 { Data::Text } else { Data::Continue };
            assert_eq!(header.opcode, OpCode::Data(opcode));
            assert_eq!(header.is_final, at + 1 == frames.len());
            assert!(frame.payload().len() <= WEBSOCKET_WRITTEN_BYTES);
            text.push_str(std::str::from_utf8(frame.payload()).expect("ASCII"));
        }
        (text, frames.len())
    }

    #[test]
    fn messages_have_the_form_of_the_protocol() {
        let json = |text: &str| Vec::from(text);
        let refusal = GraphQl::refuse(&Error::bad_input("no"));
        for (frames, expected) in [
            (ack(), r#"{"type":"connection_ack"}"#),
            (pong(None), r#"{"type":"pong"}"#),
            (
                pong(Some(Bytes::from_static(br#"{"a":1}"#))),
                r#"{"type":"pong","payload":{"a":1}}"#,
            ),
            (
                of_operation(
                    r#""1""#,
                    OperationOutput::Next(json(r#"{"data":1}"#).into()),
                ),
                r#"{"id":"1","type":"next","payload":{"data":1}}"#,
            ),
            (
                of_operation(r#""1""#, OperationOutput::Complete),
                r#"{"id":"1","type":"complete"}"#,
            ),
            (
                of_operation(r#""1""#, OperationOutput::Error(refusal)),
                r#"{"id":"1","type":"error","payload":[{"message":"no","extensions":{"code":"BAD_USER_INPUT"}}]}"#,
            ),
        ] {
            assert_eq!(text(frames), (expected.to_owned(), 1));
        }
    }

    #[test]
    fn large_messages_have_several_frames() {
        let json = format!(
            r#"{{"data":"{}"}}"#,
            "x".repeat(3 * WEBSOCKET_WRITTEN_BYTES)
        );
        let output = OperationOutput::Next(json.clone().into_bytes().into());
        let (text, frames) = text(of_operation(r#""1""#, output));
        assert_eq!(
            text,
            format!(r#"{{"id":"1","type":"next","payload":{json}}}"#)
        );
        assert_eq!(frames, 6);
    }
}
