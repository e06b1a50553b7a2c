//! MongoDB's Extended JSON, versions 1 and 2: replaces its objects for types that JSON does not have, such as
//! `{"$oid": …}`.

mod date;
mod json_writer;
mod wrapper;

use json_writer::JsonWriter;
use wrapper::{Wrapped, unwrap};

use crate::document::json::{Event, Reader};
use crate::limits::DOCUMENT_LEVELS_MAX;

/// Levels of `{"$date": {"$numberLong": …}}`, which are not in the document.
const WRAPPER_LEVELS: usize = 2;

/// An object that has the name of a type but no value of it.
#[derive(Debug, PartialEq, Eq)]
pub struct ExtendedError {
    /// Where the object begins in the text.
    pub offset: usize,
    /// What the type requires.
    pub reason: String,
}

/// The JSON text with plain values in place of the objects of Extended JSON. A text that is not JSON is
/// returned as it is.
///
/// # Errors
/// An object has the name of a type but no value of it.
pub fn plain(text: &str) -> Result<Vec<u8>, ExtendedError> {
    let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX + WRAPPER_LEVELS);
    let mut writer = JsonWriter::default();
    loop {
        let Ok(event) = reader.next() else {
            return Ok(text.as_bytes().to_vec());
        };
        match event {
            Event::End => return Ok(writer.finish()),
            Event::BeginObject => {
                let offset = reader.offset() - 1;
                match unwrap(&text[offset..]) {
                    Wrapped::Value(json) => {
                        writer.value(json.as_bytes());
                        if !skip_object(&mut reader) {
                            return Ok(text.as_bytes().to_vec());
                        }
                    }
                    Wrapped::Invalid(reason) => return Err(ExtendedError { offset, reason }),
                    Wrapped::Ordinary => writer.event(&Event::BeginObject),
                }
            }
            event => writer.event(&event),
        }
    }
}

/// Skips the rest of an object. Returns false if it is malformed.
fn skip_object(reader: &mut Reader<'_>) -> bool {
    let mut depth = 1_usize;
    while depth > 0 {
        match reader.next() {
            Ok(Event::BeginObject) => depth += 1,
            Ok(Event::EndObject) => depth -= 1,
            Ok(Event::End) | Err(_) => return false,
            Ok(_) => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten(text: &str) -> String {
        let json = plain(text).expect("valid Extended JSON");
        String::from_utf8(json).expect("UTF-8")
    }

    #[test]
    fn values_of_both_versions_become_plain() {
        for (text, expected) in [
            (
                r#"{"$oid":"507F1f77bcf86cd799439011"}"#,
                r#""507f1f77bcf86cd799439011""#,
            ),
            (r#"{"$numberInt":"-5"}"#, "-5"),
            (
                r#"{"$numberLong":"9223372036854775807"}"#,
                "9223372036854775807",
            ),
            (r#"{"$numberLong":7}"#, "7"),
            (r#"{"$numberDouble":"10.0"}"#, "10.0"),
            (r#"{"$numberDouble":"10"}"#, "10.0"),
            (r#"{"$numberDouble":"1.0E+20"}"#, "1.0E+20"),
            (r#"{"$numberDouble":"-Infinity"}"#, r#""-Infinity""#),
            (r#"{"$numberDouble":"NaN"}"#, r#""NaN""#),
            (r#"{"$numberDecimal":"1.10"}"#, r#""1.10""#),
            (r#"{"$numberDecimal":"9.99E+6144"}"#, r#""9.99E+6144""#),
            (
                r#"{"$date":"2020-02-29T23:59:59.5Z"}"#,
                r#""2020-02-29T23:59:59.500Z""#,
            ),
            (
                r#"{"$date":"2020-01-01T01:30:00.000+0130"}"#,
                r#""2020-01-01T00:00:00.000Z""#,
            ),
            (
                r#"{"$date":{"$numberLong":"-1"}}"#,
                r#""1969-12-31T23:59:59.999Z""#,
            ),
            (
                r#"{"$date":1577836800000}"#,
                r#""2020-01-01T00:00:00.000Z""#,
            ),
            (
                r#"{ "$binary" : { "subType":"00", "base64" : "AQI=" } }"#,
                r#""AQI=""#,
            ),
            (r#"{"$binary":"AQI=","$type":"00"}"#, r#""AQI=""#),
            (
                r#"{"$binary":{"base64":"ASNFZ4mrze8BI0VniavN7w==","subType":"04"}}"#,
                r#""01234567-89ab-cdef-0123-456789abcdef""#,
            ),
            (
                r#"{"$uuid":"01234567-89AB-cdef-0123-456789abcdef"}"#,
                r#""01234567-89ab-cdef-0123-456789abcdef""#,
            ),
            (
                r#" { "_id" : {"$oid":"507f1f77bcf86cd799439011"}, "n":[ {"$numberInt":"1"}, {}, [] ,"é\n" ] } "#,
                r#"{"_id":"507f1f77bcf86cd799439011","n":[1,{},[],"é\n"]}"#,
            ),
        ] {
            assert_eq!(rewritten(text), expected, "{text}");
        }
    }

    #[test]
    fn other_objects_stay_as_they_are() {
        for text in [
            r#"{"$timestamp":{"t":1,"i":2}}"#,
            r#"{"$regularExpression":{"pattern":"a","options":""}}"#,
            r#"{"$oid":5,"a":1}"#,
            r#"{"a":1,"$oid":"507f1f77bcf86cd799439011"}"#,
            r#"{"$numberInt":"1","$numberLong":"1"}"#,
            r#"[1e2,null,true,"",{"":{}}]"#,
            r#"{"a":"#,
            r#"{"$oid":"#,
            r#"{"$numberInt":"1"} x"#,
        ] {
            assert_eq!(rewritten(text), text);
        }
    }

    #[test]
    fn invalid_values_are_errors_with_their_position() {
        for text in [
            r#"{"$oid":5}"#,
            r#"{"$oid":"507f1f77bcf86cd79943901"}"#,
            r#"{"$numberInt":"2147483648"}"#,
            r#"{"$numberInt":"1.5"}"#,
            r#"{"$numberLong":"9223372036854775808"}"#,
            r#"{"$numberDouble":"x"}"#,
            r#"{"$numberDouble":"1e999"}"#,
            r#"{"$numberDecimal":"1,5"}"#,
            r#"{"$numberDecimal":1.5}"#,
            r#"{"$date":"2021-02-29T00:00:00Z"}"#,
            r#"{"$date":"2020-01-01"}"#,
            r#"{"$date":true}"#,
            r#"{"$date":{"$numberLong":"9223372036854775807"}}"#,
            r#"{"$date":{"n":1}}"#,
            r#"{"$uuid":"1"}"#,
            r#"{"$binary":{"base64":"%","subType":"00"}}"#,
            r#"{"$binary":{"base64":"AQI="}}"#,
        ] {
            let inside = format!("[1, {text}]");
            let error = plain(&inside).expect_err(text);
            assert_eq!(error.offset, 4, "{text}");
            assert!(error.reason.starts_with("`$"), "{}", error.reason);
        }
    }
}
