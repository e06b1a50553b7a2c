//! The URL of a key set.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr as _;

use axum::http::header::{ACCEPT, USER_AGENT};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Request, StatusCode, Uri};
use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _};
use tokio_rustls::TlsConnector;

use super::key_source::FetchKeys;
use crate::error::{Error, Result};
use crate::limits::{KEY_SET_BYTES_MAX, KEY_SET_HEAD_BYTES_MAX, KEY_SET_TIME_MAX};
use crate::server::http_client::{ClientLimits, send};
use crate::server::trust::connector;

const LIMITS: ClientLimits = ClientLimits {
    time: KEY_SET_TIME_MAX,
    head_bytes: KEY_SET_HEAD_BYTES_MAX,
    body_bytes: KEY_SET_BYTES_MAX,
};

/// The URL of a key set, and how it is fetched.
pub(super) struct KeyUrl {
    url: Uri,
    /// `None` for plain HTTP to this machine.
    tls: Option<TlsConnector>,
}

impl KeyUrl {
    /// Checks a URL. The certificate of its server must be of an authority in the file `authority`, or,
    /// without such a file, of one that this system trusts.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is not an https URL, or an http URL of this machine. `UNAVAILABLE`: there
    /// is no authority.
    pub(super) fn new(text: &str, authority: Option<&Path>) -> Result<Self> {
        let url = Uri::from_str(text).ok();
        let scheme = url.as_ref().and_then(Uri::scheme_str);
        let host = url.as_ref().and_then(Uri::authority);
        let tls = match (scheme, host) {
            (Some("https"), Some(host)) if !has_credentials(host) => {
                Some(connector(authority, "--jwt-ca")?)
            }
            (Some("http"), Some(host)) if is_local(host) => None,
            _ => {
                return Err(Error::bad_input(format!(
                    "--jwt-keys must be a file, an https URL, or an http URL of a loopback address, \
                     without a name of a user, not {text:?}"
                )));
            }
        };
        let url = url.ok_or_else(|| Error::internal("the URL was parsed"))?;
        Ok(Self { url, tls })
    }

    async fn response(&self) -> Result<Bytes> {
        let mut request = Request::new(Bytes::new());
        *request.uri_mut() = self.url.clone();
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static("phyllo"));
        let response = send(request, self.tls.as_ref(), LIMITS)
            .await
            .map_err(|error| Error::unavailable(error.to_string(), ""))?;
        match response.status() {
            StatusCode::OK => Ok(response.into_body()),
            status => Err(Error::unavailable(format!("its status is {status}"), "")),
        }
    }
}

impl FetchKeys for KeyUrl {
    fn fetch(&self) -> BoxFuture<'_, Result<Bytes>> {
        self.response().boxed()
    }
}

impl fmt::Display for KeyUrl {
    /// Without the query, which can have a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.authority().map_or("", Authority::as_str);
        let scheme = self.url.scheme_str().unwrap_or_default();
        write!(f, "{scheme}://{host}{}", self.url.path())
    }
}

fn has_credentials(host: &Authority) -> bool {
    host.as_str().contains('@')
}

fn is_local(host: &Authority) -> bool {
    let name = host.host();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let loopback = |address: IpAddr| address.to_canonical().is_loopback();
    !has_credentials(host) && (name == "localhost" || address.parse().is_ok_and(loopback))
}
