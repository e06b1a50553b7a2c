//! Checks the architecture: each layer uses only the layers above it, and some names are confined
//! to one layer.

mod imports;
mod loops;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use imports::Imports;

/// From the top. Each layer may use those before it.
const LAYERS: [&str; 13] = [
    "error",
    "limits",
    "budget",
    "document",
    "key",
    "rights",
    "types",
    "store",
    "database",
    "graphql",
    "operations",
    "server",
    "cli",
];

/// What each layer consists of, in order: each may use those before it. The file of the layer
/// itself uses all of them.
const ROOMS: [(&str, &[&str]); 7] = [
    (
        "types",
        &[
            "violation",
            "shape",
            "schema_json",
            "parse",
            "collection_type",
            "indexed_references",
            "validate",
            "around_change",
            "compatible",
            "infer",
            "tests",
        ],
    ),
    (
        "store",
        &[
            "pairs",
            "multi_range",
            "read",
            "batches",
            "read_backup",
            "attachments",
            "contract",
            "metered",
            "observed",
            "transact",
            "embedded",
            "foundationdb",
        ],
    ),
    (
        "database",
        &[
            "document_key",
            "format",
            "types",
            "changes",
            "open",
            "read",
            "catalog",
            "index",
            "edit",
            "query",
            "bulk",
            "check",
            "copy",
        ],
    ),
    (
        "graphql",
        &[
            "lru_cache",
            "context",
            "request",
            "scalars",
            "response",
            "arguments",
            "schema",
            "prepare",
            "variables",
            "execute",
        ],
    ),
    (
        "operations",
        &[
            "transact",
            "export_line",
            "batch_changes",
            "change_rights",
            "put",
            "read",
            "export",
            "sweep",
            "types",
            "maintain",
        ],
    ),
    (
        "server",
        &[
            "http_client",
            "response",
            "observe",
            "file_reload",
            "trust",
            "connection",
            "access",
            "streaming",
            "options",
            "http",
            "documents",
            "routes",
            "local",
        ],
    ),
    (
        "cli",
        &[
            "arguments",
            "outcome",
            "terminal",
            "connect",
            "input",
            "read",
            "write",
            "operate",
        ],
    ),
];

/// Names, and the only layers that may use them.
const CONFINED: [(&str, &[&str]); 9] = [
    ("async_graphql", &["graphql"]),
    ("axum", &["server"]),
    ("redb", &["store"]),
    ("foundationdb", &["store"]),
    ("foundationdb_tuple", &["key", "database"]),
    ("clap", &["cli"]),
    ("indicatif", &["cli"]),
    ("opentelemetry", &["server"]),
    ("toml", &["rights"]),
];

/// Names that pure layers must not contain.
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

/// The layer of a file: the first name below `src`.
fn layer(path: &Path) -> String {
    let below = path.strip_prefix("src").expect("below src");
    let first = below.components().next().expect("a name");
    let name = first.as_os_str().to_string_lossy();
    name.trim_end_matches(".rs").to_owned()
}

