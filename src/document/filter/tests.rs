//! Tables of filter, document and result for each test.

use super::*;
use crate::budget::Budget;
use crate::error::ErrorKind;
use crate::limits::{Bounds, STEPS_PER_DRAW};

fn value(text: &str) -> Tree {
    Tree::from_json(text).expect(text)
}

/// The tests at a path, written as `name value`.
fn given(at: Option<&str>, tests: &[(&str, &str)]) -> FilterMembers {
    let mut given = FilterMembers {
        at: at.map(|at| Query::parse(at).expect(at)),
        ..FilterMembers::default()
    };
    for (test, text) in tests {
        let value = || Some(value(text));
        match *test {
            "eq" => given.eq = value(),
            "ne" => given.ne = value(),
            "lt" => given.lt = value(),
            "lte" => given.lte = value(),
            "gt" => given.gt = value(),
            "gte" => given.gte = value(),
            "in" => {
                let Some(Tree::Array(values)) = value() else {
                    panic!("no array: {text}");
                };
                given.one_of = Some(values);
            }
            "startsWith" => given.starts_with = Some((*text).to_owned()),
            "contains" => given.contains = Some((*text).to_owned()),
            "exists" => given.exists = Some(*text == "true"),
            other => panic!("no test: {other}"),
        }
    }
    given
}

fn filter(at: Option<&str>, tests: &[(&str, &str)]) -> Filter {
    Filter::try_from(given(at, tests)).expect("a filter")
}

fn holds(filter: &Filter, document: &str) -> bool {
    let document = value(document);
    let stands = |place: &[Segment]| match document.at(place) {
        Some(value) => FilterValue::Value(value),
        None => FilterValue::Absent,
    };
    let budget = Budget::of_background();
    filter
        .holds(&stands, &Steps::of(&budget))
        .expect("within bounds")
}

