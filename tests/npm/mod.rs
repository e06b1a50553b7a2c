//! Packages of npm that a test needs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs the packages that `tests/<name>` locks, beside a copy of its files, in a folder that is kept
/// for the next time. None where npm or the packages cannot be had.
#[allow(dead_code, reason = "each program that has it uses a part")]
pub(crate) fn install(name: &str) -> Option<PathBuf> {
    install_from(&Path::new("tests").join(name), name)
}

/// As [`install`], of any folder. The copy is called `name`.
pub(crate) fn install_from(source: &Path, name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    copy(source, &folder);
    let installed = Command::new("npm")
        .args(["ci", "--ignore-scripts", "--silent"])
        .current_dir(&folder)
        .status();
    installed
        .is_ok_and(|status| status.success())
        .then_some(folder)
}

/// Copies the files of a folder, without Rust and what npm and Vite make.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("it is there") {
        let file = entry.expect("a file").path();
        let name = file.file_name().expect("a name");
        let is_made = name == "node_modules" || name == "dist";
        if file.is_dir() && !is_made {
            copy(&file, &to.join(name));
        } else if file.is_file() && file.extension().is_none_or(|extension| extension != "rs") {
            fs::copy(&file, to.join(name)).expect("a copy");
        }
    }
}
