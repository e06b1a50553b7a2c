//! `--url https://…`: the authorities that are trusted.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::harness::Store;
use super::transports::Reached;

const TOKEN: &str = "a9LhE4uGd1PsXo6QiVrBtM";

/// The files of an authority, of a certificate for `localhost` that it has signed, and of its key.
fn identity(store: &Store, name: &str) -> [String; 3] {
    let mut authority = CertificateParams::new([]).expect("parameters");
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().expect("a key");
    let authority = CertifiedIssuer::self_signed(authority, key).expect("an authority");
    let own = CertificateParams::new(["localhost".to_owned()]).expect("parameters");
    let key = KeyPair::generate().expect("a key");
    let certificate = own.signed_by(&key, &authority).expect("a certificate");
    let file = |part: &str, text: String| store.file(&format!("{name}-{part}.pem"), text);
    [
        file("ca", authority.pem()),
        file("cert", certificate.pem()),
        file("key", key.serialize_pem()),
    ]
}

#[test]
fn commands_work_over_tls_with_an_authority_that_is_named() {
    let store = Store::alone();
    store.import("[1]", &[]);
    let [authority, certificate, key] = identity(&store, "own");
    let [stranger, ..] = identity(&store, "stranger");
    let tokens = store.file("tokens", format!("a read-write {TOKEN}\n"));
    let token = store.file("token", format!("{TOKEN}\n"));
    let options = [
        "--tls-cert",
        &*certificate,
        "--tls-key",
        &*key,
        "--token-file",
        &*tokens,
    ];
    let server = Reached::serving(store, &options, TOKEN);
    let url = server.url().to_owned();
    let port = url.trim_end_matches('/').rsplit(':').next();
    let port = port.expect("a port").to_owned();
    let at = |url: &str, authority: Option<&str>, command: &[&str]| {
        let mut arguments = [command, &["--url", url, "--token-file", &token]].concat();
        arguments.extend(authority.iter().flat_map(|file| ["--ca", *file]));
        server.store.run_on("{\"n\":1}\n{\"n\":2}\n", &arguments)
    };
    let url = format!("https://localhost:{port}");
    let over_tls = |command: &[&str]| at(&url, Some(&authority), command);
    over_tls(&["put", "a", "{\"b\":[1,2]}"]).expect(0);
    assert_eq!(over_tls(&["get", "a", "/b/1"]).expect(0).out, "2\n");
    over_tls(&["import", "-", "--collection", "imported"])
        .expect(0)
        .says("2 created");
    let export = over_tls(&["export", "--collection", "imported"]);
    assert_eq!(export.expect(0).out.lines().count(), 2);
    let get = ["get", "a"];
    // The authority did not sign the certificate, or is not one of the system.
    for authority in [Some(&*stranger), None] {
        at(&url, authority, &get)
            .expect(1)
            .says("cannot be reached");
    }
    // The certificate has another name.
    let address = format!("https://127.0.0.1:{port}");
    at(&address, Some(&authority), &get)
        .expect(1)
        .says("cannot be reached");
    // Without TLS, the server does not answer.
    let plain = format!("http://localhost:{port}");
    at(&plain, None, &get).expect(1);
    for file in ["/does/not/exist.pem", &token] {
        at(&url, Some(file), &get).expect(1).says(file);
    }
}
