//! A model of JSON that shares no code with Phyllo: values, a parser and a writer of its own.

use std::collections::BTreeMap;

use num_bigint::BigInt;

/// A JSON value. Objects have one member of a name, ordered by the name's bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Integer(BigInt),
    /// The bits of a binary64, so that `-0.0` is not `0.0`.
    Double(u64),
    String(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Reads a text; of members of the same name the last one wins.
    ///
    /// # Panics
    /// The text is no JSON.
    pub(crate) fn parse(text: &str) -> Self {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value();
        parser.space();
        assert_eq!(parser.at, text.len(), "text behind the value");
        value
    }

    /// The text that Phyllo is to print.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(&value.to_string()),
            Self::Integer(integer) => out.push_str(&integer.to_string()),
            Self::Double(bits) => out.push_str(ryu::Buffer::new().format(f64::from_bits(*bits))),
            Self::String(text) => write_string(out, text),
            Self::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    element.write(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    write_string(out, name);
                    out.push(':');
                    value.write(out);
                }
                out.push('}');
            }
        }
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => {
                out.push_str("\\u00");
                out.push_str(if character < '\u{10}' { "0" } else { "1" });
                out.extend(char::from_digit(u32::from(character) & 15, 16));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        let trimmed = self.rest().trim_start_matches([' ', '\n', '\r', '\t']);
        self.at = self.text.len() - trimmed.len();
    }

    fn accept(&mut self, token: &str) -> bool {
        let accepted = self.rest().starts_with(token);
        self.at += if accepted { token.len() } else { 0 };
        accepted
    }

    fn character(&mut self) -> char {
        let character = self.rest().chars().next().expect("more text");
        self.at += character.len_utf8();
        character
    }

    fn value(&mut self) -> Json {
        self.space();
        if self.accept("null") {
            return Json::Null;
        }
        if self.accept("true") {
            return Json::Bool(true);
        }
        if self.accept("false") {
            return Json::Bool(false);
        }
        if self.accept("\"") {
            return Json::String(self.string());
        }
        if self.accept("[") {
            return self.array();
        }
        if self.accept("{") {
            return self.object();
        }
        self.number()
    }

    fn number(&mut self) -> Json {
        let rest = self.rest();
        let end = rest.find(|c: char| !matches!(c, '0'..='9' | '+' | '-' | '.' | 'e' | 'E'));
        let text = rest[..end.unwrap_or(rest.len())].to_owned();
        self.at += text.len();
        if text.contains(['.', 'e', 'E']) {
            Json::Double(text.parse::<f64>().expect("a double").to_bits())
        } else {
            Json::Integer(text.parse().expect("an integer"))
        }
    }

    fn array(&mut self) -> Json {
        let mut elements = Vec::new();
        self.space();
        while !self.accept("]") {
            elements.push(self.value());
            self.space();
            let end = !self.accept(",");
            assert!(
                !end || self.rest().starts_with(']'),
                "an array continues or ends"
            );
        }
        Json::Array(elements)
    }

    fn object(&mut self) -> Json {
        let mut members = BTreeMap::new();
        self.space();
        while !self.accept("}") {
            self.space();
            assert!(self.accept("\""), "a member's name");
            let name = self.string();
            self.space();
            assert!(self.accept(":"), "a colon");
            members.insert(name, self.value());
            self.space();
            let end = !self.accept(",");
            assert!(
                !end || self.rest().starts_with('}'),
                "an object continues or ends"
            );
        }
        Json::Object(members)
    }

    fn string(&mut self) -> String {
        let mut units: Vec<u16> = Vec::new();
        loop {
            match self.character() {
                '"' => return String::from_utf16(&units).expect("whole surrogate pairs"),
                '\\' => units.push(self.escape()),
                other => units.extend_from_slice(other.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escape(&mut self) -> u16 {
        let character = match self.character() {
            'u' => {
                let hex = &self.rest()[..4];
                let unit = u16::from_str_radix(hex, 16).expect("four hexadecimal digits");
                self.at += 4;
                return unit;
            }
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'b' => '\u{8}',
            'f' => '\u{c}',
            other => other,
        };
        u32::from(character).try_into().expect("one unit")
    }
}