#[test]
fn each_test_holds_within_its_type_and_compares_numbers_by_value() {
    let values = [
        "null",
        "false",
        "true",
        "-1",
        "1",
        "1.0",
        "2",
        r#""""#,
        r#""a""#,
        r#""ab""#,
        "[]",
        "[1]",
        "{}",
        r#"{"x":1}"#,
    ];
    for (test, operand, passing) in [
        ("eq", "null", &["null"][..]),
        ("eq", "1", &["1", "1.0"]),
        ("eq", "1e0", &["1", "1.0"]),
        ("eq", "[1.0]", &["[1]"]),
        ("eq", r#"{"x":1e0}"#, &[r#"{"x":1}"#]),
        ("eq", "{}", &["{}"]),
        ("lt", "null", &[]),
        ("lte", "null", &["null"]),
        ("gte", "null", &["null"]),
        ("gt", "null", &[]),
        ("lt", "true", &["false"]),
        ("lte", "true", &["false", "true"]),
        ("gt", "false", &["true"]),
        ("lt", "1", &["-1"]),
        ("lte", "1", &["-1", "1", "1.0"]),
        ("gt", "1", &["2"]),
        ("gte", "1.0", &["1", "1.0", "2"]),
        ("lt", r#""ab""#, &[r#""""#, r#""a""#]),
        ("gte", r#""a""#, &[r#""a""#, r#""ab""#]),
        ("lt", "[2]", &[]),
        ("lte", "[1]", &[]),
        ("gte", "{}", &[]),
        ("in", "[]", &[]),
        ("in", "[null, 1, [], 7]", &["null", "1", "1.0", "[]"]),
        ("startsWith", "", &[r#""""#, r#""a""#, r#""ab""#]),
        ("startsWith", "a", &[r#""a""#, r#""ab""#]),
        ("startsWith", "b", &[]),
        ("contains", "", &[r#""""#, r#""a""#, r#""ab""#]),
        ("contains", "a", &[r#""a""#, r#""ab""#]),
        ("contains", "b", &[r#""ab""#]),
        ("contains", "abc", &[]),
        ("contains", "1", &[]),
        ("exists", "true", &values),
    ] {
        for value in values {
            let document = format!(r#"{{"v": {value}}}"#);
            let expected = passing.contains(&value);
            let at = filter(Some("$.v"), &[(test, operand)]);
            assert_eq!(holds(&at, &document), expected, "{test} {operand}: {value}");
            let whole = filter(None, &[(test, operand)]);
            assert_eq!(holds(&whole, value), expected, "{test} {operand}: {value}");
            let absent = filter(Some("$.w"), &[(test, operand)]);
            assert!(!holds(&absent, &document), "{test} {operand} of nothing");
        }
        if test != "eq" {
            continue;
        }
        for value in values {
            let not_equal = filter(Some("$.v"), &[("ne", operand)]);
            let document = format!(r#"{{"v": {value}}}"#);
            let expected = !passing.contains(&value);
            assert_eq!(
                holds(&not_equal, &document),
                expected,
                "ne {operand}: {value}"
            );
        }
    }
}

#[test]
fn one_selected_value_must_pass_every_test() {
    for (at, tests, document, expected) in [
        ("$.v[*]", &[("gt", "1"), ("lt", "3")][..], "[0, 2, 9]", true),
        ("$.v[*]", &[("gt", "1"), ("lt", "3")], "[0, 9]", false),
        ("$.v[*]", &[("eq", "1"), ("ne", "1")], "[1, 2]", false),
        ("$.v[*]", &[("ne", "1")], "[1, 2]", true),
        ("$.v[*]", &[("ne", "1")], "[1, 1.0]", false),
        ("$.v[*]", &[("ne", "1")], "[]", false),
        ("$.v[*]", &[("exists", "true")], "[]", false),
        ("$.v[*]", &[("exists", "true")], "[null]", true),
        ("$.v[*]", &[("exists", "false")], "[]", true),
        ("$.v[*]", &[("exists", "false")], "[null]", false),
        (
            "$.v[*]",
            &[("exists", "true"), ("eq", "2")],
            r#"{"a": 2}"#,
            true,
        ),
        ("$.v[0]", &[("eq", "2")], "[2, 3]", true),
        ("$.v[0]", &[("eq", "2")], r#"{"0": 2}"#, false),
        ("$.v[-1]", &[("eq", "3")], "[2, 3]", true),
        ("$.v[?@ > 1]", &[("lt", "3")], "[0, 2]", true),
        ("$.v[?@ > 1]", &[("lt", "3")], "[0, 3]", false),
        ("$..x", &[("eq", "1")], r#"[{"y": {"x": 1}}]"#, true),
        ("$", &[("eq", r#"{"v": 1.0}"#)], "1", true),
    ] {
        let filter = filter(Some(at), tests);
        let document = format!(r#"{{"v": {document}}}"#);
        assert_eq!(
            holds(&filter, &document),
            expected,
            "{at} {tests:?}: {document}"
        );
    }
}

#[test]
fn filters_combine_about_the_document() {
    let is = |at: &str, value: &str| filter(Some(at), &[("eq", value)]);
    let both = FilterMembers {
        all: Some(vec![is("$.v[*]", "1"), is("$.v[*]", "2")]),
        ..FilterMembers::default()
    };
    let both = Filter::try_from(both).expect("a filter");
    // Different values may pass each filter.
    assert!(holds(&both, r#"{"v": [1, 2]}"#));
    assert!(!holds(&both, r#"{"v": [1, 1]}"#));

    let everything = FilterMembers {
        any: Some(vec![is("$.a", "1"), is("$.b", "1")]),
        all: Some(vec![is("$.c", "1")]),
        not: Some(is("$.d", "1")),
        ..given(Some("$.e"), &[("eq", "1")])
    };
    let everything = Filter::try_from(everything).expect("a filter");
    for (document, expected) in [
        (r#"{"a":1,"c":1,"e":1}"#, true),
        (r#"{"b":1,"c":1,"d":2,"e":1}"#, true),
        (r#"{"c":1,"e":1}"#, false),
        (r#"{"a":1,"e":1}"#, false),
        (r#"{"a":1,"c":1,"d":1,"e":1}"#, false),
        (r#"{"a":1,"c":1}"#, false),
    ] {
        assert_eq!(holds(&everything, document), expected, "{document}");
    }
    // Unlike `ne`, no value at all may be equal.
    let not = Filter::Not(Box::new(is("$.v[*]", "1")));
    assert!(!holds(&not, r#"{"v": [1, 2]}"#));
    assert!(holds(&not, r#"{"v": []}"#));
}

#[test]
fn empty_all_holds_and_empty_any_fails() {
    let filter = |given| Filter::try_from(given).expect("a filter");
    let empty = filter(FilterMembers::default());
    assert!(empty.is_empty() && holds(&empty, "null"));
    assert_eq!(empty, Filter::default());
    let all = filter(FilterMembers {
        all: Some(vec![Filter::default(), Filter::default()]),
        ..FilterMembers::default()
    });
    assert!(all.is_empty() && holds(&all, "1"));
    let any = filter(FilterMembers {
        any: Some(Vec::new()),
        ..FilterMembers::default()
    });
    assert!(!any.is_empty() && !holds(&any, "1"));
    let not = filter(FilterMembers {
        not: Some(Filter::default()),
        ..FilterMembers::default()
    });
    assert!(!not.is_empty() && !holds(&not, "1"));
}

#[test]
fn contradictory_tests_are_rejected() {
    for (at, tests, expected) in [
        (None, &[("exists", "false")][..], "without `at`"),
        (
            Some("$.a"),
            &[("exists", "false"), ("eq", "1")],
            "excludes other tests",
        ),
        (None, &[("exists", "false"), ("eq", "1")], "without `at`"),
        (Some("$.a"), &[], "has no test"),
    ] {
        let error = Filter::try_from(given(at, tests)).expect_err(expected);
        assert_eq!(error.kind(), ErrorKind::BadUserInput);
        assert!(error.message().contains(expected), "{error}");
    }
}

#[test]
fn exceeded_limits_are_named() {
    let is = || filter(Some("$.a"), &[("eq", "1")]);
    let nested = |levels: usize| {
        let inner = |filter, _| Filter::Not(Box::new(filter));
        (1..levels).fold(is(), inner)
    };
    let values = |count: usize| {
        Filter::Where(Condition {
            at: Query::parse("$").expect("a query"),
            tests: vec![Test::In(vec![value("1"); count])].into(),
        })
    };
    for (within, past, limit) in [
        (
            nested(FILTER_LEVELS_MAX),
            nested(FILTER_LEVELS_MAX + 1),
            "16 levels",
        ),
        (
            Filter::Any(vec![is(); FILTERS_MAX - 1]),
            Filter::Any(vec![is(); FILTERS_MAX]),
            "1000 filters",
        ),
        (
            values(FILTER_VALUES_MAX),
            Filter::Any(vec![values(FILTER_VALUES_MAX), values(1)]),
            "1000 values",
        ),
    ] {
        assert!(within.bounded().is_ok(), "{limit}");
        let error = past.bounded().expect_err(limit);
        assert_eq!(error.kind(), ErrorKind::TooComplex);
        assert!(error.message().contains(limit), "{error}");
    }
}

#[test]
fn a_string_is_searched_by_code_points() {
    for (text, part, expected) in [
        ("naïve", "ï", true),
        ("naïve", "i", false),
        // Code points are compared, not glyphs.
        ("caf\u{e9}", "e\u{301}", false),
        ("a\u{0}b", "\u{0}", true),
        ("😀😁", "😁", true),
    ] {
        let document = Tree::Leaf(Leaf::String(text.into()));
        let budget = Budget::of_background();
        let test = Test::Contains(part.to_owned());
        let found = test.passes(&document, &Steps::of(&budget));
        assert_eq!(found.expect("within bounds"), expected, "{text} {part}");
    }
}

#[test]
fn searching_a_string_takes_steps_by_its_length() {
    let text = "a".repeat(64 << 10);
    let document = Tree::Leaf(Leaf::String(text.clone().into()));
    let passes = |part: String, steps: u64| {
        let bounds = Bounds {
            steps,
            ..Bounds::DEFAULT
        };
        let budget = Budget::of_test(&bounds);
        Test::Contains(part).passes(&document, &Steps::of(&budget))
    };
    let needed = 1 + text.len() as u64 / SEARCHED_BYTES_PER_STEP;
    let part = || format!("{}b{}", "a".repeat(1 << 10), "a".repeat(1 << 10));
    let drawn = needed + STEPS_PER_DRAW;
    assert!(!passes(part(), drawn).expect("within bounds"));
    let error = passes(part(), needed - 1).expect_err("past the bound");
    assert_eq!(error.kind().code(), "TOO_COMPLEX");
    // A part longer than the text is not searched for.
    assert!(!passes("a".repeat(65 << 10), 1).expect("within bounds"));
}

#[test]
fn only_places_that_tests_read_are_needed() {
    let all = Filter::All(vec![
        filter(Some("$.a"), &[("exists", "true")]),
        filter(Some("$.b.c[0]"), &[("eq", "1")]),
        filter(Some("$.b.c[0]"), &[("exists", "true")]),
        filter(Some("$.d[*].e"), &[("exists", "true")]),
        Filter::Not(Box::new(filter(Some("$.f[?@.g]"), &[("ne", "1")]))),
    ]);
    let needs: Vec<_> = all
        .needs()
        .into_iter()
        .map(|need| {
            let place = crate::document::path::Place(need.place).to_string();
            (place, need.value)
        })
        .collect();
    let expected = [("/a", false), ("/b/c/0", true), ("/d", true), ("/f", true)];
    let expected = expected.map(|(place, value)| (place.to_owned(), value));
    assert_eq!(needs, expected);
    let budget = Budget::of_background();
    let presence = filter(Some("$.a"), &[("exists", "true")]);
    for (stands, expected) in [(FilterValue::Absent, false), (FilterValue::Present, true)] {
        let holds = presence.holds(&|_: &[Segment]| stands, &Steps::of(&budget));
        assert_eq!(holds.expect("within bounds"), expected);
    }
}
