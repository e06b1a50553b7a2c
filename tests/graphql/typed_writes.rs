//! Mutations of documents of a collection with a type.

use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};
use super::typed::{assert_invalid, countries, france, limited, store};
use super::types::set_type;

cases!(
    async [
        a_document_is_created_from_its_input,
        an_update_changes_what_it_names,
        an_update_depends_on_a_version,
        a_document_is_deleted_by_its_key,
        inputs_that_do_not_fit_are_rejected,
        entries_of_maps_are_written_and_removed,
        entries_without_a_value_are_rejected,
        documents_that_do_not_exist_are_not_updated,
        names_are_values_of_enums_only,
        inputs_mean_the_same_in_variables,
        the_result_is_the_typed_document,
        writes_are_limited_by_the_rules,
        types_without_members_take_json,
        types_that_contain_themselves_have_inputs,
        read_only_schemas_have_no_inputs,
        mutations_have_distinct_names,
    ]
);

async fn typed() -> Client {
    let client = client().await;
    set_type(&client, "countries", &countries()).await;
    store(&client, "FRA", &france()).await;
    client
}

/// A stored country, as JSON.
async fn stored(client: &Client, key: &str) -> Value {
    let query = "query($k: ID!) { document(collection: \"countries\", id: $k) { value } }";
    let data = client.data(query, json!({"k": key})).await;
    data["document"]["value"].clone()
}

const CREATE: &str = r#"createCountry(key: "JPN", country: {
    name: {common: "Japan", native: [{key: "jpn", value: {common: "日本"}}]}
    region: Asia, population: 12345678901234567890, rank: 11, area: null, landlocked: false
    borders: [], cities: [{name: "Tokyo", size: 5}, {name: "Osaka"}], grid: [[1, null], []]
    demonyms: [{key: "eng", value: "Japanese"}], extra: {any: ["thing"]}
})"#;

async fn a_document_is_created_from_its_input() {
    let client = typed().await;
    let data = client
        .mutate(&format!(
            "{CREATE} {{ key name {{ common }} region rank cities(first: 1) {{ name }} }}"
        ))
        .await;
    let expected = json!({
        "key": "JPN", "name": {"common": "Japan"}, "region": "Asia", "rank": 11, "cities": [{"name": "Tokyo"}]
    });
    assert_eq!(data["createCountry"], expected);
    let expected = json!({
        "name": {"common": "Japan", "native": {"jpn": {"common": "日本"}}},
        "region": "Asia", "population": 12_345_678_901_234_567_890_u64, "rank": 11, "area": null,
        "landlocked": false, "borders": [], "cities": [{"name": "Tokyo", "size": 5}, {"name": "Osaka"}],
        "grid": [[1, null], []], "demonyms": {"eng": "Japanese"}, "extra": {"any": ["thing"]}
    });
    assert_eq!(stored(&client, "JPN").await, expected);
    let (code, _) = client
        .error(&format!("mutation {{ {CREATE} {{ key }} }}"), NONE)
        .await;
    assert_eq!(code, "ALREADY_EXISTS");
    // Null leaves a member out that cannot be null. Without a key, the server chooses one.
    let create = "createCountry(country: {name: {common: \"X\", official: null}, region: Asia, rank: null, area: null}) { key }";
    let key = client.mutate(create).await["createCountry"]["key"].take();
    let key = key.as_str().expect("a key");
    let expected = json!({"name": {"common": "X"}, "region": "Asia", "area": null});
    assert_eq!(stored(&client, key).await, expected);
}

async fn an_update_changes_what_it_names() {
    let client = typed().await;
    let update = r#"updateCountry(key: "FRA", patch: {
        name: {official: null}, rank: 23, borders: ["ESP"], area: null, landlocked: null
    }) { rank area landlocked borders name { common official } }"#;
    let data = client.mutate(update).await;
    let expected = json!({
        "rank": 23, "area": null, "landlocked": null, "borders": ["ESP"],
        "name": {"common": "France", "official": null}
    });
    assert_eq!(data["updateCountry"], expected);
    let mut expected = france();
    expected["rank"] = json!(23);
    expected["borders"] = json!(["ESP"]);
    for removed in ["area", "landlocked"] {
        expected.as_object_mut().expect("an object").remove(removed);
    }
    expected["name"]
        .as_object_mut()
        .expect("an object")
        .remove("official");
    assert_eq!(stored(&client, "FRA").await, expected);
    // A change of one leaf costs what the untyped one costs.
    let typed = r#"mutation { updateCountry(key: "FRA", patch: {rank: 24}) { key } }"#;
    let (_, cost) = client.cost(typed, NONE).await;
    let untyped = r#"mutation { mergeDocument(collection: "countries", id: "FRA", patch: {rank: 25}) { key } }"#;
    let (_, of_untyped) = client.cost(untyped, NONE).await;
    assert_eq!(cost, of_untyped);
}

