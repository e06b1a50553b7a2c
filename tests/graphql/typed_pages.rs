//! Pages of documents of a collection with a type: filters, orders, cursors, and what they cost.

use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};
use super::typed::{assert_invalid, countries, france, limited, store};
use super::types::set_type;

cases!(
    async [
        typed_filters_are_filters,
        filters_of_variables_are_those_of_the_text,
        typed_orders_are_orders,
        pages_have_cursors,
        invalid_filters_and_orders_are_rejected,
        an_index_serves_a_typed_filter,
        an_index_covers_a_typed_selection,
        a_document_that_does_not_fit_is_null_in_its_page,
        lists_in_pages_are_read_together,
        pages_are_limited_by_the_rules,
        filters_have_members_for_what_can_be_filtered,
        members_of_objects_can_have_the_names_that_combine_filters,
        fields_that_are_called_like_the_entities_count_once,
        errors_of_many_documents_are_counted,
    ]
);

/// Some countries: key, region, area, rank, population, borders, and whether the name is official.
async fn world() -> Client {
    let client = client().await;
    set_type(&client, "countries", &countries()).await;
    for (key, common, region, area, rank, borders) in [
        (
            "AND",
            "Andorra",
            "Europe",
            468.0,
            190,
            json!(["ESP", "FRA"]),
        ),
        (
            "DEU",
            "Germany",
            "Europe",
            357_114.0,
            19,
            json!(["FRA", "POL"]),
        ),
        (
            "FRA",
            "France",
            "Europe",
            551_695.5,
            22,
            json!(["AND", "DEU"]),
        ),
        ("JPN", "Japan", "Asia", 377_930.0, 11, json!([])),
        ("NPL", "Nepal", "Asia", 147_181.0, 49, json!(["CHN", "IND"])),
    ] {
        let document = json!({
            "name": {"common": common, "native": {"own": {"common": common}}},
            "region": region, "area": area, "rank": rank, "borders": borders,
            "population": 10_000_000_000_u64 + rank,
            "landlocked": key == "AND" || key == "NPL",
            "cities": [{"name": format!("capital of {common}"), "size": rank}, {"name": "other"}]
        });
        store(&client, key, &document).await;
    }
    client
}

/// The keys of the documents that a page has.
async fn keys(client: &Client, arguments: &str) -> String {
    let arguments = match arguments {
        "" => String::new(),
        arguments => format!("({arguments})"),
    };
    let query = format!("{{ countries{arguments} {{ nodes {{ key }} }} }}");
    keys_of(&client.data(&query, NONE).await)
}

fn keys_of(data: &Value) -> String {
    let nodes = data["countries"]["nodes"].as_array().expect("a list");
    let keys = nodes
        .iter()
        .map(|node| node["key"].as_str().expect("a key"));
    keys.collect::<Vec<_>>().join(" ")
}

async fn typed_filters_are_filters() {
    let client = world().await;
    for (filter, expected) in [
        ("{}", "AND DEU FRA JPN NPL"),
        ("{region: {eq: Asia}}", "JPN NPL"),
        ("{region: {in: [Asia, Europe]}, rank: {lt: 20}}", "DEU JPN"),
        ("{region: {ne: Asia}}", "AND DEU FRA"),
        ("{name: {common: {startsWith: \"A\"}}}", "AND"),
        ("{name: {common: {contains: \"an\"}}}", "DEU FRA JPN"),
        ("{name: {official: {exists: true}}}", ""),
        (
            "{name: {official: {exists: false}}, landlocked: {eq: true}}",
            "AND NPL",
        ),
        ("{area: {gte: 377930, lte: 5.6e5}}", "FRA JPN"),
        ("{population: {eq: 10000000011}}", "JPN"),
        ("{borders: {eq: \"FRA\"}}", "AND DEU"),
        ("{borders: {exists: false}}", "JPN"),
        ("{cities: {name: {eq: \"other\"}, size: {eq: 19}}}", "DEU"),
        ("{extra: {exists: false}, rank: {eq: 11}}", "JPN"),
        (
            "{_any: [{rank: {eq: 11}}, {region: {eq: Europe}, rank: {gt: 100}}]}",
            "AND JPN",
        ),
        ("{_all: [{rank: {gt: 11}}, {rank: {lt: 22}}]}", "DEU"),
        ("{_not: {region: {eq: Europe}}}", "JPN NPL"),
        (
            "{_not: {_any: [{region: {eq: Europe}}, {rank: {eq: 49}}]}, landlocked: {eq: false}}",
            "JPN",
        ),
        (
            "{rank: null, name: {common: null}, region: {}, area: {gt: 500000}}",
            "FRA",
        ),
    ] {
        assert_eq!(
            keys(&client, &format!("where: {filter}")).await,
            expected,
            "{filter}"
        );
    }
    assert_eq!(keys(&client, "").await, "AND DEU FRA JPN NPL");
    assert_eq!(
        keys(&client, "where: null, orderBy: null").await,
        "AND DEU FRA JPN NPL"
    );
    let found = keys(
        &client,
        "keys: {in: [\"NPL\", \"AND\"]}, where: {landlocked: {eq: true}}",
    )
    .await;
    assert_eq!(found, "AND NPL");
}

