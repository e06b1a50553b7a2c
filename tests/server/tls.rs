//! TLS, with new certificates for each test.

use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use serde_json::json;
use tempfile::TempDir;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{
    self, ClientConfig, ClientConnection, ProtocolVersion, RootCertStore, StreamOwned,
    SupportedProtocolVersion,
};

use crate::http2::Http2Client;
use crate::support::{Server, command};

/// The files of a certificate for `localhost`, and the trust anchor of clients.
pub(crate) struct Identity {
    directory: TempDir,
    trusted: RootCertStore,
}

/// A response over TLS, and the negotiated parameters.
#[derive(Debug)]
struct Answered {
    /// Including the head.
    answer: String,
    version: Option<ProtocolVersion>,
    protocol: Option<Vec<u8>>,
}

impl Identity {
    pub(crate) fn new() -> Self {
        let mut identity = Self {
            directory: tempfile::tempdir().expect("a directory"),
            trusted: RootCertStore::empty(),
        };
        identity.renew();
        identity
    }

    /// Replaces the certificate and the key in the files.
    fn renew(&mut self) {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        fs::write(self.certificate(), cert.pem()).expect("a file");
        fs::write(self.key(), signing_key.serialize_pem()).expect("a file");
        fs::set_permissions(self.key(), Permissions::from_mode(0o600)).expect("its owner");
        self.trusted = RootCertStore::empty();
        self.trusted.add(cert.der().clone()).expect("a certificate");
    }

    fn certificate(&self) -> PathBuf {
        self.directory.path().join("cert.pem")
    }

    fn key(&self) -> PathBuf {
        self.directory.path().join("key.pem")
    }

    /// The flags of a server with this certificate.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let path = |path: PathBuf| path.to_str().expect("a plain path").to_owned();
        let flags = ["--tls-cert", "--tls-key"].map(str::to_owned);
        let [certificate, key] = flags;
        vec![certificate, path(self.certificate()), key, path(self.key())]
    }

    /// The settings of a client with these versions of TLS and ALPN protocols.
    fn config(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&[u8]],
    ) -> ClientConfig {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(versions)
            .expect("versions")
            .with_root_certificates(self.trusted.clone())
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        config
    }

    /// Sends a request over TLS.
    fn ask(
        &self,
        server: &Server,
        request: &str,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&[u8]],
    ) -> Result<Answered, std::io::Error> {
        let config = self.config(versions, protocols);
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = ClientConnection::new(Arc::new(config), name).expect("a client");
        let stream = TcpStream::connect(&server.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut stream = StreamOwned::new(connection, stream);
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let agreed = stream.conn.alpn_protocol().map(<[u8]>::to_vec);
        Ok(Answered {
            answer,
            version: stream.conn.protocol_version(),
            protocol: agreed,
        })
    }

    fn query(&self, server: &Server) -> Result<String, std::io::Error> {
        let answer = self.ask(server, &query(""), rustls::ALL_VERSIONS, &[]);
        answer.map(|answered| answered.answer)
    }
}

/// A request with these additional headers.
fn query(headers: &str) -> String {
    let body = json!({"query": "{ __typename }"}).to_string();
    format!(
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    )
}

fn start(arguments: &[String]) -> Server {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    Server::logged(&arguments)
}

