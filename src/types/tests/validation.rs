//! Tests of validating values, and what is around a change.

use super::parsed;
use crate::budget::{Budget, Steps};
use crate::document::path::Segment;
use crate::key::Leaves;
use crate::limits::{Bounds, TYPE_VIOLATIONS_MAX};
use crate::types::{CollectionType, NotValidated, Resolved, Violations};

/// The violations by a value at a place.
fn violations_at(of: &CollectionType, place: &[Segment], json: &str) -> Violations {
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let steps = Steps::of(&budget);
    let leaves = Leaves::from_json(json).expect("JSON");
    let mut validator = of.validator(place, &steps);
    for (key, value) in leaves.iter() {
        validator.push(key, value).expect("it is well-formed");
    }
    validator.finish().expect("it is well-formed")
}

/// The violations by a value at a place, as text.
fn found_at(of: &CollectionType, pointer: &str, json: &str) -> Vec<String> {
    let found = violations_at(of, &place(pointer), json);
    assert_eq!(found.more(), 0);
    found.listed().iter().map(ToString::to_string).collect()
}

fn place(pointer: &str) -> Vec<Segment> {
    let segments = pointer.split('/').skip(1);
    let segment = |text: &str| match text.parse() {
        Ok(index) => Segment::Index(index),
        Err(_) => Segment::Key(text.to_owned()),
    };
    segments.map(segment).collect()
}

/// A type with each keyword of validation.
fn of_each_keyword() -> CollectionType {
    parsed(
        r#"{"type": "object", "required": ["name", "size"], "additionalProperties": false,
        "properties": {
            "name": {"type": "string", "minLength": 2, "maxLength": 5, "pattern": "^[a-z]*$"},
            "size": {"type": ["integer", "null"], "minimum": 1, "exclusiveMaximum": 10},
            "price": {"type": "number", "exclusiveMinimum": 0, "maximum": 100.5, "multipleOf": 0.01},
            "unit": {"enum": ["m", "kg", null]},
            "kind": {"const": "a"},
            "day": {"type": "string", "format": "date"},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
            "words": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "open": {"type": ["object", "array"]}
        }}"#,
    )
}