async fn filters_of_variables_are_those_of_the_text() {
    let client = world().await;
    let query = "query($w: CountryFilter, $o: [CountryOrderBy!], $r: CountryRegion, $t: Int) {
        countries(where: $w, orderBy: $o) { nodes { key } }
        other: countries(where: {region: {eq: $r}, rank: {lt: $t}}) { nodes { key } }
    }";
    let variables = json!({
        "w": {"_any": [{"region": {"in": ["Asia"]}}, {"population": {"gt": 10_000_000_100_u64}}]},
        "o": [{"region": "ASC"}, {"rank": "DESC"}],
        "r": "Europe"
    });
    let data = client.data(query, variables).await;
    assert_eq!(keys_of(&data), "NPL JPN AND");
    let other = json!({"countries": data["other"]});
    assert_eq!(keys_of(&other), "AND DEU FRA");
    for variables in [
        json!({"r": "Mars"}),
        json!({"r": 1}),
        json!({"o": [{"rank": "UP"}]}),
        json!({"w": {"population": {"eq": 1.5}}}),
        json!({"w": {"population": {"eq": "1"}}}),
        json!({"w": {"rank": {"eq": 3_000_000_000_u64}}}),
        json!({"w": {"rang": {"eq": 3}}}),
    ] {
        let (code, _) = client.error(query, &variables).await;
        assert_eq!(code, "BAD_USER_INPUT", "{variables}");
    }
}

async fn typed_orders_are_orders() {
    let client = world().await;
    for (order, expected) in [
        ("{rank: ASC}", "JPN DEU FRA NPL AND"),
        ("[{region: ASC}, {area: DESC}]", "JPN NPL FRA DEU AND"),
        ("{name: {common: DESC}}", "NPL JPN DEU FRA AND"),
        ("{key: DESC}", "NPL JPN FRA DEU AND"),
        ("[{region: DESC}, {key: DESC}]", "FRA DEU AND NPL JPN"),
        ("[]", "AND DEU FRA JPN NPL"),
    ] {
        let found = keys(&client, &format!("orderBy: {order}, scanLimit: 100")).await;
        assert_eq!(found, expected, "{order}");
    }
}

async fn pages_have_cursors() {
    let client = world().await;
    let query = "query($a: String) { countries(first: 2, after: $a, orderBy: {rank: ASC}, where: {region: {eq: Europe}}) {
        edges { cursor node { __typename key rank } } nodes { key } totalCount
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor } plan { returned examined } } }";
    let first = client.data(query, NONE).await["countries"].take();
    assert_eq!(
        first["edges"][1]["node"],
        json!({"__typename": "Country", "key": "FRA", "rank": 22})
    );
    assert_eq!(first["nodes"], json!([{"key": "DEU"}, {"key": "FRA"}]));
    assert_eq!(first["pageInfo"]["hasNextPage"], true);
    assert_eq!(first["pageInfo"]["endCursor"], first["edges"][1]["cursor"]);
    assert_eq!(first["plan"]["returned"], 2);
    let after = &first["pageInfo"]["endCursor"];
    let second = client.data(query, json!({"a": after})).await["countries"].take();
    assert_eq!(second["nodes"], json!([{"key": "AND"}]));
    assert_eq!(second["pageInfo"]["hasNextPage"], false);
    // The cursors of untyped pages with the same filter and order are the same.
    let untyped = r#"query($a: String) { documents(collection: "countries", first: 2, after: $a,
        orderBy: {by: "$.rank"}, where: {at: "$.region", eq: "Europe"}) { nodes { key } } }"#;
    let untyped = client.data(untyped, json!({"a": after})).await;
    assert_eq!(untyped["documents"]["nodes"], second["nodes"]);
    let count = "{ countries { totalCount } }";
    assert_eq!(client.data(count, NONE).await["countries"]["totalCount"], 5);
    assert_eq!(keys(&client, "last: 2").await, "JPN NPL");
}

