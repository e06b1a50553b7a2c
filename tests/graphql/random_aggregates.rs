//! Random aggregates of random small documents with random indexes, compared with a plain evaluation
//! in memory.
//!
//! A failure prints its seed. The variable `PHYLLO_FIRST_SEED` is the first seed, 0 by default.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::random_store::{INDEXES, QUERIES, Random, Run, proposed_index, seeds};
use crate::model::queries::{equal, has_key, holds, order, select};

cases!(
    async [
        random_aggregates_are_those_of_a_plain_evaluation,
        proposed_indexes_cover_the_aggregate,
    ]
);

/// A query with `groupBy`, and the paths to aggregate.
struct Aggregate {
    filter: Value,
    keys: Value,
    group_by: Vec<&'static str>,
    of: Vec<&'static str>,
    counts: bool,
    by_count: bool,
    descending: bool,
    first: usize,
    /// An index that may cover it.
    index: Value,
}

/// A group as a plain evaluation finds it.
struct Group<'v> {
    key: Vec<&'v Value>,
    count: usize,
    /// For each path to aggregate.
    values: Vec<Vec<&'v Value>>,
}

impl Aggregate {
    fn new(random: &mut Random) -> Self {
        let index = *random.choose(&INDEXES);
        let (filter, group_by, of) = if random.one_in(2) {
            (random.filter(2), random.paths(3), random.paths(2))
        } else {
            // In the order of an index: equalities, groups, aggregates.
            let tested = if random.one_in(2) {
                0
            } else {
                random.up_to(index.len())
            };
            let grouped = random.up_to(index.len() - tested);
            let (tested, others) = index.split_at(tested);
            let (group_by, of) = others.split_at(grouped);
            let tested = tested.iter();
            let tested = tested.map(|path| json!({"at": path, "in": random.values(12)}));
            let filter = json!({"all": tested.collect::<Vec<_>>()});
            (filter, group_by.to_vec(), of.to_vec())
        };
        let keys = if random.one_in(2) {
            let mut tries = (0..4).map(|_| random.keys());
            tries.find(|keys| !keys.is_null()).unwrap_or_default()
        } else {
            Value::Null
        };
        Self {
            filter,
            keys,
            group_by,
            of,
            counts: random.one_in(2),
            by_count: random.one_in(4),
            descending: random.one_in(2),
            first: 1 + random.up_to(12),
            index: json!(index),
        }
    }

