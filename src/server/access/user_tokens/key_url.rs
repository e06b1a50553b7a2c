//! The URL of a key set.

use std::fmt;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::Arc;

use axum::http::header::{ACCEPT, USER_AGENT};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Request, StatusCode, Uri};
use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt as _};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::key_source::FetchKeys;
use crate::error::{Error, Result};
use crate::limits::{KEY_SET_BYTES_MAX, KEY_SET_HEAD_BYTES_MAX, KEY_SET_TIME_MAX};
use crate::server::file_reload;
use crate::server::http_client::{ClientLimits, send};

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
            (Some("https"), Some(host)) if !has_credentials(host) => Some(connector(authority)?),
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

/// TLS with the authorities in a PEM file, or those of the system.
fn connector(authority: Option<&Path>) -> Result<TlsConnector> {
    let mut trusted = RootCertStore::empty();
    if let Some(path) = authority {
        let pem = file_reload::read(path)?;
        let unusable = |why: &dyn fmt::Display| {
            Error::bad_input(format!("--jwt-ca {}: {why}", path.display()))
        };
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let certificate = certificate.map_err(|error| unusable(&error))?;
            let added = trusted.add(certificate);
            added.map_err(|error| unusable(&error))?;
        }
        if trusted.is_empty() {
            return Err(unusable(&"the file contains no certificate in PEM"));
        }
    } else {
        let found = rustls_native_certs::load_native_certs();
        trusted.add_parsable_certificates(found.certs);
        if trusted.is_empty() {
            let message = "this system has no certificate authorities: name one with --jwt-ca";
            return Err(Error::unavailable(message, ""));
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::internal(error.to_string()))?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}