async fn an_update_depends_on_a_version() {
    let client = typed().await;
    let version = "{ country(key: \"FRA\") { version } }";
    let version = client.data(version, NONE).await["country"]["version"].take();
    let query = "mutation($v: DocumentVersion, $r: Int) {
        updateCountry(key: \"FRA\", patch: {rank: $r}, ifVersion: $v) { version rank } }";
    let data = client.data(query, json!({"v": version, "r": 5})).await;
    let newer = data["updateCountry"]["version"].clone();
    assert_ne!(newer, version);
    let (code, _) = client.error(query, json!({"v": version, "r": 6})).await;
    assert_eq!(code, "VERSION_MISMATCH");
    let delete =
        "mutation($v: DocumentVersion) { deleteCountry(key: \"FRA\", ifVersion: $v) { deleted } }";
    let (code, _) = client.error(delete, json!({"v": version})).await;
    assert_eq!(code, "VERSION_MISMATCH");
    // A variable without a value leaves the member out.
    let data = client.data(query, json!({"v": newer})).await;
    assert_eq!(data["updateCountry"]["rank"], 5);
}

async fn a_document_is_deleted_by_its_key() {
    let client = typed().await;
    let delete = r#"deleteCountry(key: "FRA") { key deleted deletedId value }"#;
    let data = client.mutate(delete).await["deleteCountry"].take();
    assert_eq!(data["value"], france());
    assert_eq!(data["deletedId"], "countries/FRA");
    let data = client.mutate(delete).await["deleteCountry"].take();
    assert_eq!(
        data,
        json!({"key": "FRA", "deleted": false, "deletedId": null, "value": null})
    );
}

async fn inputs_that_do_not_fit_are_rejected() {
    let client = typed().await;
    for (input, place) in [
        ("{name: {common: \"X\"}, region: Asia, rank: 301}", "/rank"),
        (
            "{name: {common: \"X\"}, region: Asia, borders: [\"A\", null]}",
            "",
        ),
    ] {
        let query = format!("mutation {{ createCountry(country: {input}) {{ key }} }}");
        let response = client.ask(&query, NONE).await;
        let error = &response["errors"][0]["extensions"];
        if place.is_empty() {
            assert_eq!(error["code"], "BAD_USER_INPUT", "{input}: {response}");
            assert!(!response["errors"][0]["locations"].is_null(), "{response}");
        } else {
            assert_eq!(error["code"], "TYPE_MISMATCH", "{input}: {response}");
            assert_eq!(error["place"], place);
        }
    }
    let response = client.ask(
        r#"mutation { updateCountry(key: "FRA", patch: {region: null}) { key } }"#,
        NONE,
    );
    assert_eq!(only_error(&response.await).0, "TYPE_MISMATCH");
    for fields in [
        "createCountry(country: {region: Asia}) { key }",
        "createCountry(country: {name: {}, region: Asia}) { key }",
        "createCountry(country: {name: {common: \"X\"}, region: Mars}) { key }",
        "createCountry(country: {name: {common: \"X\"}, region: Asia, rang: 1}) { key }",
        "updateCountry(key: \"FRA\", patch: {rank: \"1\"}) { key }",
        "updateCountry(key: \"FRA\", patch: {population: 1.5}) { key }",
        "updateCountry(patch: {rank: 1}) { key }",
    ] {
        assert_invalid(&client, &format!("mutation {{ {fields} }}")).await;
    }
    assert_eq!(stored(&client, "FRA").await, france());
}

async fn entries_of_maps_are_written_and_removed() {
    let client = typed().await;
    let update = r#"updateCountry(key: "FRA", patch: {
        demonyms: [{key: "eng", value: null}, {key: "deu", value: "Franzose"}]
        name: {native: [{key: "fra", value: {common: "France"}}]}
    }) { demonyms { key value } }"#;
    let data = client.mutate(update).await;
    let entry = |key: &str, value: &str| json!({"key": key, "value": value});
    let expected = [
        entry("deu", "Franzose"),
        entry("fra", "Français"),
        entry("ita", "francese"),
    ];
    assert_eq!(data["updateCountry"]["demonyms"], json!(expected));
    let native = json!({"fra": {"common": "France"}, "bre": {"common": "Frañs"}});
    assert_eq!(stored(&client, "FRA").await["name"]["native"], native);
    let update = r#"mutation { updateCountry(key: "FRA", patch: {
        demonyms: [{key: "a", value: "1"}, {key: "a", value: "2"}]}) { key } }"#;
    let (code, message) = client.error(update, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("two entries"), "{message}");
}

