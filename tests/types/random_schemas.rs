//! Random schemas of the keywords that a type can have, and random values for them.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Map, Value, json};

/// The names of members, few enough that objects share them.
pub(crate) const NAMES: [&str; 7] = ["a", "b", "c", "name", "size", "x1", "y_2"];
/// Further names that no schema lists.
const OTHERS: [&str; 3] = ["other", "é", "a/b~c"];
const LEVELS_MAX: usize = 4;

/// A schema with definitions, some of them recursive.
pub(crate) fn schema(rng: &mut StdRng) -> Value {
    let mut root = object(rng, 0);
    let definitions: Map<String, Value> = ["d1", "d2"]
        .into_iter()
        .map(|name| (name.to_owned(), object(rng, LEVELS_MAX - 2)))
        .collect();
    root["$defs"] = Value::Object(definitions);
    root
}

fn schema_at(rng: &mut StdRng, level: usize) -> Value {
    let is_deep = level >= LEVELS_MAX;
    match rng.random_range(0..if is_deep { 6 } else { 10 }) {
        0 => string(rng),
        1 => number(rng, "integer"),
        2 => number(rng, "number"),
        3 => json!({"type": "boolean"}),
        4 => enumeration(rng),
        5 => mixed(rng),
        6 | 7 => object(rng, level),
        8 => array(rng, level),
        _ => match rng.random_range(0..4) {
            0 => json!(true),
            1 => json!({"$ref": "#"}),
            2 => json!({"$ref": "#/$defs/d1"}),
            _ => json!({"$ref": "#/$defs/d2", "description": "another"}),
        },
    }
}

/// The kind, perhaps with null.
fn kind(rng: &mut StdRng, name: &str) -> Value {
    if rng.random_bool(0.2) {
        json!([name, "null"])
    } else {
        json!(name)
    }
}

fn string(rng: &mut StdRng) -> Value {
    let mut schema = json!({"type": kind(rng, "string")});
    match rng.random_range(0..7) {
        0 => schema["minLength"] = json!(rng.random_range(0..4)),
        1 => schema["maxLength"] = json!(rng.random_range(0..5)),
        2 => schema["pattern"] = json!(["^a", "b+$", "^[a-c]*$", "x|é", "^.{2}$"].choose(rng)),
        3 => schema["format"] = json!("date"),
        4 => schema["format"] = json!("uuid"),
        _ => {}
    }
    schema
}

fn number(rng: &mut StdRng, name: &str) -> Value {
    let mut schema = json!({"type": kind(rng, name)});
    if rng.random_bool(0.4) {
        let keyword = ["minimum", "exclusiveMinimum"].choose(rng).expect("two");
        schema[*keyword] = number_value(rng);
    }
    if rng.random_bool(0.4) {
        let keyword = ["maximum", "exclusiveMaximum"].choose(rng).expect("two");
        schema[*keyword] = number_value(rng);
    }
    if rng.random_bool(0.3) {
        let divisors = [json!(1), json!(3), json!(0.5), json!(0.01), json!(2.5)];
        schema["multipleOf"] = divisors.choose(rng).expect("some").clone();
    }
    schema
}

fn number_value(rng: &mut StdRng) -> Value {
    match rng.random_range(0..6) {
        0..3 => json!(rng.random_range(-5..6)),
        3 => json!(f64::from(rng.random_range(-20..20)) / 4.0),
        4 => json!(f64::from(rng.random_range(-300..300)) / 100.0),
        _ => serde_json::from_str("12345678901234567890123").expect("a number"),
    }
}

fn enumeration(rng: &mut StdRng) -> Value {
    match rng.random_range(0..3) {
        0 => json!({"enum": ["a", "b", "c"]}),
        1 => json!({"type": ["string", "null"], "enum": ["ab", null]}),
        _ => json!({"const": rng.random_range(0..3)}),
    }
}

fn mixed(rng: &mut StdRng) -> Value {
    match rng.random_range(0..4) {
        0 => json!({"type": ["string", "integer"], "minimum": 0, "maxLength": 2}),
        1 => json!({"minLength": 1, "maxItems": 2, "required": ["a"]}),
        2 => json!({"type": ["object", "array"], "items": {"type": "integer"},
            "additionalProperties": {"type": "string"}}),
        _ => json!({"type": ["null", "boolean"]}),
    }
}

