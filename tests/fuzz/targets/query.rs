//! The text of a GraphQL request: limited, parsed, validated and executed on an empty database.

use phyllo::graphql::{GraphQl, GraphQlResponse, Methods, Request};
use serde_json::Value;

use super::world::World;

pub(super) const SEEDS: &[&[u8]] = &[
    br#"{ document(id: "1", path: ["a", 0]) { value kind version subdocument(path: "/b") { value } } }"#,
    br#"query Q($id: ID! = "x") { a: document(id: $id) @skip(if: false) { ...F } } fragment F on Document { key children(first: 2) { nodes { path } } }"#,
    br#"mutation { insertDocument(document: {a: [1, {b: null}], c: """block "text" """}) { key } }"#,
    br"{ __schema { types { name fields { name args { name } } } } }",
    br"{ collections { name count } } # comment",
    br"fragment A on Query { ...B ...B } fragment B on Query { ...A } { ...A }",
    br"subscription { x }",
    b"{ a(b: [[[[{c: {d: 1.5e3}}]]]]) }",
    b"\xEF\xBB\xBF{ __typename, }",
];

pub(super) fn check(bytes: &[u8]) {
    thread_local!(static ASKED: (World, GraphQl) = {
        let world = World::new();
        let graphql = GraphQl::new(world.database.clone());
        (world, graphql)
    });
    let Ok(query) = std::str::from_utf8(bytes) else {
        return;
    };
    let request = Request {
        query: query.to_owned(),
        ..Request::default()
    };
    let answer = ASKED.with(|(world, graphql)| {
        let answer = graphql.answer(request, Methods::Queries);
        world.runtime.block_on(answer)
    });
    let (GraphQlResponse::Executed(json)
    | GraphQlResponse::Refused(json)
    | GraphQlResponse::MutationRefused(json)
    | GraphQlResponse::Forbidden(json)) = answer;
    let response: Value = serde_json::from_slice(&json).expect("a response is JSON");
    let told = response.get("data").or(response.get("errors"));
    assert!(told.is_some(), "{response}");
    let internal = response["errors"].as_array().into_iter().flatten();
    for error in internal {
        assert_ne!(error["extensions"]["code"], "INTERNAL", "{query}: {error}");
    }
}
