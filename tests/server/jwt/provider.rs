//! The endpoint of an identity provider that serves its key set.

use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

/// What the endpoint does with a request.
#[derive(Clone)]
pub(crate) enum Behaviour {
    /// Responds with this status line, headers and body.
    Responds(&'static str, String),
    /// Responds with status 200 and this key set.
    Serves(String),
    /// Reads the request and never responds.
    IsSilent,
    /// Responds with a byte each tenth of a second.
    IsSlow,
    /// Responds with a body that does not end.
    IsEndless,
    /// Responds with a head that does not end.
    HasEndlessHead,
    /// Closes the connection.
    HangsUp,
}

/// An endpoint, until the test ends.
pub(crate) struct Provider {
    port: u16,
    behaviour: Arc<Mutex<Behaviour>>,
    requests: Arc<AtomicUsize>,
    tls: Option<ProviderTls>,
}

/// The authority of an endpoint with TLS.
struct ProviderTls {
    directory: TempDir,
}

impl Provider {
    /// An endpoint without TLS.
    pub(crate) fn plain(behaviour: Behaviour) -> Self {
        Self::start(behaviour, None, None)
    }

    /// An endpoint with TLS for `localhost`, whose certificate is of an authority of its own.
    pub(crate) fn with_tls(behaviour: Behaviour) -> Self {
        let mut authority = CertificateParams::new([]).expect("parameters");
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = CertifiedIssuer::self_signed(authority, key).expect("an authority");
        let own = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
        let key = KeyPair::generate().expect("a key");
        let certificate = own.signed_by(&key, &authority).expect("a certificate");
        let secret = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], secret)
            .expect("a certificate");
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("ca.pem"), authority.pem()).expect("a file");
        let tls = ProviderTls { directory };
        Self::start(behaviour, Some(tls), Some(Arc::new(config)))
    }

    fn start(
        behaviour: Behaviour,
        tls: Option<ProviderTls>,
        config: Option<Arc<ServerConfig>>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let provider = Self {
            port: listener.local_addr().expect("an address").port(),
            behaviour: Arc::new(Mutex::new(behaviour)),
            requests: Arc::default(),
            tls,
        };
        let (behaviour, requests) = (provider.behaviour.clone(), provider.requests.clone());
        spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.expect("a connection");
                requests.fetch_add(1, SeqCst);
                let behaviour = behaviour.lock().expect("no panic").clone();
                let config = config.clone();
                spawn(move || match config {
                    None => behaviour.answer(stream),
                    Some(config) => {
                        let connection = ServerConnection::new(config).expect("a connection");
                        behaviour.answer(StreamOwned::new(connection, stream));
                    }
                });
            }
        });
        provider
    }

    pub(crate) fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://localhost:{}/keys?SECRET-query", self.port)
    }

    /// The file of its authority.
    pub(crate) fn authority(&self) -> PathBuf {
        let tls = self.tls.as_ref().expect("it has TLS");
        tls.directory.path().join("ca.pem")
    }

    pub(crate) fn change(&self, behaviour: Behaviour) {
        *self.behaviour.lock().expect("no panic") = behaviour;
    }

    /// The number of connections so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(SeqCst)
    }

    pub(crate) fn wait_for_requests(&self, expected: usize) {
        let begin = Instant::now();
        while self.requests() < expected {
            assert!(begin.elapsed() < Duration::from_secs(60), "{expected}");
            sleep(Duration::from_millis(10));
        }
    }
}

impl Behaviour {
    fn answer(self, mut stream: impl Read + Write) {
        // Errors: the client has given up.
        let _answered = self.try_answer(&mut stream);
    }

    fn try_answer(self, stream: &mut (impl Read + Write)) -> io::Result<()> {
        let mut request = Vec::new();
        let mut piece = [0; 1_024];
        while !request.ends_with(b"\r\n\r\n") {
            let length = stream.read(&mut piece)?;
            if length == 0 {
                return Ok(());
            }
            request.extend(&piece[..length]);
        }
        let head = |status: &str, length: usize| {
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n\r\n")
        };
        match self {
            Self::Serves(keys) => {
                let response = head("200 OK\r\ncontent-type: application/json", keys.len());
                stream.write_all((response + &keys).as_bytes())?;
            }
            Self::Responds(status, body) => {
                let response = head(status, body.len());
                stream.write_all((response + &body).as_bytes())?;
            }
            Self::IsSilent => sleep(Duration::from_secs(600)),
            Self::IsSlow => {
                stream.write_all(head("200 OK", 1_000_000).as_bytes())?;
                loop {
                    stream.write_all(b" ")?;
                    stream.flush()?;
                    sleep(Duration::from_millis(100));
                }
            }
            Self::IsEndless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
                loop {
                    stream.write_all(&[b' '; 1_024])?;
                }
            }
            Self::HasEndlessHead => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
                loop {
                    stream.write_all(b"x-name: value value value value value value\r\n")?;
                }
            }
            Self::HangsUp => {}
        }
        stream.flush()
    }
}
