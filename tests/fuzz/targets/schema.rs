//! Schemas of types as users write them.

use phyllo::budget::{Budget, Steps};
use phyllo::document::path::Segment;
use phyllo::error::ErrorKind;
use phyllo::key::Leaves;
use phyllo::types::{CollectionType, is_compatible};
use serde_json::Value;

pub(super) const SEEDS: &[&[u8]] = &[
    b"true",
    br#"{"type":"object","properties":{"a":{"type":["string","null"],"minLength":1,"maxLength":3}},"required":["a"]}"#,
    br#"{"properties":{"n":{"minimum":0,"exclusiveMaximum":1e3,"multipleOf":0.01}},"additionalProperties":false}"#,
    br##"{"$defs":{"b/c":{"type":"object","additionalProperties":{"$ref":"#"}}},"$ref":"#/$defs/b~1c"}"##,
    br##"{"$defs":{"a":{"$ref":"#/$defs/b","title":"A"},"b":{"$ref":"#/$defs/a"}}}"##,
    br#"{"items":{"enum":["x",1,1.0,null,true]},"minItems":1,"maxItems":2}"#,
    br#"{"prefixItems":[{"const":1},{"const":1}],"items":false,"title":"t","description":"d","deprecated":true}"#,
    br#"{"additionalProperties":{"pattern":"^[a-z]{1,3}(x|\\p{Lu})*$","format":"date-time"}}"#,
    br#"{"properties":{"id":{"type":"string","format":"uri","x-graphql":{"name":"other"}}},"x-graphql":{"plural":"As"}}"#,
    br#"{"properties":{"a":{"type":"string","x-reference":{"collection":"c","as":"b","onDelete":"restrict"}}}}"#,
    br#"{"anyOf":[],"requird":1,"$schema":"https://json-schema.org/draft/2020-12/schema"}"#,
];

const DOCUMENTS: [&str; 7] = [
    "null",
    r#""2026-11-26T00:00:00Z""#,
    r#"["x",1]"#,
    r#"{"a":"ab","n":19.99}"#,
    r#"{"a":null,"id":"urn:a:b","x":{"y":[{},[],[[1.0]]]}}"#,
    r#"{"n":-12345678901234567890123,"b":{"b":{"b":{}}}}"#,
    r#"[0,1e300,true,{"a":[{"a":"z"}]},"é"]"#,
];

pub(super) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let budget = Budget::of_background();
    let steps = Steps::of(&budget);
    let of = match CollectionType::parse("c", text, &steps) {
        Ok(of) => of,
        Err(error) => {
            assert_ne!(error.kind(), ErrorKind::Internal, "{error}");
            return;
        }
    };
    is_compatible(&of, &of, &steps).expect("the steps suffice");
    for document in DOCUMENTS {
        let document: Value = serde_json::from_str(document).expect("JSON");
        if fits(&of, &[], &document) {
            assert!(parts_fit(&of, &mut Vec::new(), &document), "{document}");
        }
    }
}

fn fits(of: &CollectionType, place: &[Segment], value: &Value) -> bool {
    let budget = Budget::of_background();
    let steps = Steps::of(&budget);
    let leaves = Leaves::from_json(&value.to_string()).expect("JSON");
    let mut validator = of.validator(place, &steps);
    for (key, value) in leaves.iter() {
        validator.push(key, value).expect("it is well-formed");
    }
    let found = validator.finish().expect("it is well-formed");
    assert!(found.is_empty() || !of.accepts_everything_at(place));
    found.is_empty()
}

/// Whether each member and element of a value fits by itself.
fn parts_fit(of: &CollectionType, place: &mut Vec<Segment>, value: &Value) -> bool {
    let mut inside = |segment: Segment, value: &Value| {
        place.push(segment);
        let fits = fits(of, place, value) && parts_fit(of, place, value);
        place.pop();
        fits
    };
    match value {
        Value::Object(members) => {
            let mut members = members.iter();
            members.all(|(name, member)| inside(Segment::Key(name.clone()), member))
        }
        Value::Array(elements) => {
            let mut elements = (0..).zip(elements);
            elements.all(|(index, element)| inside(Segment::Index(index), element))
        }
        _ => true,
    }
}
