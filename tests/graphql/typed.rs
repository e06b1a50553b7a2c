//! The GraphQL types of collections: what they read, what it costs, and what does not fit.

use std::collections::HashSet;
use std::time::Duration;

use phyllo::database::Database;
use phyllo::graphql::RulesInForce;
use phyllo::limits::{Bounds, GRAPHQL_PARTS_MAX, PAGE_MAX};
use phyllo::rights::{Principal, Rules};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::{Client, NONE, client, only_error};
use super::types::set_type;

cases!(
    async [
        a_selection_is_a_projection,
        lists_have_bounds,
        maps_have_entries,
        integers_are_exact,
        values_that_do_not_fit_are_errors_of_their_fields,
        an_absent_value_that_is_required_makes_the_object_null,
        documents_that_do_not_exist_are_null,
        a_selection_reads_what_the_untyped_one_reads,
        a_list_of_objects_is_read_in_one_round_more,
        recursive_schemas_are_finite,
        fields_and_elements_are_counted,
        hidden_places_are_refused_before_anything_is_read,
        the_types_are_shown_to_whom_the_collections_are_listed,
        refusals_do_not_name_hidden_types,
        the_schema_has_the_types_everywhere,
        descriptions_cannot_break_the_schema,
        names_that_are_taken_are_refused,
        types_of_other_servers_are_noticed,
        a_type_that_cannot_be_in_the_schema_is_left_out,
        the_size_of_the_schema_is_limited,
        members_can_have_other_names,
        documents_that_are_no_objects_have_no_type,
    ]
);

pub(super) fn countries() -> Value {
    json!({
        "title": "Country",
        "description": "A country of the world.",
        "type": "object",
        "required": ["name", "region"],
        "properties": {
            "name": {
                "type": "object",
                "required": ["common"],
                "properties": {
                    "common": {"type": "string", "description": "The usual name."},
                    "official": {"type": "string", "deprecated": true},
                    "native": {"type": "object", "additionalProperties": {
                        "type": "object",
                        "required": ["common"],
                        "properties": {"common": {"type": "string"}}
                    }}
                }
            },
            "region": {"enum": ["Europe", "Asia"]},
            "area": {"type": ["number", "null"]},
            "population": {"type": "integer"},
            "rank": {"type": "integer", "minimum": 1, "maximum": 300},
            "landlocked": {"type": "boolean"},
            "borders": {"type": "array", "items": {"type": "string"}},
            "cities": {"type": "array", "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": {"type": "string"}, "size": {"type": "integer"}}
            }},
            "grid": {"type": "array", "items": {"type": "array", "items": {"type": ["number", "null"]}}},
            "demonyms": {"type": "object", "additionalProperties": {"type": "string"}},
            "extra": true
        },
        "additionalProperties": false
    })
}

pub(super) fn france() -> Value {
    json!({
        "name": {
            "common": "France",
            "official": "French Republic",
            "native": {"fra": {"common": "La France"}, "bre": {"common": "Frañs"}}
        },
        "region": "Europe",
        "area": 551_695.5,
        "population": 12_345_678_901_234_567_890_u64,
        "rank": 22,
        "landlocked": false,
        "borders": ["AND", "BEL", "DEU", "ITA"],
        "cities": [{"name": "Paris", "size": 2_102_650}, {"name": "Lyon"}, {"name": "Nice", "size": 348_085}],
        "grid": [[1, 2], [], [3, null]],
        "demonyms": {"eng": "French", "fra": "Français", "ita": "francese"},
        "extra": {"any": ["thing"]}
    })
}

pub(super) async fn store(client: &Client, key: &str, document: &Value) {
    let query = "mutation($k: ID, $d: JSON) { insertDocument(collection: \"countries\", id: $k, document: $d) { key } }";
    client.data(query, json!({"k": key, "d": document})).await;
}

async fn typed() -> Client {
    let client = client().await;
    set_type(&client, "countries", &countries()).await;
    store(&client, "FRA", &france()).await;
    client
}

/// Checks that the schema has no such field.
pub(super) async fn assert_invalid(client: &Client, query: &str) {
    let response = client.ask(query, NONE).await;
    let error = &response["errors"][0];
    assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT", "{response}");
    assert!(!error["locations"].is_null(), "{response}");
    // It is not of a field that was executed.
    assert!(error["path"].is_null(), "{response}");
}

/// What a selection of France returns.
async fn selected(client: &Client, selection: &str) -> Value {
    let query = format!("{{ country(key: \"FRA\") {{ {selection} }} }}");
    client.data(&query, NONE).await["country"].take()
}

