//! The objects of Extended JSON that encode one value.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::date;
use crate::document::json::{Event, Reader, write_string};
use crate::document::leaf::Leaf;
use crate::key::hex;
use crate::limits::DOCUMENT_LEVELS_MAX;

/// What an object is.
pub(super) enum Wrapped {
    /// A value of another type, and what it becomes as JSON.
    Value(String),
    /// An object with the name of a type but no value of it.
    Invalid(String),
    /// An ordinary object, or malformed.
    Ordinary,
}

/// The content of a member.
enum Content {
    Text(String),
    Number(String),
    /// An object whose members are strings and numbers.
    Members(Vec<(String, String)>),
    Other,
}

/// Reads the object at the start of `text`.
pub(super) fn unwrap(text: &str) -> Wrapped {
    read(text).unwrap_or(Wrapped::Ordinary)
}

fn read(text: &str) -> Option<Wrapped> {
    let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX);
    let (Event::BeginObject, Event::Name(name)) = (reader.next().ok()?, reader.next().ok()?) else {
        return None;
    };
    let convert: fn(&Content) -> Option<String> = match &*name {
        "$oid" => object_id,
        "$numberInt" => integer::<i32>,
        "$numberLong" => integer::<i64>,
        "$numberDouble" => double,
        "$numberDecimal" => decimal,
        "$date" => date,
        "$uuid" => uuid,
        "$binary" => binary,
        _ => return None,
    };
    let mut content = content(&mut reader)?;
    let mut end = reader.next().ok()?;
    if let (Content::Text(base64), "$binary", Event::Name(second)) = (&content, &*name, &end) {
        // Version 1 has the subtype beside the bytes.
        let (true, Event::String(subtype)) = (second == "$type", reader.next().ok()?) else {
            return None;
        };
        let members = [
            ("base64", base64.clone()),
            ("subType", subtype.into_owned()),
        ];
        content = Content::Members(members.map(|(name, text)| (name.to_owned(), text)).into());
        end = reader.next().ok()?;
    }
    if end != Event::EndObject {
        return None;
    }
    Some(match convert(&content) {
        Some(json) => Wrapped::Value(json),
        None => Wrapped::Invalid(format!("`{name}` {}", requirement(&name))),
    })
}

/// Reads the value of a member. Values that no type has are read in part only.
fn content(reader: &mut Reader<'_>) -> Option<Content> {
    Some(match reader.next().ok()? {
        Event::String(text) => Content::Text(text.into_owned()),
        Event::Number(number) => Content::Number(number.to_owned()),
        Event::BeginObject => {
            let mut members = Vec::new();
            while let Event::Name(name) = reader.next().ok()? {
                let name = name.into_owned();
                match reader.next().ok()? {
                    Event::String(text) if members.len() < 2 => {
                        members.push((name, text.into_owned()));
                    }
                    Event::Number(number) if members.len() < 2 => {
                        members.push((name, number.to_owned()));
                    }
                    _ => return None,
                }
            }
            Content::Members(members)
        }
        Event::Bool(_) | Event::Null => Content::Other,
        _ => return None,
    })
}

fn requirement(name: &str) -> &'static str {
    match name {
        "$oid" => "requires a string of 24 hexadecimal digits",
        "$numberInt" => "requires a 32-bit integer as a string",
        "$numberLong" => "requires a 64-bit integer as a string",
        "$numberDouble" => "requires a number, \"Infinity\", \"-Infinity\" or \"NaN\" as a string",
        "$numberDecimal" => "requires a decimal number as a string",
        "$date" => {
            "requires an ISO 8601 date and time with its offset, or milliseconds since 1970, in the years \
             0 to 9999"
        }
        "$uuid" => "requires a UUID as a string",
        _ => "requires `base64` and `subType`",
    }
}

fn string(text: &str) -> String {
    let mut json = Vec::new();
    write_string(&mut json, text);
    String::from_utf8(json).unwrap_or_default()
}

fn object_id(content: &Content) -> Option<String> {
    let Content::Text(text) = content else {
        return None;
    };
    let is_id = text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| string(&text.to_ascii_lowercase()))
}

fn integer<T: std::str::FromStr + ToString>(content: &Content) -> Option<String> {
    let (Content::Text(text) | Content::Number(text)) = content else {
        return None;
    };
    text.parse::<T>().ok().map(|integer| integer.to_string())
}

fn double(content: &Content) -> Option<String> {
    let (Content::Text(text) | Content::Number(text)) = content else {
        return None;
    };
    if let "Infinity" | "-Infinity" | "NaN" = &**text {
        return Some(string(text));
    }
    let number = match Reader::new(text, 0).next() {
        Ok(Event::Number(number)) if number == text => number,
        _ => return None,
    };
    let fraction = if number.contains(['.', 'e', 'E']) {
        ""
    } else {
        ".0"
    };
    let number = format!("{number}{fraction}");
    Leaf::number(&number).is_ok().then_some(number)
}

fn decimal(content: &Content) -> Option<String> {
    let Content::Text(text) = content else {
        return None;
    };
    let special = matches!(&**text, "Infinity" | "-Infinity" | "NaN");
    let in_number = |byte: u8| byte.is_ascii_digit() || b"+-.eE".contains(&byte);
    let is_number = text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().all(in_number);
    (special || is_number).then(|| string(text))
}

fn date(content: &Content) -> Option<String> {
    let milliseconds = match content {
        Content::Text(text) => date::parse(text)?,
        Content::Number(number) => number.parse().ok()?,
        Content::Members(members) => match &members[..] {
            [(name, number)] if name == "$numberLong" => number.parse().ok()?,
            _ => return None,
        },
        Content::Other => return None,
    };
    Some(string(&date::format(milliseconds)?))
}

fn uuid(content: &Content) -> Option<String> {
    let Content::Text(text) = content else {
        return None;
    };
    let is_uuid = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    is_uuid.then(|| string(&text.to_ascii_lowercase()))
}

fn binary(content: &Content) -> Option<String> {
    let Content::Members(members) = content else {
        return None;
    };
    let member = |wanted: &str| {
        let mut found = members.iter().filter(|(name, _)| name == wanted);
        Some(&*found.next()?.1)
    };
    let (base64, subtype) = (member("base64")?, member("subType")?);
    let bytes = STANDARD.decode(base64).ok()?;
    match <[u8; 16]>::try_from(bytes) {
        Ok(bytes) if matches!(subtype, "04" | "4") => {
            let hex = hex(&bytes);
            let parts = [
                &hex[..8],
                &hex[8..12],
                &hex[12..16],
                &hex[16..20],
                &hex[20..],
            ];
            Some(string(&parts.join("-")))
        }
        _ => Some(string(base64)),
    }
}
