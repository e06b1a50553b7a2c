use async_trait::async_trait;
use tokio::task::yield_now;

use super::*;
use crate::store::{Read, StoreLimits, Transaction};

/// A store whose reads fail.
struct UnreadableStore;

#[async_trait]
impl Store for UnreadableStore {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        Err(Error::new(ErrorKind::Unavailable, "unreadable"))
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        Err(Error::new(ErrorKind::Unavailable, "unreadable"))
    }

    async fn ready(&self) -> Result<()> {
        Err(Error::new(ErrorKind::Unavailable, "unreadable"))
    }

    async fn failed(&self) -> Error {
        std::future::pending().await
    }

    fn limits(&self) -> StoreLimits {
        StoreLimits::default()
    }
}

#[tokio::test]
async fn a_task_that_waits_after_an_error_does_not_keep_the_store_open() {
    let parts = Arc::new(FeedParts::new(Arc::new(UnreadableStore)));
    let interest = Interest::in_collection("D".to_owned());
    parts.add(&interest, &Arc::default(), Version([0; 10]));
    // The task reads, fails and begins to wait.
    for _ in 0..10 {
        yield_now().await;
    }
    let left = Arc::downgrade(&parts);
    drop(parts);
    assert_eq!(left.strong_count(), 0);
}