async fn a_selection_is_a_projection() {
    let client = typed().await;
    let selection = "__typename id key version document { value(path: \"/rank\") }
        name { __typename common official } region area landlocked rank
        borders cities { name size } grid extra missing: extra";
    let mut found = selected(&client, selection).await;
    let document =
        r#"{ document(collection: "countries", id: "FRA") { document { id version } } }"#;
    let untyped = client.data(document, NONE).await["document"]["document"].take();
    assert_eq!(found["version"].take(), untyped["version"]);
    assert_eq!(found["id"].take(), untyped["id"]);
    let france = france();
    let expected = json!({
        "__typename": "Country",
        "id": null,
        "key": "FRA",
        "version": null,
        "document": {"value": 22},
        "name": {"__typename": "CountryName", "common": "France", "official": "French Republic"},
        "region": "Europe",
        "area": france["area"],
        "landlocked": false,
        "rank": 22,
        "borders": france["borders"],
        "cities": [{"name": "Paris", "size": 2_102_650}, {"name": "Lyon", "size": null}, {"name": "Nice", "size": 348_085}],
        "grid": france["grid"],
        "extra": france["extra"],
        "missing": france["extra"]
    });
    assert_eq!(found, expected);
    // Fragments, aliases, directives and variables are those of every query.
    let query =
        "query($k: ID!, $no: Boolean!) { a: country(key: $k) { ...F rank @include(if: $no) }
        b: country(key: $k) { name { c: common } ... on Country { name { common } } } }
        fragment F on Country { name { official } }";
    let data = client.data(query, json!({"k": "FRA", "no": false})).await;
    let expected = json!({
        "a": {"name": {"official": "French Republic"}},
        "b": {"name": {"c": "France", "common": "France"}}
    });
    assert_eq!(data, expected);
}

async fn lists_have_bounds() {
    let client = typed().await;
    for (arguments, expected) in [
        ("first: 2", json!(["AND", "BEL"])),
        ("last: 1", json!(["ITA"])),
        ("from: 1", json!(["BEL", "DEU", "ITA"])),
        ("from: 1, to: 3", json!(["BEL", "DEU"])),
        ("from: 1, first: 1", json!(["BEL"])),
        ("to: 3, last: 2", json!(["BEL", "DEU"])),
        ("from: 3, to: 1", json!([])),
        ("from: 9", json!([])),
        ("first: 0", json!([])),
        ("first: null", json!(["AND", "BEL", "DEU", "ITA"])),
    ] {
        let found = selected(&client, &format!("borders({arguments})")).await;
        assert_eq!(found["borders"], expected, "{arguments}");
    }
    let found = selected(&client, "cities(from: 1, first: 1) { name } grid(last: 1)").await;
    assert_eq!(
        found,
        json!({"cities": [{"name": "Lyon"}], "grid": [[3, null]]})
    );
    // Of one list, each part by itself.
    let found = selected(
        &client,
        "a: borders(first: 1) b: borders(last: 1) c: borders",
    )
    .await;
    let all = json!(["AND", "BEL", "DEU", "ITA"]);
    assert_eq!(found, json!({"a": ["AND"], "b": ["ITA"], "c": all}));
    for arguments in ["first: -1", "from: -1", "first: 1, last: 1", "first: 10001"] {
        let query = format!("{{ country(key: \"FRA\") {{ rank borders({arguments}) }} }}");
        let response = client.ask(&query, NONE).await;
        assert_eq!(only_error(&response).0, "BAD_USER_INPUT", "{arguments}");
        assert_eq!(
            response["data"],
            json!({"country": {"rank": 22, "borders": null}})
        );
        assert_eq!(response["errors"][0]["path"], json!(["country", "borders"]));
    }
    let long = vec!["x"; PAGE_MAX + 1];
    let mut document = france();
    document["borders"] = json!(long);
    store(&client, "LONG", &document).await;
    let query = "{ country(key: \"LONG\") { borders } }";
    let response = client.ask(query, NONE).await;
    assert_eq!(only_error(&response).0, "TOO_COMPLEX");
    assert_eq!(response["data"], json!({"country": {"borders": null}}));
}

async fn maps_have_entries() {
    let client = typed().await;
    let entry = |key: &str, value: &str| json!({"key": key, "value": value});
    let [eng, fra, ita] = [
        entry("eng", "French"),
        entry("fra", "Français"),
        entry("ita", "francese"),
    ];
    for (arguments, expected) in [
        ("", json!([eng, fra, ita])),
        ("(prefix: \"i\")", json!([ita])),
        ("(from: \"f\")", json!([fra, ita])),
        ("(to: \"fra\")", json!([eng])),
        ("(first: 2)", json!([eng, fra])),
        ("(after: \"eng\", first: 1)", json!([fra])),
        ("(from: \"a\", after: \"fra\")", json!([ita])),
        ("(prefix: \"x\")", json!([])),
    ] {
        let found = selected(&client, &format!("demonyms{arguments} {{ key value }}")).await;
        assert_eq!(found["demonyms"], expected, "{arguments}");
    }
    let found = selected(
        &client,
        "demonyms { key } name { native { key value { common } } }",
    )
    .await;
    let expected = json!({
        "demonyms": [{"key": "eng"}, {"key": "fra"}, {"key": "ita"}],
        "name": {"native": [
            {"key": "bre", "value": {"common": "Frañs"}},
            {"key": "fra", "value": {"common": "La France"}}
        ]}
    });
    assert_eq!(found, expected);
}