async fn entries_without_a_value_are_rejected() {
    let client = client().await;
    let texts = json!({"type": "object", "additionalProperties": {"type": ["string", "null"]}});
    let schema = json!({"type": "object", "title": "Thing", "properties": {
        "m": texts, "size": {"type": "object", "properties": {"n": texts}}}});
    set_type(&client, "things", &schema).await;
    client
        .mutate(r#"createThing(key: "1", thing: {m: [{key: "a", value: "x"}]}) { key }"#)
        .await;
    for (fields, place) in [
        (
            r#"updateThing(key: "1", patch: {m: [{key: "a", value: $v}]})"#,
            "`m`: ",
        ),
        (
            r#"updateThing(key: "1", patch: {m: [{key: "a"}]})"#,
            "`m`: ",
        ),
        (
            r#"updateThing(key: "1", patch: {size: {n: [{key: "a", value: $v}]}})"#,
            "`size`: `n`: ",
        ),
        (
            r#"createThing(key: "2", thing: {m: [{key: "a", value: $v}]})"#,
            "`m`: ",
        ),
    ] {
        let given = r#"given: createThing(thing: {m: [{key: "a", value: $v}]}) { key }"#;
        let query = format!("mutation($v: String) {{ {fields} {{ key }} {given} }}");
        let (code, message) = client.error(&query, json!({})).await;
        assert_eq!(code, "BAD_USER_INPUT", "{fields}: {message}");
        assert!(message.contains(place), "{fields}: {message}");
        assert!(
            message.contains("the entry \"a\" has no `value`"),
            "{fields}: {message}"
        );
    }
    let query = "{ thing(key: \"1\") { m { key value } } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["thing"]["m"], json!([{"key": "a", "value": "x"}]));
    // An explicit null removes, and is stored in a creation.
    let query = r#"mutation($v: String) {
        updateThing(key: "1", patch: {m: [{key: "a", value: $v}]}) { m { key } }
        createThing(key: "2", thing: {m: [{key: "a", value: $v}]}) { m { key value } } }"#;
    let data = client.data(query, json!({"v": null})).await;
    let expected =
        json!({"updateThing": {"m": []}, "createThing": {"m": [{"key": "a", "value": null}]}});
    assert_eq!(data, expected);
}

async fn documents_that_do_not_exist_are_not_updated() {
    let client = typed().await;
    let patch = r#"patch: {name: {common: "X"}, region: Asia}"#;
    let update = format!("mutation {{ updateCountry(key: \"NEW\", {patch}) {{ key }} }}");
    let (code, message) = client.error(&update, NONE).await;
    assert_eq!(code, "NOT_FOUND", "{message}");
    let query = "{ country(key: \"NEW\") { key } }";
    assert_eq!(client.data(query, NONE).await["country"], Value::Null);
    // The same transaction can create it.
    let fields = format!(
        r#"createCountry(key: "NEW", country: {{name: {{common: "Y"}}, region: Europe}}) {{ key }}
           updateCountry(key: "NEW", {patch}) {{ region name {{ common }} }}"#
    );
    let data = client.mutate(&fields).await;
    let expected = json!({"region": "Asia", "name": {"common": "X"}});
    assert_eq!(data["updateCountry"], expected);
    // The same transaction can remove it.
    let fields = format!(
        r#"mutation {{ deleteCountry(key: "NEW") {{ deleted }} updateCountry(key: "NEW", {patch}) {{ key }} }}"#
    );
    let (code, message) = client.error(&fields, NONE).await;
    assert_eq!(code, "NOT_FOUND", "{message}");
    assert_eq!(stored(&client, "NEW").await["region"], "Asia");
}

