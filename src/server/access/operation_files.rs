//! The files of listed operations (`--operations`).

use std::path::PathBuf;
use std::sync::Arc;

use crate::document::leaf::abridged;
use crate::error::Result;
use crate::graphql::{GraphQl, OperationList};
use crate::limits::INVALID_OPERATIONS_LOGGED_MAX;
use crate::server::file_reload::{ReloadedFile, Watch};

/// The operations that clients can send by id. The server reloads their files when they change.
#[derive(Clone, Debug)]
pub struct OperationFiles {
    list: Arc<ReloadedFile<OperationList>>,
    only: bool,
}

impl OperationFiles {
    /// Reads the manifests of a list. If `only`, the server rejects all other operations.
    ///
    /// # Errors
    /// `UNAVAILABLE`: a file cannot be read. Errors of [`OperationList::read`].
    pub fn new(paths: Vec<PathBuf>, only: bool) -> Result<Self> {
        let secret = |_: &[u8]| false;
        let files = paths.into_iter().map(|path| Watch { path, secret });
        let list = ReloadedFile::new(files.collect(), OperationList::read);
        let list = Arc::new(list.map_err(|error| error.at("--operations"))?);
        Ok(Self { list, only })
    }

    /// Whether all other operations are rejected.
    pub(crate) fn only(&self) -> bool {
        self.only
    }

    /// Lists the operations in effect, and logs those that are not valid.
    pub(crate) async fn load(&self, graphql: &GraphQl) {
        let list = self.list.current();
        let count = list.count();
        let invalid = graphql.list_operations(list).await;
        for operation in invalid.iter().take(INVALID_OPERATIONS_LOGGED_MAX) {
            tracing::error!(
                "the operation {:?} in {} is not valid and will be rejected: {}",
                abridged(&operation.id),
                self.list,
                operation.reason
            );
        }
        match invalid.len() {
            0 => tracing::info!("{count} operations are listed"),
            invalid => tracing::error!("{invalid} of the {count} listed operations are not valid"),
        }
    }

    /// Reloads the files whenever they change. Never returns.
    pub(crate) async fn watch(self, graphql: GraphQl) {
        let mut changes = self.list.changes();
        let listing = async {
            while changes.changed().await.is_ok() {
                self.load(&graphql).await;
            }
        };
        tokio::join!(self.list.clone().watch(), listing);
    }

    /// Reloads the files immediately.
    pub(crate) async fn reload(&self) {
        self.list.clone().reload().await;
    }
}