async fn integers_are_exact() {
    let client = typed().await;
    let query = "{ country(key: \"FRA\") { population rank } }";
    let text = client.text(query, NONE).await;
    assert_eq!(
        text,
        r#"{"data":{"country":{"population":12345678901234567890,"rank":22}}}"#
    );
    // `Int` has no fraction in a response, also if the stored number has one.
    client
        .mutate(r#"replaceDocument(collection: "countries", id: "FRA", path: "/rank", document: 2.0e1) { key }"#)
        .await;
    assert_eq!(selected(&client, "rank").await, json!({"rank": 20}));
    assert!(client.text(query, NONE).await.contains(r#""rank":20}"#));
}

/// A client of a collection with a document that was stored before its type.
async fn unfit(document: &Value) -> Client {
    let client = client().await;
    store(&client, "FRA", document).await;
    set_type(&client, "countries", &countries()).await;
    client
}

async fn values_that_do_not_fit_are_errors_of_their_fields() {
    let client = unfit(&json!({
        "name": {"common": "France", "native": {"fra": "La France", "bre": {"common": "Frañs"}}},
        "region": "Europe",
        "area": "large",
        "rank": 3_000_000_000_u64,
        "landlocked": null,
        "borders": ["AND", 7],
        "cities": {"name": "Paris"},
        "grid": [[1, "two"]],
        "demonyms": ["French"]
    }))
    .await;
    let query = "{ country(key: \"FRA\") { area rank landlocked borders cities { name } grid
        demonyms { key } region name { common } } }";
    let response = client.ask(query, NONE).await;
    let expected = json!({
        "area": null, "rank": null, "landlocked": null, "borders": null, "cities": null,
        "grid": [[1, null]], "demonyms": null, "region": "Europe", "name": {"common": "France"}
    });
    assert_eq!(response["data"]["country"], expected, "{response}");
    let errors = response["errors"].as_array().expect("errors");
    let found: Vec<_> = errors
        .iter()
        .map(|error| {
            assert_eq!(error["extensions"]["code"], "TYPE_MISMATCH", "{error}");
            let path = error["path"].as_array().expect("a path");
            let path: Vec<_> = path[1..].iter().map(Value::to_string).collect();
            let place = error["extensions"]["place"].as_str().expect("a place");
            (path.join(" "), place.to_owned())
        })
        .collect();
    let expected = [
        ("\"area\"", "/area"),
        ("\"rank\"", "/rank"),
        ("\"borders\" 1", "/borders/1"),
        ("\"cities\"", "/cities"),
        ("\"grid\" 0 1", "/grid/0/1"),
        ("\"demonyms\"", "/demonyms"),
    ];
    let expected = expected.map(|(path, place)| (path.to_owned(), place.to_owned()));
    assert_eq!(found, expected);
    let message = errors[0]["message"].as_str().expect("a message");
    for part in ["\"/area\"", "FRA", "countries", "a number", "\\\"large\\\""] {
        assert!(
            message.contains(part) || message.contains(&part.replace('\\', "")),
            "{message}"
        );
    }
    let query = "{ country(key: \"FRA\") { region name { native { key value { common } } } } }";
    let response = client.ask(query, NONE).await;
    let expected = json!({"region": "Europe", "name": {"native": null}});
    assert_eq!(response["data"]["country"], expected, "{response}");
    let error = &response["errors"][0];
    assert_eq!(
        error["path"],
        json!(["country", "name", "native", 1, "value"])
    );
    assert_eq!(error["extensions"]["place"], "/name/native/fra");
}

async fn an_absent_value_that_is_required_makes_the_object_null() {
    let client = unfit(&json!({"name": {"official": "French Republic"}, "rank": 1})).await;
    let query = "{ country(key: \"FRA\") { rank name { official common } } rank: country(key: \"FRA\") { rank } }";
    let response = client.ask(query, NONE).await;
    assert_eq!(
        response["data"],
        json!({"country": null, "rank": {"rank": 1}})
    );
    let (code, message) = only_error(&response);
    assert_eq!(code, "TYPE_MISMATCH");
    assert!(
        message.contains("/name/common") && message.contains("none"),
        "{message}"
    );
    let error = &response["errors"][0];
    assert_eq!(error["path"], json!(["country", "name", "common"]));
    assert_eq!(error["extensions"]["violations"][0]["keyword"], "required");
    let response = client
        .ask("{ country(key: \"FRA\") { region } }", NONE)
        .await;
    assert_eq!(response["data"], json!({"country": null}));
    assert_eq!(response["errors"][0]["path"], json!(["country", "region"]));
    // A whole document that is no object.
    let client = unfit(&json!([1])).await;
    let response = client.ask("{ country(key: \"FRA\") { rank } }", NONE).await;
    assert_eq!(response["data"], json!({"country": null}));
    assert_eq!(only_error(&response).0, "TYPE_MISMATCH");
    assert_eq!(response["errors"][0]["extensions"]["place"], "");
}

async fn documents_that_do_not_exist_are_null() {
    let client = typed().await;
    let data = client.data("{ country(key: \"DEU\") { key name { common } } }", NONE);
    assert_eq!(data.await, json!({"country": null}));
    let response = client.ask("{ country(key: \"\") { key } }", NONE).await;
    let untyped = r#"{ document(collection: "countries", id: "") { id } }"#;
    let untyped = client.ask(untyped, NONE).await;
    assert_eq!(
        response["errors"][0]["message"],
        untyped["errors"][0]["message"]
    );
    assert_invalid(&client, "{ country { key } }").await;
}

async fn a_selection_reads_what_the_untyped_one_reads() {
    let client = typed().await;
    for (typed, untyped) in [
        ("area", r#"value(path: "/area")"#),
        (
            "area rank landlocked region",
            r#"a: value(path: "/area") b: value(path: "/rank") c: value(path: "/landlocked") d: value(path: "/region")"#,
        ),
        (
            "area name { common official }",
            r#"a: value(path: "/area") subdocument(path: "/name") { a: value(path: "/common") b: value(path: "/official") }"#,
        ),
        (
            "borders rank",
            r#"a: value(path: "/borders") b: value(path: "/rank")"#,
        ),
        ("key version", "document { key version }"),
    ] {
        client.renew_snapshot().await;
        let query = format!("{{ country(key: \"FRA\") {{ {typed} }} }}");
        let (_, cost) = client.cost(&query, NONE).await;
        client.renew_snapshot().await;
        let query =
            format!("{{ document(collection: \"countries\", id: \"FRA\") {{ {untyped} }} }}");
        let (_, of_untyped) = client.cost(&query, NONE).await;
        assert_eq!(cost, of_untyped, "{typed}");
    }
    // Large members that are not selected are not read.
    let mut large = france();
    large["extra"] = json!(vec!["x".repeat(100); 5_000]);
    store(&client, "LARGE", &large).await;
    let (_, cost) = client
        .cost(
            "{ country(key: \"LARGE\") { area name { common } borders } }",
            NONE,
        )
        .await;
    assert!(cost.pairs < 20, "{cost:?}");
}

async fn a_list_of_objects_is_read_in_one_round_more() {
    let client = typed().await;
    let mut large = france();
    let city = |at: usize| json!({"name": format!("c{at}"), "size": at});
    large["cities"] = (0..1_000).map(city).collect();
    store(&client, "LARGE", &large).await;
    client.renew_snapshot().await;
    let query = "{ country(key: \"LARGE\") { cities(first: 2) { size } } }";
    let (data, cost) = client.cost(query, NONE).await;
    assert_eq!(data["country"]["cities"], json!([{"size": 0}, {"size": 1}]));
    assert!(cost.pairs < 40, "{cost:?}");
    let query = r#"{ document(collection: "countries", id: "LARGE") { subdocument(path: "/cities") {
        children(first: 2) { nodes { value(path: "/size") } } } } }"#;
    client.renew_snapshot().await;
    let (_, of_untyped) = client.cost(query, NONE).await;
    assert_eq!(cost, of_untyped);
}

