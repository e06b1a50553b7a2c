//! Idempotency keys: a client can safely resend an operation with the same key.

use sha2::{Digest, Sha256};

use super::body::Request;
use crate::database::IdempotencyKey;
use crate::document::json::{self, Event, Reader};
use crate::key::hex;

/// The idempotency key of this request, if it has one, with the digest of the operation. Callers whose
/// requests access rules limit have keys of their own: `caller` distinguishes them.
pub(crate) fn once_only(request: &Request, caller: Option<[u8; 32]>) -> Option<IdempotencyKey> {
    let key = request.idempotency_key.clone()?;
    Some(IdempotencyKey {
        key: match caller {
            Some(caller) => format!("{}:{key}", hex(&caller)),
            None => key,
        },
        digest: digest(request),
    })
}

/// A digest of the query text, the operation's name, the variables and the condition. White space between the
/// tokens of the variables is ignored.
fn digest(request: &Request) -> [u8; 32] {
    let mut digest = Sha256::new();
    field(&mut digest, b'q', request.query.as_bytes());
    if let Some(name) = &request.operation_name {
        field(&mut digest, b'n', name.as_bytes());
    }
    variables(&mut digest, request.variables.text());
    if let Some(condition) = &request.condition {
        field(&mut digest, b'c', condition.text().as_bytes());
    }
    digest.finalize().into()
}

fn variables(digest: &mut Sha256, text: &[u8]) {
    let text = match json::utf8(text) {
        Ok("") | Err(_) => "{}",
        Ok(text) => text,
    };
    let mut reader = Reader::new(text, usize::MAX);
    loop {
        match reader.next() {
            Ok(Event::Name(name)) => field(digest, b'm', name.as_bytes()),
            Ok(Event::String(text)) => field(digest, b's', text.as_bytes()),
            Ok(Event::Number(text)) => field(digest, b'd', text.as_bytes()),
            Ok(Event::Bool(value)) => field(digest, if value { b't' } else { b'f' }, b""),
            Ok(Event::Null) => field(digest, b'0', b""),
            Ok(Event::BeginObject) => field(digest, b'{', b""),
            Ok(Event::EndObject) => field(digest, b'}', b""),
            Ok(Event::BeginArray) => field(digest, b'[', b""),
            Ok(Event::EndArray) => field(digest, b']', b""),
            Ok(Event::End) | Err(_) => return,
        }
    }
}

/// Hashes a tag, the length and the bytes, so that different sequences of fields never hash the
/// same input.
fn field(digest: &mut Sha256, tag: u8, bytes: &[u8]) {
    digest.update([tag]);
    digest.update((bytes.len() as u64).to_be_bytes());
    digest.update(bytes);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(query: &str, name: Option<&str>, variables: &str) -> Request {
        let (query, name) = (json!(query), json!(name));
        let variables = if variables.is_empty() {
            "null"
        } else {
            variables
        };
        let body = format!(r#"{{"query":{query},"operationName":{name},"variables":{variables}}}"#);
        Request::from_json(&body.into()).expect("a request")
    }

    #[test]
    fn digests_distinguish_operations_and_ignore_white_space() {
        let one = digest(&request("q", None, r#"{"a":[1,"b"]}"#));
        assert_eq!(
            digest(&request("q", None, " { \"a\" : [ 1 , \"b\" ] } ")),
            one
        );
        for other in [
            request("q2", None, r#"{"a":[1,"b"]}"#),
            request("q", Some("a"), r#"{"a":[1,"b"]}"#),
            request("q", None, r#"{"a":["1","b"]}"#),
            request("q", None, r#"{"a":[1],"b":null}"#),
            request("q", None, r#"{"a":[1,"b",{}]}"#),
            request("q", None, ""),
        ] {
            assert_ne!(digest(&other), one, "{other:?}");
        }
        assert_eq!(
            digest(&request("q", None, "")),
            digest(&request("q", None, "{}"))
        );
    }
}