    fn query(&self) -> String {
        let of = self.of.iter().enumerate().map(|(at, path)| {
            format!(
                "sum{at}: sum(of: {path:?}) average{at}: average(of: {path:?}) \
                 min{at}: min(of: {path:?}) max{at}: max(of: {path:?}) "
            )
        });
        let count = if self.counts { "count" } else { "" };
        let order = if self.by_count { "COUNT" } else { "KEY" };
        format!(
            "query($where: DocumentFilter, $keys: DocumentKeyFilter, $scan: Int) {{
                aggregate(where: $where, keys: $keys, scanLimit: $scan, groupBy: {:?},
                    orderBy: {order}, descending: {}, first: {}) {{
                    groups {{ key {count} {} }}
                    groupCount
                    plan {{ index covered scanned }}
                }}
            }}",
            self.group_by,
            self.descending,
            self.first,
            of.collect::<String>()
        )
    }

    fn variables(&self) -> Value {
        json!({"where": self.filter, "keys": self.keys})
    }

    /// All groups, in order.
    fn expected<'r>(&self, run: &'r Run) -> Vec<Group<'r>> {
        let mut groups: Vec<Group<'r>> = Vec::new();
        if self.group_by.is_empty() {
            groups.push(Group::new(Vec::new(), self.of.len()));
        }
        for (id, document) in &run.documents {
            if !has_key(&self.keys, id) || !holds(&self.filter, document) {
                continue;
            }
            let mut keys = vec![Vec::new()];
            for path in &self.group_by {
                let mut distinct: Vec<&Value> = Vec::new();
                for value in select(path, document) {
                    if !distinct.iter().any(|known| equal(known, value)) {
                        distinct.push(value);
                    }
                }
                let longer = keys.iter().flat_map(|key| {
                    let longer = |value: &&'r Value| [&key[..], &[*value]].concat();
                    distinct.iter().map(longer)
                });
                keys = longer.collect();
            }
            for key in keys {
                let same = |group: &Group<'_>| group.key.iter().zip(&key).all(|(a, b)| equal(a, b));
                let at = groups.iter().position(same).unwrap_or(groups.len());
                if at == groups.len() {
                    groups.push(Group::new(key, self.of.len()));
                }
                groups[at].count += 1;
                for (all, path) in groups[at].values.iter_mut().zip(&self.of) {
                    all.extend(select(path, document));
                }
            }
        }
        groups.sort_by(|a, b| self.compare(a, b));
        groups
    }

    fn compare(&self, a: &Group<'_>, b: &Group<'_>) -> Ordering {
        let keys = a.key.iter().zip(&b.key).map(|(a, b)| order(a, b));
        let keys = keys.fold(Ordering::Equal, Ordering::then);
        let directed = |order: Ordering| {
            if self.descending {
                order.reverse()
            } else {
                order
            }
        };
        if self.by_count {
            return directed(a.count.cmp(&b.count)).then(keys);
        }
        directed(keys)
    }

    fn check(&self, run: &Run, found: &Value, told: &str) {
        let expected = self.expected(run);
        assert_eq!(
            found["groupCount"],
            json!(expected.len()),
            "{told}: {found}"
        );
        let groups = found["groups"].as_array().expect("groups");
        assert_eq!(
            groups.len(),
            expected.len().min(self.first),
            "{told}: {found}"
        );
        for (found, expected) in groups.iter().zip(&expected) {
            let key = found["key"].as_array().expect("values").iter();
            assert!(
                key.len() == expected.key.len() && key.zip(&expected.key).all(|(a, b)| equal(a, b)),
                "{told}: {found} and {:?}",
                expected.key
            );
            if self.counts {
                assert_eq!(found["count"], json!(expected.count), "{told}: {found}");
            }
            for (at, values) in expected.values.iter().enumerate() {
                check_aggregates(found, at, values, told);
            }
        }
    }
}

fn check_aggregates(found: &Value, at: usize, values: &[&Value], told: &str) {
    let told = format!("{told}: {found} of {values:?}");
    let numbers: Vec<i128> = values.iter().filter_map(|value| halves(value)).collect();
    let sum = numbers.iter().sum::<i128>();
    let count = i128::try_from(numbers.len()).expect("few");
    check_quotient(&found[format!("sum{at}")], sum, 2 * count.min(1), &told);
    check_quotient(&found[format!("average{at}")], sum, 2 * count, &told);
    let bounded = values.iter().copied();
    let bounded =
        bounded.filter(|value| value.is_boolean() || value.is_number() || value.is_string());
    let least = bounded.clone().min_by(|a, b| order(a, b));
    let greatest = bounded.max_by(|a, b| order(a, b));
    for (name, expected) in [("min", least), ("max", greatest)] {
        let found = &found[format!("{name}{at}")];
        assert!(equal(found, expected.unwrap_or(&Value::Null)), "{told}");
    }
}

/// Checks that `found` is the quotient, or null if the divisor is 0.
fn check_quotient(found: &Value, dividend: i128, divisor: i128, told: &str) {
    if divisor == 0 {
        assert!(found.is_null(), "{told}");
    } else if dividend % divisor == 0 {
        assert_eq!(
            found.to_string(),
            (dividend / divisor).to_string(),
            "{told}"
        );
    } else {
        #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance")]
        let expected = dividend as f64 / divisor as f64;
        let found: f64 = found.to_string().parse().expect(told);
        let difference = (found - expected).abs();
        assert!(difference <= 1e-15 * expected.abs(), "{told}");
    }
}

