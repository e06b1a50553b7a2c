//! TLS: the certificate and key of the server, reloaded when they change.

use std::path::PathBuf;
use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::{Error, Result};
use crate::server::file_reload::{ReloadedFile, Watch};

/// The ALPN name of HTTP/2 (RFC 9113 §3.1).
pub(crate) const H2: &[u8] = b"h2";

/// A certificate with its chain, and its private key. Supports TLS 1.2 and 1.3, with HTTP/2
/// and HTTP/1.1 by ALPN (RFC 7301).
#[derive(Clone, Debug)]
pub struct Tls(Arc<ReloadedFile<Arc<ServerConfig>>>);

impl Tls {
    /// Reads the certificate chain and the key from PEM files. Both may be the same file.
    ///
    /// # Errors
    /// `UNAVAILABLE`: a file cannot be read. `BAD_USER_INPUT`: a file has no certificate or no key,
    /// or the key does not belong to the certificate.
    pub fn new(certificate: PathBuf, key: PathBuf) -> Result<Self> {
        let certificate = Watch {
            path: certificate,
            secret: |_| false,
        };
        let key = Watch {
            path: key,
            secret: |_| true,
        };
        let files = [certificate, key];
        let config = ReloadedFile::new(files.into(), |files| match files {
            [certificate, key] => config(certificate, key).map(Arc::new),
            _ => Err(Error::internal("TLS is read from two files")),
        })?;
        Ok(Self(Arc::new(config)))
    }

    /// An acceptor that uses the current certificate.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from((*self.0.current()).clone())
    }

    /// Reloads the files whenever they change. Never returns.
    pub(crate) async fn watch(self) {
        self.0.watch().await;
    }

    /// Reloads the files immediately.
    pub(crate) async fn reload(&self) {
        self.0.clone().reload().await;
    }
}

fn config(certificate: &[u8], key: &[u8]) -> Result<ServerConfig> {
    let chain = CertificateDer::pem_slice_iter(certificate).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| unusable("certificate", &error))?;
    if chain.is_empty() {
        return Err(unusable("certificate", &"the file contains none in PEM"));
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| unusable("key", &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::internal(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| unusable("certificate with this key", &error))?;
    config.alpn_protocols = vec![H2.to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn unusable(what: &str, why: &dyn std::fmt::Display) -> Error {
    Error::bad_input(format!("TLS cannot use the {what}: {why}"))
}