/// Source text without comments, because comments may contain any names.
fn code(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn layers_use_only_layers_above_them() {
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

fn imports() -> Imports {
    let sources = sources();
    let files = sources
        .iter()
        .map(|(_, path, code)| (path.as_path(), &code[..]));
    Imports::of(files)
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let imports = imports();
    let edges: usize = imports.modules().map(|it| imports.used_by(it).len()).sum();
    assert!(edges > 1000, "the imports were not found: {edges}");
    let circle = imports.circle();
    let circle = circle.map(|it| {
        it.iter()
            .map(|module| module.join("::"))
            .collect::<Vec<_>>()
    });
    assert_eq!(circle, None);
}

#[test]
fn imports_inside_a_layer_run_one_way() {
    let imports = imports();
    let mut wrong = Vec::new();
    for (layer, rooms) in ROOMS {
        let position = |module: &imports::Module| match &module[..] {
            [first, room, ..] if first == layer => rooms.iter().position(|name| name == room),
            _ => None,
        };
        for module in imports
            .modules()
            .filter(|module| module[..].len() > 1 && module[0] == layer)
        {
            let Some(at) = position(module) else {
                wrong.push(format!("{} has no place in its layer", module.join("::")));
                continue;
            };
            let used = imports.used_by(module).into_iter();
            let later = used.filter(|used| position(used).is_some_and(|used| used > at));
            wrong.extend(later.map(|it| format!("{} uses {}", module.join("::"), it.join("::"))));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a folder lists is in the eye at once.
#[test]
fn folders_list_few_entries() {
    const ENTRIES_MAX: usize = 14;
    let mut folders = BTreeMap::<PathBuf, usize>::new();
    for (_, path, _) in sources() {
        for inside in path.ancestors().skip(1).filter(|it| it.starts_with("src")) {
            folders.entry(inside.to_owned()).or_default();
        }
    }
    for (folder, entries) in &mut folders {
        let listed = fs::read_dir(folder).expect("a folder");
        let names = listed.map(|entry| entry.expect("readable").file_name());
        // The layers are listed beside the roots of the two crates.
        *entries = names.filter(|it| it != "lib.rs" && it != "main.rs").count();
    }
    folders.retain(|_, entries| *entries > ENTRIES_MAX);
    assert!(folders.is_empty(), "{folders:?}");
}

#[test]
fn every_file_belongs_to_a_layer() {
    for (layer, path, _) in sources() {
        let known = LAYERS.contains(&layer.as_str()) || matches!(layer.as_str(), "lib" | "main");
        assert!(known, "{} belongs to no layer", path.display());
    }
}

#[test]
fn confined_names_are_used_in_one_layer_only() {
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
fn pure_layers_do_no_io_and_are_not_async() {
    let mut wrong = Vec::new();
    for (layer, path, code) in sources() {
        if ["document", "key", "rights", "types"].contains(&&layer[..]) {
            let found = IMPURE.iter().filter(|impure| code.contains(**impure));
            wrong.extend(found.map(|impure| format!("{}: {impure}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Type names are unique in their layer, including private types. Two layers may each have the best word.
#[test]
fn type_names_are_defined_once_in_a_layer() {
    const KINDS: [&str; 5] = ["struct ", "enum ", "trait ", "type ", "union "];
    let mut defined = BTreeMap::<(String, String), Vec<String>>::new();
    for (layer, path, code) in sources() {
        for line in code.lines() {
            // Associated types (`type Error = …`) are indented.
            let public = line.strip_prefix("pub").map(|rest| {
                let rest = rest.strip_prefix('(').map_or(rest, |restricted| {
                    restricted.split_once(')').map_or("", |(_, rest)| rest)
                });
                rest.trim_start()
            });
            let line = public.unwrap_or(line);
            let Some(name) = KINDS.iter().find_map(|kind| line.strip_prefix(kind)) else {
                continue;
            };
            let name = name.split(|c: char| !c.is_alphanumeric()).next();
            let name = name.unwrap_or_default().to_owned();
            if !name.starts_with(char::is_uppercase) {
                continue; // GraphQL types in schema text.
            }
            let files = defined.entry((layer.clone(), name)).or_default();
            files.push(path.display().to_string());
        }
    }
    assert!(defined.len() > 300, "the types were not found");
    defined.retain(|_, files| files.len() > 1);
    assert!(defined.is_empty(), "defined more than once: {defined:#?}");
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

/// Budgets are created in one file. The users of background budgets are listed here.
#[test]
fn budgets_are_made_in_one_place() {
    const BACKGROUND: [&str; 13] = [
        "src/database/bulk/adopt.rs",
        "src/database/check/entries.rs",
        "src/database/index/build.rs",
        "src/operations/put.rs",
        "src/operations/read.rs",
        "src/operations/sweep.rs",
        "src/operations/transact.rs",
        "src/operations/types.rs",
        "src/cli/write/import/dry_run.rs",
        "src/cli/write/import/mod.rs",
        "src/database/bulk/type_checker.rs",
        "src/database/copy/mod.rs",
        "src/database/types/type_cache.rs",
    ];
    let mut wrong = Vec::new();
    for (layer, path, code) in sources() {
        let path = path.display().to_string();
        let tests = path.ends_with("tests.rs") || code.contains("#[cfg(test)]\nmod tests {");
        let code = code
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        // `RequestBudget` wraps a budget and has constructors with the same names, which
        // `each_request_has_one_budget` checks.
        let code = code.replace("RequestBudget::", "");
        let makes = layer != "budget" && code.contains("Budget::new(");
        let requests = (code.contains("Budget::of_request(")
            || code.contains("Budget::of_mutation("))
            && path != "src/graphql/context/request_budget.rs";
        let background =
            code.contains("Budget::of_background(") && !BACKGROUND.contains(&path.as_str());
        let streams = (code.contains("Budget::of_lines_written(")
            && path != "src/operations/put.rs")
            || (code.contains("Budget::of_lines_read(") && path != "src/operations/export.rs");
        if (makes || requests || background || streams) && !(tests && path.ends_with("tests.rs")) {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "they make budgets: {wrong:#?}");
}

/// A request may pass through several functions and both executors, with one budget. So each of these
/// functions makes a budget once, and no function that one of them calls makes another.
#[test]
fn each_request_has_one_budget() {
    const MAKERS: [(&str, &str); 6] = [
        ("src/graphql/execute/filter_text.rs", "read_filter"),
        // One attempt of a mutation, and one to ask the access rules for its places.
        ("src/graphql/execute/mutations/attempt.rs", "budget"),
        ("src/graphql/execute/service.rs", "query"),
        ("src/graphql/execute/service.rs", "request_budget"),
        // One response of a subscription.
        ("src/graphql/execute/service.rs", "respond_to_change"),
        ("src/graphql/execute/service.rs", "respond_to_event"),
    ];
    let mut makers = Vec::new();
    for (_, path, code) in sources() {
        let code = code
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        for makes in [
            "RequestBudget::new(",
            "RequestBudget::of_mutation(",
            ".request_budget(allowed",
        ] {
            for (at, _) in code.match_indices(makes) {
                let before = &code[..at];
                let function = before.rsplit("fn ").next().unwrap_or_default();
                let function = function.split(['(', '<']).next().unwrap_or_default();
                makers.push((path.display().to_string(), function.to_owned()));
            }
        }
    }
    makers.sort();
    let expected = MAKERS.map(|(path, function)| (path.to_owned(), function.to_owned()));
    assert_eq!(makers, expected);
}

/// Files, and functions in them whose work is proportional to client input or stored data.
const WORK: [(&str, &str); 46] = [
    ("src/document/jsonpath/mod.rs", "pub fn select<"),
    ("src/document/filter/mod.rs", "pub fn holds<"),
    ("src/document/filter/mod.rs", "pub fn passes("),
    ("src/types/collection_type.rs", "pub fn parse("),
    ("src/types/validate/mod.rs", "pub fn validator<"),
    ("src/types/compatible.rs", "pub fn is_compatible("),
    ("src/types/infer/mod.rs", "pub fn into_schema("),
    ("src/database/read/value_ref.rs", "pub fn tree("),
    ("src/database/read/value_ref.rs", "pub async fn write_json("),
    ("src/database/read/load.rs", "pub async fn load("),
    ("src/database/read/load.rs", "pub async fn read_requested<"),
    ("src/database/read/children.rs", "pub async fn children("),
    ("src/database/read/length.rs", "pub async fn length("),
    (
        "src/database/read/projection/between.rs",
        "pub async fn write_json(",
    ),
    (
        "src/database/read/projection/remainder.rs",
        "pub async fn write_json(",
    ),
    ("src/database/read/selection.rs", "pub async fn read<"),
    (
        "src/database/edit/write_document.rs",
        "pub async fn insert(",
    ),
    ("src/database/edit/write_document.rs", "pub async fn put("),
    (
        "src/database/bulk/settle_references.rs",
        "pub async fn settle_references(",
    ),
    (
        "src/database/bulk/settle_references.rs",
        "pub async fn required_documents(",
    ),
    ("src/database/query/portion.rs", "pub async fn portion("),
    ("src/database/bulk/take.rs", "pub async fn first_documents("),
    ("src/database/bulk/test.rs", "pub async fn test_document("),
    ("src/database/bulk/bulk_update.rs", "pub async fn bulk("),
    (
        "src/database/bulk/bulk_update.rs",
        "pub async fn bulk_documents(",
    ),
    ("src/database/query/mod.rs", "pub async fn documents("),
    (
        "src/database/query/index_hint.rs",
        "pub async fn missing_index(",
    ),
    ("src/database/catalog/names.rs", "pub async fn near_names("),
    ("src/database/query/mod.rs", "pub async fn matching("),
    (
        "src/database/query/plan/access_path/mod.rs",
        "pub(crate) fn new(",
    ),
    ("src/database/edit/mod.rs", "pub async fn replace("),
    ("src/database/edit/mod.rs", "pub async fn delete("),
    (
        "src/database/edit/editor/mod.rs",
        "pub(crate) async fn write_leaves(",
    ),
    (
        "src/database/edit/apply_merge_patch.rs",
        "pub async fn merge(",
    ),
    ("src/database/edit/patch.rs", "pub async fn patch("),
    ("src/database/edit/increment.rs", "pub async fn increment("),
    ("src/database/edit/source.rs", "pub async fn read("),
    ("src/database/edit/apply_update.rs", "async fn update("),
    (
        "src/database/edit/apply_update.rs",
        "pub async fn update_document(",
    ),
    (
        "src/database/edit/update_operation.rs",
        "pub async fn remove_all(",
    ),
    (
        "src/database/edit/editor/argument.rs",
        "async fn leaves_of(",
    ),
    (
        "src/graphql/arguments/filter_input.rs",
        "pub(crate) async fn read(",
    ),
    (
        "src/graphql/arguments/place_input.rs",
        "pub(crate) async fn read(",
    ),
    ("src/key/value_set.rs", "pub fn of_elements("),
    (
        "src/graphql/scalars/jsonpath.rs",
        "pub(crate) async fn query(",
    ),
    (
        "src/graphql/scalars/jsonpath.rs",
        "pub(crate) fn query_within(",
    ),
];

/// The functions of [`WORK`] take a budget, or a value that contains one.
#[test]
fn work_that_clients_can_make_large_takes_a_budget() {
    for (path, function) in WORK {
        let text = code(&fs::read_to_string(path).expect(path));
        let begin = text.find(function);
        let begin = begin.unwrap_or_else(|| panic!("{path} has no {function}"));
        let signature = text[begin..].split(['{', ';']).next().unwrap_or_default();
        let takes = ["Budget", "Steps", "Reservation", "Tally", "WrittenText"];
        assert!(
            takes.iter().any(|name| signature.contains(name)),
            "{path}: {function} takes no budget"
        );
    }
}

/// The text between the first two backquotes of each table row in docs/errors.md.
fn documented() -> Vec<String> {
    let text = fs::read_to_string("docs/errors.md").expect("docs/errors.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let names = rows.filter_map(|row| row.split('`').next());
    names.map(str::to_owned).collect()
}

#[test]
fn every_limit_name_is_documented() {
    let mut names = vec!["steps".to_owned()];
    for (_, _, code) in sources() {
        for made in ["Limit::new(", "Limit::of_time("] {
            let behind = code.split(made).skip(1);
            let literals = behind.filter_map(|rest| rest.trim_start().strip_prefix('"'));
            names.extend(literals.filter_map(|rest| Some(rest.split('"').next()?.to_owned())));
        }
    }
    names.sort();
    names.dedup();
    assert!(names.len() > 50, "the limits were not found: {names:?}");
    let documented = documented();
    let missing: Vec<_> = names
        .iter()
        .filter(|name| !documented.contains(name))
        .collect();
    assert!(missing.is_empty(), "docs/errors.md lacks {missing:?}");
    let text = fs::read_to_string("docs/errors.md").expect("docs/errors.md");
    let (_, of_limits) = text
        .split_once("## Names of limits")
        .expect("the table of limits");
    let unknown = documented
        .iter()
        .filter(|name| of_limits.contains(&format!("| `{name}` |")) && !names.contains(name));
    assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn every_error_code_is_documented() {
    let text = code(&fs::read_to_string("src/error/mod.rs").expect("src/error/mod.rs"));
    let codes = text.split("=> \"").skip(1);
    let codes: Vec<_> = codes.filter_map(|rest| rest.split('"').next()).collect();
    assert!(codes.len() > 15, "the codes were not found: {codes:?}");
    let documented = documented();
    for code in codes {
        assert!(documented.iter().any(|name| name == code), "{code}");
    }
}

/// Errors with extra fields are created by functions that require the fields.
#[test]
fn errors_with_facts_are_made_by_their_own_functions() {
    const WITH_FACTS: [&str; 9] = [
        "InvalidPath",
        "NotFound",
        "VersionMismatch",
        "TypeMismatch",
        "TestFailed",
        "TooLarge",
        "TooComplex",
        "KeyTooLong",
        "Timeout",
    ];
    let mut wrong = Vec::new();
    for (layer, path, code) in sources() {
        // Commands have no `extensions`.
        if layer == "error" || layer == "cli" {
            continue;
        }
        for rest in code.split(" Error::new(").chain(code.split("(Error::new(")) {
            let kind = rest.trim_start().strip_prefix("ErrorKind::");
            let kind = kind.and_then(|rest| rest.split(|next: char| !next.is_alphabetic()).next());
            if kind.is_some_and(|kind| WITH_FACTS.contains(&kind)) {
                wrong.push(format!("{}: {kind:?}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A page that names a file which was moved misleads its readers.
#[test]
fn files_that_architecture_and_glossary_name_exist() {
    let pages = ["ARCHITECTURE.md", "docs/glossary.md"];
    let text = pages.map(|page| fs::read_to_string(page).expect(page));
    let text = text.concat();
    let names = text.split('`').skip(1).step_by(2);
    let names: Vec<_> = names
        .filter(|name| Path::new(name).extension().is_some_and(|it| it == "rs"))
        .collect();
    assert!(names.len() > 80, "the names were not found: {names:?}");
    let sources = sources();
    let exists = |name: &str| {
        let is_source = sources.iter().any(|(_, path, _)| path.ends_with(name));
        is_source || Path::new(name).exists()
    };
    let missing: Vec<_> = names.iter().filter(|name| !exists(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