#[test]
fn graphql_is_served_over_tls_1_2_and_1_3_but_not_in_clear_text() {
    let identity = Identity::new();
    let server = start(&identity.arguments());
    for (version, named) in [
        (&rustls::version::TLS12, ProtocolVersion::TLSv1_2),
        (&rustls::version::TLS13, ProtocolVersion::TLSv1_3),
    ] {
        for (offered, agreed) in [
            (&[][..], None),
            (&[&b"http/1.1"[..]][..], Some(b"http/1.1".to_vec())),
        ] {
            let Answered {
                answer,
                version,
                protocol,
            } = identity
                .ask(&server, &query(""), &[version], offered)
                .expect("an answer");
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            assert!(
                answer.ends_with(r#"{"data":{"__typename":"Query"}}"#),
                "{answer}"
            );
            assert_eq!((version, protocol), (Some(named), agreed));
        }
    }
    let unknown = identity.ask(&server, &query(""), rustls::ALL_VERSIONS, &[b"spdy/1"]);
    assert!(unknown.is_err(), "{unknown:?}");
    // Clients that do not trust the certificate abort. Clients without TLS get no response.
    let stranger = Identity::new();
    assert!(stranger.query(&server).is_err());
    let mut plain = TcpStream::connect(&server.address).expect("it listens");
    plain.write_all(query("").as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    // A reset also ends the connection.
    let _read = plain.read_to_end(&mut answer);
    assert!(
        !String::from_utf8_lossy(&answer).contains("HTTP"),
        "{answer:?}"
    );
    identity.query(&server).expect("it continues");
}

#[tokio::test]
async fn clients_that_offer_http2_get_it() {
    let identity = Identity::new();
    let server = start(&identity.arguments());
    for offered in [&[&b"h2"[..]][..], &[&b"http/1.1"[..], &b"h2"[..]]] {
        let config = identity.config(rustls::ALL_VERSIONS, offered);
        let stream = tokio::net::TcpStream::connect(&server.address).await;
        let name = ServerName::try_from("localhost").expect("a name");
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let stream = connector.connect(name, stream.expect("it listens")).await;
        let stream = stream.expect("it is trusted");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let mut client = Http2Client::over(stream).await;
        let response = client.query("{ __typename }").await;
        assert_eq!(response.json(), json!({"data": {"__typename": "Query"}}));
    }
}

#[test]
fn tokens_are_required_over_tls() {
    let identity = Identity::new();
    let tokens = identity.directory.path().join("tokens");
    fs::write(&tokens, "me read-only some-secret-token-of-mine\n").expect("a file");
    let mut arguments = identity.arguments();
    let tokens = tokens.to_str().expect("a plain path").to_owned();
    arguments.extend(["--token-file".to_owned(), tokens]);
    // With TLS, a non-loopback address logs no warning.
    arguments.extend(["--listen".to_owned(), "0.0.0.0:0".to_owned()]);
    let server = start(&arguments);
    assert!(!server.log().contains("in clear text"), "{}", server.log());
    let with = |headers: &str| {
        let asked = identity.ask(&server, &query(headers), rustls::ALL_VERSIONS, &[]);
        asked.expect("an answer").answer
    };
    assert!(with("").starts_with("HTTP/1.1 401"));
    let token = "authorization: Bearer some-secret-token-of-mine\r\n";
    assert!(with(token).starts_with("HTTP/1.1 200"));
}

#[test]
fn certificate_changes_apply_without_a_restart_and_invalid_files_are_ignored() {
    let mut identity = Identity::new();
    let server = start(&identity.arguments());
    identity.query(&server).expect("an answer");
    fs::write(identity.certificate(), "no certificate").expect("a file");
    server.wait_for_log("stays in effect");
    identity.query(&server).expect("the old one is shown");
    server.signal("HUP");
    server.wait_for_log("SIGHUP: reloading");
    identity.query(&server).expect("the old one is still shown");
    identity.renew();
    server.signal("HUP");
    for _ in 0..600 {
        if identity.query(&server).is_ok() {
            return;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("the new certificate was not read");
}

#[test]
fn invalid_certificates_or_keys_prevent_the_start() {
    let identity = Identity::new();
    let stranger = KeyPair::generate().expect("a key").serialize_pem();
    let key = fs::read_to_string(identity.key()).expect("a key");
    let certificate = fs::read_to_string(identity.certificate()).expect("a certificate");
    for (certificate, key, said) in [
        (None, Some(&key), "cannot be read"),
        (Some(&certificate), None, "cannot be read"),
        (Some(&key), Some(&key), "certificate"),
        (Some(&certificate), Some(&certificate), "key"),
        (Some(&certificate), Some(&stranger), "key"),
    ] {
        for (path, text) in [(identity.certificate(), certificate), (identity.key(), key)] {
            match text {
                Some(text) => fs::write(path, text).expect("a file"),
                None => {
                    let _removed = fs::remove_file(path);
                }
            }
        }
        let arguments = identity.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let directory = tempfile::tempdir().expect("a directory");
        let output = command(&directory, &arguments).output().expect("it runs");
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && err.contains(said), "{err}");
        assert!(!err.contains(&stranger[40..80]), "{err}");
    }
    for one in ["--tls-cert", "--tls-key"] {
        let directory = tempfile::tempdir().expect("a directory");
        let output = command(&directory, &[one, "file"])
            .output()
            .expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{one} alone");
    }
}
