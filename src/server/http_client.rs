//! A client for the few requests that the server itself sends: to a collector of traces, and for key
//! sets.

use std::error::Error as StdError;
use std::time::Duration;

use axum::http::header::HOST;
use axum::http::{Request, Response, Uri};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// Why a request failed. It contains no part of a body.
pub(crate) type ClientError = Box<dyn StdError + Send + Sync>;

/// The limits of one request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientLimits {
    /// Time from the lookup of the host's name to the last byte of the response.
    pub(crate) time: Duration,
    /// Bytes of the head of the response.
    pub(crate) head_bytes: usize,
    /// Bytes of the body of the response.
    pub(crate) body_bytes: usize,
}

/// Sends a request over a connection of its own, and returns the response. Redirects are not followed.
/// With `tls` the scheme must be `https`, otherwise `http`.
///
/// # Errors
/// The host cannot be reached or is not trusted, the response is not HTTP, or a limit is exceeded.
pub(crate) async fn send(
    request: Request<Bytes>,
    tls: Option<&TlsConnector>,
    limits: ClientLimits,
) -> Result<Response<Bytes>, ClientError> {
    let sent = timeout(limits.time, send_untimed(request, tls, limits));
    let late = |_| format!("no complete response within {:?}", limits.time);
    sent.await.map_err(late)?
}

async fn send_untimed(
    request: Request<Bytes>,
    tls: Option<&TlsConnector>,
    limits: ClientLimits,
) -> Result<Response<Bytes>, ClientError> {
    let authority = request.uri().authority().ok_or("the URL has no host")?;
    let host = authority.host();
    let port = authority
        .port_u16()
        .unwrap_or(if tls.is_some() { 443 } else { 80 });
    let stream = TcpStream::connect(format!("{host}:{port}")).await?;
    let Some(tls) = tls else {
        return exchange(stream, request, limits).await;
    };
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(name.to_owned())?;
    let stream = tls.connect(name, stream).await?;
    exchange(stream, request, limits).await
}

/// Sends a request over an open connection, and reads the response.
async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    mut request: Request<Bytes>,
    limits: ClientLimits,
) -> Result<Response<Bytes>, ClientError> {
    let uri = request.uri().clone();
    let authority = uri.authority().ok_or("the URL has no host")?;
    request
        .headers_mut()
        .insert(HOST, authority.as_str().parse()?);
    let path = uri.path_and_query().ok_or("the URL has no path")?;
    *request.uri_mut() = Uri::from(path.clone());
    let mut client = http1::Builder::new();
    client.max_buf_size(limits.head_bytes);
    let (mut sender, connection) = client.handshake(TokioIo::new(stream)).await?;
    // The pending request receives any error of the connection, which ends with it even if the server
    // does not close it. A time limit of its own could end first, and hide that the response was late.
    let mut connections = JoinSet::new();
    connections.spawn(connection);
    let response = sender.send_request(request.map(Full::new)).await?;
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, limits.body_bytes).collect().await;
    let body = body.map_err(|error| -> ClientError {
        if error.is::<LengthLimitError>() {
            return format!("its body has more than {} bytes", limits.body_bytes).into();
        }
        error
    })?;
    Ok(Response::from_parts(parts, body.to_bytes()))
}
