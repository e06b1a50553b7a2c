//! Random filters, sets of keys, orders and pages on random small documents with random indexes, on one hand
//! through GraphQL, on the other evaluated on plain JSON values in memory.
//!
//! A failure prints its seed. The variable `PHYLLO_FIRST_SEED` is the first seed, 0 by default.

use std::collections::BTreeSet;

use phyllo::document::id::DocumentId;
use rand::Rng;
use serde_json::{Value, json};

use super::random_store::{QUERIES, Random, Run, proposed_index, seeds};
use crate::model::queries::equal;

cases!(
    async [
        random_queries_find_what_a_plain_evaluation_finds,
        what_is_there_all_along_comes_once_whatever_is_written_between_pages,
        proposed_indexes_serve_the_query,
    ]
);

/// A query that is paged through.
struct Paging {
    filter: Value,
    keys: Value,
    order: Value,
    backward: bool,
    size: usize,
    cursor: Value,
    /// What the pages brought, in the order in which they came.
    rows: Vec<DocumentId>,
    indexes: BTreeSet<String>,
    /// Pages that are not all, of which the total was given.
    totals: usize,
}

const PAGE: &str = "query($where: DocumentFilter, $keys: DocumentKeyFilter, $by: [DocumentOrder!], $scan: Int, $first: Int, $after: String, $last: Int, $before: String) {
    documents(where: $where, keys: $keys, orderBy: $by, scanLimit: $scan, first: $first, after: $after, last: $last, before: $before) {
        nodes { key value } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
        totalCount plan { index returned totalCountReason }
    }
}";

impl Paging {
    fn new(random: &mut Random) -> Self {
        let (filter, order) = if random.one_in(3) {
            random.behind_equalities()
        } else {
            (random.filter(2), random.order())
        };
        Self {
            filter,
            keys: random.keys(),
            order,
            backward: random.one_in(2),
            size: random.0.random_range(1..12),
            cursor: Value::Null,
            rows: Vec::new(),
            indexes: BTreeSet::new(),
            totals: 0,
        }
    }

    /// The variables of the first page.
    fn arguments(&self) -> Value {
        let size = if self.backward { "last" } else { "first" };
        json!({"where": self.filter, "keys": self.keys, "by": self.order, size: self.size})
    }

    /// What all pages have, in the order in which they come.
    fn expected(&self, run: &Run) -> Vec<DocumentId> {
        let mut expected = run.expected(&self.filter, &self.keys, &self.order);
        if self.backward {
            expected.reverse();
        }
        expected
    }

    fn described(&self) -> String {
        let Self {
            filter,
            keys,
            order,
            backward,
            size,
            ..
        } = self;
        format!("{filter} with keys {keys} by {order}, {size} a page, backward: {backward}")
    }

    /// Reads a page; whether there are more.
    async fn page(&mut self, run: &Run) -> bool {
        let mut variables = self.arguments();
        let cursor = if self.backward { "before" } else { "after" };
        variables[cursor] = self.cursor.clone();
        let data = run.client.data(PAGE, variables).await;
        let page = &data["documents"];
        let mut rows = Vec::new();
        for node in page["nodes"].as_array().expect("nodes") {
            let id = DocumentId::parse(node["key"].as_str().expect("an id")).expect("an id");
            let stored = &run.documents[&id];
            assert!(equal(&node["value"], stored), "{node} and {stored}");
            rows.push(id);
        }
        assert_eq!(page["plan"]["returned"], json!(rows.len()));
        let index = page["plan"]["index"].as_str();
        self.indexes.insert(index.unwrap_or_default().to_owned());
        if self.backward {
            rows.reverse();
        }
        let rows_of_page = rows.len();
        self.rows.extend(rows);
        let total = &page["totalCount"];
        if total.is_null() {
            assert!(page["plan"]["totalCountReason"].is_string());
        } else {
            let passing = self.expected(run).len();
            assert_eq!(*total, json!(passing), "{}", self.described());
            assert_eq!(page["plan"]["totalCountReason"], Value::Null);
            self.totals += usize::from(rows_of_page < passing);
        }
        let info = &page["pageInfo"];
        let (more, next) = if self.backward {
            ("hasPreviousPage", "startCursor")
        } else {
            ("hasNextPage", "endCursor")
        };
        self.cursor = info[next].clone();
        info[more] == json!(true)
    }
}

