//! Limits of connections, HTTP/2 streams and WebSockets.

use std::time::Duration;

/// Bytes of a response that a client must receive within [`SLOW_TIMES_MAX`] times
/// [`Bounds::send_time`](super::Bounds::send_time).
pub const SENT_BYTES_PER_TIME: usize = 64 << 10;
/// How many times [`Bounds::send_time`](super::Bounds::send_time) a client that takes some of a response has for
/// [`SENT_BYTES_PER_TIME`].
pub const SLOW_TIMES_MAX: u32 = 4;
/// Bytes of the kernel's send buffer of a connection, which the kernel doubles. Without a limit it
/// takes several megabytes, and the server learns that a client reads only when a third of it is
/// free.
pub const SEND_BUFFER_BYTES: usize = 128 << 10;
/// Bytes of the buffer of an HTTP/1.1 connection, and so of the head of a request.
pub const HTTP1_BUFFER_BYTES_MAX: usize = 96 << 10;
/// Bytes that a client of a WebSocket sends before `connection_init` was handled.
pub const WEBSOCKET_INIT_BYTES_MAX: usize = 8 << 10;
/// Time after a token was removed from the token file in which streams end by themselves. Then their
/// connections are closed.
pub const REVOKED_TIME_MAX: Duration = Duration::from_millis(500);
/// Time for which the server discards what a client still sends after the last response, before it
/// closes the connection. The connection counts towards the limit on connections meanwhile.
pub const LINGER_TIME_MAX: Duration = Duration::from_secs(5);
/// The same, while the client sends nothing and does not close its side.
pub const LINGER_SILENCE_MAX: Duration = Duration::from_secs(1);
/// Bytes discarded in this time.
pub const LINGER_BYTES_MAX: usize = 64 << 20;
/// Bytes discarded at a time.
pub const LINGER_BYTES_AT_ONCE: usize = 16 << 10;
/// Bytes of a response that are passed to a connection at a time.
pub const SENT_BYTES_AT_A_TIME: usize = 64 << 10;
/// Bytes of the headers of a request, with 32 bytes for each of them (RFC 9113 §10.5.1).
pub const HTTP2_HEADER_BYTES_MAX: u32 = 16 << 10;
/// Streams that a client may have reset before the server accepted them, or broken. A client that
/// resets more ends its connection.
pub const HTTP2_RESETS_MAX: usize = 32;
/// Bytes that a client may send on a connection before the server reads them.
pub const HTTP2_WINDOW_BYTES: u32 = 256 << 10;
/// Time for which an HTTP/2 connection stays open after the server said that it closes it, while no
/// request is open.
pub const HTTP2_FAREWELL_TIME: Duration = Duration::from_secs(1);
/// Bytes of the buffer into which a WebSocket reads. It is allocated for each connection.
pub const WEBSOCKET_BUFFER_BYTES: usize = 4 << 10;
/// Bytes that are written to a WebSocket at a time. The WebSocket keeps a buffer for about as many.
pub const WEBSOCKET_WRITTEN_BYTES: usize = 16 << 10;
/// Bytes of the id of an operation of a WebSocket.
pub const OPERATION_ID_BYTES_MAX: usize = 256;
/// Bytes of the reason in a close frame (RFC 6455 §5.5).
pub const CLOSE_REASON_BYTES_MAX: usize = 123;

/// Time for a command to connect to the server at a URL.
pub const CONNECT_TIME_MAX: Duration = Duration::from_secs(10);