#[test]
fn violations_say_place_keyword_expected_and_found() {
    let of = of_each_keyword();
    for (json, expected) in [
        (
            "[1]",
            "at \"\" `type` requires an object, but there is an array",
        ),
        ("7", "at \"\" `type` requires an object, but there is 7"),
        (
            r#"{"size": 1}"#,
            "at \"\" `required` requires the member \"name\", but there is no such member",
        ),
        (
            r#"{"name": "ab", "size": 1, "x": 1}"#,
            "at \"/x\" `additionalProperties` requires members that are listed in `properties` only, but there \
             is a member \"x\"",
        ),
        (
            r#"{"name": 5, "size": 1}"#,
            "at \"/name\" `type` requires a string, but there is 5",
        ),
        (
            r#"{"name": {}, "size": 1}"#,
            "at \"/name\" `type` requires a string, but there is an object",
        ),
        (
            r#"{"name": "a", "size": 1}"#,
            "at \"/name\" `minLength` requires at least 2 characters, but there is \"a\"",
        ),
        (
            r#"{"name": "äöüßéñ", "size": 1}"#,
            "at \"/name\" `maxLength` requires at most 5 characters, but there is \"äöüßéñ\"; at \"/name\" \
             `pattern` requires a match of \"^[a-z]*$\", but there is \"äöüßéñ\"",
        ),
        (
            r#"{"name": "ab", "size": 1.5}"#,
            "at \"/size\" `type` requires an integer or null, but there is 1.5",
        ),
        (
            r#"{"name": "ab", "size": 0}"#,
            "at \"/size\" `minimum` requires at least 1, but there is 0",
        ),
        (
            r#"{"name": "ab", "size": 10}"#,
            "at \"/size\" `exclusiveMaximum` requires less than 10, but there is 10",
        ),
        (
            r#"{"name": "ab", "size": 1, "price": 0}"#,
            "at \"/price\" `exclusiveMinimum` requires more than 0, but there is 0",
        ),
        (
            r#"{"name": "ab", "size": 1, "price": 100.501}"#,
            "at \"/price\" `maximum` requires at most 100.5, but there is 100.501; at \"/price\" `multipleOf` \
             requires a multiple of 0.01, but there is 100.501",
        ),
        (
            r#"{"name": "ab", "size": 1, "unit": "g"}"#,
            "at \"/unit\" `enum` requires one of \"m\", \"kg\", null, but there is \"g\"",
        ),
        (
            r#"{"name": "ab", "size": 1, "unit": []}"#,
            "at \"/unit\" `enum` requires one of \"m\", \"kg\", null, but there is an array",
        ),
        (
            r#"{"name": "ab", "size": 1, "kind": "b"}"#,
            "at \"/kind\" `const` requires \"a\", but there is \"b\"",
        ),
        (
            r#"{"name": "ab", "size": 1, "day": "2026-02-29"}"#,
            "at \"/day\" `format` requires the format date, but there is \"2026-02-29\"",
        ),
        (
            r#"{"name": "ab", "size": 1, "tags": []}"#,
            "at \"/tags\" `minItems` requires at least 1 element, but there is an array of 0 elements",
        ),
        (
            r#"{"name": "ab", "size": 1, "tags": ["a", null, "c"]}"#,
            "at \"/tags/1\" `type` requires a string, but there is null; at \"/tags\" `maxItems` requires at most \
             2 elements, but there is an array of 3 elements",
        ),
        (
            r#"{"name": "ab", "size": 1, "words": {"a/b": true, "é": 1}}"#,
            "at \"/words/é\" `type` requires a boolean, but there is 1",
        ),
        (
            r#"{"name": "ab", "size": 1, "open": 1}"#,
            "at \"/open\" `type` requires an object or an array, but there is 1",
        ),
    ] {
        assert_eq!(found_at(&of, "", json).join("; "), expected, "{json}");
    }
}

#[test]
fn values_that_fit_have_no_violations() {
    let of = of_each_keyword();
    for json in [
        r#"{"name": "ab", "size": null}"#,
        r#"{"name": "abcde", "size": 9.0, "price": 19.99, "unit": null, "kind": "a", "day": "2024-02-29"}"#,
        r#"{"name": "ab", "size": 1, "tags": ["a"]}"#,
        r#"{"name": "ab", "size": 1, "tags": ["a", "b"], "words": {}, "open": [{"a": [1, null]}]}"#,
    ] {
        assert_eq!(found_at(&of, "", json), Vec::<String>::new(), "{json}");
    }
}

#[test]
fn a_value_that_does_not_fit_is_reported_once() {
    let of = parsed(
        r#"{"properties": {"a": {"type": "string"}},
        "additionalProperties": {"type": "object", "properties": {"b": {"type": "object", "required": ["c"]}}}}"#,
    );
    // What is inside a value of another kind is not validated.
    let found = found_at(&of, "", r#"{"a": {"b": {"c": 1}, "d": [1, 2]}}"#);
    assert_eq!(
        found,
        ["at \"/a\" `type` requires a string, but there is an object"]
    );
    // Objects are closed in their order, also if the next pair is far above.
    let found = found_at(
        &of,
        "",
        r#"{"x": {"b": {"d": {"e": 1}}}, "y": {"b": {}}, "z": {"b": {"c": 1}}}"#,
    );
    let missing = |at: &str| {
        format!("at {at:?} `required` requires the member \"c\", but there is no such member")
    };
    assert_eq!(found, [missing("/x/b"), missing("/y/b")]);
}

