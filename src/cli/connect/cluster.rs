//! Opens FoundationDB clusters, if the program was built with FoundationDB.

use std::path::Path;

use crate::error::Result;

/// The clusters of this process. They share one client, which is started once.
#[derive(Default)]
pub(crate) struct Clusters {
    #[cfg(feature = "foundationdb")]
    network: Option<crate::store::Network>,
}

impl Clusters {
    /// Opens the cluster of a cluster file, or of the default one.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the cluster file is invalid, or the client cannot be used.
    #[cfg(feature = "foundationdb")]
    pub(crate) fn open(
        &mut self,
        cluster_file: Option<&Path>,
    ) -> Result<crate::store::FoundationDb> {
        use crate::store::{Network, NetworkOptions};
        let network = match &self.network {
            Some(network) => network.clone(),
            None => Network::start(NetworkOptions::default())?,
        };
        // Each store keeps the network alive until it is dropped.
        self.network.insert(network).open(cluster_file)
    }

    /// Fails and explains how to build the program with FoundationDB.
    ///
    /// # Errors
    /// `UNAVAILABLE`: always.
    #[cfg(not(feature = "foundationdb"))]
    #[expect(clippy::unused_self, reason = "as with the feature")]
    pub(crate) fn open(&mut self, cluster_file: Option<&Path>) -> Result<crate::store::Embedded> {
        let which = cluster_file.map_or_else(String::new, |file| format!(" of {}", file.display()));
        Err(crate::cli::outcome::failed(format!(
            "this program was built without FoundationDB and cannot open the cluster{which}; \
             install FoundationDB's client package and build it with `cargo build --release \
             --features foundationdb`"
        )))
    }
}

/// Opens the only cluster of this process: [`Clusters::open`].
#[cfg(feature = "foundationdb")]
pub(crate) fn open(cluster_file: Option<&Path>) -> Result<crate::store::FoundationDb> {
    Clusters::default().open(cluster_file)
}

/// Fails like [`Clusters::open`].
#[cfg(not(feature = "foundationdb"))]
pub(crate) fn open(cluster_file: Option<&Path>) -> Result<crate::store::Embedded> {
    Clusters::default().open(cluster_file)
}
