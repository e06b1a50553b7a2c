//! The types of all collections of a database.

use crate::database::open::Database;
use crate::database::types::all_types::CollectionTypes;
use crate::error::Result;
use crate::key::Version;

impl Database {
    /// The types of all collections. `None` if they have not changed since they were read with the version
    /// `known`.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn collection_types(
        &self,
        known: Option<&Version>,
    ) -> Result<Option<CollectionTypes>> {
        let snapshot = self.lazy_snapshot().await?;
        CollectionTypes::read(&*snapshot, self.types(), known).await
    }
}