async fn invalid_filters_and_orders_are_rejected() {
    let client = world().await;
    for arguments in [
        "where: {rang: {eq: 1}}",
        "where: {rank: {eq: \"1\"}}",
        "where: {rank: {startsWith: \"1\"}}",
        "where: {region: {eq: Mars}}",
        "where: {region: {eq: \"Asia\"}}",
        "where: {population: {eq: 1.5}}",
        "where: {demonyms: {exists: true}}",
        "orderBy: {borders: ASC}",
        "orderBy: {rank: UP}",
        "where: {all: []}",
    ] {
        let query = format!("{{ countries({arguments}) {{ nodes {{ key }} }} }}");
        assert_invalid(&client, &query).await;
    }
    for arguments in [
        "orderBy: {}",
        "orderBy: {rank: ASC, area: ASC}",
        "orderBy: {name: {}}",
        "where: {name: {common: {exists: false, eq: \"a\"}}}",
        "first: 1, last: 1",
        "first: -1",
        "after: \"x\"",
    ] {
        let query = format!("{{ countries({arguments}) {{ nodes {{ key }} }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{arguments}: {message}");
    }
}

async fn an_index_serves_a_typed_filter() {
    let client = world().await;
    client
        .mutate(r#"createIndex(collection: "countries", name: "names", on: ["$.name.common"]) { name }"#)
        .await;
    client.build().await;
    let query = "{ countries(where: {name: {common: {eq: \"Nepal\"}}}) { nodes { key } plan { index examined } } }";
    let data = client.data(query, NONE).await;
    let expected = json!({"nodes": [{"key": "NPL"}], "plan": {"index": "names", "examined": 0}});
    assert_eq!(data["countries"], expected);
    let query =
        "{ countries(orderBy: {name: {common: DESC}}, first: 1) { nodes { key } plan { index } } }";
    let data = client.data(query, NONE).await;
    assert_eq!(
        data["countries"],
        json!({"nodes": [{"key": "NPL"}], "plan": {"index": "names"}})
    );
}

async fn an_index_covers_a_typed_selection() {
    let client = world().await;
    client
        .mutate(r#"createIndex(collection: "countries", name: "r", on: ["$.region", "$.rank"]) { name }"#)
        .await;
    client.build().await;
    let query =
        "{ countries(where: {region: {eq: Asia}}) { nodes { key region rank } plan { covered } } }";
    let (data, cost) = client.cost(query, NONE).await;
    let expected = json!({
        "nodes": [{"key": "JPN", "region": "Asia", "rank": 11}, {"key": "NPL", "region": "Asia", "rank": 49}],
        "plan": {"covered": true}
    });
    assert_eq!(data["countries"], expected);
    let untyped = r#"{ documents(collection: "countries", where: {at: "$.region", eq: "Asia"}) {
        nodes { key a: value(path: "/region") b: value(path: "/rank") } plan { covered } } }"#;
    client.renew_snapshot().await;
    let (_, of_untyped) = client.cost(untyped, NONE).await;
    client.renew_snapshot().await;
    let (_, again) = client.cost(query, NONE).await;
    assert_eq!(again, of_untyped, "{cost:?}");
}