/// Twice a number. None for other values.
fn halves(value: &Value) -> Option<i128> {
    let text = value.is_number().then(|| value.to_string())?;
    let twice = |whole: &str| 2 * whole.parse::<i128>().expect("an integer");
    match text.split_once('.') {
        None => Some(twice(&text)),
        Some((whole, "0")) => Some(twice(whole)),
        Some((whole, "5")) => Some(twice(whole) + 1),
        Some(_) => panic!("{text} is no half"),
    }
}

impl<'v> Group<'v> {
    fn new(key: Vec<&'v Value>, of: usize) -> Self {
        Self {
            key,
            count: 0,
            values: vec![Vec::new(); of],
        }
    }
}

async fn random_aggregates_are_those_of_a_plain_evaluation() {
    let (mut covered, mut examined, mut all) = (0, 0, 0);
    for seed in seeds() {
        let mut run = Run::new(3_000_000 + seed).await;
        for number in 0..QUERIES {
            let aggregate = Aggregate::new(&mut run.random);
            if run.random.one_in(2) {
                run.create_index(&aggregate.index).await;
                run.client.build().await;
            }
            let query = aggregate.query();
            let variables = aggregate.variables();
            let told = format!("seed {seed}, query {number}: {query} {variables}");
            let data = run.client.data(&query, variables).await;
            let found = &data["aggregate"];
            aggregate.check(&run, found, &told);
            all += 1;
            let has_groups = found["groups"] != json!([]);
            if has_groups && !aggregate.group_by.is_empty() {
                let is_covered = found["plan"]["covered"] == json!(true);
                covered += usize::from(is_covered);
                examined += usize::from(!is_covered);
            }
        }
    }
    assert!(covered > all / 50, "{covered} of {all} were covered");
    assert!(
        examined > all / 10,
        "{examined} of {all} examined documents"
    );
}

/// An aggregate that exceeds `scanLimit` proposes an index. With this index, no document is read.
async fn proposed_indexes_cover_the_aggregate() {
    let (mut covered, mut with_keys) = (0, 0);
    for seed in seeds() {
        let mut run = Run::new(4_000_000 + seed).await;
        for number in 0..QUERIES {
            let aggregate = Aggregate::new(&mut run.random);
            let query = aggregate.query();
            let told = format!(
                "seed {seed}, query {number}: {query} {}",
                aggregate.variables()
            );
            let mut variables = aggregate.variables();
            variables["scan"] = json!(1);
            let mut proposed = BTreeSet::new();
            let mut promised = false;
            loop {
                let answer = run.client.ask(&query, &variables).await;
                if answer["errors"].is_null() {
                    let found = &answer["data"]["aggregate"];
                    aggregate.check(&run, found, &told);
                    let is_covered = found["plan"]["covered"] == json!(true);
                    let is_container = |value: &&Value| value.is_array() || value.is_object();
                    let groups = found["groups"].as_array().expect("groups").iter();
                    let mut values =
                        groups.flat_map(|group| group["key"].as_array().expect("values"));
                    if promised {
                        let has_container = values.any(|value| is_container(&value));
                        assert_eq!(is_covered, !has_container, "{told}: {proposed:?}");
                        covered += 1;
                        with_keys += usize::from(is_covered && !aggregate.keys.is_null());
                    }
                    break;
                }
                let message = answer["errors"][0]["message"].as_str().expect("a message");
                let Some(proposal) = proposed_index(message) else {
                    break;
                };
                promised = message.contains("serves this query");
                assert!(proposed.insert(proposal.clone()), "{told}: {message}");
                let fields = format!("createIndex({proposal}) {{ state }}");
                run.client.mutate(&fields).await;
                run.client.build().await;
            }
        }
    }
    let queries = super::sequences() as usize * QUERIES;
    assert!(
        covered > queries / 40,
        "{covered} proposed indexes covered the query"
    );
    assert!(with_keys > 0, "some with a set of keys");
}

impl Random {
    fn paths(&mut self, max: usize) -> Vec<&'static str> {
        let mut paths: Vec<&str> = (0..self.up_to(max)).map(|_| self.path()).collect();
        paths.dedup();
        paths
    }
}
