//! Connections to a server: over its local socket, over TCP, and over TLS.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, HOST, USER_AGENT};
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, Uri};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::cli::outcome::failed;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::CONNECT_TIME_MAX;
use crate::server::local::{AnswerBody, SOCKET_NAME, with_short_path};

/// Time for which a request waits for the end of the one before it, before it opens another connection.
const REUSE_TIME_MAX: Duration = Duration::from_millis(20);

/// Time after which a request is sent again for the first time, if the connection was closed.
pub(crate) const RETRY_TIME: Duration = Duration::from_millis(250);

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Read,
    Write,
}

/// A server, and a connection to it that can be used again.
pub(crate) struct ServerConnection {
    address: ServerAddress,
    idle: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

/// Where a server is.
enum ServerAddress {
    /// The local socket in this directory.
    Socket(PathBuf),
    Url {
        url: Uri,
        /// `None` for plain HTTP.
        tls: Option<TlsConnector>,
        token: Option<HeaderValue>,
    },
}

impl ServerConnection {
    /// Connects to the server that holds the store in `directory`. Returns `None` if there is none.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the socket exists but cannot be reached.
    pub(super) async fn to_socket(directory: &Path) -> Result<Option<Self>> {
        let stream = match open_socket(directory) {
            Ok(stream) => stream,
            // There is no socket, or its server ended without removing it.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound
                        | io::ErrorKind::NotADirectory
                        | io::ErrorKind::ConnectionRefused
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(socket_unreachable(directory, &error)),
        };
        let sender = connected(stream).await?;
        Ok(Some(Self {
            address: ServerAddress::Socket(directory.to_owned()),
            idle: Mutex::new(Some(sender)),
        }))
    }

    /// A server at a URL. Nothing is sent yet.
    pub(super) fn to_url(url: Uri, tls: Option<TlsConnector>, token: Option<HeaderValue>) -> Self {
        Self {
            address: ServerAddress::Url { url, tls, token },
            idle: Mutex::new(None),
        }
    }

    /// Whether the server is reached over its local socket.
    pub(super) fn is_local(&self) -> bool {
        matches!(self.address, ServerAddress::Socket(_))
    }

    /// Sends a request whose URI is a path and a query. A read is sent a second time if the connection is closed
    /// without a response.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the server cannot be reached, or the connection of a read was closed. `OUTCOME_UNKNOWN`: that of
    /// a write was closed after the request was sent.
    pub(super) async fn send(
        &self,
        mut request: Request<Bytes>,
        effect: Effect,
    ) -> Result<Response<AnswerBody>> {
        self.address.complete(&mut request)?;
        let mut sender = match self.reusable().await {
            Some(sender) => sender,
            None => self.address.connect().await?,
        };
        let mut sent = sender.send_request(request.clone().map(Full::new)).await;
        if sent.is_err() && effect == Effect::Read {
            sleep(RETRY_TIME).await;
            sender = self.address.connect().await?;
            sent = sender.send_request(request.map(Full::new)).await;
        }
        let response = sent.map_err(|error| closed(&error, effect))?;
        *self.idle.lock().await = Some(sender);
        Ok(response.map(|body: Incoming| body.map_err(Into::into).boxed_unsync()))
    }

    async fn reusable(&self) -> Option<SendRequest<Full<Bytes>>> {
        let mut sender = self.idle.lock().await.take()?;
        let ready = timeout(REUSE_TIME_MAX, sender.ready()).await;
        matches!(ready, Ok(Ok(()))).then_some(sender)
    }
}

impl ServerAddress {
    /// Adds to a request what the server needs to know.
    fn complete(&self, request: &mut Request<Bytes>) -> Result<()> {
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static("phyllo"));
        let Self::Url { url, token, .. } = self else {
            headers.insert(HOST, HeaderValue::from_static("localhost"));
            return Ok(());
        };
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, token.clone());
        }
        let internal = |error: &dyn std::fmt::Display| Error::internal(error.to_string());
        let host = url.authority().map_or("", |authority| authority.as_str());
        let host = HeaderValue::try_from(host).map_err(|error| internal(&error))?;
        headers.insert(HOST, host);
        let asked = request
            .uri()
            .path_and_query()
            .map_or("/", PathAndQuery::as_str);
        let path = format!("{}{asked}", url.path().trim_end_matches('/'));
        *request.uri_mut() = path.parse().map_err(|error| internal(&error))?;
        Ok(())
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>> {
        match self {
            Self::Socket(directory) => {
                let stream = open_socket(directory).map_err(|error| {
                    let place = directory.display();
                    failed(format!(
                        "the connection to the server that holds the store {place} was closed, and it \
                         cannot be reached again: {error}"
                    ))
                })?;
                connected(stream).await
            }
            Self::Url { url, tls, .. } => {
                let opened = timeout(CONNECT_TIME_MAX, open_url(url, tls.as_ref())).await;
                let opened = opened.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                match opened.map_err(|error| failed(format!("{url} cannot be reached: {error}")))? {
                    UrlStream::Plain(stream) => connected(stream).await,
                    UrlStream::Tls(stream) => connected(*stream).await,
                }
            }
        }
    }
}

enum UrlStream {
    Plain(TcpStream),
    Tls(Box<tokio_rustls::client::TlsStream<TcpStream>>),
}

async fn open_url(url: &Uri, tls: Option<&TlsConnector>) -> io::Result<UrlStream> {
    let host = url.host().unwrap_or_default();
    let port = url
        .port_u16()
        .unwrap_or(if tls.is_some() { 443 } else { 80 });
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let stream = TcpStream::connect((name, port)).await?;
    stream.set_nodelay(true)?;
    let Some(tls) = tls else {
        return Ok(UrlStream::Plain(stream));
    };
    let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
    let stream = tls.connect(name, stream).await?;
    Ok(UrlStream::Tls(Box::new(stream)))
}

fn open_socket(directory: &Path) -> io::Result<UnixStream> {
    let stream = with_short_path(directory, SOCKET_NAME, |path| {
        std::os::unix::net::UnixStream::connect(path)
    })?;
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

async fn connected(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<SendRequest<Full<Bytes>>> {
    let connected = handshake(TokioIo::new(stream)).await;
    let (sender, connection) = connected.map_err(|error| closed(&error, Effect::Read))?;
    // The pending request receives any error of the connection.
    tokio::spawn(connection);
    Ok(sender)
}

fn socket_unreachable(directory: &Path, error: &io::Error) -> Error {
    failed(format!(
        "the server that holds the store {} cannot be reached through its {SOCKET_NAME}: {error}",
        directory.display()
    ))
}

/// The error of a request whose connection was closed before its response was complete.
pub(super) fn closed(error: &dyn Display, effect: Effect) -> Error {
    let message = format!("the connection to the server was closed: {error}");
    match effect {
        Effect::Read => failed(message),
        Effect::Write => {
            let message = format!("{message}; the write may or may not be committed");
            Error::new(ErrorKind::OutcomeUnknown, message)
        }
    }
}
