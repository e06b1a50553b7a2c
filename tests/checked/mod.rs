//! The stores of asynchronous cases, which must be sound at the end of the case.

#[path = "../sound/mod.rs"]
mod sound;

use std::cell::RefCell;
use std::sync::Arc;

use phyllo::store::Store;
use sound::faults;

thread_local! {
    /// The stores of the case that this thread runs. None if it does not check them.
    static STORES: RefCell<Option<Vec<Arc<dyn Store>>>> = const { RefCell::new(None) };
}

/// Begins a case. The stores that this thread makes are checked from now on.
pub(crate) fn begin() {
    STORES.set(Some(Vec::new()));
}

/// Ends a case. Asserts that a check finds no fault in its stores.
pub(crate) async fn assert_sound() {
    check(STORES.take().unwrap_or_default()).await;
}

/// An empty in-memory store. It is checked at the end of the case, or before the next one is made if
/// nothing else uses it.
pub(crate) async fn empty_store() -> Arc<dyn Store> {
    let store: Arc<dyn Store> = Arc::new(crate::cases::new_store().await);
    if let Some(stores) = STORES.take() {
        let is_unused = |store: &Arc<dyn Store>| Arc::strong_count(store) == 1;
        let (unused, mut used): (Vec<_>, Vec<_>) = stores.into_iter().partition(is_unused);
        used.push(store.clone());
        STORES.set(Some(used));
        check(unused).await;
    }
    store
}

async fn check(stores: Vec<Arc<dyn Store>>) {
    for store in stores {
        let faults = faults(&store).await;
        assert!(faults.is_empty(), "a store is not sound: {faults:#?}");
    }
}
