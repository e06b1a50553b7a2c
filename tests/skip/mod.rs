//! Skipped tests and long tests.
//!
//! | variable | what it does |
//! |---|---|
//! | `PHYLLO_LONG_TESTS=1` | long tests run, and tests with rounds run all of them; `./check` sets it |
//! | `PHYLLO_SKIPPED` | a file to which the `skipped:` lines are appended; `./check` repeats them at its end |

#![allow(dead_code, reason = "each program that has it uses a part")]

use std::fs::OpenOptions;
use std::io::Write;

/// Reports that `what` is skipped, and why, in a line that begins with `skipped:`. The line goes to
/// standard error itself, because the test harness shows what a passing test prints to nobody.
pub(crate) fn skipped(what: &str, why: &str) {
    let line = format!("skipped: {what}: {why}\n");
    let shown = std::io::stderr().lock().write_all(line.as_bytes());
    shown.expect("standard error takes text");
    let Some(path) = std::env::var_os("PHYLLO_SKIPPED") else {
        return;
    };
    let file = OpenOptions::new().create(true).append(true).open(path);
    let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
    written.expect("the file of PHYLLO_SKIPPED takes text");
}

/// Whether long tests run.
pub(crate) fn runs_long_tests() -> bool {
    std::env::var_os("PHYLLO_LONG_TESTS").is_some_and(|value| value == "1")
}

/// Whether the long test `what` is to be skipped, which is then reported.
pub(crate) fn skips_long(what: &str) -> bool {
    let skips = !runs_long_tests();
    if skips {
        skipped(what, "a long test; PHYLLO_LONG_TESTS=1 runs it");
    }
    skips
}

/// A number of rounds: `long` if long tests run, else `quick`.
pub(crate) fn rounds<T>(quick: T, long: T) -> T {
    if runs_long_tests() { long } else { quick }
}
