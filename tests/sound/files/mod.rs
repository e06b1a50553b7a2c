//! The check of a store in a directory, after its last process ended.

#[path = "../mod.rs"]
mod sound;

use std::path::Path;
use std::sync::Arc;

use phyllo::store::{Embedded, EmbeddedOptions, FILE_NAME, Store};
use sound::faults;

/// Asserts that a check finds no fault in the store of a directory, which no process holds. Does
/// nothing if there is no store, or if the test has failed already.
pub(crate) fn assert_sound(directory: &Path) {
    if std::thread::panicking() || !directory.join(FILE_NAME).exists() {
        return;
    }
    // A thread of its own, because the test may run inside a runtime.
    let checked = std::thread::scope(|scope| scope.spawn(|| faults_in(directory)).join());
    let faults = checked.expect("the check ends");
    assert!(faults.is_empty(), "the store is not sound: {faults:#?}");
}

fn faults_in(directory: &Path) -> Vec<phyllo::database::Finding> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let store = Embedded::open(directory, EmbeddedOptions::default(), |_| {});
        let store: Arc<dyn Store> = Arc::new(store.expect("the store opens"));
        faults(&store).await
    })
}
