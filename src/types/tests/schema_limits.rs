//! Tests of the limits of schemas.

use super::{exceeded, limit_of, parse, parsed, refusal};
use crate::budget::{Budget, Steps};
use crate::document::path::Segment;
use crate::limits::{
    Bounds, DOCUMENT_LEVELS_MAX, TYPE_BYTES_MAX, TYPE_ENUM_VALUE_BYTES_MAX, TYPE_ENUM_VALUES_MAX,
    TYPE_PATTERNS_MAX, TYPE_PROPERTIES_MAX, TYPE_REFERENCES_MAX, TYPE_SHAPES_MAX,
};
use crate::types::{CollectionType, Resolved};

#[test]
fn schemas_have_limits() {
    let big = |what: &str| format!(r#"{{"description": "{what}"}}"#);
    parsed(&big(&"a".repeat(TYPE_BYTES_MAX - 100)));
    assert_eq!(exceeded(&big(&"a".repeat(TYPE_BYTES_MAX))), "typeBytes");

    let properties = |count: usize| {
        let each = (0..count).map(|at| format!(r##""p{at}":{{"$ref":"#/$defs/a"}}"##));
        let each: Vec<_> = each.collect();
        format!(
            r#"{{"$defs":{{"a":true}},"properties":{{{}}}}}"#,
            each.join(",")
        )
    };
    parsed(&properties(TYPE_PROPERTIES_MAX));
    assert_eq!(
        exceeded(&properties(TYPE_PROPERTIES_MAX + 1)),
        "typeProperties"
    );
    let names: Vec<String> = (0..=TYPE_PROPERTIES_MAX)
        .map(|at| format!("\"p{at}\""))
        .collect();
    let required = format!(r#"{{"required":[{}]}}"#, names.join(","));
    assert_eq!(exceeded(&required), "typeProperties");

    let definitions = |count: usize| {
        let each: Vec<_> = (0..count).map(|at| format!(r#""d{at}":true"#)).collect();
        format!(r#"{{"$defs":{{{}}}}}"#, each.join(","))
    };
    parsed(&definitions(TYPE_SHAPES_MAX - 1));
    assert_eq!(exceeded(&definitions(TYPE_SHAPES_MAX)), "typeShapes");

    let values = |count: usize| {
        let each: Vec<_> = (0..count).map(|at| at.to_string()).collect();
        format!(r#"{{"enum":[{}]}}"#, each.join(","))
    };
    parsed(&values(TYPE_ENUM_VALUES_MAX));
    assert_eq!(
        exceeded(&values(TYPE_ENUM_VALUES_MAX + 1)),
        "typeEnumValues"
    );
    let value = |bytes: usize| format!(r#"{{"const":"{}"}}"#, "a".repeat(bytes));
    parsed(&value(TYPE_ENUM_VALUE_BYTES_MAX));
    assert_eq!(
        exceeded(&value(TYPE_ENUM_VALUE_BYTES_MAX + 1)),
        "typeEnumValueBytes"
    );

    let patterns = |count: usize| {
        let each: Vec<_> = (0..count)
            .map(|at| format!(r#""p{at}":{{"pattern":"a"}}"#))
            .collect();
        format!(r#"{{"properties":{{{}}}}}"#, each.join(","))
    };
    parsed(&patterns(TYPE_PATTERNS_MAX));
    assert_eq!(exceeded(&patterns(TYPE_PATTERNS_MAX + 1)), "typePatterns");
}

#[test]
fn patterns_that_explode_are_refused() {
    for pattern in ["((a{100}){100}){100}", "([a-z]{1000}){1000}"] {
        let error = parse(&format!(r#"{{"pattern": "{pattern}"}}"#)).expect_err(pattern);
        let message = error.to_string();
        assert!(message.contains("at \"/pattern\""), "{message}");
        assert!(
            error.facts().is_some_and(|it| it.limit.is_some()),
            "{message}"
        );
    }
    let long = "a".repeat(1 << 19);
    assert_eq!(
        exceeded(&format!(r#"{{"pattern": "{long}"}}"#)),
        "regexpBytes"
    );
    let deep = format!("{}a{}", "(".repeat(200), ")".repeat(200));
    assert_eq!(
        exceeded(&format!(r#"{{"pattern": "{deep}"}}"#)),
        "regexpLevels"
    );
}

#[test]
fn chains_of_references_have_a_limit() {
    let chain = |length: usize| {
        let each = (0..length).map(|at| format!(r##""d{at}":{{"$ref":"#/$defs/d{}"}}"##, at + 1));
        let each: Vec<_> = each.collect();
        format!(
            r#"{{"$defs":{{{},"d{length}":{{"type":"string"}}}}}}"#,
            each.join(",")
        )
    };
    parsed(&chain(TYPE_REFERENCES_MAX));
    assert_eq!(exceeded(&chain(TYPE_REFERENCES_MAX + 1)), "typeReferences");
    assert_eq!(exceeded(&chain(9_000)), "typeReferences");
    // A long circle, and chains that lead into it.
    let each =
        (0..9_000).map(|at| format!(r##""d{at}":{{"$ref":"#/$defs/d{}"}}"##, (at + 1) % 8_000));
    let each: Vec<_> = each.collect();
    let message = refusal(&format!(r#"{{"$defs":{{{}}}}}"#, each.join(",")));
    assert!(message.contains("in a circle"), "{message}");
}

/// Deep schemas are parsed on the stack of a worker thread.
#[test]
fn deep_schemas_are_parsed_or_refused() {
    let nested = |levels: usize| {
        format!(
            "{}true{}",
            r#"{"items":"#.repeat(levels),
            "}".repeat(levels)
        )
    };
    let deep = nested(DOCUMENT_LEVELS_MAX);
    let of = parsed(&deep);
    let place = vec![Segment::Index(0); DOCUMENT_LEVELS_MAX - 1];
    assert!(of.shape_at(&place).is_some());
    assert_eq!(
        of.resolve(&[&place[..], &place[..]].concat()),
        Resolved::Open
    );
    assert_eq!(exceeded(&nested(DOCUMENT_LEVELS_MAX + 1)), "documentLevels");
    // Elements that are compared with each other, on every level.
    let prefix = (0..60).fold("true".to_owned(), |inside, _| {
        format!(r#"{{"prefixItems":[{inside}],"maxItems":1}}"#)
    });
    parsed(&prefix);
}

#[test]
fn a_schema_is_parsed_within_the_steps_of_a_request() {
    let bounds = Bounds {
        steps: 100,
        ..Bounds::DEFAULT
    };
    let budget = Budget::of_test(&bounds);
    let names: Vec<String> = (0..5_000).map(|at| format!(r#""p{at}":true"#)).collect();
    let text = format!(r#"{{"properties":{{{}}}}}"#, names.join(","));
    let error = CollectionType::parse("products", &text, &Steps::of(&budget))
        .expect_err("the steps are used up");
    assert_eq!(limit_of(&error), "steps");
}

#[test]
fn the_patterns_of_a_type_have_a_limit_together() {
    let patterns = |count: usize| {
        let each: Vec<_> = (0..count)
            .map(|at| format!(r#""p{at}":{{"pattern":"{at}\\p{{L}}{{1,5}}"}}"#))
            .collect();
        format!(r#"{{"properties":{{{}}}}}"#, each.join(","))
    };
    parsed(&patterns(2));
    assert_eq!(exceeded(&patterns(TYPE_PATTERNS_MAX)), "typePatternsBytes");
}
