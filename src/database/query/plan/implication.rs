//! Implication between filters: whether every document that passes some filters passes another one.
//! Pure functions.
//!
//! A query uses a partial index only if its filter implies that of the index. The answer "yes" is
//! always right; the answer "no" only means that none of these rules applies:
//!
//! * a conjunction is implied if each of its parts is, a disjunction if one of them is;
//! * a disjunction implies what each of its alternatives implies;
//! * `not a` is implied by `not b` if `a` implies `b`, and by tests of a place that no value passes
//!   together with the tests of `a`;
//! * that a place exists is implied by every condition at or below it;
//! * a condition is implied by a condition on the same path whose values all pass it. All conditions
//!   on one place test the same value, so they count together.

use super::column::{ColumnBounds, listed, range};
use super::conjuncts::flatten;
use crate::budget::Steps;
use crate::document::filter::{Condition, Filter, Test};
use crate::document::tree::Tree;
use crate::limits::SEARCHED_BYTES_PER_STEP;

/// Whether every document that passes all of `given` passes `goal`. If `steps` are exhausted,
/// the answer is no.
pub(crate) fn implied(given: &[&Filter], goal: &Filter, steps: &Steps<'_>) -> bool {
    if steps.spend(1 + given.len() as u64).is_err() {
        return false;
    }
    let is_implied = match goal {
        Filter::All(parts) => return parts.iter().all(|part| implied(given, part, steps)),
        Filter::Any(parts) => parts.iter().any(|part| implied(given, part, steps)),
        Filter::Not(part) => refuted(given, part, steps),
        Filter::Where(condition) => is_met(given, condition, steps),
    };
    is_implied || implied_by_cases(given, goal, steps)
}

/// Whether all alternatives of a disjunction imply `goal`, or a filter that is negated twice
/// does.
fn implied_by_cases(given: &[&Filter], goal: &Filter, steps: &Steps<'_>) -> bool {
    given.iter().any(|filter| match filter {
        Filter::Any(parts) => parts.iter().all(|part| implies(part, goal, steps)),
        Filter::Not(part) => match &**part {
            Filter::Not(part) => implies(part, goal, steps),
            _ => false,
        },
        _ => false,
    })
}

/// Whether one filter implies another.
fn implies(filter: &Filter, goal: &Filter, steps: &Steps<'_>) -> bool {
    let mut conjuncts = Vec::new();
    flatten(filter, &mut conjuncts);
    implied(&conjuncts.iter().collect::<Vec<_>>(), goal, steps)
}

/// Whether no document that passes all of `given` passes `filter`.
fn refuted(given: &[&Filter], filter: &Filter, steps: &Steps<'_>) -> bool {
    if steps.spend(1 + given.len() as u64).is_err() {
        return false;
    }
    let mut excluded = given.iter().filter_map(|given| match given {
        Filter::Not(excluded) => Some(excluded),
        _ => None,
    });
    excluded.any(|excluded| implies(filter, excluded, steps))
        || match filter {
            Filter::All(parts) => parts.iter().any(|part| refuted(given, part, steps)),
            Filter::Any(parts) => parts.iter().all(|part| refuted(given, part, steps)),
            Filter::Not(part) => implied(given, part, steps),
            Filter::Where(condition) => is_excluded(given, condition, steps),
        }
}

fn conditions<'f>(given: &'f [&Filter]) -> impl Iterator<Item = &'f Condition> {
    given.iter().filter_map(|filter| match filter {
        Filter::Where(condition) => Some(condition),
        _ => None,
    })
}

/// All tests of the value at the only place that a condition is on. None if it may be on
/// several places, or is not tested.
fn tests_of_place<'f>(given: &'f [&Filter], goal: &Condition) -> Option<Vec<&'f Test>> {
    goal.at.place()?;
    let mut same = conditions(given).filter(|condition| condition.at == goal.at);
    let first = same.next()?;
    Some(same.fold(first.tests.iter().collect(), |mut all, next| {
        all.extend(next.tests.iter());
        all
    }))
}

/// Whether some conditions imply another one.
fn is_met(given: &[&Filter], goal: &Condition, steps: &Steps<'_>) -> bool {
    if goal.tests.is_empty()
        && let Some(place) = goal.at.place()
    {
        return conditions(given).any(|condition| condition.at.prefix().starts_with(place));
    }
    if let Some(tests) = tests_of_place(given, goal) {
        return all_pass(&tests, &goal.tests, steps);
    }
    let mut same = conditions(given).filter(|condition| condition.at == goal.at);
    same.any(|condition| {
        let tests: Vec<&Test> = condition.tests.iter().collect();
        all_pass(&tests, &goal.tests, steps)
    })
}

