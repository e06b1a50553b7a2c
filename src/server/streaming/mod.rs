//! Transports for operations with more than one response: WebSockets, server-sent events and
//! multipart responses.
//!
//! A transport polls the stream of responses of an operation only while the client takes them, so
//! it queues none.

#[cfg(test)]
pub(crate) mod fake;
pub(crate) mod open_streams;
pub(crate) mod source;
pub(crate) mod stream_body;
pub(crate) mod stream_format;
pub(crate) mod websocket;
