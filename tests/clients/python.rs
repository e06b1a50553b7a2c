//! Python's `gql`, in its own virtual environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::start;
use crate::skip::{skipped, skips_long};

/// The interpreter of an environment with the locked packages, which is reused. `None` if Python or
/// the packages cannot be installed.
fn interpreter() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients-python");
    let python = folder.join("bin").join("python");
    let installed = folder.join("requirements.txt");
    let wanted = fs::read("tests/clients/requirements.txt").expect("it is there");
    // The copy is made last, so it shows that the installation is complete.
    if fs::read(&installed).is_ok_and(|packages| packages == wanted) {
        return Some(python);
    }
    succeeds(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder),
    )?;
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    let packages = [
        "--retries",
        "1",
        "--requirement",
        "tests/clients/requirements.txt",
    ];
    succeeds(Command::new(&python).args(pip).args(packages))?;
    fs::write(installed, wanted).expect("a copy");
    Some(python)
}

fn succeeds(command: &mut Command) -> Option<()> {
    let status = command.status();
    status.is_ok_and(|status| status.success()).then_some(())
}

#[test]
fn python_gql_validates_and_runs_operations_by_schema_file_and_by_introspection() {
    let what = "Python's gql";
    if skips_long(what) {
        return;
    }
    let Some(python) = interpreter() else {
        skipped(what, "Python or its packages could not be installed");
        return;
    };
    let store = tempfile::tempdir().expect("a directory");
    let server = start(store.path(), &["--change-retention", "1h"]);
    let ran = Command::new(python)
        .arg("tests/clients/gql_client.py")
        .arg(format!("{}/graphql", server.url()))
        .arg("schema.graphql")
        .output()
        .expect("Python starts");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{told}");
}
