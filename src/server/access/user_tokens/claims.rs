//! The claims of a token, read exactly: numbers as written, no name twice, few levels.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};

use super::refused_token::RefusedToken;
use crate::document::json::{Event, JsonError, Problem, Reader, utf8};
use crate::limits::{CLAIM_LEVELS_MAX, USER_TOKEN_LEEWAY};

/// Reads the claims of a token whose signature is verified, from its second part.
///
/// # Errors
/// They are not JSON. As [`read`].
pub(super) fn decode(part: &[u8]) -> Result<Map<String, Value>, RefusedToken> {
    let decoded = URL_SAFE_NO_PAD
        .decode(part)
        .map_err(|_| RefusedToken::Malformed)?;
    read(utf8(&decoded).map_err(|_| RefusedToken::Malformed)?)
}

/// Reads claims from their text.
///
/// # Errors
/// They are not an object, name a member twice, or nest too deep.
pub(crate) fn read(text: &str) -> Result<Map<String, Value>, RefusedToken> {
    let mut reader = Reader::new(text, CLAIM_LEVELS_MAX);
    let claims = match reader.next()? {
        Event::BeginObject => members(&mut reader)?,
        _ => return Err(RefusedToken::Malformed),
    };
    match reader.next()? {
        Event::End => Ok(claims),
        _ => Err(RefusedToken::Malformed),
    }
}

/// The members of an object that has begun. The recursion is as deep as the levels that the reader
/// accepts.
fn members(reader: &mut Reader<'_>) -> Result<Map<String, Value>, RefusedToken> {
    let mut members = Map::new();
    while let Event::Name(name) = reader.next()? {
        let event = reader.next()?;
        let value = value(event, reader)?;
        if members.insert(name.into_owned(), value).is_some() {
            return Err(RefusedToken::NamedTwice);
        }
    }
    Ok(members)
}

fn value(event: Event<'_>, reader: &mut Reader<'_>) -> Result<Value, RefusedToken> {
    Ok(match event {
        Event::BeginObject => Value::Object(members(reader)?),
        Event::BeginArray => {
            let mut elements = Vec::new();
            loop {
                match reader.next()? {
                    Event::EndArray => break Value::Array(elements),
                    event => elements.push(value(event, reader)?),
                }
            }
        }
        Event::String(text) => Value::String(text.into_owned()),
        Event::Number(text) => {
            let number = text.parse().map_err(|_| RefusedToken::Malformed)?;
            Value::Number(number)
        }
        Event::Bool(value) => Value::Bool(value),
        Event::Null => Value::Null,
        Event::EndObject | Event::EndArray | Event::Name(_) | Event::End => {
            return Err(RefusedToken::Malformed);
        }
    })
}

impl From<JsonError> for RefusedToken {
    fn from(error: JsonError) -> Self {
        match error.problem {
            Problem::TooDeep(_) => Self::TooDeep,
            _ => Self::Malformed,
        }
    }
}

/// The time from which on a token with these claims is refused, in seconds since 1970.
pub(super) fn end(claims: &Map<String, Value>) -> Option<u64> {
    let expires = claims.get("exp")?.as_u64()?;
    Some(expires.saturating_add(USER_TOKEN_LEEWAY.as_secs()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn claims_are_read_exactly() {
        let text = r#" {"n":1e300,"i":123456789012345678901234567890,"a":[1,"x",null,[]],"o":{"t":true}} "#;
        let claims = read(text).expect("claims");
        assert_eq!(claims["n"].to_string(), "1e+300");
        assert_eq!(claims["i"].to_string(), "123456789012345678901234567890");
        assert_eq!(claims["a"], json!([1, "x", null, []]));
        assert_eq!(claims["o"], json!({"t": true}));
        // A name that the JSON library gives a meaning of its own.
        let private = r#"{"$serde_json::private::Number":"1"}"#;
        let claims = read(private).expect("claims");
        assert_eq!(claims["$serde_json::private::Number"], json!("1"));
    }

    #[test]
    fn invalid_claims_are_refused() {
        let deep = |levels: usize| {
            let inner = "[".repeat(levels - 1) + &"]".repeat(levels - 1);
            format!(r#"{{"a":{inner}}}"#)
        };
        assert!(read(&deep(CLAIM_LEVELS_MAX)).is_ok());
        for (text, expected) in [
            (&*deep(CLAIM_LEVELS_MAX + 1), RefusedToken::TooDeep),
            (&*deep(100_000), RefusedToken::TooDeep),
            (r#"{"a":1,"a":1}"#, RefusedToken::NamedTwice),
            (r#"{"a":{"b":1,"\u0062":2}}"#, RefusedToken::NamedTwice),
            ("[]", RefusedToken::Malformed),
            ("1", RefusedToken::Malformed),
            ("", RefusedToken::Malformed),
            ("{}{}", RefusedToken::Malformed),
            (r#"{"a":}"#, RefusedToken::Malformed),
            (r#"{"a":01}"#, RefusedToken::Malformed),
        ] {
            assert_eq!(read(text), Err(expected), "{text:.40}");
        }
    }

    #[test]
    fn a_token_ends_after_the_leeway() {
        for (expires, expected) in [
            (json!(1_000), Some(1_060)),
            (json!(0), Some(60)),
            (json!(u64::MAX), Some(u64::MAX)),
            (json!(-1), None),
            (json!(1.5), None),
            (json!("1"), None),
            (json!(null), None),
        ] {
            let mut claims = Map::new();
            claims.insert("exp".to_owned(), expires.clone());
            assert_eq!(end(&claims), expected, "{expires}");
        }
        assert_eq!(end(&Map::new()), None);
    }
}
