//! References whose document must exist, and chains that have no circle: checked in the transaction of the write.

use phyllo::limits::{FOLLOWED_DOCUMENTS_MAX, REFERENCES_CHECKED_MAX};
use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};
use super::typed::limited;
use super::types::set_type;

cases!(
    async [
        a_reference_to_no_document_is_rejected,
        every_kind_of_write_is_checked,
        documents_of_one_operation_refer_to_each_other_in_any_order,
        only_written_references_are_checked,
        lists_and_maps_of_references_are_checked,
        a_hidden_document_is_as_an_absent_one,
        a_circle_is_rejected,
        moves_of_one_operation_are_checked_together,
        a_circle_that_was_stored_before_can_be_mended,
        a_chain_has_a_limit,
        the_number_of_checked_references_is_limited,
        a_checked_reference_costs_two_reads,
    ]
);

fn products() -> Value {
    let required = |field: &str, kind: &Value| {
        json!({"type": kind, "x-reference":
            {"collection": "categories", "as": field, "exists": true}})
    };
    json!({
        "title": "Product",
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "category": required("of", &json!(["string", "null"])),
            "maker": {"type": "integer", "x-reference": {"collection": "makers", "as": "madeBy", "exists": true}},
            "others": {"type": "array", "items": required("ofOthers", &json!("string"))},
            "roles": {"type": "object", "additionalProperties": {"type": "object",
                "properties": {"in": required("ofRole", &json!("string"))}}}
        }
    })
}

fn categories() -> Value {
    json!({
        "title": "Category",
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "parent": {"type": ["string", "null"],
                "x-reference": {"collection": "categories", "as": "above", "chain": "ancestors"}}
        }
    })
}

async fn store(client: &Client, collection: &str, key: &str, document: &Value) {
    let query = "mutation($c: String, $k: ID, $d: JSON) { insertDocument(collection: $c, id: $k, document: $d) { key } }";
    let variables = json!({"c": collection, "k": key, "d": document});
    client.data(query, variables).await;
}

/// The categories `a` below `b` below `c`.
async fn shop() -> Client {
    let client = client().await;
    set_type(&client, "products", &products()).await;
    set_type(&client, "categories", &categories()).await;
    for (key, parent) in [("c", json!(null)), ("b", json!("c")), ("a", json!("b"))] {
        let document = json!({"title": key.to_uppercase(), "parent": parent});
        store(&client, "categories", key, &document).await;
    }
    client
}

