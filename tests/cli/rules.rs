//! `phyllo rules`: checks a file of access rules, and explains what it allows.

use std::fs;

use super::harness::{Ran, Store};

const REVIEWS: &str = "docs/rules/reviews.toml";

fn explain(store: &Store, more: &[&str]) -> Ran {
    let claims = store.path().with_file_name("claims.json");
    fs::write(&claims, "{\"sub\": \"alice\"}").expect("a file");
    let claims = claims.to_str().expect("a plain path");
    let arguments = ["rules", "explain", "--rules", REVIEWS, "--as", claims];
    store.run(&[&arguments, more].concat())
}

#[test]
fn check_counts_the_rules_or_says_where_the_error_is() {
    let store = Store::alone();
    let ran = store.run(&["rules", "check", REVIEWS]);
    assert_eq!(
        (ran.code, &*ran.out),
        (Some(0), "docs/rules/reviews.toml: 2 rules\n")
    );
    let file = store.path().with_file_name("rules.toml");
    fs::write(&file, "[[allow]]\nwho = \"me\"\n").expect("a file");
    let file = file.to_str().expect("a plain path");
    let ran = store.run(&["rules", "check", file]);
    assert_eq!(ran.code, Some(1));
    let place = format!("error: {file}: line 2, column 7 of the rules: `who` is \"anyone\"");
    assert!(ran.err.starts_with(&place), "{}", ran.err);
    assert!(!store.path().exists());
}

#[test]
fn explain_names_the_rule_or_what_is_missing_for_each_place() {
    let store = Store::alone();
    for (arguments, code, expected) in [
        (
            &["{ document(id: \"tea\", collection: \"products\", path: \"/name\") { value } }"][..],
            0,
            "allowed: read \"/name\" of document tea of collection \"products\"\n  by the rule on line 3\n",
        ),
        (
            &[
                "mutation { replaceDocument(id: \"tea\", collection: \"products\", path: \"/reviews/alice\", document: 1) { key } }",
            ],
            0,
            "allowed: write \"/reviews/alice\" of document tea of collection \"products\"\n  by the rule on line 8\n",
        ),
        (
            &[
                "--variables",
                "{\"path\": \"/reviews/bob\"}",
                "mutation ($path: Path!) { replaceDocument(id: \"tea\", collection: \"products\", path: $path, document: 1) { key } }",
            ],
            1,
            "refused: write \"/reviews/bob\" of document tea of collection \"products\"\n  \
             not by the rule on line 3: `actions` does not have this action\n  \
             not by the rule on line 8: `path` does not lead to or above this place\n",
        ),
    ] {
        let ran = explain(&store, arguments);
        assert_eq!((ran.code, &*ran.out), (Some(code), expected), "{}", ran.err);
    }
    let ran = explain(
        &store,
        &[
            "{ documents(collection: \"products\", where: {at: \"$.price\", gt: 1}) { nodes { key } } }",
        ],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for line in [
        "allowed: list the documents of collection \"products\"\n",
        "allowed: read \"/price\" of the documents of collection \"products\"\n",
    ] {
        assert!(ran.out.contains(line), "{}", ran.out);
    }
    let ran = explain(&store, &["{ nothing }"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.starts_with("error: the operation is refused: "),
        "{}",
        ran.err
    );
    assert!(!store.path().exists());
}

#[test]
fn explain_knows_rules_for_listed_operations() {
    let store = Store::alone();
    let sums = "{ document(collection: \"orders\", id: \"1\", path: \"/totals\") { value } }";
    for (more, code, expected) in [
        (
            &["--listed", sums][..],
            Some(0),
            "allowed: read \"/totals\" of document 1 of collection \"orders\"\n  by the rule on line 4\n",
        ),
        (
            &[sums],
            Some(1),
            "refused: read \"/totals\" of document 1 of collection \"orders\"\n  \
             not by the rule on line 4: `operations` needs an operation of the list\n",
        ),
    ] {
        let rules = "docs/rules/dashboard.toml";
        let arguments = [
            "rules",
            "explain",
            "--rules",
            rules,
            "--as-token",
            "dashboard",
        ];
        let ran = store.run(&[&arguments, more].concat());
        assert_eq!((ran.code, &*ran.out), (code, expected), "{}", ran.err);
    }
    let ran = explain(&store, &["--listed", "{ nothing }"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.starts_with("error: the operation is refused: "),
        "{}",
        ran.err
    );
}
