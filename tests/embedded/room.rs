//! Changes in memory and the log have limits, at which transactions wait for a checkpoint, however many
//! writers there are. Syncs are released before an assertion, because a store that is dropped waits for
//! them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use phyllo::store::Embedded;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::machine::{LOG_BYTES_MAX, Machine, OVERLAY_BYTES_MAX};
use crate::{all, logged, set};

/// The bytes of a large value, and those of its key and of the change in memory at most.
const VALUE_BYTES: usize = 5_000;
const CHANGE_BYTES_MAX: usize = VALUE_BYTES + 40;

/// Files of the log grow by this.
const ALLOCATED_BYTES: usize = 1 << 20;

/// Writers, each of which commits values of this size one after another.
struct Writers {
    committed: Arc<AtomicUsize>,
    tasks: Vec<JoinHandle<()>>,
}

impl Writers {
    fn start(store: &Arc<Embedded>, writers: usize, commits: usize, bytes: usize) -> Self {
        let committed = Arc::new(AtomicUsize::new(0));
        let write = |writer: usize| {
            let (store, committed) = (store.clone(), committed.clone());
            async move {
                for number in 0..commits {
                    let key = format!("{writer:03} {number:03}");
                    set(&store, key, vec![1; bytes]).await.expect("committed");
                    committed.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        let tasks = (0..writers).map(|writer| tokio::spawn(write(writer)));
        Self {
            tasks: tasks.collect(),
            committed,
        }
    }

    fn committed(&self) -> usize {
        self.committed.load(Ordering::Relaxed)
    }

    /// The number of commits, once it has reached `count_min` and does not grow any more.
    async fn committed_until_they_wait(&self, count_min: usize) -> usize {
        loop {
            let before = self.committed();
            sleep(Duration::from_millis(300)).await;
            if before >= count_min && self.committed() == before {
                return before;
            }
        }
    }

    async fn end(self) {
        for ended in join_all(self.tasks).await {
            ended.expect("a writer");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn transactions_wait_while_too_many_bytes_wait_for_a_checkpoint() {
    for writers in [1, 64] {
        let machine = Machine::new();
        let store = Arc::new(logged(&machine).await);
        machine.hold_database_syncs(true);
        let commits_max = OVERLAY_BYTES_MAX.div_ceil(VALUE_BYTES);
        let started = Writers::start(&store, writers, 192 / writers, VALUE_BYTES);
        let commits_min = OVERLAY_BYTES_MAX / CHANGE_BYTES_MAX;
        let committed = started.committed_until_they_wait(commits_min).await;
        let pairs = all(&store).await.len();
        machine.hold_database_syncs(false);
        assert!(committed <= commits_max, "{writers} writers: {committed}");
        assert_eq!(pairs, committed + 2);
        started.end().await;
        assert_eq!(all(&store).await.len(), 192 / writers * writers + 2);
    }
}

/// A frame takes a block, however small its commits are.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_wait_while_the_log_is_long() {
    let machine = Machine::new();
    let store = Arc::new(logged(&machine).await);
    machine.hold_database_syncs(true);
    let started = Writers::start(&store, 1, 200, 1);
    let frames_max = usize::try_from(LOG_BYTES_MAX).expect("small") / 4096;
    let committed = started.committed_until_they_wait(frames_max - 5).await;
    let bytes = machine.log_bytes().iter().sum::<usize>();
    machine.hold_database_syncs(false);
    assert!(committed <= frames_max, "{committed}");
    assert!(bytes <= 2 * ALLOCATED_BYTES, "{bytes}");
    started.end().await;
    assert_eq!(all(&store).await.len(), 202);
}

/// Checkpoints succeed, but the log does not.
#[tokio::test(flavor = "multi_thread")]
async fn transactions_wait_while_too_many_bytes_wait_for_the_log() {
    let machine = Machine::new();
    let store = Arc::new(logged(&machine).await);
    machine.hold_log_syncs(true);
    let started = Writers::start(&store, 96, 2, VALUE_BYTES);
    let commits_max = usize::try_from(LOG_BYTES_MAX).expect("small") / VALUE_BYTES + 1;
    let committed = started.committed_until_they_wait(1).await;
    machine.hold_log_syncs(false);
    assert!(committed <= commits_max, "{committed}");
    started.end().await;
    assert_eq!(all(&store).await.len(), 194);
}

/// The thread that makes checkpoints never waits for the write lock behind all writers.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_short_with_many_writers() {
    let machine = Machine::new();
    let store = Arc::new(logged(&machine).await);
    let started = Writers::start(&store, 500, 4, VALUE_BYTES);
    while started.committed() < 2000 {
        let longest = machine.log_bytes().into_iter().max();
        assert!(longest <= Some(ALLOCATED_BYTES), "{longest:?}");
        sleep(Duration::from_millis(1)).await;
    }
    started.end().await;
    assert_eq!(all(&store).await.len(), 2002);
}

/// Without a log, the sync thread waits for the write lock behind all writers.
#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_of_a_store_without_a_log_has_few_bytes() {
    let machine = Machine::new();
    let store = Arc::new(machine.open().expect("a store"));
    let before = machine.database_syncs();
    Writers::start(&store, 100, 2, VALUE_BYTES).end().await;
    assert_eq!(all(&store).await.len(), 200);
    let syncs = machine.database_syncs() - before;
    let commits_max = OVERLAY_BYTES_MAX.div_ceil(VALUE_BYTES);
    assert!(syncs >= 200 / commits_max, "{syncs} syncs");
}
