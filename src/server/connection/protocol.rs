//! Chooses the version of HTTP for a connection: by ALPN under TLS, else by its first bytes.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};
use tokio_rustls::server::TlsStream;

use super::caller_slot::{CallerSlot, revoked};
use super::header_timeout::{HeadTimes, timed};
use super::http2;
use super::served::{Held, Served};
use super::tls::{H2, Tls};
use super::unread::UnreadBytes;
use super::write_timeout::TimedWrites;
use crate::budget::Sliced;
use crate::limits::HTTP1_BUFFER_BYTES_MAX;

/// What a client with prior knowledge of HTTP/2 sends first (RFC 9113 §3.4). No request of HTTP/1.1
/// begins with it.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A version of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HttpVersion {
    Http1,
    Http2,
}

/// Serves the requests of a connection without TLS.
pub(super) async fn serve_plain(mut stream: TimedWrites<TcpStream, Held>, served: Served) {
    let opened = Instant::now();
    let begun = timeout(served.bounds.header_time, begun(&mut stream)).await;
    match begun.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
        Ok((version, begun)) => {
            let stream = PrefixedStream { begun, stream };
            serve(version, stream, served, opened);
        }
        Err(error) => tracing::debug!("a connection ended before its first request: {error}"),
    }
}

/// Serves the requests of a connection after its TLS handshake.
pub(super) async fn serve_tls(tls: Tls, stream: TimedWrites<TcpStream, Held>, served: Served) {
    match greet(&tls, stream, served.bounds.header_time).await {
        Ok(stream) => {
            let version = match stream.get_ref().1.alpn_protocol() {
                Some(H2) => HttpVersion::Http2,
                _ => HttpVersion::Http1,
            };
            serve(version, stream, served, Instant::now());
        }
        Err(error) => tracing::debug!("a TLS handshake failed: {error}"),
    }
}

/// Performs the TLS handshake, within the time limit for a request head.
async fn greet(
    tls: &Tls,
    stream: TimedWrites<TcpStream, Held>,
    head_time: Duration,
) -> io::Result<TlsStream<TimedWrites<TcpStream, Held>>> {
    let agreed = timeout(head_time, tls.acceptor().accept(stream)).await;
    agreed.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
}

/// Reads the first bytes of a connection, until they determine the version. A connection that was closed
/// has the version 1.
async fn begun(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(HttpVersion, Bytes)> {
    let mut bytes = [0; PREFACE.len()];
    let mut length = 0;
    while length < PREFACE.len() {
        let read = stream.read(&mut bytes[length..]).await?;
        length += read;
        if read == 0 || !PREFACE.starts_with(&bytes[..length]) {
            return Ok((HttpVersion::Http1, Bytes::copy_from_slice(&bytes[..length])));
        }
    }
    Ok((HttpVersion::Http2, Bytes::from_static(PREFACE)))
}

/// Serves the requests of a connection in a task of its own. So an open connection has the memory of
/// its version only, and none of what chose it.
fn serve(
    version: HttpVersion,
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    served: Served,
    opened: Instant,
) {
    match version {
        HttpVersion::Http1 => tokio::spawn(Sliced::new(serve_http1(stream, served, opened))),
        HttpVersion::Http2 => tokio::spawn(Sliced::new(http2::serve(stream, served))),
    };
}

/// Serves the requests of a connection. The future captures only what it needs while it waits, because
/// thousands of idle connections have one each.
fn serve_http1(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    served: Served,
    opened: Instant,
) -> impl Future<Output = ()> + Send {
    let times = HeadTimes {
        head: served.bounds.header_time,
        idle: served.bounds.idle_time,
    };
    let caller = served.rights.is_some().then(CallerSlot::default);
    let unread = UnreadBytes::new(served.pool.share(), caller.clone());
    let unread = Arc::new(unread);
    let (stream, timer) = timed(stream, times, opened, &unread);
    let service = Http1Service {
        router: TowerToHyperService::new(served.router),
        unread: unread.clone(),
        caller: caller.clone(),
    };
    let mut connection = http1::Builder::new()
        .timer(timer)
        .header_read_timeout(times.head)
        .max_buf_size(HTTP1_BUFFER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut revoked = revoked(caller, served.rights);
    let mut stop = served.stop;
    async move {
        let ended = tokio::select! {
            ended = &mut connection => ended,
            () = stop.stopped() => {
                Pin::new(&mut connection).graceful_shutdown();
                (&mut connection).await
            }
            () = unread.shed() => {
                tracing::debug!("a connection ended: its memory was needed for others");
                Ok(())
            }
            () = &mut revoked => Ok(()),
        };
        if let Err(error) = ended {
            tracing::debug!("a connection ended: {error}");
        }
    }
}

/// Passes requests to the router. The head of each is complete.
struct Http1Service {
    router: TowerToHyperService<Router>,
    unread: Arc<UnreadBytes>,
    /// What learns who sends a request, if the server asks for that.
    caller: Option<CallerSlot>,
}

impl Service<Request<Incoming>> for Http1Service {
    type Response = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Response;
    type Error = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Error;
    type Future = <TowerToHyperService<Router> as Service<Request<Incoming>>>::Future;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        self.unread.end_head();
        if let Some(caller) = &self.caller {
            request.extensions_mut().insert(caller.clone());
        }
        self.router.call(request)
    }
}

/// A stream whose first bytes were read before.
struct PrefixedStream<S> {
    begun: Bytes,
    stream: S,
}

impl<S: AsyncRead + Unpin> AsyncRead for PrefixedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.begun.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let bytes = self.begun.len().min(buffer.remaining());
        buffer.put_slice(&self.begun.split_to(bytes));
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PrefixedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    #[tokio::test]
    async fn the_first_bytes_tell_the_version_and_are_read_again() {
        for (sent, version) in [
            (
                &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04"[..],
                HttpVersion::Http2,
            ),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\x0b", HttpVersion::Http1),
            (b"POST /graphql HTTP/1.1\r\n", HttpVersion::Http1),
            (b"P", HttpVersion::Http1),
            (b"", HttpVersion::Http1),
        ] {
            for at_once in [1, 7, 1_000] {
                let (mut client, mut server) = tokio::io::duplex(at_once);
                let sending = tokio::spawn(async move { client.write_all(sent).await });
                let (found, begun) = begun(&mut server).await.expect("it is read");
                assert_eq!(found, version, "{sent:?}");
                let mut whole = Vec::new();
                let mut stream = PrefixedStream {
                    begun,
                    stream: server,
                };
                stream.read_to_end(&mut whole).await.expect("it is read");
                assert_eq!(whole, sent);
                sending.await.expect("no panic").expect("it is sent");
            }
        }
    }
}