/// Whether some conditions exclude another one.
fn is_excluded(given: &[&Filter], goal: &Condition, steps: &Steps<'_>) -> bool {
    let Some(tests) = tests_of_place(given, goal) else {
        return false;
    };
    let goals: Vec<&Test> = goal.tests.iter().collect();
    for (some, others) in [(&tests, &goals), (&goals, &tests)] {
        if let Some(values) = listed(some) {
            return values.iter().all(|value| {
                !passes_all(some, value, steps).unwrap_or(true)
                    || !passes_all(others, value, steps).unwrap_or(true)
            });
        }
    }
    let bounds = |tests: &[&Test]| ColumnBounds::of(tests, steps);
    let (Some(a), Some(b)) = (bounds(&tests), bounds(&goals)) else {
        return false;
    };
    match (a, b) {
        (
            ColumnBounds::Range { begin, end, .. },
            ColumnBounds::Range {
                begin: from,
                end: to,
                ..
            },
        ) => end <= from || to <= begin,
        // Without listed values, there are points only if no value passes.
        _ => true,
    }
}

/// Whether every value that passes `tests` passes all of `goals`.
fn all_pass(tests: &[&Test], goals: &[Test], steps: &Steps<'_>) -> bool {
    goals.iter().all(|goal| {
        let work = tests.len() as u64;
        steps.spend(work).is_ok() && (tests.contains(&goal) || passes_always(tests, goal, steps))
    })
}

fn passes_always(tests: &[&Test], goal: &Test, steps: &Steps<'_>) -> bool {
    if let Some(values) = listed(tests) {
        return values.iter().all(|value| {
            !passes_all(tests, value, steps).unwrap_or(true)
                || goal.passes(value, steps).unwrap_or(false)
        });
    }
    match goal {
        Test::Equal(_) | Test::In(_) => false,
        Test::NotEqual(value) => {
            let mut tests = tests.iter();
            tests.any(|test| !test.passes(value, steps).unwrap_or(true))
        }
        Test::Contains(part) => tests.iter().any(|test| match test {
            Test::Contains(text) | Test::StartsWith(text) => {
                let work = text.len() as u64 / SEARCHED_BYTES_PER_STEP;
                steps.spend(work).is_ok() && text.contains(&part[..])
            }
            _ => false,
        }),
        Test::Less(_)
        | Test::AtMost(_)
        | Test::Greater(_)
        | Test::AtLeast(_)
        | Test::StartsWith(_) => match ColumnBounds::of(tests, steps) {
            None => false,
            Some(ColumnBounds::Range { begin, end, .. }) => {
                let (from, to) = range(goal);
                from <= begin && end <= to
            }
            // No value passes.
            Some(ColumnBounds::Points { .. }) => true,
        },
    }
}

