//! Every field that the schema has can be requested: schema.graphql and the plans agree.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;
use phyllo::graphql::{Methods, Request, RequestStats, Started};
use serde_json::{Value, json};

use crate::support::{Client, NONE, client};
use crate::types::set_type;

const INTROSPECTION: &str = "{ __schema { types {
    name kind fields { name args { ...V } type { ...T } } inputFields { ...V } enumValues { name }
} } }
fragment V on __InputValue { name defaultValue type { ...T } }
fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }";

/// The types of the schema, by name.
struct Types(HashMap<String, Value>);

impl Types {
    async fn of(client: &Client) -> Self {
        let mut data = client.data(INTROSPECTION, NONE).await;
        let Value::Array(types) = data["__schema"]["types"].take() else {
            panic!("a list");
        };
        Self(
            types
                .into_iter()
                .map(|ty| (text(&ty["name"]), ty))
                .collect(),
        )
    }

    /// An operation for each field that the operations of this root type reach.
    fn operations(&self, root: &str) -> Vec<String> {
        let mut operations = Vec::new();
        let mut seen = HashSet::from([root.to_owned()]);
        let keyword = root.to_lowercase();
        let mut open = vec![(root.to_owned(), format!("{keyword} {{ "), " }".to_owned())];
        while let Some((of, before, after)) = open.pop() {
            for field in list(&self.0[&of]["fields"]) {
                let ty = base(&field["type"]);
                let field = format!("{}{}", text(&field["name"]), self.arguments(field));
                let (before, after) = (format!("{before}{field}"), after.clone());
                if !self.is_composite(&ty) {
                    operations.push(format!("{before}{after}"));
                    continue;
                }
                let (before, after) = (format!("{before} {{ "), format!(" }}{after}"));
                operations.push(format!("{before}__typename{after}"));
                if seen.insert(ty.clone()) {
                    open.push((ty, before, after));
                }
            }
        }
        operations
    }

    fn is_composite(&self, ty: &str) -> bool {
        let kind = text(&self.0[ty]["kind"]);
        ["OBJECT", "INTERFACE", "UNION"].contains(&&*kind)
    }

    /// The required arguments of a field.
    fn arguments(&self, field: &Value) -> String {
        match self.required(&field["args"]) {
            given if given.is_empty() => given,
            given => format!("({given})"),
        }
    }

    fn required(&self, values: &Value) -> String {
        let required = list(values)
            .iter()
            .filter(|value| value["type"]["kind"] == "NON_NULL" && value["defaultValue"].is_null());
        let given = required.map(|value| {
            let literal = self.literal(&value["type"]);
            format!("{}: {literal}", text(&value["name"]))
        });
        given.collect::<Vec<_>>().join(", ")
    }

    /// A literal of a type.
    fn literal(&self, ty: &Value) -> String {
        let name = base(ty);
        let of = &self.0[&name];
        match text(&of["kind"]).as_str() {
            "ENUM" => text(&of["enumValues"][0]["name"]),
            "INPUT_OBJECT" => format!("{{{}}}", self.required(&of["inputFields"])),
            _ => match name.as_str() {
                "Int" => "1".to_owned(),
                "Boolean" => "true".to_owned(),
                "JSONPath" => r#""$.a""#.to_owned(),
                "Path" => r#""/a""#.to_owned(),
                _ => r#""1""#.to_owned(),
            },
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string").to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The name of a type without lists.
fn base(ty: &Value) -> String {
    match &ty["ofType"] {
        Value::Null => text(&ty["name"]),
        inner => base(inner),
    }
}

/// Checks that a response has no errors, or those of literals that name nothing that is stored.
fn assert_possible(operation: &str, response: &Value) {
    for error in list(&response["errors"]) {
        // An invalid query has no code. One without a plan is too complex.
        let code = error["extensions"]["code"].as_str();
        let possible = code.is_some_and(|code| !["TOO_COMPLEX", "INTERNAL"].contains(&code));
        assert!(possible, "{operation}: {error}");
    }
}

/// Collections whose types have every kind of member, and references in every direction.
async fn set_types(client: &Client) {
    let text = json!({"type": "string"});
    let inside = json!({"type": "object", "properties": {"a": text, "list": {"type": "array", "items": text}}});
    let key = |reference: Value| json!({"type": ["string", "null"], "x-reference": reference});
    let parent = key(
        json!({"collection": "categories", "as": "above", "inverse": "below",
        "chain": "ancestors", "exists": true, "onDelete": "restrict"}),
    );
    let category = json!({"title": "Category", "type": "object", "properties": {
        "name": text, "parent": parent, "kind": {"enum": ["a", "b"]}}});
    let of = json!({"collection": "categories", "as": "ofCategory", "inverse": "products"});
    let similar = key(json!({"collection": "products", "as": "similarProducts"}));
    let roles = key(json!({"collection": "categories", "as": "of"}));
    let product = json!({"title": "Product", "type": "object", "properties": {
        "size": inside, "rows": {"type": "array", "items": inside}, "open": true,
        "count": {"type": "integer"}, "price": {"type": "number"}, "sold": {"type": "boolean"},
        "names": {"type": "object", "additionalProperties": inside},
        "category": key(of), "similar": {"type": "array", "items": similar},
        "roles": {"type": "object", "additionalProperties": roles}
    }});
    set_type(client, "categories", &category).await;
    set_type(client, "products", &product).await;
    for (collection, document) in [
        (
            "categories",
            json!({"name": "A", "parent": null, "kind": "a"}),
        ),
        (
            "products",
            json!({"category": "1", "similar": ["1"], "roles": {"x": "1"},
            "size": {"a": "b"}, "rows": [{"a": "b", "list": ["c"]}], "names": {"n": {"a": "b"}}}),
        ),
    ] {
        let query = "mutation($c: String!, $d: JSON) { insertDocument(collection: $c, id: 1, document: $d) { key } }";
        client
            .data(query, json!({"c": collection, "d": document}))
            .await;
    }
}

#[tokio::test]
async fn every_field_of_a_query_or_a_mutation_is_executed() {
    let client = client().await;
    client.insert("1", r#"{"a": [1, 2]}"#).await;
    set_types(&client).await;
    let types = Types::of(&client).await;
    for field in ["above", "below", "ancestors", "products"] {
        let fields = list(&types.0["Category"]["fields"]);
        assert!(fields.iter().any(|it| it["name"] == field), "{field}");
    }
    for root in ["Query", "Mutation"] {
        let operations = types.operations(root);
        assert!(operations.len() > 30, "{root}: {operations:?}");
        for operation in operations {
            let response = client.ask(&operation, NONE).await;
            assert_possible(&operation, &response);
        }
    }
}

#[tokio::test]
async fn every_field_of_a_subscription_is_accepted() {
    let client = client().await;
    set_types(&client).await;
    let operations = Types::of(&client).await.operations("Subscription");
    assert!(operations.len() > 30, "{operations:?}");
    for operation in operations {
        let body = Bytes::from(json!({"query": operation}).to_string());
        let request = Request::from_json(&body).expect("a request");
        let mut stats = RequestStats::default();
        let started = client
            .graphql
            .start(request, Methods::All, None, &mut stats)
            .await;
        if let Started::Refused(json) = started {
            let response = serde_json::from_slice(&json).expect("JSON");
            assert_possible(&operation, &response);
        }
    }
}
