//! The contract's suite, on a cluster.

use super::case::Case;
use super::injected;

/// Lists each case for the cluster.
macro_rules! on_every_engine {
    ($($case:ident),* $(,)?) => {
        pub(crate) fn suite() -> Vec<crate::case::Case> {
            vec![$(crate::case::Case::unchecked(
                concat!(module_path!(), "::", stringify!($case)),
                || Box::pin(async {
                    let store = std::sync::Arc::new(crate::shared::empty_store().await);
                    $case(super::engines::Fresh::of(store)).await;
                }),
            )),*]
        }
    };
}

#[path = "../store_conformance/clearing.rs"]
mod clearing;
#[path = "../store_conformance/concurrency.rs"]
mod concurrency;
#[path = "../store_conformance/doubt.rs"]
mod doubt;
#[expect(dead_code, reason = "the engines that need no cluster")]
#[path = "../store_conformance/engines.rs"]
mod engines;
#[path = "../store_conformance/random_steps.rs"]
mod random_steps;
#[path = "../store_conformance/reading.rs"]
mod reading;
#[path = "../store_conformance/retry.rs"]
mod retry;
#[path = "../store_conformance/stamps.rs"]
mod stamps;
#[path = "../store_conformance/writing.rs"]
mod writing;

pub(crate) fn suite() -> Vec<Case> {
    [
        clearing::suite(),
        concurrency::suite(),
        doubt::suite(),
        random_steps::suite(),
        reading::suite(),
        retry::suite(),
        stamps::suite(),
        writing::suite(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
