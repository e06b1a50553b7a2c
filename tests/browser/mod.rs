//! The browser that tests drive.

use std::process::Command;

use super::skip::skipped;

/// The program of Chromium: the value of `CHROMIUM`, or `/usr/bin/chromium`. `None` if it cannot be
/// run; the test `what` is then reported as skipped.
pub(crate) fn chromium(what: &str) -> Option<String> {
    let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    if Command::new(&program).arg("--version").output().is_err() {
        skipped(what, &format!("{program} was not found"));
        return None;
    }
    Some(program)
}
