//! Tests of inference.

use serde_json::{Value, json};

use super::parsed;
use crate::budget::{Budget, Steps};
use crate::key::Leaves;
use crate::limits::{
    Bounds, DOCUMENT_LEVELS_MAX, INFERRED_NAMES_MAX, INFERRED_PLACES_MAX, TYPE_BYTES_MAX,
};
use crate::types::{Inference, NotValidated};

/// The schema that is inferred from documents, which all of them fit.
fn inferred(documents: &[Value]) -> Value {
    let budget = Budget::of_test(&Bounds::DEFAULT);
    let steps = Steps::of(&budget);
    let mut inference = Inference::new();
    for document in documents {
        feed(&mut inference, document, &steps).expect("it is read");
    }
    let text = inference.into_schema(&steps).expect("the steps suffice");
    assert!(text.len() <= TYPE_BYTES_MAX);
    let of = parsed(&text);
    for document in documents {
        let leaves = Leaves::from_json(&document.to_string()).expect("JSON");
        let mut validator = of.validator(&[], &steps);
        for (key, value) in leaves.iter() {
            validator.push(key, value).expect("it is well-formed");
        }
        let found = validator.finish().expect("it is well-formed");
        assert!(found.is_empty(), "{:?} {text}", found.listed());
    }
    serde_json::from_str(&text).expect("JSON")
}

fn feed(
    inference: &mut Inference,
    document: &Value,
    steps: &Steps<'_>,
) -> Result<(), NotValidated> {
    let leaves = Leaves::from_json(&document.to_string()).expect("JSON");
    let mut reading = inference.document(steps);
    for (key, value) in leaves.iter() {
        reading.push(key, value)?;
    }
    reading.finish()
}

/// A schema without its version.
fn schema(of: &[Value]) -> Value {
    let mut schema = inferred(of);
    schema.as_object_mut().expect("an object").remove("$schema");
    schema
}

#[test]
fn nothing_is_said_about_no_documents() {
    assert_eq!(schema(&[]), json!({}));
}

#[test]
fn members_of_all_documents_are_required() {
    let found = schema(&[
        json!({"name": "a", "size": 1, "note": null}),
        json!({"name": "b", "size": 2.5, "open": {}, "list": []}),
    ]);
    let expected = json!({
        "type": "object",
        "properties": {
            "list": {"type": "array"},
            "name": {"type": "string"},
            "note": true,
            "open": {"type": "object", "additionalProperties": true},
            "size": {"type": "number"}
        },
        "required": ["name", "size"],
        "additionalProperties": false
    });
    assert_eq!(found, expected);
}

