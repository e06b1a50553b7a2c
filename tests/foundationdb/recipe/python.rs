//! The Python environment that runs the recipe's code.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python with FoundationDB's package, in a directory that is reused.
pub(crate) fn environment() -> Result<PathBuf, &'static str> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recipe-python");
    let python = directory.join("bin/python");
    let works = || {
        let import = Command::new(&python).args(["-c", "import fdb"]).output();
        import.is_ok_and(|output| output.status.success())
    };
    if works() {
        return Ok(python);
    }
    let made = Command::new("python3")
        .args(["-m", "venv"])
        .arg(&directory)
        .output();
    if !made.is_ok_and(|output| output.status.success()) {
        return Err("python3 with venv is not here");
    }
    let installed = Command::new(&python)
        .args(["-m", "pip", "install", "--quiet", "foundationdb==7.3.*"])
        .output();
    match installed {
        Ok(_) if works() => Ok(python),
        _ => Err("the PyPI package foundationdb 7.3 cannot be had"),
    }
}
