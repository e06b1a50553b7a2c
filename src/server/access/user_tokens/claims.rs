//! The claims of a token, read exactly: numbers as written, no name twice, few levels.

use serde_json::{Map, Value};

use super::refused_token::RefusedToken;
use crate::document::json::{Event, JsonError, Problem, Reader};
use crate::limits::{CLAIM_LEVELS_MAX, USER_TOKEN_LEEWAY};

/// Reads the claims of a token whose signature is verified.
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