async fn a_document_that_does_not_fit_is_null_in_its_page() {
    let client = client().await;
    for (key, document) in [
        ("1", france()),
        ("2", json!({"name": {"common": 5}, "rank": 1})),
        ("3", france()),
    ] {
        store(&client, key, &document).await;
    }
    set_type(&client, "countries", &countries()).await;
    let query = "{ countries { nodes { key name { common } } edges { node { rank region } } } }";
    let response = client.ask(query, NONE).await;
    let name = json!({"common": "France"});
    let expected = json!({
        "nodes": [{"key": "1", "name": name}, null, {"key": "3", "name": name}],
        "edges": [
            {"node": {"rank": 22, "region": "Europe"}},
            {"node": null},
            {"node": {"rank": 22, "region": "Europe"}}
        ]
    });
    assert_eq!(response["data"]["countries"], expected, "{response}");
    let errors = response["errors"].as_array().expect("errors");
    let paths: Vec<_> = errors
        .iter()
        .map(|error| error["path"].to_string())
        .collect();
    let expected = [
        r#"["countries","nodes",1,"name","common"]"#,
        r#"["countries","edges",1,"node","region"]"#,
    ];
    assert_eq!(paths, expected);
    assert_eq!(errors[0]["extensions"]["place"], "/name/common");
    assert!(
        errors[0]["message"]
            .as_str()
            .expect("a text")
            .contains("document 2"),
        "{response}"
    );
}

async fn lists_in_pages_are_read_together() {
    let client = world().await;
    let query =
        "{ countries(where: {region: {eq: Europe}}) { nodes { borders cities(first: 1) { size }
        name { native { key value { common } } } } } }";
    let data = client.data(query, NONE).await;
    let node = |borders: Value, rank: u64, name: &str| {
        json!({
            "borders": borders, "cities": [{"size": rank}],
            "name": {"native": [{"key": "own", "value": {"common": name}}]}
        })
    };
    let expected = json!([
        node(json!(["ESP", "FRA"]), 190, "Andorra"),
        node(json!(["FRA", "POL"]), 19, "Germany"),
        node(json!(["AND", "DEU"]), 22, "France"),
    ]);
    assert_eq!(data["countries"]["nodes"], expected);
}

async fn pages_are_limited_by_the_rules() {
    let client = world().await;
    let asian = limited(
        &client,
        r#"
        [[allow]]
        who = "anyone"
        actions = ["read", "list"]
        collection = "countries"
        where = { at = "$.region", eq = "Asia" }
        "#,
    )
    .await;
    assert_eq!(keys(&asian, "where: {rank: {gt: 20}}").await, "NPL");
    let of_name = limited(
        &client,
        r#"
        [[allow]]
        who = "anyone"
        actions = ["list"]
        collection = "countries"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "countries"
        path = "/name"
        "#,
    )
    .await;
    let data = of_name
        .data(
            "{ countries(first: 1) { nodes { name { common } } } }",
            NONE,
        )
        .await;
    assert_eq!(
        data["countries"]["nodes"],
        json!([{"name": {"common": "Andorra"}}])
    );
    for query in [
        "{ countries { nodes { rank } } }",
        "{ countries(where: {rank: {gt: 20}}) { nodes { name { common } } } }",
        "{ countries(orderBy: {area: ASC}) { nodes { name { common } } } }",
        "{ countries { totalCount nodes { rank } } }",
    ] {
        let response = of_name.ask(query, NONE).await;
        assert_eq!(only_error(&response).0, "FORBIDDEN", "{query}: {response}");
    }
}