async fn random_queries_find_what_a_plain_evaluation_finds() {
    let mut indexes = BTreeSet::new();
    let mut totals = 0;
    for seed in seeds() {
        let mut run = Run::new(seed).await;
        for query in 0..QUERIES {
            let mut paging = Paging::new(&mut run.random);
            while paging.page(&run).await {}
            assert_eq!(
                paging.rows,
                paging.expected(&run),
                "seed {seed}, query {query}: {}",
                paging.described()
            );
            totals += paging.totals;
            indexes.append(&mut paging.indexes);
        }
    }
    assert!(indexes.contains(""), "some looked at every document");
    assert!(
        indexes.iter().any(|index| index.contains(" | ")),
        "some used several indexes"
    );
    assert!(indexes.len() > 10, "{indexes:?}");
    for kind in ["where", "~"] {
        let used = indexes.iter().filter(|index| index.contains(kind)).count();
        assert!(
            used > 3,
            "{used} indexes with {kind:?} were used: {indexes:?}"
        );
    }
    let queries = super::sequences() as usize * QUERIES;
    assert!(totals > queries / 10, "{totals} totals were given");
}

async fn what_is_there_all_along_comes_once_whatever_is_written_between_pages() {
    for seed in seeds() {
        let mut run = Run::new(1_000_000 + seed).await;
        let mut paging = Paging::new(&mut run.random);
        let before = paging.expected(&run);
        let mut touched = BTreeSet::new();
        while paging.page(&run).await {
            let writes = run.random.0.random_range(0..4);
            run.write(writes, &mut touched).await;
        }
        let told = format!("seed {seed}: {}", paging.described());
        let all_along: Vec<_> = before
            .into_iter()
            .filter(|id| !touched.contains(id))
            .collect();
        let came = paging.rows.iter().filter(|id| !touched.contains(*id));
        assert!(came.eq(&all_along), "{told}");
        if paging.order.is_null() {
            let ascending = paging
                .rows
                .is_sorted_by(|a, b| if paging.backward { a > b } else { a < b });
            assert!(ascending, "{told}: {:?}", paging.rows);
        }
    }
}

/// A query that exceeds `scanLimit` proposes an index, until none is left that helps.
async fn proposed_indexes_serve_the_query() {
    let mut served = 0;
    for seed in seeds() {
        let mut run = Run::new(2_000_000 + seed).await;
        for query in 0..QUERIES {
            let paging = Paging::new(&mut run.random);
            let told = format!("seed {seed}, query {query}: {}", paging.described());
            let mut arguments = paging.arguments();
            arguments["scan"] = json!(run.random.0.random_range(1..6));
            let mut proposed: Vec<String> = Vec::new();
            let mut promised = false;
            loop {
                let answer = run.client.ask(PAGE, &arguments).await;
                if answer["errors"].is_null() {
                    let nodes = answer["data"]["documents"]["nodes"].as_array();
                    let nodes = nodes.expect("nodes").iter();
                    let keys = nodes.map(|node| node["key"].as_str().expect("a key").to_owned());
                    let mut keys: Vec<String> = keys.collect();
                    if paging.backward {
                        keys.reverse();
                    }
                    let expected = paging.expected(&run).into_iter().take(paging.size);
                    let expected: Vec<String> = expected.map(|id| id.to_string()).collect();
                    assert_eq!(keys, expected, "{told}");
                    served += usize::from(promised);
                    break;
                }
                let message = answer["errors"][0]["message"].as_str().expect("a message");
                assert!(!promised, "{told}, after {proposed:?}: {message}");
                let Some(proposal) = proposed_index(message) else {
                    break;
                };
                promised = message.contains("serves this query");
                assert!(!proposed.contains(&proposal), "{told}: {message}");
                let fields = format!("createIndex({proposal}) {{ state }}");
                run.client.mutate(&fields).await;
                run.client.build().await;
                proposed.push(proposal);
            }
        }
    }
    let queries = super::sequences() as usize * QUERIES;
    assert!(served > queries / 40, "{served} indexes served the query");
}
