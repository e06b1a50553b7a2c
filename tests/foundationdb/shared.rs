//! State shared by all cases: the client's network thread, and a cluster of one process.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phyllo::store::{FoundationDb, Network, NetworkOptions, Store};

use super::cluster::{Cluster, Redundancy};
use super::sound::faults;

static SHARED: Mutex<Shared> = Mutex::new(Shared {
    network: None,
    cluster: None,
    stores: Stores::Unchecked,
});

struct Shared {
    network: Option<Network>,
    cluster: Option<Cluster>,
    /// What the current case did with the shared cluster.
    stores: Stores,
}

/// Whether the store of the current case must be sound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stores {
    /// The case stores what no program would.
    Unchecked,
    /// The case has no store in the shared cluster so far.
    None,
    One,
}

/// Begins a case. Its stores in the shared cluster must be sound at its end, if `checked`.
pub(crate) fn begin_case(checked: bool) {
    shared().stores = if checked {
        Stores::None
    } else {
        Stores::Unchecked
    };
}

/// Asserts that a check finds no fault in the store of the case.
pub(crate) async fn assert_sound() {
    let stores = shared().stores;
    if stores == Stores::One {
        let store: Arc<dyn Store> = Arc::new(open_shared());
        let faults = faults(&store).await;
        assert!(faults.is_empty(), "the store is not sound: {faults:#?}");
    }
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

/// The store in the shared cluster, which is started at its first use.
fn open_shared() -> FoundationDb {
    let network = network();
    let file = {
        let mut shared = shared();
        let start = || Cluster::start(Redundancy::Single);
        shared.cluster.get_or_insert_with(start).file()
    };
    network.open(Some(&file)).expect("a cluster file")
}

/// An empty store in the shared cluster. An earlier one of the same case must be sound.
pub(crate) async fn empty_store() -> FoundationDb {
    assert_sound().await;
    {
        let mut shared = shared();
        if shared.stores == Stores::None {
            shared.stores = Stores::One;
        }
    }
    let store = open_shared();
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