#[test]
fn few_strings_are_an_enum_and_strings_of_one_form_have_a_format() {
    let documents: Vec<Value> = (0..60)
        .map(|at| {
            json!({
                "state": (["new", "paid", "sent"][at % 3]),
                "perhaps": ([json!(null), json!("a"), json!("b")][at % 3]),
                "name": format!("name {at}"),
                "day": format!("2026-01-{:02}", at % 28 + 1),
                "at": format!("2026-01-01T00:00:{at:02}Z"),
                "mail": format!("user{at}@example.com"),
                "web": format!("https://example.com/{at}"),
                "code": format!("group:{at}"),
                "position": [at, 0.5]
            })
        })
        .collect();
    let found = schema(&documents);
    let properties = &found["properties"];
    assert_eq!(properties["state"]["enum"], json!(["new", "paid", "sent"]));
    assert_eq!(
        properties["perhaps"],
        json!({"type": ["string", "null"], "enum": ["a", "b", null]})
    );
    assert_eq!(properties["name"], json!({"type": "string"}));
    for (name, format) in [
        ("day", "date"),
        ("at", "date-time"),
        ("mail", "email"),
        ("web", "uri"),
    ] {
        assert_eq!(
            properties[name],
            json!({"type": "string", "format": format}),
            "{name}"
        );
    }
    assert_eq!(
        properties["code"],
        json!({"type": "string"}),
        "a colon makes no URI"
    );
    let position =
        json!({"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2});
    assert_eq!(properties["position"], position);
}

#[test]
fn objects_whose_names_are_data_are_maps() {
    let documents: Vec<Value> = (0..20)
        .map(|at| json!({"prices": {format!("shop{at}"): at, format!("shop{}", at + 1): at}}))
        .collect();
    let found = schema(&documents);
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    assert_eq!(found["properties"]["prices"], map);
}

#[test]
fn equal_objects_are_one_definition() {
    let address = |street: &str| json!({"street": street, "zip": 1});
    let documents = [
        json!({"home": address("a"), "work": address("b"), "others": [address("c")]}),
        json!({"home": address("d"), "work": address("e"), "others": [address("f"), address("g")]}),
    ];
    let found = schema(&documents);
    let definitions = found["$defs"].as_object().expect("definitions");
    assert_eq!(definitions.len(), 1, "{found:#}");
    let name = definitions.keys().next().expect("one");
    let reference = json!({"$ref": format!("#/$defs/{name}")});
    assert_eq!(found["properties"]["home"], reference);
    assert_eq!(found["properties"]["others"]["items"], reference);
    assert_eq!(definitions[name]["required"], json!(["street", "zip"]));
}

#[test]
fn an_object_inside_equal_objects_stays_in_its_definition() {
    let person = |name: &str| json!({"name": name, "home": {"street": name, "zip": 1}});
    let documents = [
        json!({"buyer": person("a"), "seller": person("b")}),
        json!({"buyer": person("c"), "seller": person("d")}),
    ];
    let found = schema(&documents);
    let definitions = found["$defs"].as_object().expect("definitions");
    assert_eq!(definitions.keys().collect::<Vec<_>>(), ["buyer"]);
    assert_eq!(
        definitions["buyer"]["properties"]["home"]["required"],
        json!(["street", "zip"])
    );
}

#[test]
fn members_get_names_of_graphql() {
    let found = schema(&[
        json!({"id": 1, "content-type": "a", "inside": {"id": 1, "1st": 2}}),
        json!({"id": 2}),
    ]);
    let field =
        |schema: &Value, name: &str| schema["properties"][name]["x-graphql"]["name"].clone();
    assert_eq!(field(&found, "id"), json!("id_2"));
    assert_eq!(field(&found, "content-type"), json!("contentType"));
    let inside = &found["properties"]["inside"];
    assert_eq!(
        (field(inside, "id"), field(inside, "1st")),
        (json!(null), json!("_1st"))
    );
}

#[test]
fn very_many_names_are_a_map() {
    let members: serde_json::Map<String, Value> = (0..=INFERRED_NAMES_MAX)
        .map(|at| (format!("n{at}"), json!({"a": at, "b": "x"})))
        .collect();
    let found = schema(&[json!({"many": members})]);
    let map = &found["properties"]["many"];
    assert_eq!(map["properties"], json!(null));
    assert_eq!(
        map["additionalProperties"]["properties"]["a"],
        json!({"type": "integer"})
    );
    let long = "n".repeat(1_000);
    let found = schema(&[json!({"long": {long: 1}})]);
    assert_eq!(
        found["properties"]["long"]["additionalProperties"],
        json!({"type": "integer"})
    );
}

#[test]
fn the_deepest_of_very_many_places_are_open() {
    // Objects whose members differ in kind are no maps.
    let wide = |inside: &Value| {
        let member = |at: usize| [inside.clone(), json!(at)][at % 2].clone();
        let members = (0..30).map(|at| (format!("m{at}"), member(at)));
        Value::Object(members.collect())
    };
    // 7,231 places on the first four levels, and 10,125 below them.
    let document = wide(&wide(&wide(&json!({"a": [1]}))));
    let found = schema(&[document.clone(), document]);
    let inside = |schema: &Value| match schema["properties"]["m0"]["$ref"].as_str() {
        Some(reference) => found
            .pointer(&reference[1..])
            .expect("a definition")
            .clone(),
        None => schema["properties"]["m0"].clone(),
    };
    let third = inside(&inside(&found));
    assert_eq!(third["required"].as_array().map(Vec::len), Some(30));
    assert_eq!(third["properties"]["m0"], json!(true));
    assert_eq!(third["properties"]["m1"], json!(true));
}

#[test]
fn deep_documents_are_described_to_a_depth() {
    let deep = (1..DOCUMENT_LEVELS_MAX).fold(json!(1), |inside, _| json!({"a": inside}));
    schema(&[deep.clone(), deep]);
    let deep = (1..DOCUMENT_LEVELS_MAX).fold(json!(1), |inside, _| json!([inside, []]));
    schema(&[deep.clone(), deep]);
}

#[test]
fn documents_with_too_many_places_are_refused() {
    let bounds = Bounds {
        steps: u64::MAX,
        ..Bounds::DEFAULT
    };
    let budget = Budget::of_test(&bounds);
    let steps = Steps::of(&budget);
    let mut inference = Inference::new();
    // The documents have the same members, each an object with another name in every document.
    let documents = (0..INFERRED_NAMES_MAX).map(|at| {
        let inside = json!({format!("k{at}"): 1});
        let members = (0..INFERRED_NAMES_MAX).map(|name| (format!("n{name}"), inside.clone()));
        Value::Object(members.collect())
    });
    let errors = documents.map(|document| feed(&mut inference, &document, &steps).err());
    let Some(NotValidated::Failed(error)) = errors.flatten().next() else {
        panic!("there are fewer than {INFERRED_PLACES_MAX} places");
    };
    assert!(
        error
            .to_string()
            .contains("their type has to be written by hand"),
        "{error}"
    );
}
