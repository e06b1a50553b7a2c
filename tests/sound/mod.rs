//! The check of `phyllo check`, which tests run over their stores at their end.

use std::sync::Arc;

use phyllo::database::{Check, Finding, Severity};
use phyllo::store::{RangeRead, Store};

/// What a check finds in a store, except what other programs left. A store without any pair has no
/// database and is not checked.
pub(crate) async fn faults(store: &Arc<dyn Store>) -> Vec<Finding> {
    let snapshot = store.snapshot().await.expect("a snapshot");
    let first = RangeRead::new(b"", b"\xFF").at_most(1);
    if snapshot
        .range(first)
        .await
        .expect("a range")
        .pairs
        .is_empty()
    {
        return Vec::new();
    }
    let check = Check::of_store(store.clone(), None).await;
    let mut check = check.expect("a check");
    let mut faults = Vec::new();
    while let Some(finding) = check.next_finding().await.expect("a check") {
        if finding.severity != Severity::Information {
            faults.push(finding);
        }
    }
    faults
}
