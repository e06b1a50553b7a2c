//! Files that are no rules, and where their errors are.

use super::*;
use crate::error::ErrorKind;
use crate::limits::{RULES_BYTES_MAX, RULES_MAX};

const RULE: &str = "[[allow]]\nwho = \"anyone\"\nactions = [\"read\"]\ncollection = \"c\"\n";

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn an_error_has_the_line_the_column_and_what_is_wrong() {
    let rule = |member: &str| format!("{RULE}{member}");
    for (text, line, column, part) in [
        ("allow".to_owned(), 1, 6, "expected"),
        ("[[allow]\n".to_owned(), 1, 9, "expected"),
        ("a = 1\na = 2\n".to_owned(), 2, 1, "duplicate"),
        (
            "[[allows]]\n".to_owned(),
            1,
            3,
            "the file has no member \"allows\". Its members are allow",
        ),
        (
            "allow = 1\n".to_owned(),
            1,
            9,
            "an integer is not allowed here: each rule begins with `[[allow]]`",
        ),
        (
            "allow = [1]\n".to_owned(),
            1,
            10,
            "each rule begins with `[[allow]]`",
        ),
        (
            "\n[[allow]]\nwho = \"anyone\"\n".to_owned(),
            2,
            1,
            "the rule has no `actions`",
        ),
        (
            rule("wo = 1"),
            5,
            1,
            "a rule has no member \"wo\". Its members are who, actions, collection, id, path, where, operations",
        ),
        (
            rule("\"ä\" = 1").replace("who", "whom"),
            2,
            1,
            "a rule has no member \"whom\"",
        ),
        (
            RULE.replace("anyone", "everyone"),
            2,
            7,
            "`who` is \"anyone\"",
        ),
        (
            RULE.replace("\"anyone\"", "{ toke = \"x\" }"),
            2,
            9,
            "`who` has no member \"toke\"",
        ),
        (
            RULE.replace("\"anyone\"", "{ claim = \"x\" }"),
            2,
            7,
            "`who` is",
        ),
        (
            RULE.replace("\"anyone\"", "{ claim = \"x\", eq = 1, contains = 1 }"),
            2,
            7,
            "`who` is",
        ),
        (
            RULE.replace("\"anyone\"", "{ claim = \"/~\", eq = 1 }"),
            2,
            17,
            "RFC 6901",
        ),
        (
            RULE.replace("\"anyone\"", "{ claim = \"x\", eq = 1979-05-27 }"),
            2,
            27,
            "JSON has no dates",
        ),
        (
            RULE.replace("\"anyone\"", "{ claim = \"x\", eq = inf }"),
            2,
            27,
            "finite",
        ),
        (
            RULE.replace("\"read\"", "\"read\", \"reed\""),
            3,
            20,
            "the actions are read, list, write, create, delete, index",
        ),
        (
            RULE.replace("\"read\"", "\"read\", \"read\""),
            3,
            20,
            "twice",
        ),
        (RULE.replace("\"read\"", ""), 3, 11, "allows nothing"),
        (
            RULE.replace("[\"read\"]", "\"read\""),
            3,
            11,
            "a string is not allowed here: `actions` is a list",
        ),
        (RULE.replace("\"c\"", "\"\""), 4, 14, "empty"),
        (RULE.replace("\"c\"", "\"{a}-{b}\""), 4, 14, "two claims"),
        (RULE.replace("\"c\"", "\"a}\""), 4, 14, "Write `}}`"),
        (rule("id = \"{sub\""), 5, 6, "Write `{{`"),
        (rule("id = \"{}\""), 5, 6, "empty"),
        (rule("id = \"\""), 5, 6, "the id is empty"),
        (
            rule("id = 42"),
            5,
            6,
            "an integer is not allowed here: a string is needed",
        ),
        (rule("path = \"a\""), 5, 8, "does not begin with \"/\""),
        (
            rule("path = [\"a\", -1]"),
            5,
            14,
            "counts from the first element",
        ),
        (
            rule("path = [\"a\", 1.5]"),
            5,
            14,
            "a float is not allowed here",
        ),
        (rule("where = {}"), 5, 9, "`where` has no condition"),
        (rule("where = { at = \"$.a\" }"), 5, 9, "has no test"),
        (rule("where = { at = \"a\", eq = 1 }"), 5, 16, "$"),
        (
            rule("where = { at = \"$.a\", equals = 1 }"),
            5,
            23,
            "a filter has no member \"equals\"",
        ),
        (
            rule("where = { all = [{ at = \"$.a\", eq = \"{x\" }] }"),
            5,
            37,
            "Write `{{`",
        ),
        (
            rule("where = { at = \"$.a\", in = \"x\" }"),
            5,
            28,
            "`in` is a list",
        ),
        (
            RULE.replace("read", "list") + "id = \"x\"",
            5,
            6,
            "a rule with `id` cannot allow `list`",
        ),
        (
            RULE.replace("read", "create") + "path = \"/a\"",
            5,
            8,
            "a rule with `path` cannot allow `create`",
        ),
        (
            RULE.replace("read", "delete") + "path = \"/a\"",
            5,
            8,
            "To delete a part",
        ),
        (
            RULE.replace("read", "index") + "where = { at = \"$.a\", eq = 1 }",
            5,
            9,
            "a rule with `where` cannot allow `index`",
        ),
        (rule("operations = \"all\""), 5, 14, "\"listed\""),
    ] {
        let error = Rules::parse(&text)
            .err()
            .unwrap_or_else(|| panic!("{text}"));
        let place = format!("line {line}, column {column} of the rules: ");
        assert!(error.message().starts_with(&place), "{text}\n{error}");
        assert!(error.message().contains(part), "{text}\n{error}");
        assert_eq!(
            error.kind(),
            match part {
                "does not begin with \"/\"" => ErrorKind::InvalidPath,
                _ => ErrorKind::BadUserInput,
            },
            "{text}\n{error}"
        );
    }
}

#[test]
fn limits_are_named() {
    let many = RULE.repeat(RULES_MAX);
    assert_eq!(rules(&many).len(), RULES_MAX);
    for (text, limit) in [
        (RULE.repeat(RULES_MAX + 1), "rules"),
        (" ".repeat(RULES_BYTES_MAX + 1), "rulesBytes"),
        (
            format!(
                "{RULE}where = {}{{ at = \"$.a\", eq = 1 }}{}",
                "{ not = ".repeat(70),
                " }".repeat(70)
            ),
            "filterLevels",
        ),
    ] {
        let error = Rules::parse(&text).expect_err(limit);
        let facts = error.facts().and_then(|facts| facts.limit.as_ref());
        assert_eq!(facts.map(|limit| limit.name()), Some(limit), "{error}");
    }
    let deep = format!(
        "{RULE}where = {}1{}",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert!(Rules::parse(&deep).is_err());
}

#[test]
fn a_file_without_rules_refuses_everything() {
    for text in ["", "# nothing\n"] {
        let rules = rules(text);
        assert!(rules.is_empty());
        let place = used(Action::Read, "c", "x", "/a");
        let decision = rules.decide(&Principal::Anonymous, false, std::slice::from_ref(&place));
        assert_eq!(decision, Decision::Refused(Box::new(place)));
    }
}
