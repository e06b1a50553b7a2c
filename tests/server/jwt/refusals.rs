//! Tokens that are accepted, and each kind that is refused.

use serde_json::{Value, json};

use super::keys::{AUDIENCE, ISSUER, SignerKey, claims, encoded, from_now, key_set};
use super::{Files, ask, message, server_with};
use crate::access::{QUERY, bearer};
use crate::http2::Http2Client;
use crate::support::{JSON, Server};

const ALGORITHMS: [&str; 5] = ["RS256", "PS256", "ES256", "EdDSA", "HS256"];

fn keys() -> Vec<SignerKey> {
    ALGORITHMS
        .into_iter()
        .map(|algorithm| SignerKey::new(algorithm, algorithm))
        .collect()
}

/// Asserts that a token is refused with this reason, which the log has too.
fn assert_refused(server: &Server, name: &str, token: &str, reason: &str) {
    let response = ask(server, token);
    assert_eq!(response.status, 401, "{name}: {response:?}");
    assert_eq!(response.code(), "UNAUTHENTICATED", "{name}");
    let challenge = response.header("www-authenticate");
    let expected = "Bearer realm=\"phyllo\", error=\"invalid_token\"";
    assert_eq!(challenge, Some(expected), "{name}");
    let message = message(&response);
    assert!(message.contains(reason), "{name}: {message}");
}

#[test]
fn tokens_of_all_algorithms_are_accepted() {
    let (files, keys) = (Files::new(), keys());
    let server = server_with(&files, &key_set(&keys), &[]);
    for key in &keys {
        let valid = claims(&json!({}));
        for times in 1..=2 {
            let response = ask(&server, &key.token(&valid));
            assert_eq!(response.status, 200, "{} {times}", key.algorithm);
            assert_eq!(response.json(), json!({"data": {"__typename": "Query"}}));
        }
        // The key of another algorithm has another family, or another `alg`.
        for other in keys.iter().filter(|other| other.id != key.id) {
            let header = json!({"alg": key.algorithm, "kid": other.id});
            let token = key.signed(&header, valid.to_string());
            let name = format!("{} as {}", key.id, other.id);
            assert_refused(&server, &name, &token, "its `alg` is not that of the key");
        }
    }
}

