//! A client that injects failures, including commits of unknown outcome. Client options apply to a
//! whole process, so it runs in its own.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;

use phyllo::error::ErrorKind;
use phyllo::store::{
    CommitError, Decision, FoundationDb, Network, NetworkOptions, Store, TransactionResult,
    transact,
};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::cluster::{Cluster, Redundancy};
use super::shared::open;

cases!(threads[mutations_take_effect_exactly_once_under_failures]);

/// Names the cluster file for the process with injected failures.
pub(crate) const CLUSTER: &str = "PHYLLO_TEST_FAILURES_ON_CLUSTER";

const TASKS: usize = 8;
const ROUNDS: usize = 60;
/// The percentage of possible failures that are injected.
const FAILURES_PERCENT: u8 = 8;

async fn mutations_take_effect_exactly_once_under_failures() {
    let cluster = Cluster::start(Redundancy::Single);
    let this = std::env::current_exe().expect("this program");
    let output = Command::new(this).env(CLUSTER, cluster.file()).output();
    let output = output.expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    // A client without injected failures counts the result.
    let store = open(&cluster);
    let snapshot = store.snapshot().await.expect("taken");
    for task in 0..TASKS {
        let sum = snapshot
            .get(&key(task))
            .await
            .expect("read")
            .expect("there");
        let sum = i64::from_le_bytes(sum.try_into().expect("eight bytes"));
        assert_eq!(usize::try_from(sum), Ok(ROUNDS), "task {task}");
    }
}

/// The process that the case above starts.
pub(crate) fn child(cluster_file: &Path) -> ExitCode {
    let options = NetworkOptions {
        failures_percent: Some(FAILURES_PERCENT),
    };
    let network = Network::start(options).expect("the client starts");
    let store = network.open(Some(cluster_file)).expect("a cluster file");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(count(Arc::new(store)));
    drop(runtime);
    drop(network);
    ExitCode::SUCCESS
}

async fn count(store: Arc<FoundationDb>) {
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let store = store.clone();
        tasks.spawn(async move {
            for round in 1..=ROUNDS {
                add_one(&store, task, round).await;
            }
        });
    }
    tasks.join_all().await;
    assert!(
        unknown_commits(&store).await > 0,
        "it makes up unknown commits"
    );
}

/// Adds one to a sum, and returns the previous sum of the attempt that took effect.
async fn add_one(store: &FoundationDb, task: usize, round: usize) {
    let deadline = Instant::now() + Duration::from_secs(120);
    let settled = transact(store, deadline, |transaction| {
        Box::pin(async move {
            let before = transaction.get(&key(task)).await?;
            transaction.add(&key(task), 1);
            let before = before.map_or(0, |before| before[0]);
            Ok(Decision::Commit(before))
        })
    });
    let TransactionResult::Committed(before, _) = settled.await.expect("there is time enough")
    else {
        panic!("nothing is aborted");
    };
    assert_eq!(usize::from(before) + 1, round, "task {task}");
}

/// The number of plain commits with an unknown outcome.
async fn unknown_commits(store: &FoundationDb) -> usize {
    let mut unknown = 0;
    for _ in 0..200 {
        let Ok(transaction) = store.begin().await else {
            continue;
        };
        transaction.set(b"plain", b"");
        match transaction.commit().await {
            Err(CommitError::Unknown(_)) => unknown += 1,
            Err(CommitError::Refused(error)) => assert_eq!(error.kind(), ErrorKind::Conflict),
            Ok(_) => {}
        }
    }
    unknown
}

fn key(task: usize) -> Vec<u8> {
    format!("sum {task}").into_bytes()
}