fn passes_all(tests: &[&Test], value: &Tree, steps: &Steps<'_>) -> crate::error::Result<bool> {
    for test in tests {
        if !test.passes(value, steps)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::seq::IndexedRandom;
    use rand::{Rng, SeedableRng};

    use super::*;
    use crate::budget::Budget;
    use crate::document::filter::FilterValue;
    use crate::document::path::Segment;

    fn filter(json: &str) -> Filter {
        Filter::from_json(json).expect(json)
    }

    fn is_implied(query: &Filter, goal: &Filter) -> bool {
        let budget = Budget::of_background();
        implies(query, goal, &Steps::of(&budget))
    }

    #[test]
    fn a_filter_implies_what_each_of_its_documents_passes() {
        let a = |tests: &str| format!("{{\"at\":\"$.a\",{tests}}}");
        let all = |parts: &[String]| format!("{{\"all\":[{}]}}", parts.join(","));
        let any = |parts: &[String]| format!("{{\"any\":[{}]}}", parts.join(","));
        let not = |part: String| format!("{{\"not\":{part}}}");
        let b = || r#"{"at":"$.b","eq":1}"#.to_owned();
        let below = |tests: &str| format!("{{\"at\":\"$.a.x[?@.y]\",{tests}}}");
        let each = |tests: &str| format!("{{\"at\":\"$.a[*]\",{tests}}}");
        for (query, goal, expected) in [
            (a(r#""eq":1"#), a(r#""eq":1.0"#), true),
            (a(r#""eq":1"#), a(r#""in":[1,2]"#), true),
            (a(r#""in":[1,2]"#), a(r#""in":[3,2,1]"#), true),
            (a(r#""in":[1,4]"#), a(r#""in":[3,2,1]"#), false),
            (a(r#""in":[1,4],"lt":3"#), a(r#""in":[3,2,1]"#), true),
            (a(r#""eq":1"#), a(r#""exists":true"#), true),
            (a(r#""ne":1"#), a(r#""exists":true"#), true),
            (below(r#""eq":1"#), a(r#""exists":true"#), true),
            (b(), a(r#""exists":true"#), false),
            (a(r#""eq":1"#), a(r#""ne":null"#), true),
            (a(r#""exists":true"#), a(r#""ne":null"#), false),
            (a(r#""gt":5"#), a(r#""ne":null"#), true),
            (a(r#""gt":5"#), a(r#""ne":6"#), false),
            (a(r#""gt":5"#), a(r#""gte":5"#), true),
            (a(r#""gte":5"#), a(r#""gt":5"#), false),
            (a(r#""gt":5,"lt":7"#), a(r#""gt":4,"lte":7.5"#), true),
            (
                all(&[a(r#""gt":5"#), a(r#""lt":7"#)]),
                a(r#""gt":4,"lte":7"#),
                true,
            ),
            (a(r#""gt":7,"lt":5"#), b(), false),
            (a(r#""gt":7,"lt":5"#), a(r#""gt":100"#), true),
            (a(r#""startsWith":"ab""#), a(r#""startsWith":"a""#), true),
            (
                a(r#""startsWith":"ab""#),
                a(r#""gte":"ab","lt":"ac""#),
                true,
            ),
            (a(r#""startsWith":"a""#), a(r#""startsWith":"ab""#), false),
            (a(r#""contains":"xyz""#), a(r#""contains":"y""#), true),
            (a(r#""gt":"a""#), a(r#""gt":5"#), false),
            (all(&[b(), a(r#""eq":1"#)]), b(), true),
            (a(r#""eq":1"#), all(&[a(r#""lt":2"#), b()]), false),
            (a(r#""eq":1"#), any(&[a(r#""lt":2"#), b()]), true),
            (any(&[a(r#""eq":1"#), a(r#""eq":0"#)]), a(r#""lt":2"#), true),
            (any(&[a(r#""eq":1"#), b()]), a(r#""lt":2"#), false),
            (
                any(&[a(r#""eq":1"#), b()]),
                any(&[b(), a(r#""eq":1"#)]),
                true,
            ),
            (not(a(r#""exists":true"#)), not(a(r#""exists":true"#)), true),
            (not(a(r#""exists":true"#)), not(a(r#""eq":1"#)), true),
            (not(a(r#""eq":1"#)), not(a(r#""exists":true"#)), false),
            (not(any(&[a(r#""lt":5"#), b()])), not(a(r#""eq":1"#)), true),
            (
                not(any(&[a(r#""lt":5"#), b()])),
                not(any(&[b(), a(r#""eq":1"#)])),
                true,
            ),
            (not(all(&[a(r#""lt":5"#), b()])), not(a(r#""eq":1"#)), false),
            (a(r#""eq":1"#), not(a(r#""eq":2"#)), true),
            (a(r#""lt":1"#), not(a(r#""gte":1"#)), true),
            (a(r#""lte":1"#), not(a(r#""gte":1"#)), false),
            (a(r#""lt":1"#), not(a(r#""in":[1,2]"#)), true),
            (not(not(b())), b(), true),
            (b(), not(not(b())), true),
            (each(r#""gt":1"#), each(r#""gt":0"#), true),
            (
                all(&[each(r#""gt":1"#), each(r#""lt":5"#)]),
                each(r#""gt":1,"lt":5"#),
                false,
            ),
            (each(r#""gt":1"#), not(each(r#""lt":0"#)), false),
            ("{\"any\":[]}".to_owned(), b(), true),
            (b(), "{\"all\":[]}".to_owned(), true),
            ("{\"all\":[]}".to_owned(), b(), false),
        ] {
            assert_eq!(
                is_implied(&filter(&query), &filter(&goal)),
                expected,
                "{query} {goal}"
            );
        }
    }

    struct Random(StdRng);

    impl Random {
        fn value(&mut self) -> &'static str {
            let values = [
                "null", "false", "0", "1", "1.5", "2", r#""""#, r#""a""#, r#""ab""#, "[]",
            ];
            values.choose(&mut self.0).expect("some")
        }

        fn condition(&mut self) -> String {
            let at = ["$.a", "$.a", "$.b", "$.a.b", "$.a[*]"]
                .choose(&mut self.0)
                .expect("some");
            if self.0.random_ratio(1, 6) {
                return format!("{{\"at\":\"{at}\",\"exists\":true}}");
            }
            let names = [
                "eq",
                "ne",
                "lt",
                "lte",
                "gt",
                "gte",
                "in",
                "startsWith",
                "contains",
            ];
            let count = self.0.random_range(1..3);
            let names: Vec<&str> = names.choose_multiple(&mut self.0, count).copied().collect();
            let tests: Vec<String> = names
                .into_iter()
                .map(|name| match name {
                    "in" => format!(
                        "\"in\":[{},{},{}]",
                        self.value(),
                        self.value(),
                        self.value()
                    ),
                    "startsWith" | "contains" => {
                        let text = ["", "a", "ab"].choose(&mut self.0).expect("some");
                        format!("\"{name}\":\"{text}\"")
                    }
                    _ => format!("\"{name}\":{}", self.value()),
                })
                .collect();
            format!("{{\"at\":\"{at}\",{}}}", tests.join(","))
        }

        fn filter(&mut self, levels: u32) -> String {
            if levels == 0 || self.0.random_ratio(1, 3) {
                return self.condition();
            }
            let mut parts = || {
                let parts: Vec<String> = (0..2).map(|_| self.filter(levels - 1)).collect();
                parts.join(",")
            };
            let parts = parts();
            match self.0.random_range(0..4) {
                0 | 1 => format!("{{\"all\":[{parts}]}}"),
                2 => format!("{{\"any\":[{parts}]}}"),
                _ => format!("{{\"not\":{}}}", self.filter(levels - 1)),
            }
        }

        fn document(&mut self) -> String {
            let mut members = Vec::new();
            for name in ["a", "b"] {
                let value = match self.0.random_range(0..6) {
                    0 => continue,
                    1 => format!("{{\"b\":{}}}", self.value()),
                    2 => format!("[{},{}]", self.value(), self.value()),
                    _ => self.value().to_owned(),
                };
                members.push(format!("\"{name}\":{value}"));
            }
            format!("{{{}}}", members.join(","))
        }
    }

    /// Evaluates a filter on a whole document.
    fn holds(filter: &Filter, document: &Tree, steps: &Steps<'_>) -> bool {
        fn at<'t>(value: &'t Tree, place: &[Segment]) -> FilterValue<'t> {
            let [first, rest @ ..] = place else {
                return FilterValue::Value(value);
            };
            let found = match (value, first) {
                (Tree::Object(members), Segment::Key(name)) => {
                    let member = members.iter().find(|(known, _)| known == name);
                    member.map(|(_, value)| value)
                }
                _ => None,
            };
            found.map_or(FilterValue::Absent, |value| at(value, rest))
        }
        filter
            .holds(&|place| at(document, place), steps)
            .expect("in budget")
    }

    #[test]
    fn documents_of_a_query_pass_what_it_implies() {
        let budget = Budget::of_background();
        let steps = Steps::of(&budget);
        let mut random = Random(StdRng::seed_from_u64(7));
        let documents: Vec<Tree> = (0..300)
            .map(|_| Tree::from_json(&random.document()).expect("JSON"))
            .collect();
        let (mut implied, mut passed) = (0, 0);
        for _ in 0..20_000 {
            let (query, goal) = (random.filter(2), random.filter(1));
            let (query, goal) = (filter(&query), filter(&goal));
            if !is_implied(&query, &goal) {
                continue;
            }
            implied += 1;
            for document in &documents {
                if holds(&query, document, &steps) {
                    passed += 1;
                    assert!(
                        holds(&goal, document, &steps),
                        "{} implies {}, and {} passes only the first",
                        query.to_json(),
                        goal.to_json(),
                        document.to_json()
                    );
                }
            }
        }
        assert!(implied > 400 && passed > 4_000, "{implied} {passed}");
    }
}
