//! Replaces the objects of MongoDB's Extended JSON.

use phyllo::cli::plain_of_extended_json;
use serde_json::Value;

pub(super) const SEEDS: &[&[u8]] = &[
    br#"{"_id":{"$oid":"507f1f77bcf86cd799439011"},"n":[{"$numberInt":"1"},{"$numberLong":"-2"}]}"#,
    br#"[{"$date":{"$numberLong":"-62135596800000"}},{"$date":"2020-02-29T23:59:59.5+01:00"},{"$date":5}]"#,
    br#"{"d":{"$numberDecimal":"1.10"},"f":{"$numberDouble":"-Infinity"},"g":{"$numberDouble":"1e5"}}"#,
    br#"[{"$binary":{"base64":"AQI=","subType":"00"}},{"$binary":"AQI=","$type":"04"},{"$uuid":"01234567-89AB-cdef-0123-456789abcdef"}]"#,
    br#"{"$oid":{"$oid":{"$date":[{"$numberLong":"5"}]}},"$timestamp":{"t":1,"i":2}}"#,
    br#"{"$numberInt":"1"} x"#,
    br#"{"$date":"#,
];

pub(super) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let parsed = serde_json::from_str::<Value>(text);
    let plain = match plain_of_extended_json(text) {
        Ok(plain) => plain,
        Err(error) => {
            assert_eq!(text.as_bytes().get(error.offset), Some(&b'{'), "{text}");
            assert!(error.reason.starts_with("`$"), "{text}: {}", error.reason);
            assert!(text.contains('$') || text.contains("\\u"), "{text}");
            return;
        }
    };
    match parsed {
        Ok(value) => {
            let plain = std::str::from_utf8(&plain).expect("JSON text is UTF-8");
            let replaced: Value = serde_json::from_str(plain)
                .unwrap_or_else(|error| panic!("{error}: {plain} of {text}"));
            if !has_type_names(&value) {
                assert_eq!(replaced, value, "{text}");
            }
        }
        // The other parser supports 127 levels, and gives some names a special meaning.
        Err(error) if error.to_string().contains("recursion") => {}
        Err(_) if text.contains("$serde_json") => {}
        Err(error) => assert_eq!(plain, text.as_bytes(), "{error}: {text}"),
    }
}

/// Whether a member has a name that can be that of a type.
fn has_type_names(value: &Value) -> bool {
    match value {
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| name.starts_with('$') || has_type_names(value)),
        Value::Array(elements) => elements.iter().any(has_type_names),
        _ => false,
    }
}
