//! The layers hold: each uses only those above it, and some names stand in one layer only.

use std::fs;
use std::path::{Path, PathBuf};

/// From the top: each may use those before it.
const LAYERS: [&str; 10] = [
    "error", "limits", "budget", "document", "key", "store", "database", "graphql", "server", "cli",
];

/// Names, and the only layers that may use them.
const CONFINED: [(&str, &[&str]); 8] = [
    ("async_graphql", &["graphql"]),
    ("axum", &["server"]),
    ("redb", &["store"]),
    ("foundationdb", &["store"]),
    ("foundationdb_tuple", &["key", "database"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("opentelemetry", &["server"]),
];

/// What a pure layer has nothing of.
const IMPURE: [&str; 5] = ["async ", "tokio", "std::fs", "std::net", "std::io::Read"];

fn sources() -> Vec<(String, PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("src is there") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("UTF-8");
                found.push((layer(&path), path, code(&text)));
            }
        }
    }
    assert!(found.len() > LAYERS.len(), "the sources were not found");
    found
}

/// The layer that a file belongs to: the first name below `src`.
fn layer(path: &Path) -> String {
    let below = path.strip_prefix("src").expect("below src");
    let first = below.components().next().expect("a name");
    let name = first.as_os_str().to_string_lossy();
    name.trim_end_matches(".rs").to_owned()
}

/// A source without its comments, in which names may stand that the code does not use.
fn code(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_layer_uses_only_those_above_it() {
    let mut wrong = Vec::new();
    for (layer, path, code) in sources() {
        let Some(at) = LAYERS.iter().position(|name| *name == layer) else {
            continue;
        };
        for below in &LAYERS[at + 1..] {
            if code.contains(&format!("crate::{below}::"))
                || code.contains(&format!("crate::{below};"))
            {
                wrong.push(format!("{} uses {below}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_belongs_to_a_layer() {
    for (layer, path, _) in sources() {
        let known = LAYERS.contains(&layer.as_str()) || matches!(layer.as_str(), "lib" | "main");
        assert!(known, "{} belongs to no layer", path.display());
    }
}

#[test]
fn some_names_stand_in_one_layer_only() {
    let mut wrong = Vec::new();
    for (layer, path, code) in sources() {
        for (name, layers) in CONFINED {
            let used = [
                format!("use {name}::"),
                format!(" {name}::"),
                format!("({name}::"),
                format!("<{name}::"),
            ];
            if used.iter().any(|used| code.contains(used)) && !layers.contains(&layer.as_str()) {
                wrong.push(format!("{} names {name}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn document_and_key_do_no_io_and_are_not_async() {
    let mut wrong = Vec::new();
    for (layer, path, code) in sources() {
        if layer == "document" || layer == "key" {
            let found = IMPURE.iter().filter(|impure| code.contains(**impure));
            wrong.extend(found.map(|impure| format!("{}: {impure}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn source_files_stay_small() {
    let long: Vec<String> = sources()
        .into_iter()
        .filter(|(_, _, code)| code.lines().count() > 600)
        .map(|(_, path, _)| path.display().to_string())
        .collect();
    assert!(long.is_empty(), "past 600 lines: {long:?}");
}
