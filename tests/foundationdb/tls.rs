//! TLS between Phyllo and a cluster, with new certificates, in processes configured by environment
//! variables.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use tempfile::TempDir;

use super::cluster::{Cluster, Environment, phyllo, phyllo_on};

cases!(
    sync [
        documents_are_stored_over_tls_with_trusted_certificates,
        invalid_tls_variables_are_rejected_before_the_client_reads_them,
    ]
);

fn documents_are_stored_over_tls_with_trusted_certificates() {
    let authority = Authority::new("authority");
    let cluster = Cluster::start_with_tls(authority.identity("cluster"));
    let file = cluster.file();
    let document = authority.file("d.json", r#"[{"doc_id": 7, "a": {"b": [1, 2, 3]}}]"#);
    let import = |environment: Environment| {
        let mut import = phyllo(&file, "import");
        import.arg(&document).envs(environment);
        import.output().expect("it runs")
    };
    assert_eq!(said(&import(authority.identity("client"))), "");
    let get = |environment: Environment| {
        let mut get = phyllo(&file, "get");
        get.args(["7", "/a/b/1"]).envs(environment);
        get.output().expect("it runs")
    };
    let read = get(authority.identity("other client"));
    assert_eq!(said(&read), "");
    assert_eq!(String::from_utf8_lossy(&read.stdout), "2\n");
    // Clients configured to trust another cluster name or another authority cannot connect.
    for (peers, reaches) in [("S.CN=cluster", true), ("S.CN=another", false)] {
        let mut environment = authority.identity("client");
        environment.push(("FDB_TLS_VERIFY_PEERS", peers.into()));
        assert_eq!(said(&get(environment)).is_empty(), reaches, "{peers}");
    }
    let stranger = Authority::new("stranger");
    let refused = said(&get(stranger.identity("client")));
    assert!(refused.contains("cluster does not answer"), "{refused}");
    // The cluster rejects clients without a trusted certificate.
    let trusts_the_cluster = vec![("FDB_TLS_CA_FILE", authority.file_of("authority"))];
    let refused = said(&get(trusts_the_cluster));
    assert!(refused.contains("does not trust this client"), "{refused}");
}

/// The client would end the process with a signal.
fn invalid_tls_variables_are_rejected_before_the_client_reads_them() {
    let authority = Authority::new("authority");
    let cluster_file = authority.file("fdb.cluster", "test:test@127.0.0.1:1:tls\n");
    let none = authority.directory.path().join("none.pem");
    let junk = authority.file("junk.pem", "junk");
    for (variable, value) in [
        ("FDB_TLS_CERTIFICATE_FILE", none.clone()),
        ("FDB_TLS_KEY_FILE", junk.clone()),
        ("FDB_TLS_CA_FILE", none),
        ("FDB_NETWORK_OPTION_TLS_CA_PATH", junk),
        ("FDB_TLS_VERIFY_PEERS", "rubbish".into()),
    ] {
        let mut environment = authority.identity("client");
        environment.push(("FDB_CLUSTER_FILE", cluster_file.clone()));
        environment.push((variable, value.clone()));
        for mut command in [
            phyllo(&cluster_file, "collections"),
            phyllo_on("fdb:", "collections"),
        ] {
            let output = command.envs(environment.clone()).output();
            let output = output.expect("it runs");
            assert_eq!(output.status.code(), Some(1), "{output:?}");
            let said = said(&output);
            let path = value.display().to_string();
            assert!(said.contains(variable) && said.contains(&path), "{said}");
        }
    }
}

/// The output of a failing command.
fn said(output: &Output) -> String {
    if output.status.success() {
        return String::new();
    }
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A certificate authority, and the files of the certificates that it signs.
struct Authority {
    directory: TempDir,
    name: &'static str,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &'static str) -> Self {
        let mut parameters = named(name);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        let authority = Self {
            directory: tempfile::tempdir().expect("a directory"),
            name,
            issuer: Issuer::new(parameters, key),
        };
        authority.file(&format!("{name}.pem"), &certificate.pem());
        authority
    }

    /// The variables for a certificate, its key and this authority.
    fn identity(&self, name: &str) -> Environment {
        let key = KeyPair::generate().expect("a key");
        let certificate = named(name).signed_by(&key, &self.issuer);
        let certificate = certificate.expect("a certificate").pem();
        vec![
            (
                "FDB_TLS_CERTIFICATE_FILE",
                self.file(&format!("{name}.pem"), &certificate),
            ),
            (
                "FDB_TLS_KEY_FILE",
                self.file(&format!("{name}.key"), &key.serialize_pem()),
            ),
            ("FDB_TLS_CA_FILE", self.file_of(self.name)),
        ]
    }

    fn file_of(&self, name: &str) -> PathBuf {
        self.directory.path().join(format!("{name}.pem"))
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::write(&path, text).expect("written");
        path
    }
}

fn named(name: &str) -> CertificateParams {
    let mut parameters = CertificateParams::default();
    parameters.distinguished_name.push(DnType::CommonName, name);
    parameters
}