#[test]
fn a_value_at_a_place_is_validated_by_itself() {
    let of = parsed(
        r##"{"type": "object", "required": ["a"], "additionalProperties": false, "properties": {
            "a": {"type": "array", "minItems": 3, "items": {"type": "object", "required": ["n"],
                "properties": {"n": {"type": "integer"}, "more": {"$ref": "#/$defs/map"}}}},
            "b": {"type": "string"}, "c": true},
        "$defs": {"map": {"type": "object", "additionalProperties": {"$ref": "#/$defs/map"}}}}"##,
    );
    let none: [String; 0] = [];
    // Neither the other members of the object nor the length of the array are required.
    assert_eq!(found_at(&of, "/b", r#""x""#), none);
    assert_eq!(found_at(&of, "/a/7", r#"{"n": 1}"#), none);
    assert_eq!(found_at(&of, "/a/7/n", "1.0"), none);
    assert_eq!(found_at(&of, "/c/d/0", "[1]"), none);
    assert_eq!(
        found_at(&of, "/a/7/n", "1.5"),
        ["at \"/a/7/n\" `type` requires an integer, but there is 1.5"]
    );
    assert_eq!(
        found_at(&of, "/a/7", r#"{"more": {"x": {"y": {"z": 1}}}}"#),
        [
            "at \"/a/7/more/x/y/z\" `type` requires an object, but there is 1",
            "at \"/a/7\" `required` requires the member \"n\", but there is no such member",
        ]
    );
    let deep = "/a/0/more".to_owned() + &"/x".repeat(100);
    assert_eq!(found_at(&of, &deep, "{}"), none);
    assert_eq!(found_at(&of, &deep, "1").len(), 1);
    // There can be no value at these places.
    assert_eq!(
        found_at(&of, "/d/e", "1"),
        [
            "at \"/d\" `additionalProperties` requires members that are listed in `properties` only, but there is a \
          member \"d\""
        ]
    );
    assert_eq!(
        found_at(&of, "/b/c", "1"),
        ["at \"/b\" `type` requires a string, but there is an object"]
    );
    assert_eq!(
        found_at(&of, "/b/0", "1"),
        ["at \"/b\" `type` requires a string, but there is an array"]
    );
    assert_eq!(
        found_at(&of, "/0", "1"),
        ["at \"\" `type` requires an object, but there is an array"]
    );

    assert!(of.accepts_everything_at(&place("/c")) && of.accepts_everything_at(&place("/c/d")));
    assert!(!of.accepts_everything_at(&place("/b")) && !of.accepts_everything_at(&place("/d")));
    assert!(of.shape_at(&place("/c/d")).is_none() && of.shape_at(&place("/d")).is_none());
    assert_eq!(of.resolve(&place("/c/d")), Resolved::Open);
}

#[test]
fn a_change_is_checked_against_what_is_around_it() {
    let of = parsed(
        r#"{"type": "object", "required": ["a"], "properties": {
            "a": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"required": ["n"]}},
            "b": {"type": "array"}}}"#,
    );
    let removal = |pointer: &str| of.check_removal(&place(pointer)).map(|it| it.to_string());
    let missing = |at: &str, name: &str| {
        Some(format!(
            "at {at:?} `required` requires the member {name:?}, but there is no such member"
        ))
    };
    assert_eq!(removal("/a"), missing("", "a"));
    assert_eq!(removal("/a/1/n"), missing("/a/1", "n"));
    for free in ["", "/b", "/c", "/a/0", "/b/0/n", "/c/d/e"] {
        assert_eq!(removal(free), None, "{free}");
    }
    assert!(of.bounds_length(&place("/a")));
    for free in ["", "/b", "/c", "/a/0", "/c/d"] {
        assert!(!of.bounds_length(&place(free)), "{free}");
    }
    let length = |length: u64| of.check_length(&place("/a"), length).map(|it| it.keyword);
    assert_eq!(
        [0, 1, 2, 3].map(length),
        [Some("minItems"), None, None, Some("maxItems")]
    );
    assert_eq!(of.check_length(&place("/b"), 1_000), None);
}

