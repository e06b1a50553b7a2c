//! Which servers this program trusts when it is the client.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

use super::file_reload;
use crate::error::{Error, Result};

/// TLS with the authorities in a PEM file, or those of the system. `flag` is the option that names the file.
///
/// # Errors
/// `BAD_USER_INPUT`: the file is no list of certificates. `UNAVAILABLE`: it cannot be read, or there is no
/// authority.
pub(crate) fn connector(authority: Option<&Path>, flag: &str) -> Result<TlsConnector> {
    let mut trusted = RootCertStore::empty();
    if let Some(path) = authority {
        let pem = file_reload::read(path)?;
        let unusable =
            |why: &dyn fmt::Display| Error::bad_input(format!("{flag} {}: {why}", path.display()));
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
            let message =
                format!("this system has no certificate authorities: name one with {flag}");
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
