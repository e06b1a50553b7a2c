//! Unique indexes are checked at the end of an operation, so values can move between documents.

use std::collections::BTreeMap;
use std::fmt::Write;

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::sequences;
use super::support::{Client, NONE, client};

cases!(
    async [
        values_are_swapped_in_any_order,
        values_are_shifted_by_one_update,
        a_violation_is_reported_at_the_field_that_wrote_last,
        a_violation_that_a_later_field_removes_is_none,
        a_refused_operation_leaves_the_entries_as_they_were,
        random_moves_of_values_are_refused_exactly_if_two_documents_share_one,
    ]
);

async fn seats(values: &[i64]) -> Client {
    let client = client().await;
    client
        .mutate(r#"createIndex(name: "seat", on: ["$.seat"], unique: true) { state }"#)
        .await;
    for (id, seat) in (1..).zip(values) {
        client.insert(&format!("{id}"), json!({"seat": seat})).await;
    }
    client
}

fn take_seat(id: i64, seat: i64) -> String {
    format!(r#"s{id}: replaceDocument(id: {id}, path: "/seat", document: {seat}) {{ key }} "#)
}

async fn stored_seats(client: &Client, documents: i64) -> Vec<Value> {
    let mut stored = Vec::new();
    for id in 1..=documents {
        let document = client.stored(&id.to_string()).await;
        let document: Value = serde_json::from_str(&document).expect("JSON");
        stored.push(document["seat"].clone());
    }
    stored
}

async fn values_are_swapped_in_any_order() {
    for order in [[1, 2], [2, 1]] {
        let client = seats(&[10, 20]).await;
        let fields: String = order
            .iter()
            .map(|id| take_seat(*id, 30 - 10 * id))
            .collect();
        client.mutate(&fields).await;
        assert_eq!(stored_seats(&client, 2).await, [20, 10]);
        assert_eq!(client.check().await, []);
    }
    // The value moves to a new document, before and after the old one is removed.
    for fields in [
        r#"insertDocument(id: 3, document: {seat: 10}) { key } deleteDocument(id: 1) { deleted }"#,
        r#"deleteDocument(id: 1) { deleted } insertDocument(id: 3, document: {seat: 10}) { key }"#,
    ] {
        let client = seats(&[10, 20]).await;
        client.mutate(fields).await;
        assert_eq!(client.stored("3").await, r#"{"seat":10}"#);
        assert_eq!(client.check().await, []);
    }
}

async fn values_are_shifted_by_one_update() {
    for by in [1, -1] {
        let client = seats(&[1, 2, 3, 4, 5]).await;
        let field = format!(
            r#"updateDocuments(where: {{at: "$.seat", gte: 1}}, increment: {{at: "$.seat", by: {by}}}) {{ changed }}"#
        );
        let data = client.mutate(&field).await;
        assert_eq!(data["updateDocuments"]["changed"], 5);
        assert_eq!(
            stored_seats(&client, 5).await,
            [1, 2, 3, 4, 5].map(|seat| seat + by)
        );
        assert_eq!(client.check().await, []);
    }
}

async fn a_violation_is_reported_at_the_field_that_wrote_last() {
    let client = seats(&[10, 20]).await;
    let query = format!(
        "mutation {{ {}\n {}\n other: insertDocument(id: 3, document: {{}}) {{ key }} }}",
        take_seat(1, 30),
        take_seat(2, 30),
    );
    let response = client.ask(&query, NONE).await;
    assert_eq!(
        response,
        json!({
            "data": null,
            "errors": [{
                "message": "the unique index \"seat\" of the collection \"D\" has 30 at $.seat of \
                            the document 1 already, so the document 2 cannot have it",
                "locations": [{"line": 2, "column": 2}],
                "path": ["s2"],
                "extensions": {"code": "UNIQUE_VIOLATION"},
            }],
        })
    );
    assert_eq!(stored_seats(&client, 2).await, [10, 20]);
}

async fn a_violation_that_a_later_field_removes_is_none() {
    let client = seats(&[10, 20]).await;
    let fields = [
        take_seat(1, 20),
        r#"patchDocument(id: 1, patch: [{op: "remove", path: "/seat"}]) { key }"#.to_owned(),
    ];
    client.mutate(&fields.concat()).await;
    assert_eq!(client.stored("1").await, "{}");
    assert_eq!(client.check().await, []);
}

async fn a_refused_operation_leaves_the_entries_as_they_were() {
    let client = seats(&[10, 20]).await;
    let query = format!("mutation {{ {} }}", take_seat(1, 20));
    let (code, _) = client.error(&query, NONE).await;
    assert_eq!(code, "UNIQUE_VIOLATION");
    let found = client
        .data(
            r#"{ documents(where: {at: "$.seat", eq: 20}) { nodes { key } } }"#,
            NONE,
        )
        .await;
    assert_eq!(found["documents"]["nodes"], json!([{"key": "2"}]));
    assert_eq!(client.check().await, []);
}

async fn random_moves_of_values_are_refused_exactly_if_two_documents_share_one() {
    let seed = crate::seed::test_seed();
    let mut random = StdRng::seed_from_u64(seed);
    let client = seats(&[1, 2, 3, 4, 5]).await;
    let mut model: BTreeMap<i64, Option<i64>> = (1..=5).map(|id| (id, Some(id))).collect();
    let (mut refused, mut accepted) = (0, 0);
    for _ in 0..sequences() * 4 {
        let mut next = model.clone();
        let mut fields = String::new();
        let mut ids: Vec<i64> = (1..=5).collect();
        ids.shuffle(&mut random);
        for (at, id) in ids[..random.random_range(1..=5)].iter().enumerate() {
            let seat = random.random_range(1..=6);
            let field = match random.random_range(0..4) {
                0 => {
                    next.insert(*id, None);
                    format!("deleteDocument(id: {id}) {{ deleted }}")
                }
                1 => {
                    next.insert(*id, Some(seat));
                    format!("mergeDocument(id: {id}, patch: {{seat: {seat}}}) {{ key }}")
                }
                _ => {
                    next.insert(*id, Some(seat));
                    format!("replaceDocument(id: {id}, document: {{seat: {seat}}}) {{ key }}")
                }
            };
            write!(fields, "f{at}: {field} ").expect("a string");
        }
        let mut taken: Vec<i64> = next.values().flatten().copied().collect();
        taken.sort_unstable();
        let is_unique = taken.windows(2).all(|pair| pair[0] != pair[1]);
        let response = client.ask(&format!("mutation {{ {fields} }}"), NONE).await;
        let code = &response["errors"][0]["extensions"]["code"];
        if is_unique {
            assert_eq!(response.get("errors"), None, "seed {seed}: {fields}");
            model = next;
            accepted += 1;
        } else {
            assert_eq!(code, "UNIQUE_VIOLATION", "seed {seed}: {fields}");
            refused += 1;
        }
        let stored = client
            .data(
                "{ documents(first: 10) { nodes { key value(path: \"/seat\") } } }",
                NONE,
            )
            .await;
        let expected: Vec<Value> = model
            .iter()
            .filter_map(|(id, seat)| Some(json!({"key": id.to_string(), "value": (*seat)?})))
            .collect();
        assert_eq!(
            stored["documents"]["nodes"],
            json!(expected),
            "seed {seed}: {fields}"
        );
    }
    assert!(
        refused > 0 && accepted > 0,
        "{refused} refused, {accepted} accepted"
    );
    assert_eq!(client.check().await, [], "seed {seed}");
}
