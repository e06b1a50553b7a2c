//! Schemas that are inferred from real files: of npm's packages, and of its registry.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use phyllo::budget::{Budget, Steps};
use phyllo::key::Leaves;
use phyllo::types::Inference;
use serde_json::{Value, json};

use crate::npm;
use crate::skip::skipped;
use crate::verdicts::{parse, theirs, violations};

/// Adds a document to those that a schema is inferred from.
pub(crate) fn feed(inference: &mut Inference, document: &Value, steps: &Steps<'_>) {
    let leaves = Leaves::from_json(&document.to_string()).expect("JSON");
    let mut reading = inference.document(steps);
    for (key, value) in leaves.iter() {
        reading.push(key, value).expect("it is well-formed");
    }
    reading.finish().expect("it is well-formed");
}

/// The schema of documents, which all of them fit.
fn inferred(name: &str, documents: &[Value]) -> Value {
    assert!(!documents.is_empty(), "{name}");
    let budget = Budget::of_background();
    let steps = Steps::of(&budget);
    let mut inference = Inference::new();
    for document in documents {
        feed(&mut inference, document, &steps);
    }
    assert_eq!(inference.documents(), documents.len() as u64);
    let text = inference.into_schema(&steps).expect("few places");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::write(folder.join(format!("inferred-{name}.json")), &text).expect("a file");
    println!(
        "{name}: {} documents, a schema of {} lines",
        documents.len(),
        text.lines().count()
    );
    let schema: Value = serde_json::from_str(&text).expect("JSON");
    let ours = parse(&schema).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
    let theirs = theirs(&schema);
    for document in documents {
        let found = violations(&ours, &[], document).expect("it can be stored");
        assert!(found.is_empty(), "{name}: {:?}\n{text}", found.listed());
        assert!(theirs.is_valid(document), "{name}: {text}");
    }
    schema
}

/// The folder of the packages. None where they cannot be had.
fn packages() -> Option<&'static Path> {
    static PACKAGES: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = PACKAGES.get_or_init(|| {
        let folder = npm::install_from(Path::new("tests/types/npm"), "types");
        if folder.is_none() {
            skipped("schemas of real files", "npm could not install the files");
        }
        folder.map(|it| it.join("node_modules"))
    });
    found.as_deref()
}

fn read(path: &Path) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// The type that the schema gives to a place, or that its definition gives.
fn at<'s>(schema: &'s Value, pointer: &str) -> &'s Value {
    let mut found = schema;
    for name in pointer.split('/').skip(1) {
        if let Some(target) = found["$ref"].as_str() {
            found = schema.pointer(&target[1..]).expect("a definition");
        }
        found = match name {
            "*" => &found["additionalProperties"],
            "0" => &found["items"],
            name => &found["properties"][name],
        };
    }
    match found["$ref"].as_str() {
        Some(target) => schema.pointer(&target[1..]).expect("a definition"),
        None => found,
    }
}

#[test]
fn countries_have_maps_of_languages_and_enums_of_regions() {
    let Some(packages) = packages() else { return };
    let countries = read(&packages.join("world-countries/countries.json"));
    let schema = inferred("countries", countries.as_array().expect("a list"));
    assert_eq!(at(&schema, "/area")["type"], "number");
    assert_eq!(at(&schema, "/landlocked")["type"], "boolean");
    assert_eq!(at(&schema, "/borders/0")["type"], "string");
    let regions = at(&schema, "/region")["enum"].as_array().expect("regions");
    assert!(regions.contains(&json!("Europe")), "{regions:?}");
    assert_eq!(at(&schema, "/languages/*")["type"], "string");
    assert_eq!(at(&schema, "/currencies/*/symbol")["type"], "string");
    let native = at(&schema, "/name/native/*");
    assert_eq!(native["required"], json!(["common", "official"]));
    // A translation and a native name are the same type.
    assert_eq!(at(&schema, "/translations/*"), native);
    let required = schema["required"].as_array().expect("a list");
    assert!(required.contains(&json!("cca3")), "{required:?}");
}

#[test]
fn browser_data_have_features_as_maps_beside_their_description() {
    let Some(packages) = packages() else { return };
    let data = read(&packages.join("@mdn/browser-compat-data/data.json"));
    let properties = data["css"]["properties"].as_object().expect("an object");
    let documents: Vec<Value> = properties.values().cloned().collect();
    let schema = inferred("css-properties", &documents);
    let compat = at(&schema, "/__compat");
    assert_eq!(compat["type"], "object");
    assert_eq!(
        schema["properties"]["__compat"]["x-graphql"]["name"],
        "compat"
    );
    assert_eq!(
        at(&schema, "/*/__compat/status/deprecated")["type"],
        "boolean"
    );
}

#[test]
fn geojson_has_a_document_for_each_country() {
    let Some(packages) = packages() else { return };
    let folder = packages.join("world-countries/data");
    let mut documents = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.to_string_lossy().ends_with(".geo.json") {
            let document = read(&path);
            let bytes = document.to_string().len();
            if bytes < 100_000 {
                documents.push(document);
            }
        }
    }
    let schema = inferred("geojson", &documents);
    assert_eq!(at(&schema, "/type")["type"], "string");
    let kinds = at(&schema, "/features/0/geometry/type");
    assert_eq!(kinds["enum"], json!(["MultiPolygon", "Polygon"]));
    assert_eq!(
        at(&schema, "/features/0/geometry/coordinates")["type"],
        "array"
    );
}

#[test]
fn an_openapi_document_has_maps_of_paths_and_schemas() {
    let Some(packages) = packages() else { return };
    let document = read(&packages.join("@ideal-postcodes/openapi/dist/openapi.json"));
    let schema = inferred("openapi", &[document]);
    assert_eq!(at(&schema, "/openapi")["type"], "string");
    assert_eq!(at(&schema, "/paths/*")["type"], "object");
    assert_eq!(at(&schema, "/components/schemas/*")["type"], "object");
}

#[test]
fn packages_of_a_registry_have_maps_of_dependencies() {
    // What npm's registry says about each package that the tests of clients use.
    let lock = read(Path::new("tests/clients/package-lock.json"));
    let packages = lock["packages"].as_object().expect("an object");
    let packages = packages.iter().filter(|(name, _)| !name.is_empty());
    let documents: Vec<Value> = packages.map(|(_, package)| package.clone()).collect();
    let schema = inferred("packages", &documents);
    for place in [
        "/version",
        "/integrity",
        "/dependencies/*",
        "/peerDependencies/*",
    ] {
        assert_eq!(at(&schema, place)["type"], "string", "{place}");
    }
    assert_eq!(
        at(&schema, "/peerDependenciesMeta/*/optional")["type"],
        "boolean"
    );
    assert_eq!(at(&schema, "/dev")["type"], "boolean");
    let required = schema["required"].as_array().expect("a list");
    assert!(required.contains(&json!("version")), "{required:?}");
    assert!(!required.contains(&json!("dependencies")), "{required:?}");
}
