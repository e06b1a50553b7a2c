//! Compares the limits in the documentation with those of the program.

use std::process::Command;

/// A limit: its description, flag and default.
type Limit = (String, String, String);

/// The limits in `phyllo serve --help`, in order.
fn told_by_the_program() -> Vec<Limit> {
    let help = Command::new(env!("CARGO_BIN_EXE_phyllo"))
        .args(["serve", "--help"])
        .output()
        .expect("the binary runs");
    let help = String::from_utf8(help.stdout).expect("UTF-8");
    let limits = help.split("Limits on requests:").nth(1);
    let limits = limits.and_then(|limits| limits.split("\nExamples:").next());
    let flags = limits.expect("the limits").split("\n      --").skip(1);
    flags.map(told).collect()
}

/// Parses `flag <UNIT>`, the description, and `[default: amount]`.
fn told(flag: &str) -> Limit {
    let (name, rest) = flag.split_once(" <").expect("a flag");
    let (_, rest) = rest.split_once('\n').expect("a text");
    let (text, rest) = rest.split_once("[default: ").expect("a default");
    let (default, _) = rest.split_once(']').expect("an end");
    let text: Vec<&str> = text.split_whitespace().collect();
    (text.join(" "), format!("`--{name}`"), default.to_owned())
}

/// The rows of the table in the documentation.
fn told_by_the_table() -> Vec<Limit> {
    let page = include_str!("../../docs/limits.md");
    let rows = page.lines().filter(|line| line.contains("| `--"));
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [_, what, flag, default, past, _] = cells[..] else {
            panic!("a row has four cells: {row}");
        };
        assert!(!past.is_empty() || flag == "`--connections-max`", "{row}");
        (what.to_owned(), flag.to_owned(), default.to_owned())
    })
    .collect()
}

#[test]
fn table_of_limits_matches_the_program() {
    let program = told_by_the_program();
    assert!(program.len() > 20, "{program:?}");
    assert_eq!(told_by_the_table(), program);
}

#[test]
fn invalid_limits_are_rejected() {
    for (flag, amount) in [
        ("--body-bytes-max", "0"),
        ("--body-bytes-max", "1MB"),
        ("--query-tokens-max", "0"),
        ("--query-brackets-max", "129"),
        ("--query-levels-max", "65"),
        ("--request-time-max", "0s"),
        ("--request-time-max", "1"),
        ("--connections-max", "-1"),
    ] {
        let flag_is = format!("{flag}={amount}");
        let ran = Command::new(env!("CARGO_BIN_EXE_phyllo"))
            .args(["serve", "--store", "/nowhere/at/all", &flag_is])
            .output()
            .expect("the binary runs");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(2), "{flag_is}: {said}");
        assert!(said.contains(flag), "{said}");
    }
}
