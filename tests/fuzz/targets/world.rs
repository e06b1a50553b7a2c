//! An empty database in memory.

use std::sync::Arc;
use std::time::Duration;

use phyllo::database::Database;
use phyllo::store::Embedded;
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

/// A database, and the runtime for its calls.
pub(super) struct World {
    pub(super) runtime: Runtime,
    pub(super) database: Database,
}

impl World {
    pub(super) fn new() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let backend = redb::backends::InMemoryBackend::new();
        let store = Arc::new(Embedded::on_backend(backend).expect("a new store"));
        let deadline = Instant::now() + Duration::from_secs(60);
        let database = runtime.block_on(Database::open(store, deadline));
        Self {
            runtime,
            database: database.expect("a new database"),
        }
    }
}