async fn filters_have_members_for_what_can_be_filtered() {
    let client = client().await;
    let schema = json!({
        "type": "object", "title": "Thing",
        "properties": {
            "map": {"type": "object", "additionalProperties": {"type": "string"}},
            "onlyMap": {"type": "object", "properties": {"map": {"type": "object", "additionalProperties": {"type": "string"}}}},
            "self": {"$ref": "#"},
            "deep": {"type": "object", "properties": {"self": {"$ref": "#"}}},
            "content-type": {"type": "string", "x-graphql": {"name": "contentType"}}
        }
    });
    set_type(&client, "things", &schema).await;
    let insert = r#"insertDocument(collection: "things", id: 1, document: {self: {self: {}}, deep: {self: {}}}) { key }"#;
    client.mutate(insert).await;
    let insert = "mutation($d: JSON) { insertDocument(collection: \"things\", id: 2, document: $d) { key } }";
    client
        .data(
            insert,
            json!({"d": {"deep": {"self": {"content-type": "a\"b"}}}}),
        )
        .await;
    let query =
        r#"{ things(where: {deep: {self: {contentType: {contains: "\""}}}}) { nodes { key } } }"#;
    let data = client.data(query, NONE).await;
    assert_eq!(data["things"]["nodes"], json!([{"key": "2"}]));
    for (ty, absent) in [
        ("ThingFilter", "map"),
        ("ThingFilter", "onlyMap"),
        ("ThingOrderBy", "map"),
    ] {
        let query = format!("{{ __type(name: {ty:?}) {{ inputFields {{ name }} }} }}");
        let fields = client.data(&query, NONE).await["__type"]["inputFields"].take();
        let fields = fields.as_array().expect("a list");
        assert!(
            fields.iter().any(|field| field["name"] == "deep"),
            "{ty}: {fields:?}"
        );
        assert!(
            fields.iter().all(|field| field["name"] != absent),
            "{ty}: {fields:?}"
        );
    }
    // A member cannot have the name of what combines filters.
    let taken =
        json!({"type": "object", "title": "Taken", "properties": {"_any": {"type": "string"}}});
    let query =
        "mutation($s: JSON!) { setCollectionType(collection: \"taken\", schema: $s) { state } }";
    let (code, message) = client.error(query, json!({"s": taken})).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("_any"), "{message}");
}

async fn members_of_objects_can_have_the_names_that_combine_filters() {
    let client = client().await;
    let integer = json!({"type": "integer"});
    let schema = json!({"type": "object", "title": "Thing", "properties": {
        "size": {"type": "object", "properties": {"_any": integer, "_all": integer, "_not": integer}}}});
    set_type(&client, "things", &schema).await;
    for (key, value) in [(1, 3), (2, 4)] {
        let create = format!(
            "createThing(key: {key}, thing: {{size: {{_any: {value}, _all: {value}, _not: {value}}}}}) {{ key }}"
        );
        client.mutate(&create).await;
    }
    for filter in [
        "size: {_any: {eq: 3}}",
        "size: {_all: {eq: 3}, _not: {ne: 4}}",
        "_any: [{size: {_any: {eq: 3}}}, {size: {_not: {eq: 5}}}]",
        "_not: {size: {_all: {eq: 4}}}",
    ] {
        let query = format!("{{ things(where: {{{filter}}}) {{ nodes {{ key }} }} }}");
        let data = client.data(&query, NONE).await;
        assert_eq!(data["things"]["nodes"], json!([{"key": "1"}]), "{filter}");
    }
}

async fn fields_that_are_called_like_the_entities_count_once() {
    let client = client().await;
    let schema = json!({"type": "object", "title": "Thing", "properties": {
        "_entities": {"$ref": "#"}, "a": {"type": "integer"}}});
    set_type(&client, "things", &schema).await;
    client
        .mutate("createThing(key: 1, thing: {_entities: {_entities: {_entities: {a: 5}}}}) { key }")
        .await;
    let query = "{ thing(key: 1) { _entities { _entities { _entities { a } } } } }";
    let data = client.data(query, NONE).await;
    let expected = json!({"_entities": {"_entities": {"_entities": {"a": 5}}}});
    assert_eq!(data["thing"], expected);
}

/// Each document has more errors than a response reports.
async fn errors_of_many_documents_are_counted() {
    let client = client().await;
    let list: Vec<Value> = (0..150).map(|at| json!(at.to_string())).collect();
    for key in 0..3 {
        let query = "mutation($k: ID, $d: JSON) { insertDocument(collection: \"things\", id: $k, document: $d) { key } }";
        client
            .data(query, json!({"k": key, "d": {"list": list}}))
            .await;
    }
    set_type(
        &client,
        "things",
        &json!({"type": "object", "title": "Thing", "properties": {
        "list": {"type": "array", "items": {"type": ["integer", "null"]}}}}),
    )
    .await;
    let response = client.ask("{ things { nodes { list } } }", NONE).await;
    let errors = response["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 101, "{response:.300}");
    let message = errors[100]["message"].as_str().expect("a message");
    assert!(message.starts_with("350 more errors"), "{message}");
    assert_eq!(
        response["data"]["things"]["nodes"][2]["list"][149],
        Value::Null
    );
}