#[test]
fn the_first_violations_are_listed_and_the_others_counted() {
    let of = parsed(
        r#"{"items": {"type": "object", "required": ["a", "b"], "properties": {"c": {"type": "string"}}}}"#,
    );
    let element = r#"{"c": 1}"#;
    let json = format!("[{}]", vec![element; 1_000].join(","));
    let found = violations_at(&of, &[], &json);
    assert_eq!(found.listed().len(), TYPE_VIOLATIONS_MAX);
    assert_eq!(found.more(), 3_000 - TYPE_VIOLATIONS_MAX as u64);
    // Each is short, whatever the value and the schema are.
    let of = parsed(&format!(
        r#"{{"properties": {{"a": {{"pattern": "{}"}}, "b": {{"enum": ["{}", "c"]}}}}}}"#,
        "x".repeat(1_000),
        "y".repeat(1_000)
    ));
    let long = "z".repeat(1 << 20);
    let found = found_at(&of, "", &format!(r#"{{"a": "{long}", "b": "{long}"}}"#));
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|it| it.len() < 300), "{found:?}");
}

#[test]
fn numbers_are_compared_by_value() {
    let big = "123456789012345678901234567890";
    let of = parsed(&format!(
        r#"{{"properties": {{
            "enum": {{"enum": [1, 0.5, {big}]}},
            "int": {{"type": "integer"}},
            "of3": {{"multipleOf": 3}},
            "ofCent": {{"multipleOf": 0.01}},
            "ofSmall": {{"multipleOf": 1e-300}},
            "big": {{"minimum": {big}, "maximum": 1e40}}}}}}"#
    ));
    let fits = |member: &str, number: &str| {
        found_at(&of, "", &format!(r#"{{"{member}": {number}}}"#)).is_empty()
    };
    for (member, fitting, others) in [
        (
            "enum",
            &["1", "1.0", "10e-1", "0.5", "5e-1", big][..],
            &["2", "0.25", "1234567890123456789012345678901"][..],
        ),
        (
            "int",
            &["1", "-0.0", "1e300", "2.0", big],
            &["0.1", "1e-300"],
        ),
        (
            "of3",
            &["0", "-3", "3.0", "9e0", "123456789012345678901234567890"],
            &["1", "4.5", "1e-5"],
        ),
        (
            "ofCent",
            &["19.99", "0.07", "1e300", "0", "-1.1"],
            &["0.001", "19.999", "1e-300"],
        ),
        ("ofSmall", &["1e300", "1e-300", "0", "12.5"], &["1e-301"]),
        (
            "big",
            &[big, "123456789012345678901234567891", "1e30", "1e40"],
            &["123456789012345678901234567889", "1e41"],
        ),
    ] {
        for number in fitting {
            assert!(fits(member, number), "{member} {number}");
        }
        for number in others {
            assert!(!fits(member, number), "{member} {number}");
        }
    }
}

#[test]
fn validation_spends_steps_and_stops_when_they_are_used_up() {
    let of = parsed(r#"{"items": {"pattern": "(a|b|ab)*c", "minLength": 1}}"#);
    let text = "ab".repeat(50_000);
    let leaves = Leaves::from_json(&format!(r#"["{text}"]"#)).expect("JSON");
    let bounds = Bounds {
        steps: 200,
        ..Bounds::DEFAULT
    };
    let budget = Budget::of_test(&bounds);
    let steps = Steps::of(&budget);
    let mut validator = of.validator(&[], &steps);
    let pushed = leaves
        .iter()
        .try_for_each(|(key, value)| validator.push(key, value))
        .and_then(|()| validator.finish().map(|_| ()));
    assert!(matches!(pushed, Err(NotValidated::Failed(_))), "{pushed:?}");
}

#[test]
fn pairs_of_no_document_are_reported_as_malformed() {
    let of = parsed(r#"{"items": {"type": "integer"}}"#);
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let steps = Steps::of(&budget);
    let first = Leaves::from_json("[1]").expect("JSON");
    let third = Leaves::from_json("[1, 2, 3]").expect("JSON");
    let mut validator = of.validator(&[], &steps);
    let pairs = first.iter().chain(third.iter().skip(2));
    let pushed: Vec<_> = pairs
        .map(|(key, value)| validator.push(key, value))
        .collect();
    assert!(
        matches!(pushed[..], [Ok(()), Err(NotValidated::Malformed(_))]),
        "{pushed:?}"
    );
}