async fn names_are_values_of_enums_only() {
    let client = typed().await;
    let create = |extra: &str| {
        format!(
            r#"createCountry(key: "NEW", country: {{name: {{common: "X"}}, region: Asia, extra: {extra}}}) {{ key }}"#
        )
    };
    for extra in ["FOO", "{a: [FOO]}"] {
        let query = format!("mutation {{ {} }}", create(extra));
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{extra}");
        assert!(message.contains("quotes"), "{extra}: {message}");
    }
    let query = "{ countries(where: {extra: {eq: FOO}}) { nodes { key } } }";
    let response = client.ask(query, NONE).await;
    let (code, message) = only_error(&response);
    assert_eq!(code, "BAD_USER_INPUT", "{message}");
    assert!(message.contains("quotes"), "{message}");
    client.mutate(&create("\"FOO\"")).await;
    assert_eq!(stored(&client, "NEW").await["extra"], "FOO");
    let query =
        "{ countries(where: {region: {in: [Asia]}, extra: {eq: \"FOO\"}}) { nodes { key } } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["countries"]["nodes"], json!([{"key": "NEW"}]));
}

async fn inputs_mean_the_same_in_variables() {
    let client = typed().await;
    let query = "mutation($c: CountryInput!, $p: CountryPatch!, $e: CountryRegion!) {
        createCountry(key: 1, country: $c) { key }
        updateCountry(key: 1, patch: $p) { rank region }
        other: createCountry(key: 2, country: {name: {common: \"Y\"}, region: $e}) { region } }";
    let variables = json!({
        "c": {"name": {"common": "X"}, "region": "Europe", "population": 5,
            "cities": [{"name": "A"}], "extra": {"region": ["Asia", 1.5]}, "demonyms": [{"key": "x", "value": "y"}]},
        "p": {"region": "Asia", "rank": 3},
        "e": "Asia"
    });
    let data = client.data(query, variables).await;
    assert_eq!(data["updateCountry"], json!({"rank": 3, "region": "Asia"}));
    assert_eq!(data["other"], json!({"region": "Asia"}));
    let expected = json!({
        "name": {"common": "X"}, "region": "Asia", "population": 5, "cities": [{"name": "A"}],
        "extra": {"region": ["Asia", 1.5]}, "demonyms": {"x": "y"}, "rank": 3
    });
    assert_eq!(stored(&client, "1").await, expected);
    for variables in [
        json!({"c": {"region": "Asia"}, "p": {}, "e": "Asia"}),
        json!({"c": {"name": {"common": "X"}, "region": "Mars"}, "p": {}, "e": "Asia"}),
        json!({"c": {"name": {"common": "X"}, "region": "Asia"}, "p": {"rank": "3"}, "e": "Asia"}),
        json!({"c": {"name": {"common": "X"}, "region": "Asia"}, "p": {}, "e": null}),
    ] {
        let (code, _) = client.error(query, &variables).await;
        assert_eq!(code, "BAD_USER_INPUT", "{variables}");
    }
}

async fn the_result_is_the_typed_document() {
    let client = typed().await;
    // Each field of an operation sees what those before it have done.
    let fields = r#"a: updateCountry(key: "FRA", patch: {rank: 1}) { __typename id rank }
        b: updateCountry(key: "FRA", patch: {rank: 2}) { rank document { value(path: "/rank") } }"#;
    let data = client.mutate(fields).await;
    let expected = json!({
        "a": {"__typename": "Country", "id": "countries/FRA", "rank": 1},
        "b": {"rank": 2, "document": {"value": 2}}
    });
    assert_eq!(data, expected);
}

async fn writes_are_limited_by_the_rules() {
    let client = typed().await;
    let rules = r#"
        [[allow]]
        who = "anyone"
        actions = ["read", "write"]
        collection = "countries"
        id = "FRA"
        [[allow]]
        who = "anyone"
        actions = ["create"]
        collection = "countries"
        id = "NEW"
    "#;
    let limited = limited(&client, rules).await;
    limited
        .mutate(r#"updateCountry(key: "FRA", patch: {rank: 7}) { rank }"#)
        .await;
    let created = r#"createCountry(key: "NEW", country: {name: {common: "X"}, region: Asia})"#;
    limited.mutate(&format!("{created} {{ key }}")).await;
    for fields in [
        r#"updateCountry(key: "NEW", patch: {rank: 7}) { key }"#,
        r#"deleteCountry(key: "FRA") { deleted }"#,
        r#"createCountry(key: "OLD", country: {name: {common: "X"}, region: Asia}) { key }"#,
        r#"createCountry(country: {name: {common: "X"}, region: Asia}) { key }"#,
        r#"createCountry(key: "NEW", country: {name: {common: "X"}, region: Asia}) { rank }"#,
    ] {
        let response = limited.ask(&format!("mutation {{ {fields} }}"), NONE).await;
        assert_eq!(only_error(&response).0, "FORBIDDEN", "{fields}: {response}");
    }
    client
        .mutate(r#"deleteCountry(key: "FRA") { deleted }"#)
        .await;
    for fields in [
        r#"updateCountry(key: "FRA", patch: {rank: 7}) { key }"#,
        r#"updateDocument(collection: "countries", id: "FRA", set: [{at: "$.rank", value: 7}]) { key }"#,
    ] {
        let response = limited.ask(&format!("mutation {{ {fields} }}"), NONE).await;
        assert_eq!(only_error(&response).0, "NOT_FOUND", "{fields}: {response}");
    }
}

async fn types_without_members_take_json() {
    let client = client().await;
    set_type(&client, "things", &json!({"type": "object"})).await;
    let data = client
        .mutate("createThing(key: 1, thing: {a: [1]}) { key document { value } }")
        .await;
    assert_eq!(
        data["createThing"],
        json!({"key": "1", "document": {"value": {"a": [1]}}})
    );
    client
        .mutate("updateThing(key: 1, patch: {b: 2}) { key }")
        .await;
    let data = client
        .data("{ things { nodes { document { value } } } }", NONE)
        .await;
    assert_eq!(
        data["things"]["nodes"][0]["document"]["value"],
        json!({"a": [1], "b": 2})
    );
}

async fn types_that_contain_themselves_have_inputs() {
    let client = client().await;
    let schema = json!({
        "type": "object", "title": "Tree", "required": ["root"],
        "properties": {"root": {"$ref": "#/$defs/node"}, "never": {"$ref": "#/$defs/endless"}},
        "$defs": {
            "node": {"type": "object", "required": ["name"], "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "next": {"$ref": "#/$defs/node"}}},
            "endless": {"type": "object", "required": ["again"], "properties": {"again": {"$ref": "#/$defs/endless"}}}
        }
    });
    set_type(&client, "trees", &schema).await;
    let fields = r#"createTree(key: 1, tree: {root: {name: "a", next: {name: "b"}, children: [{name: "c", children: [{name: "d"}]}]}})
        { root { next { name } children { children { name } } } }"#;
    let data = client.mutate(fields).await;
    let expected =
        json!({"root": {"next": {"name": "b"}, "children": [{"children": [{"name": "d"}]}]}});
    assert_eq!(data["createTree"], expected);
    let query = "{ __type(name: \"TreeEndlessInput\") { inputFields { name type { kind } } } }";
    let data = client.data(query, NONE).await;
    let expected = json!([{"name": "again", "type": {"kind": "INPUT_OBJECT"}}]);
    assert_eq!(data["__type"]["inputFields"], expected);
}

async fn read_only_schemas_have_no_inputs() {
    let client = typed().await;
    let options = phyllo::graphql::GraphQlOptions {
        scope: phyllo::graphql::SchemaScope::ReadOnly,
        ..phyllo::graphql::GraphQlOptions::default()
    };
    let graphql = phyllo::graphql::GraphQl::with_options(client.database.clone(), options);
    graphql.refresh_types().await.expect("types");
    let text = graphql.schema_text();
    assert!(
        text.contains("type Country {") && text.contains("input CountryFilter"),
        "{text}"
    );
    assert!(
        !text.contains("CountryInput") && !text.contains("CountryPatch"),
        "{text}"
    );
    assert!(
        client
            .graphql
            .schema_text()
            .contains("input CountryPatch {")
    );
}

async fn mutations_have_distinct_names() {
    let client = client().await;
    let query =
        "mutation($s: JSON!) { setCollectionType(collection: \"others\", schema: $s) { state } }";
    for title in ["Index", "Documents"] {
        let (code, message) = client
            .error(query, json!({"s": {"type": "object", "title": title}}))
            .await;
        assert_eq!(code, "BAD_USER_INPUT", "{message}");
    }
    // An argument cannot have the name of another one.
    set_type(
        &client,
        "keys",
        &json!({"type": "object", "properties": {"a": {"type": "string"}}}),
    )
    .await;
    let data = client
        .mutate("createKey(key: 1, document: {a: \"b\"}) { a }")
        .await;
    assert_eq!(data["createKey"], json!({"a": "b"}));
}
