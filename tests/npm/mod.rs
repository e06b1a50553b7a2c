//! Packages of npm that a test needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs the packages that `tests/<name>` locks, beside a copy of its files other than Rust, in
/// a folder that is kept for the next time. None where npm or the packages cannot be had.
pub(crate) fn install(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a directory");
    for entry in fs::read_dir(Path::new("tests").join(name)).expect("it is there") {
        let file = entry.expect("a file").path();
        if file.is_file() && file.extension().is_none_or(|extension| extension != "rs") {
            let name = file.file_name().expect("a name");
            fs::copy(&file, folder.join(name)).expect("a copy");
        }
    }
    let installed = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--silent"])
        .current_dir(&folder)
        .status();
    installed
        .is_ok_and(|status| status.success())
        .then_some(folder)
}
