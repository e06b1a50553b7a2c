//! Tests of comparing types.

use super::parsed;
use crate::budget::{Budget, Steps};
use crate::limits::{Bounds, TYPE_PROPERTIES_MAX};
use crate::types::is_compatible;

fn compatible(old: &str, new: &str) -> bool {
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let (old, new) = (parsed(old), parsed(new));
    is_compatible(&old, &new, &Steps::of(&budget)).expect("the steps suffice")
}

/// Pairs of schemas. The documents of the first fit the second, and not all documents of the second fit the
/// first.
#[test]
fn wider_types_are_compatible_and_narrower_ones_are_not() {
    for (narrow, wide) in [
        (r#"{"type": "string"}"#, "true"),
        (r#"{"type": "string"}"#, r#"{"type": ["string", "null"]}"#),
        (r#"{"type": "integer"}"#, r#"{"type": "number"}"#),
        (
            r#"{"type": "integer", "minimum": 1}"#,
            r#"{"type": "integer", "minimum": 0}"#,
        ),
        (
            r#"{"type": "integer", "exclusiveMinimum": 1}"#,
            r#"{"type": "integer", "minimum": 1}"#,
        ),
        (
            r#"{"type": "number", "maximum": 1}"#,
            r#"{"type": "number", "exclusiveMaximum": 1.5}"#,
        ),
        (
            r#"{"type": "integer", "multipleOf": 4}"#,
            r#"{"type": "integer", "multipleOf": 2}"#,
        ),
        (
            r#"{"type": "integer"}"#,
            r#"{"type": "number", "multipleOf": 0.5}"#,
        ),
        (
            r#"{"type": "string", "maxLength": 4}"#,
            r#"{"type": "string", "maxLength": 5}"#,
        ),
        (
            r#"{"type": "string", "pattern": "a"}"#,
            r#"{"type": "string"}"#,
        ),
        (
            r#"{"type": "string", "format": "date"}"#,
            r#"{"type": "string"}"#,
        ),
        (r#"{"enum": ["a", "b"]}"#, r#"{"enum": ["b", "c", "a"]}"#),
        (
            r#"{"enum": ["a", "b"]}"#,
            r#"{"type": "string", "maxLength": 1}"#,
        ),
        (r#"{"const": 1.0}"#, r#"{"type": "integer", "minimum": 1}"#),
        (
            r#"{"type": "array", "minItems": 2}"#,
            r#"{"type": "array", "minItems": 1}"#,
        ),
        (r#"{"items": {"type": "string"}}"#, r#"{"items": true}"#),
        (r#"{"required": ["a", "b"]}"#, r#"{"required": ["a"]}"#),
        (
            r#"{"properties": {"a": {"type": "string"}}, "additionalProperties": false}"#,
            r#"{"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "additionalProperties": false}"#,
        ),
        (
            r#"{"properties": {"a": {"type": "string"}}, "additionalProperties": false}"#,
            r#"{"additionalProperties": {"type": "string"}}"#,
        ),
        (
            r#"{"additionalProperties": {"type": "integer"}}"#,
            r#"{"properties": {"a": {"type": "number"}}}"#,
        ),
        (
            r##"{"$defs": {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}, "v": {"type": "integer"}}}},
                "$ref": "#/$defs/n"}"##,
            r##"{"type": "object", "properties": {"next": {"$ref": "#"}, "v": {"type": "number"}}}"##,
        ),
    ] {
        assert!(compatible(narrow, wide), "{narrow} fits {wide}");
        assert!(!compatible(wide, narrow), "{wide} does not fit {narrow}");
        assert!(compatible(narrow, narrow) && compatible(wide, wide));
    }
}

#[test]
fn a_new_property_is_compatible_only_where_no_document_can_have_it() {
    let new = r#"{"properties": {"a": {"type": "string"}}}"#;
    assert!(!compatible("true", new));
    assert!(!compatible(r#"{"properties": {"b": true}}"#, new));
    assert!(compatible(
        r#"{"properties": {"b": true}, "additionalProperties": false}"#,
        new
    ));
}

#[test]
fn descriptions_and_references_make_no_difference() {
    let described =
        r#"{"title": "T", "type": "string", "deprecated": true, "x-graphql": {"name": "A"}}"#;
    assert!(compatible(r#"{"type": "string"}"#, described));
    let reference = |rest: &str| {
        format!(r#"{{"type": "string", "x-reference": {{"collection": "c", "as": "b"{rest}}}}}"#)
    };
    let (plain, exists) = (reference(""), reference(r#", "exists": true"#));
    assert!(compatible(r#"{"type": "string"}"#, &plain));
    // What a reference requires is required of writes, and not of stored documents.
    assert!(compatible(&plain, &exists) && compatible(&exists, &plain));
}

#[test]
fn large_types_are_compared_in_bounded_time() {
    let names = |count: usize| {
        let each: Vec<_> = (0..count)
            .map(|at| format!(r##""p{at}":{{"$ref":"#"}}"##))
            .collect();
        each.join(",")
    };
    let of = |count: usize| {
        format!(
            r#"{{"type": "object", "properties": {{{}}}}}"#,
            names(count)
        )
    };
    let large = of(TYPE_PROPERTIES_MAX);
    assert!(compatible(&large, &large));
    // Circles of different lengths: the pairs of their schemas are the product.
    let circle = |length: usize| {
        let each = (0..length).map(|at| {
            let next = (at + 1) % length;
            format!(r##""d{at}":{{"type":"object","additionalProperties":{{"$ref":"#/$defs/d{next}"}}}}"##)
        });
        let each: Vec<_> = each.collect();
        format!(
            r##"{{"$ref":"#/$defs/d0","$defs":{{{}}}}}"##,
            each.join(",")
        )
    };
    assert!(compatible(&circle(100), &circle(99)));
    // Each pair of schemas has many properties: it is not certain, and the request does not fail.
    let maps = (0..5_000).map(|at| {
        let next = (at + 1) % 5_000;
        format!(
            r##""d{at}":{{"type":"object","additionalProperties":{{"$ref":"#/$defs/d{next}"}}}}"##
        )
    });
    let maps: Vec<_> = maps.collect();
    let maps = format!(
        r##"{{"$ref":"#/$defs/d0","$defs":{{{}}}}}"##,
        maps.join(",")
    );
    assert!(!compatible(&of(5_000), &maps));
    assert!(
        !compatible(&circle(4_999), &circle(4_998)),
        "it is not certain"
    );
}
