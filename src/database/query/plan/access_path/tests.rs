//! Tests of plans as tables: a filter, some indexes, and the expected access paths.

use crate::budget::Budget;
use crate::database::query::plan::access_path::*;
use crate::document::tree::Tree;
use crate::limits::KEY_BYTES_MAX;

pub(in crate::database::query::plan) fn planned<'i>(
    filter: &Filter,
    indexes: &'i [Index],
) -> QueryPlan<'i> {
    let budget = Budget::of_background();
    QueryPlan::new(filter, indexes, &Steps::of(&budget)).expect("the budget is unbounded")
}

fn passes(condition: &Condition, value: &Tree) -> bool {
    let budget = Budget::of_background();
    let passes = condition.passes(value, &Steps::of(&budget));
    passes.expect("the budget is unbounded")
}

use crate::database::index::definition::State;
use crate::database::index::partial::IndexFilter;
use crate::document::jsonpath::Query;

/// The paths of all indexes.
type IndexedPaths = &'static [&'static [&'static str]];

/// Creates indexes named after their paths.
pub(in crate::database::query::plan) fn indexes(on: &[&[&str]]) -> Vec<Index> {
    let index = |(number, paths): (u64, &&[&str])| Index {
        name: paths.join(","),
        number,
        on: paths
            .iter()
            .map(|path| IndexPath::parse(path).expect(path))
            .collect(),
        unique: false,
        filter: None,
        exact: true,
        state: State::Ready,
        error: None,
    };
    (1..).zip(on).map(index).collect()
}

fn value(text: &str) -> Tree {
    Tree::from_json(text).expect(text)
}

/// Creates a condition from tests written as `name value`.
pub(in crate::database::query::plan) fn condition(at: &str, tests: &[&str]) -> Filter {
    let test = |text: &&str| {
        let (name, operand) = text.split_once(' ').expect("a name and a value");
        match name {
            "=" => Test::Equal(value(operand)),
            "!=" => Test::NotEqual(value(operand)),
            "<" => Test::Less(value(operand)),
            "<=" => Test::AtMost(value(operand)),
            ">" => Test::Greater(value(operand)),
            ">=" => Test::AtLeast(value(operand)),
            "in" => match value(operand) {
                Tree::Array(values) => Test::one_of(values),
                other => panic!("no list: {other:?}"),
            },
            "starts" => Test::StartsWith(operand.to_owned()),
            "contains" => Test::Contains(operand.to_owned()),
            other => panic!("no test: {other}"),
        }
    };
    Filter::Where(Condition {
        at: Query::parse(at).expect(at),
        tests: tests.iter().map(test).collect(),
    })
}

pub(in crate::database::query::plan) fn all<const N: usize>(parts: [Filter; N]) -> Filter {
    Filter::All(parts.into())
}

fn any<const N: usize>(parts: [Filter; N]) -> Filter {
    Filter::Any(parts.into())
}

fn described(access: &EntrySource<'_>) -> String {
    match access {
        EntrySource::Index {
            index,
            spans,
            sorted,
        } => {
            let sorted = if *sorted { "by id" } else { "to sort" };
            format!("{}: {} {sorted}", index.name, spans.len())
        }
        EntrySource::Union(parts) => {
            let parts: Vec<_> = parts.iter().map(described).collect();
            format!("({})", parts.join(" | "))
        }
    }
}

/// Describes each access path: its indexes, its number of spans, and the number of residual
/// conjuncts.
fn access_paths(filter: &Filter, on: &[&[&str]]) -> Vec<String> {
    let indexes = indexes(on);
    let plan = planned(filter, &indexes);
    let access_path = |access_path: &AccessPath<'_>| {
        let left = plan.conjuncts.len() - access_path.covers.len();
        format!("{}, {left} left", described(&access_path.access))
    };
    plan.access_paths.iter().map(access_path).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is one table")]
fn what_a_filter_asks_of_the_first_columns_makes_a_way() {
    let a = || condition("$.a", &["= 1"]);
    let b = || condition("$.b", &["= 2"]);
    let many = format!("in {:?}", (0..40).collect::<Vec<_>>());
    let cases: Vec<(Filter, IndexedPaths, &[&str])> = vec![
        (Filter::default(), &[&["$.a"]], &[]),
        (a(), &[], &[]),
        (a(), &[&["$.a"]], &["$.a: 1 by id, 0 left"]),
        (
            condition("$.t.x", &[]),
            &[&["$.t.*~"]],
            &["$.t.*~: 1 by id, 0 left"],
        ),
        (
            all([condition("$.t.x[?@ > 1]", &[]), a()]),
            &[&["$.t.*~", "$.a"]],
            &["$.t.*~,$.a: 1 by id, 1 left"],
        ),
        (
            any([condition("$.t.x", &[]), condition("$.t.y", &["= 1"])]),
            &[&["$.t[*]~"], &["$.t[*]"]],
            &["($.t[*]~: 1 by id | $.t[*]~: 1 by id), 1 left"],
        ),
        (condition("$.t", &[]), &[&["$.t.*~"]], &[]),
        (condition("$.t[0]", &[]), &[&["$.t.*~"]], &[]),
        (condition("$.u.x", &[]), &[&["$.t.*~"]], &[]),
        (
            condition("$['a']", &["= 1"]),
            &[&["$.a"]],
            &["$.a: 1 by id, 0 left"],
        ),
        (
            a(),
            &[&["$.b"], &["$.b", "$.a"], &["$.a[0]"], &["$.a[*]"]],
            &[],
        ),
        // `contains` does not restrict the position in an index.
        (condition("$.a", &["contains x"]), &[&["$.a"]], &[]),
        (
            condition("$.a", &["contains x", "starts y"]),
            &[&["$.a"]],
            &["$.a: 1 to sort, 1 left"],
        ),
        (
            condition("$.a", &["= \"xy\"", "contains x"]),
            &[&["$.a"]],
            &["$.a: 1 by id, 0 left"],
        ),
        // If not all columns are fixed, the ids are not in order.
        (a(), &[&["$.a", "$.b"]], &["$.a,$.b: 1 to sort, 0 left"]),
        (a(), &[&["$.a", "$.b"], &["$.a"]], &["$.a: 1 by id, 0 left"]),
        (
            all([a(), b()]),
            &[&["$.a", "$.b"], &["$.a"]],
            &["$.a,$.b: 1 by id, 0 left"],
        ),
        (
            all([b(), all([a()])]),
            &[&["$.a", "$.b"]],
            &["$.a,$.b: 1 by id, 0 left"],
        ),
        (
            all([a(), b()]),
            &[&["$.a"], &["$.b"]],
            &["$.a: 1 by id, 1 left", "$.b: 1 by id, 1 left"],
        ),
        // One value must pass both tests of one condition, and both conditions on one place.
        (
            condition("$.a", &["> 1", "<= 5"]),
            &[&["$.a"]],
            &["$.a: 1 to sort, 0 left"],
        ),
        (
            all([condition("$.a", &["> 1"]), condition("$.a", &["< 5"])]),
            &[&["$.a"]],
            &["$.a: 1 to sort, 0 left"],
        ),
        (
            all([a(), condition("$.a", &["= 2"])]),
            &[&["$.a"]],
            &["$.a: 0 by id, 0 left"],
        ),
        (
            all([a(), condition("$.a", &["= 1.0"])]),
            &[&["$.a"]],
            &["$.a: 1 by id, 0 left"],
        ),
        (
            condition("$.a", &["= 1", "!= 1"]),
            &[&["$.a"]],
            &["$.a: 0 by id, 0 left"],
        ),
        (
            condition("$.a", &["> 1", "< \"x\""]),
            &[&["$.a"]],
            &["$.a: 0 by id, 0 left"],
        ),
        (
            condition("$.a", &["<= []"]),
            &[&["$.a"]],
            &["$.a: 0 by id, 0 left"],
        ),
        // If a path selects several values, different values may satisfy two conditions.
        (
            all([condition("$.a[*]", &["= 1"]), condition("$.a[*]", &["= 2"])]),
            &[&["$.a[*]"]],
            &["$.a[*]: 1 by id, 1 left"],
        ),
        (
            all([
                condition("$.a[*]", &["> 1"]),
                condition("$.a[*]", &["= 2"]),
                b(),
            ]),
            &[&["$.b", "$.a[*]"]],
            &["$.b,$.a[*]: 1 by id, 1 left"],
        ),
        // No column after a range is used.
        (
            all([condition("$.a", &["> 1"]), b()]),
            &[&["$.a", "$.b"], &["$.b", "$.a"]],
            &["$.b,$.a: 1 to sort, 0 left"],
        ),
        (
            all([condition("$.a", &["> 1"]), b()]),
            &[&["$.a", "$.b"]],
            &["$.a,$.b: 1 to sort, 1 left"],
        ),
        (
            condition("$.a", &["starts x"]),
            &[&["$.a"]],
            &["$.a: 1 to sort, 0 left"],
        ),
        (
            condition("$.a", &[]),
            &[&["$.a"]],
            &["$.a: 1 to sort, 0 left"],
        ),
        // Conjuncts that entries do not cover are residual.
        (
            condition("$.a", &["= [1]"]),
            &[&["$.a"]],
            &["$.a: 1 by id, 1 left"],
        ),
        (
            condition("$.a", &["in [1, {}]"]),
            &[&["$.a"]],
            &["$.a: 2 by id, 1 left"],
        ),
        (condition("$.a", &["!= 1"]), &[&["$.a"]], &[]),
        (
            condition("$.a", &["!= 1", "> 0"]),
            &[&["$.a"]],
            &["$.a: 1 to sort, 1 left"],
        ),
        (Filter::Not(Box::new(a())), &[&["$.a"]], &[]),
        (condition("$..a", &["= 1"]), &[&["$.a"]], &[]),
        // Each of several values is a span.
        (
            condition("$.a", &["in [1, 2, 2.0, 1]"]),
            &[&["$.a"]],
            &["$.a: 2 by id, 0 left"],
        ),
        (
            condition("$.a", &["in []"]),
            &[&["$.a"]],
            &["$.a: 0 by id, 0 left"],
        ),
        (
            all([
                condition("$.a", &["in [1, 2]"]),
                condition("$.b", &["in [3, 4, 5]"]),
            ]),
            &[&["$.a", "$.b"]],
            &["$.a,$.b: 6 by id, 0 left"],
        ),
        (
            all([condition("$.a", &["in [1, 2]"]), condition("$.b", &["> 0"])]),
            &[&["$.a", "$.b"]],
            &["$.a,$.b: 2 to sort, 0 left"],
        ),
        (
            all([condition("$.a", &[&many]), condition("$.b", &[&many])]),
            &[&["$.a", "$.b"]],
            &["$.a,$.b: 40 to sort, 1 left"],
        ),
        // A disjunction has an access path if each alternative has one.
        (any([a(), b()]), &[&["$.a"]], &[]),
        (
            any([a(), b()]),
            &[&["$.a"], &["$.b"]],
            &["($.a: 1 by id | $.b: 1 by id), 0 left"],
        ),
        (
            any([all([a(), b()]), condition("$.b", &["> 5"])]),
            &[&["$.a"], &["$.b"]],
            &["($.a: 1 by id | $.b: 1 to sort), 1 left"],
        ),
        (any([a()]), &[&["$.a"]], &["$.a: 1 by id, 0 left"]),
        (any([]), &[&["$.a"]], &["(), 0 left"]),
        (any([a(), Filter::default()]), &[&["$.a"]], &[]),
        (
            all([any([a(), b()]), condition("$.c", &["= 3"])]),
            &[&["$.a"], &["$.b"], &["$.c"]],
            &[
                "$.c: 1 by id, 1 left",
                "($.a: 1 by id | $.b: 1 by id), 1 left",
            ],
        ),
        // Equality precedes a range, whichever index is listed first.
        (
            all([condition("$.a", &["> 0"]), b()]),
            &[&["$.a"], &["$.b"]],
            &["$.b: 1 by id, 1 left", "$.a: 1 to sort, 1 left"],
        ),
    ];
    for (filter, on, expected) in cases {
        assert_eq!(access_paths(&filter, on), expected, "{filter:?} by {on:?}");
    }
}

#[test]
fn spans_hold_the_values_that_pass_and_no_others() {
    let values = [
        "null",
        "false",
        "true",
        "-1e300",
        "-1",
        "0",
        "0.5",
        "1",
        "1.5",
        "1e300",
        r#""""#,
        r#""\u0000""#,
        r#""a""#,
        r#""a\u0000""#,
        r#""a\u0000b""#,
        r#""ab""#,
        r#""b""#,
        r#""é""#,
        "[]",
        r#"{"a":1}"#,
    ];
    let indexes = indexes(&[&["$.a"]]);
    for test in ["=", "<", "<=", ">", ">="] {
        for operand in values {
            check_span(&format!("{test} {operand}"), &values, &indexes);
        }
    }
    for beginning in ["", "a", "a\0", "\0", "é", "b"] {
        check_span(&format!("starts {beginning}"), &values, &indexes);
    }
    // Operands that fit into no entry, and a value that nearly does not.
    let longest = format!("\"{}\"", "é".repeat(KEY_BYTES_MAX / 2 - 10));
    let stored = [&longest[..], r#""a""#, r#""é""#, r#""éé""#, r#""z""#, "1"];
    let operand = "é".repeat(5 * KEY_BYTES_MAX);
    for test in ["=", "<", "<=", ">", ">="] {
        check_span(&format!("{test} \"{operand}\""), &stored, &indexes);
    }
    check_span(&format!("starts {operand}"), &stored, &indexes);
}

fn check_span(test: &str, values: &[&str], indexes: &[Index]) {
    let filter = condition("$.a", &[test]);
    let Filter::Where(condition) = &filter else {
        panic!("no condition");
    };
    let plan = planned(&filter, indexes);
    let [access_path] = &plan.access_paths[..] else {
        panic!("{test}: {plan:?}");
    };
    let EntrySource::Index { spans, .. } = &access_path.access else {
        panic!("{test}: {plan:?}");
    };
    for text in values {
        let value = value(text);
        let key = crate::database::query::plan::column::index_value(&value).expect("short");
        // As in an entry, where an id follows.
        for id in [
            &[0x02, b'x', 0][..],
            &[0x15, 1],
            &[0x0C, 0, 0, 0, 0, 0, 0, 0, 0],
        ] {
            let entry = [key.bytes(), id].concat();
            let ends = spans.iter().flat_map(|span| [&span.begin, &span.end]);
            assert!(ends.map(Vec::len).max() < Some(2 * KEY_BYTES_MAX), "{text}");
            let inside = spans
                .iter()
                .any(|span| span.begin <= entry && entry < span.end);
            assert_eq!(inside, passes(condition, &value), "{test}: {text}");
        }
    }
}

/// Creates an index on one path with this filter.
fn partial_index(name: &str, path: &str, filter: &str) -> Index {
    let mut index = indexes(&[&[path]]).remove(0);
    name.clone_into(&mut index.name);
    index.filter = Some(IndexFilter::from_json(filter).expect(filter));
    index
}

#[test]
fn partial_indexes_are_used_if_the_query_implies_their_filter() {
    let active = || condition("$.s", &["= \"active\""]);
    let indexes = [
        partial_index("a", "$.a", r#"{"at":"$.s","eq":"active"}"#),
        partial_index("b", "$.b", r#"{"at":"$.s","in":["active","new"]}"#),
    ];
    let a = || condition("$.a", &["> 1"]);
    let b = || condition("$.b", &["= 1"]);
    for (filter, expected) in [
        (a(), &[][..]),
        (active(), &[]),
        (all([a(), active()]), &["a: 1 to sort, 0 left"]),
        // The filter of the index does not prove that it is active.
        (all([b(), active()]), &["b: 1 by id, 1 left"]),
        (
            all([any([a(), b()]), active()]),
            &["(a: 1 to sort | b: 1 by id), 1 left"],
        ),
        (any([all([a(), active()]), b()]), &[]),
        (
            any([all([a(), active()]), all([b(), active()])]),
            &["(a: 1 to sort | b: 1 by id), 1 left"],
        ),
    ] {
        let plan = planned(&filter, &indexes);
        let access_paths = plan.access_paths.iter().map(|access_path| {
            let left = plan.conjuncts.len() - access_path.covers.len();
            format!("{}, {left} left", described(&access_path.access))
        });
        assert_eq!(
            access_paths.collect::<Vec<_>>(),
            expected,
            "{}",
            filter.to_json()
        );
    }
}
