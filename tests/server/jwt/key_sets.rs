//! Key sets in files and at URLs: rotation, and endpoints that do not serve one.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use super::keys::{SignerKey, claims, key_set};
use super::provider::{Behaviour, Provider};
use super::{Files, ask, message, server_with, start};
use crate::access::{READER, token_file};
use crate::support::Server;

fn token(key: &SignerKey) -> String {
    key.token(&claims(&json!({})))
}

/// Repeats a request until its status matches.
fn wait_for(server: &Server, token: &str, status: u16) {
    let begin = Instant::now();
    while ask(server, token).status != status {
        assert!(begin.elapsed() < Duration::from_secs(60), "{status}");
        sleep(Duration::from_millis(50));
    }
}

/// Reloads the keys of a server, and waits until it has logged `line` this number of times.
fn reload(server: &Server, line: &str, times: usize) -> Duration {
    let begin = Instant::now();
    server.signal("HUP");
    while server.log().matches(line).count() < times {
        let log = server.log();
        assert!(begin.elapsed() < Duration::from_secs(60), "{line} in {log}");
        sleep(Duration::from_millis(20));
    }
    begin.elapsed()
}

#[test]
fn files_are_reloaded_and_invalid_ones_are_ignored() {
    let (files, old, new) = (
        Files::new(),
        SignerKey::new("old", "ES256"),
        SignerKey::new("new", "EdDSA"),
    );
    let server = server_with(&files, &key_set([&old]), &[]);
    assert_eq!(ask(&server, &token(&old)).status, 200);
    assert_eq!(ask(&server, &token(&new)).status, 401);
    files.write("keys.json", &key_set([&old, &new]));
    wait_for(&server, &token(&new), 200);
    assert_eq!(ask(&server, &token(&old)).status, 200);
    for (broken, why) in [
        ("{\"keys\": [1, SECRET]}", "this is not a key set"),
        ("{\"keys\": []}", "no key that can verify tokens"),
    ] {
        files.write("keys.json", broken);
        let line = server.wait_for_log(why);
        assert!(
            line.contains("ERROR") && line.contains("stays in effect"),
            "{line}"
        );
        assert_eq!(ask(&server, &token(&old)).status, 200);
    }
    // A key that is removed, or replaced under its `kid`, does not verify anymore, although its
    // tokens are in the cache.
    let replaced = SignerKey::new("old", "ES256");
    files.write("keys.json", &key_set([&replaced]));
    wait_for(&server, &token(&replaced), 200);
    assert_eq!(ask(&server, &token(&old)).status, 401);
    assert_eq!(ask(&server, &token(&new)).status, 401);
    assert!(!server.log().contains("SECRET"));
}

#[test]
fn files_with_secrets_that_others_can_read_log_a_warning() {
    use std::os::unix::fs::PermissionsExt as _;
    for (algorithm, mode, warned) in [
        ("HS256", 0o640, true),
        ("HS256", 0o600, false),
        ("ES256", 0o644, false),
    ] {
        let files = Files::new();
        let keys = files.write("keys.json", &key_set([&SignerKey::new("k", algorithm)]));
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(&keys, permissions).expect("its owner");
        let server = start(&files.flags(&keys, &[]));
        assert_eq!(
            server.log().contains("chmod 600"),
            warned,
            "{algorithm} {mode:o}"
        );
    }
}

#[test]
fn unusable_keys_are_left_out() {
    let files = Files::new();
    let good = SignerKey::new("good", "ES256");
    let mut encryption = SignerKey::new("encryption", "ES256").jwk();
    encryption["use"] = json!("enc");
    let mut wrapping = SignerKey::new("wrapping", "EdDSA").jwk();
    wrapping["use"] = json!(null);
    wrapping["key_ops"] = json!(["wrapKey"]);
    let mut short = SignerKey::new("short", "RS256").jwk();
    short["n"] = json!("AQAB");
    let mut other_algorithm = SignerKey::new("other", "EdDSA").jwk();
    other_algorithm["alg"] = json!("ES256");
    let mut other_curve = SignerKey::new("curve", "ES256").jwk();
    other_curve["crv"] = json!("P-384");
    let weak = SignerKey::with_secret("weak", vec![7; 31]);
    let keys = json!({"keys": [
        encryption, wrapping, short, other_algorithm, other_curve, weak.jwk(),
        {"kty": "new", "kid": "new"}, {"kid": "x"}, {}, 7, good.jwk(),
    ]});
    let server = server_with(&files, &keys.to_string(), &[]);
    assert_eq!(ask(&server, &token(&good)).status, 200);
    for algorithm in ["ES256", "EdDSA", "RS256"] {
        for id in ["encryption", "wrapping", "short", "other", "curve"] {
            let key = SignerKey::new(id, algorithm);
            assert_eq!(ask(&server, &token(&key)).status, 401, "{id}");
        }
    }
    assert_eq!(ask(&server, &token(&weak)).status, 401);
}