async fn recursive_schemas_are_finite() {
    let client = client().await;
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "children": {"type": "array", "items": {"$ref": "#"}},
            "tree": {"$ref": "#/$defs/tree"},
            "lists": {"$ref": "#/$defs/lists"}
        },
        "$defs": {
            "tree": {"type": "object", "additionalProperties": {"$ref": "#/$defs/tree"}},
            "lists": {"type": "array", "items": {"$ref": "#/$defs/lists"}}
        }
    });
    set_type(&client, "nodes-of-trees", &schema).await;
    let document = json!({
        "name": "a", "children": [{"name": "b", "children": [{"name": "c"}]}],
        "tree": {"x": {"y": {}}}, "lists": [[[[[]]]]]
    });
    let insert = "mutation($d: JSON) { insertDocument(collection: \"nodes-of-trees\", id: 1, document: $d) { key } }";
    client.data(insert, json!({"d": document})).await;
    let query = "{ nodesOfTree(key: 1) { name children { __typename name children { name children { name } } }
        tree { key value { key value { key } } } lists } }";
    let expected = json!({"nodesOfTree": {
        "name": "a",
        "children": [{"__typename": "NodesOfTreeValue", "name": "b", "children": [{"name": "c", "children": null}]}],
        "tree": [{"key": "x", "value": [{"key": "y", "value": []}]}],
        "lists": [[[[[]]]]]
    }});
    assert_eq!(client.data(query, NONE).await, expected);
}

