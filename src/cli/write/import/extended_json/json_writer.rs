//! Writes events as JSON without white space.

use crate::document::json::{Event, write_string};

/// Writes one JSON value from its events.
#[derive(Default)]
pub(crate) struct JsonWriter {
    out: Vec<u8>,
    /// Whether a value or a name now follows another value.
    after_value: bool,
}

impl JsonWriter {
    /// Writes an event.
    pub(crate) fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::EndObject => self.close(b'}'),
            Event::EndArray => self.close(b']'),
            Event::BeginObject => self.open(b'{'),
            Event::BeginArray => self.open(b'['),
            Event::Name(name) => {
                self.separate();
                write_string(&mut self.out, name);
                self.out.push(b':');
                self.after_value = false;
            }
            Event::String(text) => {
                self.separate();
                write_string(&mut self.out, text);
            }
            Event::Number(number) => self.value(number.as_bytes()),
            Event::Bool(true) => self.value(b"true"),
            Event::Bool(false) => self.value(b"false"),
            Event::Null => self.value(b"null"),
            Event::End => {}
        }
    }

    /// Writes a value that is JSON text.
    pub(crate) fn value(&mut self, json: &[u8]) {
        self.separate();
        self.out.extend_from_slice(json);
    }

    /// The text.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.out
    }

    fn separate(&mut self) {
        if std::mem::replace(&mut self.after_value, true) {
            self.out.push(b',');
        }
    }

    fn open(&mut self, bracket: u8) {
        self.separate();
        self.out.push(bracket);
        self.after_value = false;
    }

    fn close(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.after_value = true;
    }
}
