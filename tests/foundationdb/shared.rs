//! State shared by all cases: the client's network thread, and a cluster of one process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use phyllo::store::{FoundationDb, Network, NetworkOptions, Store};

use super::cluster::{Cluster, Redundancy};

static SHARED: Mutex<Shared> = Mutex::new(Shared {
    network: None,
    cluster: None,
});

struct Shared {
    network: Option<Network>,
    cluster: Option<Cluster>,
}

fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The client, which is started at its first use.
fn network() -> Network {
    let start = || Network::start(NetworkOptions::default()).expect("the client starts");
    shared().network.get_or_insert_with(start).clone()
}

/// The store in a cluster.
pub(crate) fn open(cluster: &Cluster) -> FoundationDb {
    let file = cluster.file();
    network().open(Some(&file)).expect("a cluster file")
}

/// An empty store in the shared cluster.
pub(crate) async fn empty_store() -> FoundationDb {
    let network = network();
    let file = {
        let mut shared = shared();
        let start = || Cluster::start(Redundancy::Single);
        shared.cluster.get_or_insert_with(start).file()
    };
    let store = network.open(Some(&file)).expect("a cluster file");
    let transaction = store.begin().await.expect("the cluster serves");
    transaction.clear_range(b"", b"\xFF");
    transaction.commit().await.expect("nobody else writes");
    store
}

/// Stops the client, and then the cluster.
pub(crate) fn stop() {
    let (network, cluster) = {
        let mut shared = shared();
        (shared.network.take(), shared.cluster.take())
    };
    drop(network);
    drop(cluster);
}