fn object(rng: &mut StdRng, level: usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in NAMES {
        if rng.random_bool(0.35) {
            properties.insert(name.to_owned(), schema_at(rng, level + 1));
        }
        if rng.random_bool(0.15) && (properties.contains_key(name) || rng.random_bool(0.1)) {
            required.push(name);
        }
    }
    let mut schema =
        json!({"type": if level == 0 { json!("object") } else { kind(rng, "object") }});
    let mut additional = match rng.random_range(0..4) {
        0 => Some(json!(false)),
        1 => Some(schema_at(rng, level + 1)),
        _ => None,
    };
    if required.iter().any(|name| !properties.contains_key(*name)) {
        additional = additional.filter(|it| *it != json!(false));
    }
    if let Some(additional) = additional {
        schema["additionalProperties"] = additional;
    }
    schema["properties"] = Value::Object(properties);
    schema["required"] = json!(required);
    schema
}

fn array(rng: &mut StdRng, level: usize) -> Value {
    let mut schema = json!({"type": kind(rng, "array")});
    if rng.random_bool(0.9) {
        schema["items"] = schema_at(rng, level + 1);
    }
    if rng.random_bool(0.3) {
        schema["minItems"] = json!(rng.random_range(0..3));
    }
    if rng.random_bool(0.3) {
        schema["maxItems"] = json!(rng.random_range(1..5));
    }
    schema
}

/// A value that often fits a schema inside `root`.
pub(crate) fn value(rng: &mut StdRng, root: &Value, schema: &Value, level: usize) -> Value {
    if level > 8 || rng.random_bool(0.03) {
        return any_value(rng, level);
    }
    let schema = match schema["$ref"].as_str() {
        Some("#") => root,
        Some(target) => root.pointer(&target[1..]).expect("it is there"),
        None => schema,
    };
    if let Some(values) = schema["enum"].as_array() {
        return values.choose(rng).expect("some").clone();
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return any_value(rng, level),
    };
    match *kinds.choose(rng).expect("some") {
        "null" => Value::Null,
        "boolean" => json!(rng.random_bool(0.5)),
        "integer" => match rng.random_range(0..4) {
            0 => json!(f64::from(rng.random_range(-3..4))),
            _ => json!(rng.random_range(-6..7)),
        },
        "number" => number_value(rng),
        "string" => string_value(rng, schema),
        "array" => {
            let length = rng.random_range(0..5);
            let items = schema.get("items").cloned().unwrap_or(json!(true));
            let elements = (0..length).map(|_| value(rng, root, &items, level + 1));
            elements.collect()
        }
        _ => object_value(rng, root, schema, level),
    }
}

fn string_value(rng: &mut StdRng, schema: &Value) -> Value {
    match schema["format"].as_str() {
        Some("date") if rng.random_bool(0.8) => {
            let (month, day) = (rng.random_range(1..13), rng.random_range(1..30));
            json!(format!("2023-{month:02}-{day:02}"))
        }
        Some("uuid") if rng.random_bool(0.8) => json!("2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
        _ => json!(["", "a", "ab", "abc", "bb", "aé", "x", "xyzzy"].choose(rng)),
    }
}

fn object_value(rng: &mut StdRng, root: &Value, schema: &Value, level: usize) -> Value {
    let mut members = Map::new();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let no_properties = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&no_properties);
    for (name, member) in properties {
        if required.contains(&json!(name)) || rng.random_bool(0.5) {
            members.insert(name.clone(), value(rng, root, member, level + 1));
        }
    }
    let additional = schema.get("additionalProperties");
    let additional = additional.cloned().unwrap_or(json!(true));
    let chance = if additional == json!(false) {
        0.02
    } else {
        0.3
    };
    for name in OTHERS {
        if rng.random_bool(chance) {
            members.insert(name.to_owned(), value(rng, root, &additional, level + 1));
        }
    }
    for name in required.iter().filter_map(Value::as_str) {
        if !members.contains_key(name) {
            members.insert(name.to_owned(), value(rng, root, &additional, level + 1));
        }
    }
    Value::Object(members)
}

/// A value without regard to a schema.
pub(crate) fn any_value(rng: &mut StdRng, level: usize) -> Value {
    match rng.random_range(0..if level > 4 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => json!(rng.random_bool(0.5)),
        2 => json!(rng.random_range(-3..4)),
        3 => number_value(rng),
        4 => json!(["", "a", "ab", "2023-02-28"].choose(rng)),
        5 => (0..rng.random_range(0..3))
            .map(|_| any_value(rng, level + 1))
            .collect(),
        _ => {
            let names = NAMES.iter().chain(&OTHERS).filter(|_| rng.random_bool(0.3));
            let names: Vec<_> = names.map(|name| (*name).to_owned()).collect();
            let members = names
                .into_iter()
                .map(|name| (name, any_value(rng, level + 1)));
            Value::Object(members.collect())
        }
    }
}