/// The error of a mutation, given by its fields, which has only one.
async fn refused(client: &Client, fields: &str) -> Value {
    let response = client.ask(&format!("mutation {{ {fields} }}"), NONE).await;
    let errors = response["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 1, "{response}");
    errors[0].clone()
}

/// Asserts that a mutation is refused because of a reference at a place.
async fn assert_missing(client: &Client, fields: &str, place: &str, value: &str) {
    let error = refused(client, fields).await;
    assert_eq!(
        error["extensions"]["code"], "TYPE_MISMATCH",
        "{fields}: {error}"
    );
    assert_eq!(error["extensions"]["place"], place, "{fields}");
    let violation = &error["extensions"]["violations"][0];
    assert_eq!(violation["keyword"], "x-reference", "{fields}");
    assert_eq!(violation["value"], value, "{fields}");
}

async fn a_reference_to_no_document_is_rejected() {
    let client = shop().await;
    let error = refused(
        &client,
        r#"x: createProduct(key: 1, product: {name: "N", category: "nothing"}) { key }"#,
    )
    .await;
    assert_eq!(
        error,
        json!({
            "message": "the value at \"/category\" of the document 1 does not fit the type of the collection \"products\": \
                `x-reference` requires the key of a document of the collection \"categories\", but there is \"nothing\"",
            "locations": error["locations"],
            "path": ["x"],
            "extensions": {"code": "TYPE_MISMATCH", "place": "/category", "violations": [{"place": "/category",
                "keyword": "x-reference", "expected": "the key of a document of the collection \"categories\"",
                "value": "\"nothing\""}]}
        })
    );
    let data = client.data("{ products { nodes { key } } }", NONE).await;
    assert_eq!(data["products"]["nodes"], json!([]));
    // A text that is not the one of a key leads to no document.
    for category in ["\"\\\"a\\\"\"", "\"\""] {
        let fields = format!("createProduct(key: 1, product: {{category: {category}}}) {{ key }}");
        assert_missing(&client, &fields, "/category", category).await;
    }
    let long = format!(
        "createProduct(key: 1, product: {{category: \"{}\"}}) {{ key }}",
        "x".repeat(20_000)
    );
    let error = refused(&client, &long).await;
    assert_eq!(error["extensions"]["place"], "/category");
    client
        .mutate(r#"a: createProduct(key: 1, product: {category: null}) { key } b: createProduct(key: 2, product: {category: "a"}) { key }"#)
        .await;
    store(&client, "makers", "7", &json!(1)).await;
    client
        .mutate("updateProduct(key: 1, patch: {maker: 7}) { key }")
        .await;
    client
        .mutate(r#"replaceDocument(collection: "products", id: 1, path: "/maker", document: 7.0) { key }"#)
        .await;
}

async fn every_kind_of_write_is_checked() {
    let client = shop().await;
    store(&client, "products", "1", &json!({"category": "a"})).await;
    store(&client, "elsewhere", "1", &json!({"category": "x"})).await;
    let of = r#"collection: "products""#;
    for fields in [
        format!(r#"insertDocument({of}, id: 2, document: {{category: "x"}}) {{ key }}"#),
        format!(r#"insertDocument({of}, document: {{category: "x"}}) {{ key }}"#),
        format!(r#"appendDocument({of}, document: {{category: "x"}}) {{ key }}"#),
        format!(r#"replaceDocument({of}, id: 1, document: {{category: "x"}}) {{ key }}"#),
        format!(r#"replaceDocument({of}, id: 1, path: "/category", document: "x") {{ key }}"#),
        format!(r#"mergeDocument({of}, id: 1, patch: {{category: "x"}}) {{ key }}"#),
        format!(
            r#"patchDocument({of}, id: 1, patch: [{{op: "replace", path: "/category", value: "x"}}]) {{ key }}"#
        ),
        format!(
            r#"updateDocument({of}, id: 1, set: [{{at: "$.category", value: "x"}}]) {{ key }}"#
        ),
        format!(
            r#"updateDocuments({of}, where: {{}}, everything: true, set: [{{at: "$.category", value: "x"}}]) {{ changed }}"#
        ),
        format!(r#"copyDocument({of}, id: 2, from: {{collection: "elsewhere", id: 1}}) {{ key }}"#),
        format!(
            r#"writeDocuments(operations: [{{replace: {{{of}, id: 1, path: "/category", document: "x"}}}}]) {{ __typename }}"#
        ),
        r#"updateProduct(key: 1, patch: {category: "x"}) { key }"#.to_owned(),
    ] {
        assert_missing(&client, &fields, "/category", "\"x\"").await;
    }
    let data = client
        .data("{ products { nodes { key category } } }", NONE)
        .await;
    assert_eq!(
        data["products"]["nodes"],
        json!([{"key": "1", "category": "a"}])
    );
}

async fn documents_of_one_operation_refer_to_each_other_in_any_order() {
    let client = shop().await;
    client
        .mutate(
            r#"p: createProduct(key: 1, product: {category: "new"}) { key of { key } }
            c: createCategory(key: "new", category: {title: "New"}) { key }"#,
        )
        .await;
    // What is stored at the end counts.
    client
        .mutate(
            r#"p: updateProduct(key: 1, patch: {category: "x"}) { key }
            q: updateProduct(key: 1, patch: {category: "a"}) { key }
            d: createProduct(key: 2, product: {category: "y"}) { key }
            e: deleteProduct(key: 2) { deleted }"#,
        )
        .await;
    assert_missing(
        &client,
        r#"c: createCategory(key: "later", category: {}) { key }
        p: updateProduct(key: 1, patch: {category: "later"}) { key }
        d: deleteCategory(key: "later") { deleted }"#,
        "/category",
        "\"later\"",
    )
    .await;
    // A reference that an edit of the same operation has moved is found where it is.
    assert_missing(
        &client,
        r#"p: createProduct(key: 3, product: {others: ["a", "b", "x"]}) { key }
        q: deleteDocument(collection: "products", id: 3, path: "/others/0") { deleted }"#,
        "/others/1",
        "\"x\"",
    )
    .await;
}

async fn only_written_references_are_checked() {
    let client = client().await;
    store(
        &client,
        "products",
        "1",
        &json!({"name": "N", "category": "gone"}),
    )
    .await;
    set_type(&client, "products", &products()).await;
    set_type(&client, "categories", &categories()).await;
    client.check_types().await;
    let data = client
        .mutate(r#"updateProduct(key: 1, patch: {name: "M"}) { name category of { key } }"#)
        .await;
    assert_eq!(
        data["updateProduct"],
        json!({"name": "M", "category": "gone", "of": null})
    );
    // The document may go: nothing says what its deletion does.
    store(&client, "categories", "a", &json!({})).await;
    client
        .mutate(r#"a: updateProduct(key: 1, patch: {category: "a"}) { key }"#)
        .await;
    client
        .mutate(r#"deleteCategory(key: "a") { deleted }"#)
        .await;
    client
        .mutate(r#"updateProduct(key: 1, patch: {name: "O"}) { key }"#)
        .await;
}

async fn lists_and_maps_of_references_are_checked() {
    let client = shop().await;
    client
        .mutate(r#"createProduct(key: 1, product: {others: ["a", "b"], roles: [{key: "main", value: {in: "c"}}]}) { key }"#)
        .await;
    let of = r#"collection: "products", id: 1"#;
    for (fields, place) in [
        (
            format!(r#"updateDocument({of}, append: [{{at: "$.others", value: "x"}}]) {{ key }}"#),
            "/others/2",
        ),
        (
            format!(
                r#"patchDocument({of}, patch: [{{op: "add", path: "/others/0", value: "x"}}]) {{ key }}"#
            ),
            "/others/0",
        ),
        (
            format!(r#"replaceDocument({of}, path: "/roles/main/in", document: "x") {{ key }}"#),
            "/roles/main/in",
        ),
        (
            format!(
                r#"replaceDocument({of}, path: "/roles/new", document: {{in: "x"}}) {{ key }}"#
            ),
            "/roles/new/in",
        ),
    ] {
        assert_missing(&client, &fields, place, "\"x\"").await;
    }
    client
        .mutate(&format!(
            r#"updateDocument({of}, append: [{{at: "$.others", value: "c"}}]) {{ key }}"#
        ))
        .await;
}

async fn a_hidden_document_is_as_an_absent_one() {
    let client = shop().await;
    let rules = r#"
        [[allow]]
        who = "anyone"
        actions = ["read", "list", "write", "create"]
        collection = "products"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        id = "b"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        where = { at = "$.title", eq = "A" }
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        path = "/title"
        "#;
    let limited = limited(&client, rules).await;
    let create = |category: &str| {
        format!(
            r#"createProduct(key: "{category}", product: {{category: "{category}"}}) {{ key }}"#
        )
    };
    store(&client, "categories", "zzz", &json!({"title": "Z"})).await;
    let mut errors = Vec::new();
    for hidden in ["zzz", "nothing"] {
        let error = refused(&limited, &create(hidden)).await;
        errors.push(error.to_string().replace(hidden, ""));
    }
    assert_eq!(errors[0], errors[1], "they are told apart");
    assert!(errors[0].contains("TYPE_MISMATCH"), "{}", errors[0]);
    limited.mutate(&create("a")).await;
    limited.mutate(&create("b")).await;
}

async fn a_circle_is_rejected() {
    let client = shop().await;
    let expected = "the key of a document whose chain does not lead to this one";
    for (fields, value) in [
        (
            r#"updateCategory(key: "c", patch: {parent: "a"}) { key }"#,
            "\"a\"",
        ),
        (
            r#"updateCategory(key: "b", patch: {parent: "b"}) { key }"#,
            "\"b\"",
        ),
        (
            r#"createCategory(key: "d", category: {parent: "d"}) { key }"#,
            "\"d\"",
        ),
        (
            r#"a: createCategory(key: "d", category: {parent: "e"}) { key } b: createCategory(key: "e", category: {parent: "d"}) { key }"#,
            "\"e\"",
        ),
    ] {
        let error = refused(&client, fields).await;
        assert_eq!(error["extensions"]["code"], "TYPE_MISMATCH", "{error}");
        assert_eq!(error["extensions"]["place"], "/parent");
        let violation = &error["extensions"]["violations"][0];
        assert_eq!(violation["expected"], expected, "{error}");
        // Either document of a new circle has closed it.
        let found = violation["value"].as_str().expect("a value");
        assert!(found == value || fields.contains("b: create"), "{error}");
    }
    let data = client
        .data(r#"{ category(key: "a") { ancestors { key } } }"#, NONE)
        .await;
    assert_eq!(
        data["category"]["ancestors"],
        json!([{"key": "b"}, {"key": "c"}])
    );
    client
        .mutate(r#"updateCategory(key: "a", patch: {parent: "c"}) { key }"#)
        .await;
}

async fn moves_of_one_operation_are_checked_together() {
    let client = shop().await;
    // The order is reversed.
    let data = client
        .mutate(
            r#"a: updateCategory(key: "c", patch: {parent: "b"}) { key }
            b: updateCategory(key: "b", patch: {parent: "a"}) { key }
            c: updateCategory(key: "a", patch: {parent: null}) { key }"#,
        )
        .await;
    assert_eq!(data["c"], json!({"key": "a"}));
    let data = client
        .data(r#"{ category(key: "c") { ancestors { key } } }"#, NONE)
        .await;
    assert_eq!(
        data["category"]["ancestors"],
        json!([{"key": "b"}, {"key": "a"}])
    );
}

async fn a_circle_that_was_stored_before_can_be_mended() {
    let client = client().await;
    for (key, parent) in [("a", "b"), ("b", "a"), ("c", "a")] {
        store(&client, "categories", key, &json!({"parent": parent})).await;
    }
    set_type(&client, "categories", &categories()).await;
    client.check_types().await;
    // It leads into the circle and is not in it.
    client
        .mutate(r#"updateCategory(key: "c", patch: {parent: "b"}) { key }"#)
        .await;
    client
        .mutate(r#"updateCategory(key: "a", patch: {title: "A"}) { key }"#)
        .await;
    client
        .mutate(r#"updateCategory(key: "a", patch: {parent: null}) { key }"#)
        .await;
    let error = refused(
        &client,
        r#"updateCategory(key: "a", patch: {parent: "c"}) { key }"#,
    )
    .await;
    assert_eq!(error["extensions"]["code"], "TYPE_MISMATCH");
}

async fn a_chain_has_a_limit() {
    let client = client().await;
    // Each is below the one before.
    let length = 10_000;
    for from in (0..length).step_by(1_000) {
        let writes = (from..from + 1_000).map(|at| {
            let document = json!({"parent": (at > 0).then(|| format!("n{}", at - 1))});
            json!({"insert": {"collection": "categories", "id": format!("n{at}"), "document": document}})
        });
        let writes: Vec<Value> = writes.collect();
        let query =
            "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }";
        client.data(query, json!({"w": writes})).await;
    }
    set_type(&client, "categories", &categories()).await;
    client.check_types().await;
    client.renew_snapshot().await;
    let query = r#"{ category(key: "n9999") { ancestors { key } } }"#;
    let (data, cost) = client.cost(query, NONE).await;
    let found = data["category"]["ancestors"].as_array().expect("a list");
    assert_eq!(found.len(), FOLLOWED_DOCUMENTS_MAX);
    assert_eq!(found[99], json!({"key": "n9899"}));
    assert!(cost.ranges <= 3 * 100 + 10, "{cost:?}");
    let place = |parent: &str| {
        format!(r#"createCategory(key: "new", category: {{parent: "{parent}"}}) {{ key }}"#)
    };
    let before = client.counts();
    let error = refused(&client, &place("n9999")).await;
    let after = client.counts();
    assert_eq!(error["extensions"]["code"], "TOO_LARGE", "{error}");
    assert_eq!(
        error["extensions"]["limitName"], "chainDocuments",
        "{error}"
    );
    assert_eq!(error["path"], json!(["createCategory"]));
    assert!(after.gets - before.gets <= 110, "{before:?} {after:?}");
    refused(&client, &place("n100")).await;
    client.mutate(&place("n99")).await;
}

async fn the_number_of_checked_references_is_limited() {
    let client = shop().await;
    let create = |references: usize| {
        let variables = json!({"d": {"others": vec!["a"; references]}});
        (
            r#"mutation($d: JSON) { insertDocument(collection: "products", document: $d) { key } }"#,
            variables,
        )
    };
    let (query, variables) = create(REFERENCES_CHECKED_MAX + 1);
    let response = client.ask(query, variables).await;
    let (code, message) = only_error(&response);
    assert_eq!(code, "TOO_LARGE", "{message}");
    assert!(message.contains("10000"), "{message}");
    let (query, variables) = create(REFERENCES_CHECKED_MAX);
    client.data(query, variables).await;
}

async fn a_checked_reference_costs_two_reads() {
    let client = shop().await;
    store(
        &client,
        "products",
        "1",
        &json!({"category": "a", "others": []}),
    )
    .await;
    client.renew_snapshot().await;
    let (_, name) = client
        .cost(
            r#"mutation { updateProduct(key: 1, patch: {name: "N"}) { key } }"#,
            NONE,
        )
        .await;
    let (_, one) = client
        .cost(
            r#"mutation { updateProduct(key: 1, patch: {category: "b"}) { key } }"#,
            NONE,
        )
        .await;
    assert_eq!((one.gets, one.ranges), (name.gets + 1, name.ranges + 1));
    // A document is checked once, however many references lead to it.
    let others: Vec<&str> = ["a", "b"].into_iter().cycle().take(100).collect();
    let update = "mutation($p: ProductPatch!) { updateProduct(key: 1, patch: $p) { key } }";
    let (_, many) = client.cost(update, json!({"p": {"others": others}})).await;
    assert!(many.gets <= name.gets + 2, "{many:?} {name:?}");
    assert!(many.ranges <= name.ranges + 3, "{many:?} {name:?}");
}