async fn fields_and_elements_are_counted() {
    let client = typed().await;
    let few = client.within(Bounds {
        response_fields: 8,
        ..Bounds::DEFAULT
    });
    few.graphql.refresh_types().await.expect("types");
    assert_eq!(
        few.data("{ country(key: \"FRA\") { borders } }", NONE)
            .await["country"]["borders"][3],
        "ITA"
    );
    let (code, _) = few
        .error(
            "{ country(key: \"FRA\") { cities { name size } demonyms { key value } } }",
            NONE,
        )
        .await;
    assert_eq!(code, "TOO_COMPLEX");
    let few = client.within(Bounds {
        places: 3,
        ..Bounds::DEFAULT
    });
    few.graphql.refresh_types().await.expect("types");
    few.data("{ country(key: \"FRA\") { rank area } }", NONE)
        .await;
    let (code, _) = few
        .error("{ country(key: \"FRA\") { rank area landlocked } }", NONE)
        .await;
    assert_eq!(code, "TOO_COMPLEX");
}

/// A client whose requests these rules limit.
pub(super) async fn limited(client: &Client, rules: &str) -> Client {
    let rules = RulesInForce::fixed(Rules::parse(rules).expect("rules"));
    let limited = client.limited(rules, Principal::default());
    limited.graphql.refresh_types().await.expect("types");
    limited
}

