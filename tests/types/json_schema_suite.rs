//! The official suite of JSON Schema (JSON-Schema-Test-Suite).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::skip::skipped;
use crate::verdicts::{fits, parse, theirs};

/// Where the suite is looked for, from the root of the repository. `./check` puts it into the second
/// folder if the first does not have it.
const FOLDERS: [&str; 2] = ["../shared/suites/json-schema", "target/suites/json-schema"];

/// The optional files that are about keywords of a type.
const OPTIONAL: [&str; 8] = [
    "bignum.json",
    "float-overflow.json",
    "no-schema.json",
    "format/date.json",
    "format/date-time.json",
    "format/email.json",
    "format/uri.json",
    "format/uuid.json",
];

/// Files that say the opposite of what a type says, or of each other.
const OTHER_MEANING: [&str; 1] = [
    // Here `format` is an annotation, and in the optional files it is checked. A type checks it.
    "format.json",
];

fn folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = FOLDERS.iter().map(|it| root.join(it).join("draft2020-12"));
    folders.find(|folder| folder.join("type.json").exists())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    files.retain(|file| !OTHER_MEANING.iter().any(|name| file.ends_with(name)));
    files.sort();
    files.extend(OPTIONAL.map(|name| folder.join("optional").join(name)));
    files
}

/// What was compared.
#[derive(Default)]
struct Compared {
    groups: usize,
    cases: usize,
    /// Cases that Phyllo cannot store, because of a limit on numbers.
    not_stored: usize,
    /// Groups whose schema has a keyword that a type cannot have, by file.
    refused: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

#[test]
fn verdicts_on_the_official_suite_are_those_of_the_suite() {
    let Some(folder) = folder() else {
        skipped(
            "the JSON Schema suite",
            "it was not found; ./check downloads it",
        );
        return;
    };
    let mut compared = Compared::default();
    for file in files(&folder) {
        let text = fs::read_to_string(&file).expect("a file of the suite");
        let groups: Vec<Value> = serde_json::from_str(&text).expect("JSON");
        for group in &groups {
            compare(&mut compared, &file, group);
        }
    }
    println!(
        "{} groups with {} cases were compared; {} cases could not be stored; refused by file: {:?}",
        compared.groups, compared.cases, compared.not_stored, compared.refused
    );
    assert!(compared.wrong.is_empty(), "{:#?}", compared.wrong);
    assert!(compared.groups >= GROUPS_MIN, "{}", compared.groups);
}

/// Groups of the suite that a type can have.
const GROUPS_MIN: usize = 90;

fn compare(compared: &mut Compared, file: &Path, group: &Value) {
    let name = file.file_name().expect("a name").to_string_lossy();
    let schema = &group["schema"];
    let Ok(of) = parse(schema) else {
        *compared.refused.entry(name.into_owned()).or_default() += 1;
        return;
    };
    compared.groups += 1;
    let theirs = theirs(schema);
    for case in group["tests"].as_array().expect("a list") {
        let (data, expected) = (&case["data"], case["valid"] == Value::Bool(true));
        let Some(ours) = fits(&of, data) else {
            compared.not_stored += 1;
            continue;
        };
        compared.cases += 1;
        if ours != expected {
            compared.wrong.push(format!(
                "{name}: {} / {}: {data} fits: {expected}; jsonschema says {}",
                group["description"],
                case["description"],
                theirs.is_valid(data)
            ));
        }
    }
}