#[test]
fn key_sets_are_fetched_over_https_from_a_server_that_is_trusted() {
    let (files, key) = (Files::new(), SignerKey::new("k", "PS256"));
    let provider = Provider::with_tls(Behaviour::Serves(key_set([&key])));
    let authority = provider.authority();
    let authority = authority.to_str().expect("a plain path");
    let server = start(&files.flags(&provider.url(), &["--jwt-ca", authority]));
    assert_eq!(ask(&server, &token(&key)).status, 200);
    server.wait_for_log("has 1 keys that verify tokens");
    // An authority of the same name that did not sign the certificate. Tokens of the token file are
    // independent of it.
    let stranger = Provider::with_tls(Behaviour::HangsUp);
    let other = fs::read_to_string(stranger.authority()).expect("a file");
    let other = files.write("other.pem", &other);
    let tokens = token_file(files.path("").as_path());
    let more = ["--jwt-ca", &other, "--token-file", &tokens];
    let server = start(&files.flags(&provider.url(), &more));
    let line = server.wait_for_log("cannot be used");
    assert!(line.contains("invalid peer certificate"), "{line}");
    let response = ask(&server, &token(&key));
    assert_eq!((response.status, &*response.code()), (503, "UNAVAILABLE"));
    assert!(message(&response).contains("has not received the keys"));
    assert_eq!(ask(&server, READER).status, 200);
    assert!(!server.log().contains("SECRET"), "{}", server.log());
}

#[test]
fn a_new_key_is_fetched_when_a_token_names_it_at_most_once_a_minute() {
    let files = Files::new();
    let ids = ["first", "second", "third"];
    let [first, second, third] = ids.map(|id| SignerKey::new(id, "ES256"));
    let provider = Provider::plain(Behaviour::Serves(key_set([&first])));
    let server = start(&files.flags(&provider.url(), &[]));
    server.wait_for_log("has 1 keys that verify tokens");
    assert_eq!(ask(&server, &token(&first)).status, 200);
    assert_eq!(provider.requests(), 1);
    provider.change(Behaviour::Serves(key_set([&second, &first])));
    // The request waits for the new key.
    assert_eq!(ask(&server, &token(&second)).status, 200);
    assert_eq!(provider.requests(), 2);
    provider.change(Behaviour::Serves(key_set([&third])));
    for _ in 0..20 {
        let response = ask(&server, &token(&third));
        assert_eq!(response.status, 401);
        assert!(message(&response).contains("no key with its `kid`"));
    }
    assert_eq!(provider.requests(), 2, "at most once a minute");
    assert_eq!(ask(&server, &token(&first)).status, 200);
    // Tokens that are invalid for another reason cause no fetch, and a signal always does.
    reload(&server, "has 1 keys that verify tokens", 2);
    assert_eq!(provider.requests(), 3);
    assert_eq!(ask(&server, &token(&third)).status, 200);
    assert_eq!(ask(&server, &token(&first)).status, 401);
}

#[test]
fn endpoints_that_serve_no_key_set_leave_the_old_keys_in_force() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let good = Behaviour::Serves(key_set([&key]));
    let provider = Provider::plain(good.clone());
    let server = start(&files.flags(&provider.url(), &[]));
    server.wait_for_log("has 1 keys that verify tokens");
    let many = vec![key.jwk(); 101];
    let responds = |status, body: &str| Behaviour::Responds(status, body.to_owned());
    let set = key_set([&key]);
    for (number, (behaviour, why)) in (1..).zip([
        (Behaviour::IsSilent, "no complete response within 5s"),
        (Behaviour::IsSlow, "no complete response within 5s"),
        (Behaviour::IsEndless, "its body has more than 262144 bytes"),
        (Behaviour::HasEndlessHead, "message head is too large"),
        (Behaviour::HangsUp, "connection closed"),
        (responds("404 Not Found", &set), "its status is 404"),
        (responds("500 Oops", &set), "its status is 500"),
        (
            responds("302 Found\r\nlocation: /other", &set),
            "its status is 302",
        ),
        (
            responds("200 OK", "<html>SECRET</html>"),
            "this is not a key set",
        ),
        (
            responds("200 OK", "{\"keys\": {}}"),
            "it has no list `keys`",
        ),
        (
            responds("200 OK", &json!({ "keys": many }).to_string()),
            "more than 100 keys",
        ),
        (
            responds("200 OK", &key_set([&SignerKey::new("s", "HS256")])),
            "a secret (`oct`) is accepted only from a file",
        ),
    ]) {
        provider.change(behaviour);
        let took = reload(&server, "cannot be used; the 1 keys from before", number);
        assert!(took < Duration::from_secs(10), "{why}: {took:?}");
        let log = server.log();
        let line = log.lines().rfind(|line| line.contains("cannot be used"));
        let line = line.expect("a line");
        assert!(
            line.contains("ERROR") && line.contains(why),
            "{why}: {line}"
        );
        assert_eq!(ask(&server, &token(&key)).status, 200, "{why}");
        // Another failure in succession logs nothing.
        provider.change(Behaviour::HangsUp);
        let requests = provider.requests();
        server.signal("HUP");
        provider.wait_for_requests(requests + 1);
        provider.change(good.clone());
        reload(&server, "can be used again", number);
        let failures = server.log().matches("cannot be used").count();
        assert_eq!(failures, number, "{why}");
    }
    let log = server.log();
    assert!(!log.contains("SECRET"), "{log}");
}

#[test]
fn the_server_starts_while_the_endpoint_is_down() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let provider = Provider::plain(Behaviour::HangsUp);
    let server = start(&files.flags(&provider.url(), &[]));
    let line = server.wait_for_log("cannot be used");
    assert!(line.contains("the 0 keys from before"), "{line}");
    for _ in 0..10 {
        assert_eq!(ask(&server, &token(&key)).status, 503);
    }
    assert!(provider.requests() <= 2, "{}", provider.requests());
    provider.change(Behaviour::Serves(key_set([&key])));
    reload(&server, "can be used again", 1);
    assert_eq!(ask(&server, &token(&key)).status, 200);
}