async fn hidden_places_are_refused_before_anything_is_read() {
    let client = typed().await;
    store(&client, "DEU", &france()).await;
    let of_name = limited(
        &client,
        r#"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "countries"
        path = "/name"
        "#,
    )
    .await;
    let of_france = limited(
        &client,
        r#"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "countries"
        id = "FRA"
        "#,
    )
    .await;
    for (limited, key, typed, untyped) in [
        // Both tell whether the document exists.
        (
            &of_name,
            "FRA",
            "name { common }",
            r#"value(path: "/name/common")"#,
        ),
        (&of_name, "FRA", "area", r#"value(path: "/area")"#),
        (
            &of_name,
            "FRA",
            "cities(first: 1) { name }",
            "children(first: 1) { nodes { value } }",
        ),
        (&of_france, "DEU", "demonyms { key }", "value"),
        (&of_france, "DEU", "document { value }", "value"),
    ] {
        client.renew_snapshot().await;
        let before = client.counts();
        let query = format!("{{ country(key: {key:?}) {{ {typed} }} }}");
        let response = limited.ask(&query, NONE).await;
        assert_eq!(only_error(&response).0, "FORBIDDEN", "{response}");
        assert_eq!(response["data"], Value::Null, "{response}");
        assert_eq!(client.counts().pairs, before.pairs, "{typed}");
        let query =
            format!("{{ document(collection: \"countries\", id: {key:?}) {{ {untyped} }} }}");
        let of_untyped = limited.ask(&query, NONE).await;
        assert_eq!(only_error(&response).1, only_error(&of_untyped).1);
    }
    assert_eq!(selected(&of_france, "rank").await, json!({"rank": 22}));
    let asian = limited(
        &client,
        r#"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "countries"
        where = { at = "$.region", eq = "Asia" }
        "#,
    )
    .await;
    let query = "{ country(key: \"FRA\") { name { common } borders cities { name } } }";
    assert_eq!(asian.data(query, NONE).await, json!({"country": null}));
    client
        .mutate(r#"replaceDocument(collection: "countries", id: "FRA", path: "/region", document: "Asia") { key }"#)
        .await;
    assert_eq!(
        asian.data(query, NONE).await["country"]["cities"][1]["name"],
        "Lyon"
    );
}

async fn the_types_are_shown_to_whom_the_collections_are_listed() {
    let client = typed().await;
    let query = "{ __type(name: \"Country\") { name } _service { sdl } }";
    for (actions, shown) in [(r#"["read"]"#, false), (r#"["read", "list"]"#, true)] {
        let rules =
            format!("[[allow]]\nwho = \"anyone\"\nactions = {actions}\ncollection = \"countries\"");
        let limited = limited(&client, &rules).await;
        let data = limited.data(query, NONE).await;
        assert_eq!(data["__type"].is_null(), !shown, "{actions}");
        let sdl = data["_service"]["sdl"].as_str().expect("a text");
        assert_eq!(sdl.contains("Country"), shown, "{actions}");
        assert!(!limited.graphql.schema_text().contains("Country"));
        // The fields can be used all the same.
        assert_eq!(selected(&limited, "rank").await, json!({"rank": 22}));
    }
    // Each caller sees the types of its collections.
    let secret = json!({"type": "object", "title": "Secret", "properties": {"a": {"enum": ["B"]}}});
    set_type(&client, "secrets", &secret).await;
    let rules =
        "[[allow]]\nwho = \"anyone\"\nactions = [\"read\", \"list\"]\ncollection = \"countries\"";
    let limited = limited(&client, rules).await;
    for _ in 0..2 {
        let text = limited.text(FULL_INTROSPECTION, NONE).await;
        assert!(text.contains("CountryConnection") && text.contains("\"countries\""));
        let sdl = limited.text("{ _service { sdl } }", NONE).await;
        assert!(sdl.contains("type Country @key"), "{sdl}");
        for text in [text, sdl] {
            assert!(!text.to_lowercase().contains("secret"), "{text}");
        }
    }
    // They follow changes.
    let mut wider = countries();
    wider["properties"]["motto"] = json!({"type": "string"});
    set_type(&client, "countries", &wider).await;
    limited.graphql.refresh_types().await.expect("types");
    let text = limited.text(FULL_INTROSPECTION, NONE).await;
    assert!(text.contains("\"motto\"") && !text.contains("Secret"));
}

/// The errors of validation and of variables suggest and name only what the sender may know.
async fn refusals_do_not_name_hidden_types() {
    let client = typed().await;
    let known = json!({"type": "object", "title": "Known", "required": ["name"], "properties": {"name": {"type": "string"}}});
    set_type(&client, "knowns", &known).await;
    let rules = |collections: &[&str]| {
        let rules = collections.iter().map(|collection| {
            format!(
                "[[allow]]\nwho = \"anyone\"\nactions = [\"read\", \"list\", \"create\"]\ncollection = {collection:?}\n"
            )
        });
        rules.collect::<String>()
    };
    let of_none = limited(&client, &rules(&["other"])).await;
    let of_known = limited(&client, &rules(&["knowns"])).await;
    let of_all = limited(&client, &rules(&["knowns", "countries"])).await;
    let refused = [
        ("{ countrys { totalCount } }", json!({}), "countries"),
        ("{ country(key: 1) { nam { common } } }", json!({}), "name"),
        (
            "mutation { createCountry(country: {region: Asia}) { key } }",
            json!({}),
            "name",
        ),
        (
            "mutation { createCountry(country: {name: {}, region: Asia}) { key } }",
            json!({}),
            "common",
        ),
        (
            "{ a: countries(where: {region: {eq: Mars}}) { totalCount } }",
            json!({}),
            "CountryRegion",
        ),
        (
            "mutation($c: CountryInput!) { createCountry(country: $c) { key } }",
            json!({"c": {"region": "Asia"}}),
            "name",
        ),
    ];
    for (query, variables, secret) in refused {
        let errors = async |client: &Client| {
            let response = client.ask(query, variables.clone()).await;
            assert!(response["data"].is_null(), "{query}: {response}");
            let errors = response["errors"].as_array().expect("errors");
            for error in errors {
                assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT", "{response}");
            }
            let messages = errors.iter().map(|error| error["message"].to_string());
            messages.collect::<String>()
        };
        let told = errors(&of_all).await;
        assert!(told.contains(secret), "{query}: {told}");
        for limited in [&of_none, &of_known] {
            let told = errors(limited).await;
            // What the query itself has can be repeated.
            let is_told = told
                .split(|letter: char| !letter.is_alphanumeric())
                .any(|word| word == secret && !query.contains(secret));
            assert!(!is_told && !told.contains("required"), "{query}: {told}");
        }
    }
    let (_, message) = of_known
        .error("mutation { createKnown(known: {}) { key } }", NONE)
        .await;
    assert!(message.contains("\"name\""), "{message}");
    let query = "mutation($k: KnownInput!) { createKnown(known: $k) { key } }";
    let (_, message) = of_known.error(query, json!({"k": {}})).await;
    assert!(message.contains("`name`"), "{message}");
    let (_, message) = of_none.error(query, json!({"k": {}})).await;
    assert!(message.contains("does not exist"), "{message}");
}

async fn the_schema_has_the_types_everywhere() {
    let client = typed().await;
    let text = client.graphql.schema_text().to_string();
    let sdl = client.data("{ _service { sdl } }", NONE).await;
    let sdl = sdl["_service"]["sdl"].as_str().expect("a text").to_owned();
    assert!(text.contains("type Country {"), "{text}");
    assert!(
        sdl.contains("type Country @key(fields: \"key\") {"),
        "{sdl}"
    );
    for text in [&text, &sdl] {
        for part in [
            "A country of the world.",
            "type CountryName {",
            "enum CountryRegion {",
            "type CountryDemonymsEntry {",
            "type CountryNameNativeValue {",
            "  common: String!",
            "  official: String @deprecated",
            "  region: CountryRegion!",
            "  area: Float",
            "  population: BigInteger",
            "  rank: Int",
            "  extra: JSON",
            "): [String!]",
            "): [[Float]!]",
            "): [CountryDemonymsEntry!]",
            "  document: Document!",
            "scalar BigInteger",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
    assert!(text.contains("): Country\n"), "{text}");
    let query =
        "{ __type(name: \"Country\") { description fields(includeDeprecated: true) { name } } }";
    let found = client.data(query, NONE).await["__type"].take();
    assert_eq!(found["description"], "A country of the world.");
    let fields = found["fields"].as_array().expect("a list");
    let names: HashSet<_> = fields
        .iter()
        .map(|field| field["name"].as_str().expect("a name"))
        .collect();
    assert!(
        names.contains("cities") && names.contains("document"),
        "{names:?}"
    );
    // The text is a schema.
    let source = phyllo::graphql::SchemaSource::default();
    source.extended(&text).expect("a schema");
    client
        .mutate(r#"dropCollectionType(collection: "countries")"#)
        .await;
    assert!(!client.graphql.schema_text().contains("Country"));
    assert_invalid(&client, "{ country(key: 1) { key } }").await;
}

async fn descriptions_cannot_break_the_schema() {
    let client = client().await;
    let hostile = "\"\"\"\ntype Query { stolen: Int }\n\"\"\" \u{0}\u{7} \\";
    let schema = json!({
        "type": "object", "title": "Thing", "description": hostile,
        "properties": {"a": {"type": "string", "description": hostile}, "b": {"enum": ["X"], "description": hostile}}
    });
    set_type(&client, "D", &schema).await;
    let text = client.graphql.schema_text().to_string();
    let source = phyllo::graphql::SchemaSource::default();
    source.extended(&text).expect("a schema");
    assert!(text.contains("type Thing {"), "{text}");
    client.data("{ thing(key: 1) { a b } }", NONE).await;
    assert_invalid(&client, "{ stolen }").await;
}

/// The message of the refusal of a type.
async fn refusal(client: &Client, collection: &str, schema: &Value) -> String {
    let query = "mutation($c: String!, $s: JSON!, $dry: Boolean!) { setCollectionType(collection: $c, schema: $s, dryRun: $dry) { state } }";
    let variables = |dry: bool| json!({"c": collection, "s": schema, "dry": dry});
    let (code, message) = client.error(query, variables(true)).await;
    assert_eq!(code, "BAD_USER_INPUT", "{message}");
    let (_, repeated) = client.error(query, variables(false)).await;
    assert_eq!(message, repeated);
    message
}

async fn names_that_are_taken_are_refused() {
    let client = typed().await;
    let object = |title: &str| json!({"type": "object", "title": title});
    for title in [
        "Document",
        "Query",
        "Page info",
        "JSON",
        "Int",
        "Big integer",
        "Country name",
        "Node",
    ] {
        let message = refusal(&client, "others", &object(title)).await;
        assert!(
            message.contains("x-graphql") && message.contains("type"),
            "{message}"
        );
    }
    for (collection, schema, part) in [
        (
            "others",
            json!({"type": "object", "x-graphql": {"name": "Aggregate"}}),
            "\"aggregate\"",
        ),
        (
            "others",
            json!({"type": "object", "x-graphql": {"plural": "documents"}}),
            "\"documents\"",
        ),
        (
            "others",
            json!({"type": "object", "x-graphql": {"plural": "country"}}),
            "\"country\"",
        ),
        (
            "others",
            json!({"type": "object", "x-graphql": {"plural": "other"}}),
            "\"other\"",
        ),
        ("日本", json!({"type": "object"}), "x-graphql"),
        (
            "others",
            json!({"type": "object", "properties": {
                "a_b": {"type": "object", "properties": {"c": true}},
                "aB": {"type": "object", "properties": {"c": true}}
            }}),
            "/properties/a_b",
        ),
        (
            "others",
            json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}},
                "$defs": {"x": {"x-graphql": {"name": "Document"}, "type": "object", "properties": {"b": true}}}}),
            "\"Document\"",
        ),
        (
            "others",
            json!({"type": "object", "properties": {"a": {"type": "object", "properties": {
                "x".repeat(250): {"type": "object", "properties": {"b": true}}}}}}),
            "/properties/a/properties/xxx",
        ),
    ] {
        let message = refusal(&client, collection, &schema).await;
        assert!(message.contains(part), "{part}: {message}");
    }
    // The collection keeps its own names.
    let mut wider = countries();
    wider["properties"]["extra2"] = json!(true);
    set_type(&client, "countries", &wider).await;
    assert_eq!(selected(&client, "extra2").await, json!({"extra2": null}));
}

async fn another(client: &Client) -> Client {
    let deadline = Instant::now() + Duration::from_secs(30);
    let store = client.database.store().clone();
    let database = Database::open(store, deadline).await.expect("opened");
    client.of_database(database)
}

async fn types_of_other_servers_are_noticed() {
    let client = typed().await;
    let other = another(&client).await;
    let query = "{ country(key: \"FRA\") { rank } }";
    assert_invalid(&other, query).await;
    let following = {
        let graphql = other.graphql.clone();
        tokio::spawn(async move { graphql.follow_types().await })
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    while other.ask(query, NONE).await["data"] != json!({"country": {"rank": 22}}) {
        assert!(Instant::now() < deadline, "the type is not noticed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // A plan of the type before is not used.
    let mut renamed = countries();
    renamed["properties"]["rank"]["x-graphql"] = json!({"name": "place"});
    set_type(&client, "countries", &renamed).await;
    let query = "{ country(key: \"FRA\") { place } }";
    while other.ask(query, NONE).await["data"] != json!({"country": {"place": 22}}) {
        assert!(Instant::now() < deadline, "the change is not noticed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    client
        .mutate(r#"dropCollection(collection: "countries", everything: true) { documents }"#)
        .await;
    while other.graphql.schema_text().contains("Country") {
        assert!(Instant::now() < deadline, "the drop is not noticed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    following.abort();
}

async fn a_type_that_cannot_be_in_the_schema_is_left_out() {
    let client = client().await;
    // As an older program has set it.
    let deadline = Instant::now() + Duration::from_secs(30);
    for collection in ["aaa", "bbb"] {
        let set = client.database.transact(deadline, move |transaction| {
            Box::pin(async move {
                let budget = phyllo::budget::Budget::of_background();
                let steps = phyllo::budget::Steps::of(&budget);
                let text = r#"{"type": "object", "title": "Same", "properties": {"a": {"type": "string"}}}"#;
                let of = phyllo::types::CollectionType::parse(collection, text, &steps)?;
                let defined = phyllo::database::define_type(&*transaction, &budget, &of).await?;
                Ok(phyllo::store::Decision::Commit(defined.state))
            })
        });
        set.await.expect("set");
    }
    client.graphql.refresh_types().await.expect("types");
    let text = client.graphql.schema_text();
    assert!(text.contains("type Same {"), "{text}");
    assert_eq!(
        client.data("{ same(key: 1) { a } }", NONE).await,
        json!({"same": null})
    );
    // Its documents are validated all the same.
    let response = client.ask(
        r#"mutation { insertDocument(collection: "bbb", id: 1, document: {a: 1}) { key } }"#,
        NONE,
    );
    assert_eq!(only_error(&response.await).0, "TYPE_MISMATCH");
}

async fn the_size_of_the_schema_is_limited() {
    let client = client().await;
    let wide = |properties: usize| {
        let properties = (0..properties).map(|at| (format!("p{at}"), json!({"type": "string"})));
        let properties: serde_json::Map<String, Value> = properties.collect();
        json!({"type": "object", "properties": properties})
    };
    // A property is a field, a filter, an order, and a member of two inputs. The largest type can be introspected
    // within the default limits.
    set_type(&client, "large", &wide(GRAPHQL_PARTS_MAX / 5 - 25)).await;
    let data = client.data(FULL_INTROSPECTION, NONE).await;
    assert!(data["__schema"]["types"].as_array().expect("a list").len() > 10);
    let query =
        "mutation($s: JSON!) { setCollectionType(collection: \"more\", schema: $s) { state } }";
    let (code, message) = client.error(query, json!({"s": wide(50)})).await;
    assert_eq!(code, "TOO_COMPLEX");
    assert!(
        message.contains("more") && message.contains("5000"),
        "{message}"
    );
    let described = json!({"type": "object", "description": "x".repeat(200 * 50)});
    let (code, _) = client.error(query, json!({"s": described})).await;
    assert_eq!(code, "TOO_COMPLEX");
    set_type(&client, "more", &json!({"type": "object"})).await;
}

/// The query that `GraphiQL` and code generators send.
pub(super) const FULL_INTROSPECTION: &str = "query IntrospectionQuery { __schema { description
    queryType { name kind } mutationType { name kind } subscriptionType { name kind }
    types { ...FullType }
    directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } } } }
    fragment FullType on __Type { kind name description specifiedByURL isOneOf
      fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...InputValue }
        type { ...TypeRef } isDeprecated deprecationReason }
      inputFields(includeDeprecated: true) { ...InputValue } interfaces { ...TypeRef }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      possibleTypes { ...TypeRef } }
    fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
    fragment TypeRef on __Type { kind name ofType { kind name ofType { kind name ofType { kind name
      ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name
      ofType { kind name } } } } } } } } } }";

async fn members_can_have_other_names() {
    let client = client().await;
    let schema = json!({"type": "object", "properties": {
        "content-type": {"type": "string", "x-graphql": {"name": "contentType"}},
        "a/b~c": {"x-graphql": {"name": "slashed"}, "type": "object", "properties": {
            "0": {"type": "integer", "minimum": 0, "maximum": 9, "x-graphql": {"name": "zero"}}}}
    }});
    set_type(&client, "D", &schema).await;
    client
        .insert("1", r#"{"content-type": "text", "a/b~c": {"0": 7}}"#)
        .await;
    let query = "{ d(key: 1) { contentType slashed { zero } } }";
    let expected = json!({"d": {"contentType": "text", "slashed": {"zero": 7}}});
    assert_eq!(client.data(query, NONE).await, expected);
}

async fn documents_that_are_no_objects_have_no_type() {
    let client = client().await;
    let before = client.graphql.schema_text();
    set_type(&client, "D", &json!({"type": "string"})).await;
    set_type(&client, "日本", &json!({"type": ["object", "array"]})).await;
    assert_eq!(client.graphql.schema_text(), before);
}
