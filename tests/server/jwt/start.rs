//! Flags of users' tokens that prevent the start.

use serde_json::json;

use super::Files;
use super::keys::{SignerKey, key_set};
use crate::support::command;

/// Asserts that a server with these flags does not start, and says why.
fn assert_not_started(flags: &[&str], why: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let output = command(&directory, flags).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains(why),
        "{flags:?}: {said}"
    );
}

#[test]
fn keys_need_an_issuer_an_audience_and_rules() {
    let files = Files::new();
    let keys = files.write("keys.json", &key_set([&SignerKey::new("k", "ES256")]));
    let flags = files.flags(&keys, &[]);
    let without = |missing: &str| -> Vec<&str> {
        let pairs = flags.chunks(2).filter(|pair| pair[0] != missing);
        pairs.flatten().map(String::as_str).collect()
    };
    for missing in ["--jwt-issuer", "--jwt-audience", "--rules"] {
        assert_not_started(&without(missing), missing);
    }
    assert_not_started(&without("--jwt-keys"), "--jwt-keys");
    for empty in ["--jwt-issuer", "--jwt-audience"] {
        let flags = [without(empty), vec![empty, ""]].concat();
        assert_not_started(&flags, "which are not empty");
    }
    assert_not_started(&["--jwt-ca", &keys], "--jwt-keys");
}

#[test]
fn invalid_keys_prevent_the_start() {
    let files = Files::new();
    let key = SignerKey::new("k", "ES256");
    let keys = files.write("keys.json", &key_set([&key]));
    let missing = files.path("missing");
    let missing = missing.to_str().expect("a plain path");
    let broken = files.write("broken.json", "{\"keys\": [");
    let useless = json!({"keys": [{"kty": "EC", "crv": "P-384", "x": "SECRET", "y": ""}]});
    let useless = files.write("useless.json", &useless.to_string());
    let where_from = "must be a file, an https URL, or an http URL of a loopback address";
    for (keys, why) in [
        (missing, "cannot be read"),
        (&*broken, "line 1, column 11"),
        (&*useless, "key 1: "),
        ("http://login.example/keys", where_from),
        ("http://10.0.0.1/keys", where_from),
        ("http://localhost.example/keys", where_from),
        ("http://user@localhost/keys", where_from),
        ("https://user:secret@login.example/keys", where_from),
        ("ftp://localhost/keys", where_from),
        ("https://", where_from),
    ] {
        let flags = files.flags(keys, &[]);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        assert_not_started(&flags, why);
    }
    let url = "https://login.example/keys";
    for (keys, authority, why) in [
        (&*keys, &*keys, "--jwt-ca is for a URL"),
        (url, missing, "cannot be read"),
        (url, &*keys, "contains no certificate"),
    ] {
        let flags = files.flags(keys, &["--jwt-ca", authority]);
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        assert_not_started(&flags, why);
    }
}
