//! A store with notes, for tests with clients and gateways.

use std::path::Path;
use std::process::Command;

/// Imports documents into the collection `notes` of a store that no server holds.
pub(crate) fn import(documents: &Path, store: &Path) {
    let imported = Command::new(env!("CARGO_BIN_EXE_phyllo"))
        .args(["import", "--collection", "notes", "--store"])
        .arg(store)
        .arg(documents)
        .output()
        .expect("the binary starts");
    let told = String::from_utf8_lossy(&imported.stderr);
    assert!(imported.status.success(), "{told}");
}
