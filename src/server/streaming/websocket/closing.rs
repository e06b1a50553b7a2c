//! Why a connection ends.

use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use crate::limits::CLOSE_REASON_BYTES_MAX;

/// Why a connection ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Closing {
    /// `None` if the client has gone.
    code: Option<u16>,
    reason: String,
}

impl Closing {
    pub(crate) const IDLE: u16 = 1000;
    pub(crate) const STOPPING: u16 = 1001;
    const PROTOCOL: u16 = 1002;
    const NOT_UTF8: u16 = 1007;
    pub(crate) const TOO_LARGE: u16 = 1009;
    pub(crate) const TRY_AGAIN_LATER: u16 = 1013;
    pub(crate) const INVALID_MESSAGE: u16 = 4400;
    pub(crate) const UNAUTHORIZED: u16 = 4401;
    pub(crate) const FORBIDDEN: u16 = 4403;
    pub(crate) const NO_SUBPROTOCOL: u16 = 4406;
    pub(crate) const INIT_TIMEOUT: u16 = 4408;
    pub(crate) const SUBSCRIBER_EXISTS: u16 = 4409;
    pub(crate) const TOO_MANY_INITS: u16 = 4429;

    /// The end with a code and a reason, which is truncated to what a close frame can have.
    pub(crate) fn with(code: u16, reason: &str) -> Self {
        let mut ends = (0..=reason.len().min(CLOSE_REASON_BYTES_MAX)).rev();
        let end = ends.find(|end| reason.is_char_boundary(*end));
        Self {
            code: Some(code),
            reason: reason[..end.unwrap_or_default()].to_owned(),
        }
    }

    /// The client has gone.
    pub(crate) const fn gone() -> Self {
        Self {
            code: None,
            reason: String::new(),
        }
    }

    /// The end after an error of the socket. `message_bytes` is the limit of a message.
    pub(crate) fn after(error: &SocketError, message_bytes: usize) -> Self {
        match error {
            SocketError::Capacity(CapacityError::MessageTooLong { .. }) => Self::with(
                Self::TOO_LARGE,
                &format!("a message has more than {message_bytes} bytes, which is the limit"),
            ),
            SocketError::Utf8(_) => Self::with(Self::NOT_UTF8, "a message is not UTF-8"),
            SocketError::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Self::gone(),
            SocketError::Protocol(error) => Self::with(Self::PROTOCOL, &error.to_string()),
            _ => Self::gone(),
        }
    }

    /// The close frame. `None` if the client has gone.
    pub(crate) fn frame(&self) -> Option<Message> {
        Some(Message::Close(Some(CloseFrame {
            code: self.code?.into(),
            reason: self.reason.as_str().into(),
        })))
    }

    /// The code; 1006 if the client has gone.
    pub(crate) fn code(&self) -> u16 {
        self.code.unwrap_or(1006)
    }

    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_fit_into_a_close_frame() {
        for (reason, bytes) in [
            ("", 0),
            (&*"x".repeat(CLOSE_REASON_BYTES_MAX), CLOSE_REASON_BYTES_MAX),
            (&*"x".repeat(1000), CLOSE_REASON_BYTES_MAX),
            (&*"\u{20ac}".repeat(50), 123),
            (&*"\u{e4}".repeat(70), 122),
        ] {
            let closing = Closing::with(Closing::INVALID_MESSAGE, reason);
            assert_eq!(closing.reason().len(), bytes);
            assert!(reason.starts_with(closing.reason()));
        }
    }
}