#[test]
fn valid_tokens_at_the_limits_are_accepted() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let server = server_with(&files, &key_set([&key]), &[]);
    let nested = |levels: usize| {
        let value = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        serde_json::from_str::<Value>(&value).expect("JSON")
    };
    for (name, others) in [
        ("clocks differ at the end", json!({"exp": from_now(-30)})),
        ("clocks differ at the begin", json!({"nbf": from_now(30)})),
        ("begun", json!({"nbf": from_now(-1)})),
        ("a list of audiences", json!({"aud": ["x", AUDIENCE]})),
        ("no subject", json!({"sub": null})),
        ("many levels", json!({"deep": nested(15)})),
        ("an exact number", json!({"n": 1e300})),
        ("a far end", json!({"exp": u64::MAX})),
        ("long", json!({"text": "x".repeat(11_000)})),
    ] {
        let response = ask(&server, &key.token(&claims(&others)));
        assert_eq!(response.status, 200, "{name}: {response:?}");
    }
    // Without a `kid`, the keys of the algorithm are tried.
    let token = key.signed(&json!({"alg": "ES256"}), claims(&json!({})).to_string());
    assert_eq!(ask(&server, &token).status, 200);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn invalid_claims_are_refused() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let server = server_with(&files, &key_set([&key]), &[]);
    let (expiry, audience) = ("no `exp` that is a whole number", "its `aud` has none");
    let issuer = "its `iss` is not the issuer";
    for (name, others, reason) in [
        ("expired", json!({"exp": from_now(-61)}), "it has expired"),
        ("long expired", json!({"exp": 0}), "it has expired"),
        ("no exp", json!({"exp": null}), expiry),
        (
            "a text as exp",
            json!({"exp": from_now(60).to_string()}),
            expiry,
        ),
        ("a negative exp", json!({"exp": -1}), expiry),
        ("a fraction as exp", json!({"exp": 4_000_000_000.5}), expiry),
        (
            "a list as exp",
            json!({"exp": [from_now(60)]}),
            "not a signed JSON Web Token",
        ),
        (
            "not yet valid",
            json!({"nbf": from_now(90)}),
            "its `nbf` is in the future",
        ),
        (
            "a text as nbf",
            json!({"nbf": "x"}),
            "its `nbf` is not a whole number",
        ),
        ("no aud", json!({"aud": null}), audience),
        ("another aud", json!({"aud": "SECRET-other"}), audience),
        (
            "other auds",
            json!({"aud": ["SECRET-1", "SECRET-2"]}),
            audience,
        ),
        ("empty auds", json!({"aud": []}), audience),
        (
            "the beginning of an aud",
            json!({"aud": &AUDIENCE[1..]}),
            audience,
        ),
        ("a number as aud", json!({"aud": 1}), audience),
        ("no iss", json!({"iss": null}), issuer),
        ("another iss", json!({"iss": "SECRET-other"}), issuer),
        (
            "more than the iss",
            json!({"iss": format!("{ISSUER}/")}),
            issuer,
        ),
        ("a list with the iss", json!({"iss": [ISSUER]}), issuer),
        ("a number as iss", json!({"iss": 1}), issuer),
    ] {
        assert_refused(&server, name, &key.token(&claims(&others)), reason);
    }
    let line = server.wait_for_log("it has expired");
    assert!(
        line.contains("WARN") && line.contains("was refused"),
        "{line}"
    );
    let text = claims(&json!({})).to_string();
    let begin = text.trim_end_matches('}');
    let deep = |levels: usize| {
        let value = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        format!(r#"{begin},"deep":{{"SECRET":{value}}}}}"#)
    };
    let (twice, levels) = ("have a member twice", "more than 16 levels");
    let malformed = "not a signed JSON Web Token";
    for (name, text, reason) in [
        ("deep", deep(15), levels),
        ("very deep", deep(5_000), levels),
        ("twice", format!(r#"{begin},"role":1,"role":2}}"#), twice),
        (
            "twice below",
            format!(r#"{begin},"x":{{"a":1,"a":2}}}}"#),
            twice,
        ),
        (
            "twice escaped",
            format!(r#"{begin},"role":1,"r\u006fle":2}}"#),
            twice,
        ),
        (
            "exp twice",
            format!(r#"{begin},"exp":{}}}"#, from_now(60)),
            malformed,
        ),
        ("a list", format!("[{text}]"), malformed),
        ("a text", "\"SECRET\"".to_owned(), malformed),
        ("more than one value", format!("{text} {text}"), malformed),
        ("no JSON", "SECRET".to_owned(), malformed),
        ("empty", String::new(), malformed),
    ] {
        assert_refused(&server, name, &key.signed(&key.header(), text), reason);
    }
    let not_utf8 = [begin.as_bytes(), b",\"a\":\"\xff\"}"].concat();
    let not_utf8 = key.signed(&key.header(), not_utf8);
    assert_refused(&server, "not UTF-8", &not_utf8, malformed);
    let log = server.log();
    assert!(!log.contains("SECRET"), "{log}");
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn forged_tokens_are_refused() {
    let (files, keys) = (Files::new(), keys());
    let server = server_with(&files, &key_set(&keys), &[]);
    let [rsa, _, ec, _, _] = &keys[..] else {
        panic!("five keys");
    };
    let text = claims(&json!({})).to_string();
    let payload = encoded(&text);
    let (signature, header) = ("its signature does not match", "its header is invalid, or");
    let (other, malformed) = (
        "its `alg` is not that of the key",
        "not a signed JSON Web Token",
    );
    let unsigned = |alg: &str| format!("{}.{payload}.", encoded(json!({ "alg": alg }).to_string()));
    let public = |member: &str| {
        rsa.jwk()[member]
            .as_str()
            .expect("a text")
            .as_bytes()
            .to_vec()
    };
    let modulus = {
        use base64::Engine as _;
        let decoder = base64::engine::general_purpose::URL_SAFE_NO_PAD;
        decoder.decode(public("n")).expect("base64")
    };
    let with_public_key = |secret: Vec<u8>| {
        let header = json!({"alg": "HS256", "kid": rsa.id});
        SignerKey::with_secret("RS256", secret).signed(&header, &text)
    };
    let stranger = SignerKey::new("ES256", "ES256");
    let with_own_key = json!({"alg": "ES256", "kid": "ES256", "jwk": stranger.jwk()});
    let with_own_url = json!({"alg": "ES256", "kid": "ES256", "jku": "http://127.0.0.1:1/SECRET"});
    let critical = json!({"alg": "ES256", "kid": "ES256", "crit": ["exp"]});
    let valid = ec.token(&claims(&json!({})));
    let (message, signed) = valid.rsplit_once('.').expect("a signature");
    let altered = claims(&json!({"sub": "SECRET-admin"})).to_string();
    let altered = format!(
        "{}.{}.{signed}",
        encoded(ec.header().to_string()),
        encoded(altered)
    );
    for (name, token, reason) in [
        ("none", unsigned("none"), header),
        ("None", unsigned("None"), header),
        ("no algorithm", unsigned(""), header),
        (
            "HS512",
            SignerKey::new("x", "HS256").signed(&json!({"alg": "HS512"}), &text),
            header,
        ),
        ("no header", format!(".{payload}.{signed}"), header),
        (
            "a number as header",
            format!("{}.{payload}.{signed}", encoded("1")),
            header,
        ),
        ("the modulus as secret", with_public_key(modulus), other),
        ("its text as secret", with_public_key(public("n")), other),
        (
            "the key as secret",
            with_public_key(rsa.jwk().to_string().into_bytes()),
            other,
        ),
        (
            "another key",
            stranger.token(&claims(&json!({}))),
            signature,
        ),
        (
            "an own key",
            stranger.signed(&with_own_key, &text),
            signature,
        ),
        (
            "an own URL",
            stranger.signed(&with_own_url, &text),
            signature,
        ),
        (
            "critical",
            ec.signed(&critical, &text),
            "its header has `crit`",
        ),
        ("altered", altered, signature),
        ("no signature", format!("{message}."), signature),
        (
            "a short signature",
            format!("{message}.{}", &signed[..20]),
            signature,
        ),
        (
            "zeros as signature",
            format!("{message}.{}", encoded([0; 64])),
            signature,
        ),
        ("padded", format!("{valid}=="), malformed),
        ("not base64", format!("{message}.$"), malformed),
        (
            "two parts",
            message.to_owned(),
            "is not known to this server",
        ),
        (
            "five parts",
            format!("{valid}.a.b"),
            "is not known to this server",
        ),
        (
            "unknown key",
            SignerKey::new("SECRET", "ES256").token(&claims(&json!({}))),
            "no key with its `kid`",
        ),
        (
            "long",
            format!("{valid}{}", "A".repeat(16 << 10)),
            "more than 16384 bytes",
        ),
    ] {
        assert_refused(&server, name, &token, reason);
    }
    assert_eq!(ask(&server, &valid).status, 200);
    let log = server.log();
    for secret in ["SECRET", signed, &payload] {
        assert!(!log.contains(secret), "{log}");
    }
}

#[test]
fn tokens_without_a_kid_are_tried_with_a_few_keys() {
    let files = Files::new();
    let keys: Vec<SignerKey> = ["a", "b", "c", "d", "e"]
        .map(|id| SignerKey::new(id, "EdDSA"))
        .into();
    let text = claims(&json!({})).to_string();
    let header = json!({"alg": "EdDSA"});
    let server = server_with(&files, &key_set(&keys[..4]), &[]);
    for key in &keys[..4] {
        assert_eq!(ask(&server, &key.signed(&header, &text)).status, 200);
    }
    let other = keys[4].signed(&header, &text);
    assert_refused(&server, "other", &other, "its signature does not match");
    let server = server_with(&files, &key_set(&keys), &[]);
    let reason = "more than 4 keys may have signed it";
    assert_refused(&server, "too many", &keys[0].signed(&header, &text), reason);
    assert_eq!(
        ask(&server, &keys[0].token(&claims(&json!({})))).status,
        200
    );
}

#[tokio::test]
async fn tokens_of_a_megabyte_are_refused_by_the_limits_of_headers() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let server = server_with(&files, &key_set([&key]), &[]);
    let long = key.token(&claims(&json!({"text": "x".repeat(1 << 20)})));
    let token = bearer(&long);
    let body = json!({ "query": QUERY }).to_string();
    let mut connection = server.connect();
    let head = crate::support::head(
        "POST",
        "/graphql",
        &[JSON, ("authorization", &token)],
        body.len(),
    );
    // The server may respond and close before it has received all.
    if connection.offer(head) {
        connection.offer(body);
    }
    assert_eq!(connection.response(true).status, 431);
    let mut client = Http2Client::connect(&server).await;
    let valid = key.token(&claims(&json!({})));
    assert_eq!(client.status_with(&valid).await, Some(200));
    let refused = client.status_with(&long).await;
    assert!(matches!(refused, None | Some(431)), "{refused:?}");
    assert_eq!(ask(&server, &valid).status, 200);
}

#[test]
fn refusals_are_logged_at_a_bounded_rate() {
    let (files, key) = (Files::new(), SignerKey::new("k", "ES256"));
    let server = server_with(&files, &key_set([&key]), &[]);
    for _ in 0..50 {
        let expired = key.token(&claims(&json!({"exp": 1})));
        assert_refused(&server, "expired", &expired, "it has expired");
        assert_refused(&server, "unknown", "unknown-0123456789", "is not known");
    }
    server.wait_for_log("is not known");
    let log = server.log();
    for reason in ["it has expired", "is not known to this server"] {
        assert_eq!(log.matches(reason).count(), 1, "{log}");
    }
}
