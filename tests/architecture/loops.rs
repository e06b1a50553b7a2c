//! Loops of asynchronous functions. One that waits for nothing is a portion of work, which must be bounded
//! (docs/decisions/0046-work-in-portions.md).

use super::sources;

/// Where clients determine how much work there is.
const ROOMS: [&str; 5] = [
    "src/database/bulk/",
    "src/database/edit/",
    "src/database/query/",
    "src/database/read/",
    "src/graphql/execute/",
];

/// The loops that do not ask for the slice: the file, the function, and what bounds them.
const BOUNDED: &[(&str, &str, &str)] = &[
    ("src/database/bulk/adopt.rs", "adopt", "a batch"),
    ("src/database/bulk/adopt.rs", "find", "a batch"),
    (
        "src/database/bulk/type_checker.rs",
        "record",
        "the misfits of a type",
    ),
    (
        "src/database/edit/editor/elements.rs",
        "equal_elements",
        "a batch",
    ),
    (
        "src/database/edit/editor/renumber.rs",
        "insert_element",
        "inside of a portion",
    ),
    ("src/database/edit/patch.rs", "test", "a batch"),
    (
        "src/database/edit/stored_response.rs",
        "kept_answer",
        "a stored response",
    ),
    (
        "src/database/edit/stored_response.rs",
        "keep_answer",
        "a stored response",
    ),
    (
        "src/database/query/aggregate/covered.rs",
        "covered",
        "the columns of an index",
    ),
    (
        "src/database/query/aggregate/groups.rs",
        "add",
        "the paths of a query",
    ),
    (
        "src/database/query/aggregate/mod.rs",
        "read_containers",
        "documents of one round",
    ),
    ("src/database/query/entries/lookup.rs", "read_on", "a batch"),
    (
        "src/database/query/entries/merge_streams.rs",
        "next_of_any",
        "the spans of a filter",
    ),
    (
        "src/database/query/entries/walk.rs",
        "read_groups",
        "a batch",
    ),
    (
        "src/database/query/matcher.rs",
        "look_at",
        "documents of one round",
    ),
    (
        "src/database/read/fetch.rs",
        "read_with",
        "ranges that have more than a batch",
    ),
    ("src/database/read/length.rs", "length", "a batch"),
    (
        "src/database/read/path_candidates.rs",
        "first_present",
        "the readings of a path",
    ),
    (
        "src/database/read/path_candidates.rs",
        "containers",
        "the readings of a path",
    ),
    (
        "src/database/read/projection/picked.rs",
        "write_picked",
        "the levels of a place",
    ),
    (
        "src/database/read/selection.rs",
        "select",
        "inside of a computation with steps",
    ),
    (
        "src/graphql/execute/hints/mod.rs",
        "find",
        "the fields that hints are given for",
    ),
    (
        "src/graphql/execute/hints/mod.rs",
        "of_documents",
        "the arguments of a field",
    ),
    (
        "src/graphql/execute/planned/finding/document_pages.rs",
        "find",
        "the pages of a query",
    ),
    (
        "src/graphql/execute/planned/finding/element.rs",
        "write_picked",
        "the paths of one list",
    ),
    (
        "src/graphql/execute/planned/finding/followed.rs",
        "hide",
        "inside of a portion",
    ),
    (
        "src/graphql/execute/planned/finding/selected.rs",
        "further_parts",
        "the ranges of a JSONPath",
    ),
    (
        "src/graphql/execute/replaceable/shown_schema.rs",
        "introspect",
        "the root fields of a query",
    ),
];

#[test]
fn loops_of_asynchronous_functions_ask_for_the_slice_or_are_bounded() {
    let mut found = Vec::new();
    for (_, path, text) in sources() {
        let name = path.display().to_string();
        if ROOMS.iter().any(|room| name.starts_with(room)) {
            let functions = unasking(&text).into_iter();
            found.extend(functions.map(|function| (name.clone(), function)));
        }
    }
    found.sort();
    found.dedup();
    let mut listed: Vec<_> = BOUNDED
        .iter()
        .map(|(file, function, _)| (*file, *function))
        .collect();
    listed.sort_unstable();
    let found: Vec<_> = found
        .iter()
        .map(|(file, name)| (&**file, &**name))
        .collect();
    assert_eq!(
        found, listed,
        "use in_turns or Budget::portion, or say what bounds the loop"
    );
}

/// The asynchronous functions that have a loop without `.await`. The text is formatted, so a block ends at
/// the indentation of its first line.
fn unasking(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text
        .lines()
        .take_while(|line| *line != "mod tests {")
        .collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let block = |begin: usize| {
        let ends = |line: &&str| line.trim() == "}" && indent(line) == indent(lines[begin]);
        let length = lines[begin..].iter().position(ends);
        &lines[begin..begin + length.expect("the block ends")]
    };
    let mut functions = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((before, name)) = line.split_once("async fn ") else {
            continue;
        };
        let is_declared = before.trim().is_empty() || before.trim().starts_with("pub");
        let has_body = lines[at..].iter().find(|line| line.ends_with(['{', ';']));
        if !is_declared || has_body.is_none_or(|line| line.ends_with(';')) {
            continue;
        }
        let name: String = name
            .chars()
            .take_while(|char| char.is_alphanumeric() || *char == '_')
            .collect();
        let body = at..at + block(at).len();
        let loops = body.filter(|at| lines[*at].trim_start().starts_with("for "));
        for at in loops {
            if !block(at)[1..].iter().any(|line| line.contains(".await")) {
                functions.push(name.clone());
            }
        }
    }
    functions
}
