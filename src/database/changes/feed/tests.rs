use async_trait::async_trait;
use futures::FutureExt as _;
use tokio::task::yield_now;

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::OnceLock;
use std::task::Poll;

use super::*;
use crate::budget::Sliced;
use crate::document::id::DocumentId;
use crate::document::path::{Path, Place};
use crate::key::{ChangeKind, LoggedChange};
use crate::limits::SLICE_STEPS_MAX;
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

fn version(number: u8) -> Version {
    Version([0, 0, 0, 0, 0, 0, 0, number, 0, 0])
}

/// A commit that changed documents.
fn commit(number: u8, ids: &[i64]) -> LoggedCommit {
    let change = |id: &i64| LoggedChange {
        collection: "D".to_owned(),
        kind: ChangeKind::Updated,
        id: Some(DocumentId::Integer(*id)),
        places: vec![Place::default()],
        patch: None,
    };
    LoggedCommit {
        version: version(number),
        time: 0,
        changes: ids.iter().map(change).collect(),
        shard: 0,
        bytes: 100,
        held: OnceLock::new(),
    }
}

#[tokio::test]
async fn a_subscriber_is_notified_once_of_commits_that_are_read_together() {
    let parts = Arc::new(FeedParts::new(Arc::new(UnreadableStore)));
    let add = |interest: &Interest| {
        let signal = Arc::<Signal>::default();
        (parts.add(interest, &signal, version(0)), signal)
    };
    let collection = |name: &str| Interest::in_collection(name.to_owned());
    let (tail, all) = add(&collection("D"));
    let (_, other) = add(&collection("E"));
    let of = Interest::in_path("D".to_owned(), DocumentId::Integer(2), &Path::default());
    let (_, one) = add(&of);
    let told = |signal: &Signal| signal.notified().now_or_never().map(Result::unwrap);
    let commits = vec![commit(1, &[1, 3]), commit(2, &[2, 1]), commit(3, &[1, 2])];
    assert!(parts.publish(tail, commits, version(4)).await);
    let signals = [&all, &one, &other];
    let first = [Some(version(1)), Some(version(2)), None];
    assert_eq!(signals.map(|signal| told(signal)), first);
    // What was not taken is not forgotten.
    assert!(parts.publish(tail, vec![commit(5, &[1])], version(5)).await);
    assert!(parts.publish(tail, vec![commit(6, &[2])], version(6)).await);
    let first = [Some(version(5)), Some(version(6)), None];
    assert_eq!(signals.map(|signal| told(signal)), first);
    let mut state = parts.state();
    let kept = state.tail(tail).expect("it runs");
    assert_eq!((kept.recent.len(), kept.read_to), (5, version(6)));
}

#[tokio::test]
async fn a_task_ends_without_subscribers() {
    let parts = Arc::new(FeedParts::new(Arc::new(UnreadableStore)));
    let interest = Interest::in_collection("D".to_owned());
    let signal = Arc::default();
    let tail = parts.add(&interest, &signal, version(0));
    let expired = expired();
    parts.end(tail + 1, &expired).await;
    assert!(signal.notified().now_or_never().is_none());
    parts.end(tail, &expired).await;
    let ended = signal.notified().await.expect_err("it has ended");
    assert_eq!(ended.kind(), expired.kind());
    assert!(!parts.publish(tail, vec![commit(1, &[1])], version(1)).await);
    let tail = parts.add(&interest, &signal, version(0));
    parts.state().subscribers.remove(&interest, tail);
    assert!(!parts.publish(tail, vec![commit(1, &[1])], version(1)).await);
    assert!(parts.state().tail.is_none());
}

/// A follower that has taken the commits.
fn follower(commits: Vec<LoggedCommit>) -> ChangeFollower {
    let feed = ChangeFeed::new(Arc::new(UnreadableStore));
    let interest = Interest::in_collection("D".to_owned());
    let signal = Arc::<Signal>::default();
    let mut follower = ChangeFollower {
        number: feed.0.add(&interest, &signal, version(0)),
        interest,
        histories: Histories::default(),
        position: ChangePosition::after(version(0)),
        signal,
        taken: TakenCommits::default(),
        looked_at: 0,
        patches: Arc::new(PatchWindow::new(&feed.0.patches)),
        feed,
    };
    let commits = commits.into_iter().map(Arc::new).collect();
    follower.taken.fill(&follower.feed.0.commits, commits);
    follower
}

#[tokio::test]
async fn a_follower_takes_as_many_changes_at_once_as_fit_into_a_slice() {
    const CHANGES: usize = 1_000;
    let ids: Vec<i64> = (0..1_000).collect();
    let mut follower = follower(vec![commit(1, &ids)]);
    let taken = Cell::new(0);
    let mut task = pin!(Sliced::new(async {
        while let Some(change) = follower.take().await {
            assert_eq!(change.change, taken.get());
            taken.set(taken.get() + 1);
        }
    }));
    let mut most = 0;
    poll_fn(|context| {
        let before = taken.get();
        let polled = task.as_mut().poll(context);
        most = most.max(taken.get() - before);
        polled
    })
    .await;
    assert_eq!(taken.get(), CHANGES);
    assert!(
        most as u64 <= SLICE_STEPS_MAX / STEPS_PER_CHANGE + 1,
        "{most}"
    );
}

#[tokio::test]
async fn a_follower_that_stops_waiting_loses_no_change() {
    let mut follower = follower(vec![commit(1, &[1, 2]), commit(2, &[3])]);
    let mut taken = Vec::new();
    loop {
        {
            let mut stopped = pin!(Sliced::new(async {
                count_steps(SLICE_STEPS_MAX);
                follower.take().await
            }));
            let polled = poll_fn(|context| Poll::Ready(stopped.as_mut().poll(context))).await;
            assert!(polled.is_pending());
        }
        let Some(change) = follower.take().await else {
            break;
        };
        taken.push((change.commit.version, change.change));
    }
    assert_eq!(taken, [(version(1), 0), (version(1), 1), (version(2), 0)]);
}
