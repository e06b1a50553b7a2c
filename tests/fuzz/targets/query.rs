//! The text of a GraphQL request: bounded, parsed, validated and executed on an empty database.

use std::sync::Arc;
use std::time::Duration;

use phyllo::database::Database;
use phyllo::graphql::{Answer, GraphQl, Methods, Request};
use phyllo::store::Embedded;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

pub(super) const SEEDS: &[&[u8]] = &[
    br#"{ document(id: "1", path: ["a", 0]) { value kind version at(path: "/b") { value } } }"#,
    br#"query Q($id: ID! = "x") { a: document(id: $id) @skip(if: false) { ...F } } fragment F on Document { id children(first: 2) { nodes { path } } }"#,
    br#"mutation { insertDocument(document: {a: [1, {b: null}], c: """block "text" """}) { id } }"#,
    br"{ __schema { types { name fields { name args { name } } } } }",
    br"{ collections { name count } } # comment",
    br"fragment A on Query { ...B ...B } fragment B on Query { ...A } { ...A }",
    br"subscription { x }",
    b"{ a(b: [[[[{c: {d: 1.5e3}}]]]]) }",
    b"\xEF\xBB\xBF{ __typename, }",
];

struct World {
    runtime: Runtime,
    graphql: GraphQl,
}

impl World {
    fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime");
        let backend = redb::backends::InMemoryBackend::new();
        let store = Arc::new(Embedded::on_backend(backend).expect("a new store"));
        let deadline = Instant::now() + Duration::from_secs(60);
        let database = runtime.block_on(Database::open(store, deadline));
        Self {
            runtime,
            graphql: GraphQl::new(database.expect("a new database")),
        }
    }
}

pub(super) fn check(bytes: &[u8]) {
    thread_local!(static WORLD: World = World::new());
    let Ok(query) = std::str::from_utf8(bytes) else {
        return;
    };
    let request = Request {
        query: query.to_owned(),
        ..Request::default()
    };
    let answer = WORLD.with(|world| {
        let answer = world.graphql.answer(request, Methods::Queries);
        world.runtime.block_on(answer)
    });
    let (Answer::Executed(json) | Answer::Refused(json) | Answer::MutationRefused(json)) = answer;
    let response: Value = serde_json::from_slice(&json).expect("a response is JSON");
    let told = response.get("data").or(response.get("errors"));
    assert!(told.is_some(), "{response}");
    let internal = response["errors"].as_array().into_iter().flatten();
    for error in internal {
        assert_ne!(error["extensions"]["code"], "INTERNAL", "{query}: {error}");
    }
}
