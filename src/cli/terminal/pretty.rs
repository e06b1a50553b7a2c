//! Indented JSON: the same text with line feeds and spaces, numbers unchanged.

use crate::document::flatten::json_error;
use crate::document::json::{Event, Reader, write_string};
use crate::error::{Error, Result};

/// Indents JSON text: one member or element per line, two spaces per level.
///
/// # Errors
/// `BAD_USER_INPUT`: the text is not JSON.
pub(crate) fn pretty(json: &[u8]) -> Result<Vec<u8>> {
    let text = std::str::from_utf8(json).map_err(|error| Error::internal(error.to_string()))?;
    let mut reader = Reader::new(text, usize::MAX);
    let mut printer = Printer::default();
    loop {
        match reader.next().map_err(|error| json_error(&error, text))? {
            Event::End => return Ok(printer.out),
            event => printer.print(&event),
        }
    }
}

#[derive(Default)]
struct Printer {
    out: Vec<u8>,
    level: usize,
    /// A container was opened and is still empty.
    opened: bool,
    /// A member's name was printed and its value follows.
    named: bool,
}

impl Printer {
    fn print(&mut self, event: &Event<'_>) {
        match event {
            Event::EndObject => return self.close(b'}'),
            Event::EndArray => return self.close(b']'),
            _ => self.begin(),
        }
        match event {
            Event::BeginObject => self.open(b'{'),
            Event::BeginArray => self.open(b'['),
            Event::Name(name) => {
                write_string(&mut self.out, name);
                self.out.extend_from_slice(b": ");
                self.named = true;
            }
            Event::String(text) => write_string(&mut self.out, text),
            Event::Number(number) => self.out.extend_from_slice(number.as_bytes()),
            Event::Bool(true) => self.out.extend_from_slice(b"true"),
            Event::Bool(false) => self.out.extend_from_slice(b"false"),
            Event::Null => self.out.extend_from_slice(b"null"),
            Event::EndObject | Event::EndArray | Event::End => {}
        }
    }

    /// Writes the separator before a member, an element or the value of a member.
    fn begin(&mut self) {
        if !std::mem::take(&mut self.named) && self.level > 0 {
            if !self.opened {
                self.out.push(b',');
            }
            self.new_line();
        }
        self.opened = false;
    }

    fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.level += 1;
        self.opened = true;
    }

    fn close(&mut self, bracket: u8) {
        self.level -= 1;
        if !std::mem::take(&mut self.opened) {
            self.new_line();
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self) {
        self.out.push(b'\n');
        self.out.resize(self.out.len() + 2 * self.level, b' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_elements_have_a_line_each() {
        let check = |json: &str, expected: &str| {
            let pretty = pretty(json.as_bytes()).expect("valid JSON");
            assert_eq!(String::from_utf8(pretty).expect("valid UTF-8"), expected);
        };
        check("1.0", "1.0");
        check("\"\\u0000\\\"é\"", "\"\\u0000\\\"é\"");
        check("{}", "{}");
        check("[]", "[]");
        check(
            r#"{"a":[1e2,{},[],[null]],"":{"b":123456789012345678901234567890}}"#,
            "{\n  \"a\": [\n    1e2,\n    {},\n    [],\n    [\n      null\n    ]\n  ],\n  \
             \"\": {\n    \"b\": 123456789012345678901234567890\n  }\n}",
        );
    }
}
