//! The body and the parameters of a request.

use bytes::Bytes;
use phyllo::graphql::{Posted, Request};
use serde::de::IgnoredAny;

pub(super) const SEEDS: &[&[u8]] = &[
    br#"{"query":"{ a }","operationName":"Q","variables":{"a":[1,{"b":null}]},"extensions":{}}"#,
    br#"{"query":null,"variables":null}"#,
    br#" {"a\u0000":1e5,"query":"\ud83c\udf33"} "#,
    br#"[{"query":"{ a }"}]"#,
    br#"[{"query":"{ a }"},{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ec54a6b38"}}}]"#,
    b"query=%7B%20a%20%7D&variables=%7B%22a%22%3A1%7D&operationName=&extensions=",
    b"{\"query\":\"\xC3\xA9\"}",
];

pub(super) fn check(bytes: &[u8]) {
    let body = Bytes::copy_from_slice(bytes);
    let from_body = Request::from_json(&body);
    if let Ok(request) = &from_body {
        // Other parsers support fewer levels.
        if bytes.iter().filter(|byte| b"[{".contains(byte)).count() < 100 {
            serde_json::from_slice::<IgnoredAny>(bytes).expect("what is read is JSON");
        }
        check_variables(request);
    }
    check_batch(&body);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return assert!(from_body.is_err(), "it is no UTF-8");
    };
    if let Ok(request) = Request::from_parameters(text) {
        check_variables(&request);
    }
}

/// A body is one request, or a batch within its limit.
fn check_batch(body: &Bytes) {
    match Posted::from_json(body, Some(3)) {
        Ok(Posted::One(request)) => assert_eq!(Request::from_json(body).ok(), Some(request)),
        Ok(Posted::Batch(requests)) => {
            assert!((1..=3).contains(&requests.len()), "{requests:?}");
            requests.iter().for_each(check_variables);
        }
        Err(_) => assert!(Request::from_json(body).is_err(), "it is a request"),
    }
}

/// Variables are an object, as text, or absent.
fn check_variables(request: &Request) {
    let variables = request.variables.text();
    let (first, last) = (variables.first(), variables.last());
    let object = first == Some(&b'{') && last == Some(&b'}');
    assert!(object || variables.is_empty(), "{request:?}");
}
