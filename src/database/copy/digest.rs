//! Digests that summarize the content of a store.

use sha2::{Digest as _, Sha256};

use super::walk::StoreWalk;
use crate::database::catalog::collections::{Collection, collections};
use crate::database::index::definition::{IndexPath, indexes};
use crate::database::open::Database;
use crate::error::Result;
use crate::key::{Entry, all_documents};

/// A summary of the content of a store. Stores with the same documents and indexes have the same
/// digest, whatever their engine. Versions are not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The collections that hold a document or an index, with their document counts.
    pub collections: Vec<Collection>,
    /// Documents with a catalog entry.
    pub documents: u64,
    /// Leaves, including those of documents without a catalog entry.
    pub leaves: u64,
    /// SHA-256 of all leaves in key order: key and value, each preceded by its length as 64 bits,
    /// little-endian.
    pub leaves_sha256: [u8; 32],
    /// SHA-256 of the catalog, in the same form: the catalog entries, then each collection with its
    /// count in decimal, followed by its indexes with their names and paths.
    pub catalog_sha256: [u8; 32],
}

impl Digest {
    /// Reads the whole store. Calls `progress` with the bytes of each leaf.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn of(database: &Database, progress: impl Fn(usize)) -> Result<Self> {
        let mut leaves = DigestedDocument::default();
        let mut walk = StoreWalk::over(database, all_documents()).await?;
        while let Some((key, value)) = walk.pair().await? {
            leaves.add(key, value);
            progress(key.len() + value.len());
            walk.step();
        }
        let mut catalog = DigestedDocument::default();
        let mut walk = StoreWalk::over(database, Entry::Existence.all()).await?;
        while let Some((key, value)) = walk.pair().await? {
            catalog.add(key, value);
            walk.step();
        }
        let documents = catalog.count;
        let snapshot = database.snapshot().await?;
        let collections = collections(&*snapshot).await?;
        for Collection { name, count } in &collections {
            catalog.add(name.as_bytes(), count.to_string().as_bytes());
            for index in indexes(&*snapshot, name).await? {
                let on: Vec<&str> = index.on.iter().map(IndexPath::text).collect();
                let unique = if index.unique { "unique on " } else { "on " };
                let text = format!("{unique}{}", on.join(" "));
                catalog.add(index.name.as_bytes(), text.as_bytes());
            }
        }
        Ok(Self {
            collections,
            documents,
            leaves: leaves.count,
            leaves_sha256: leaves.hash.finalize().into(),
            catalog_sha256: catalog.hash.finalize().into(),
        })
    }
}

#[derive(Default)]
struct DigestedDocument {
    hash: Sha256,
    count: u64,
}

impl DigestedDocument {
    fn add(&mut self, key: &[u8], value: &[u8]) {
        for part in [key, value] {
            self.hash.update((part.len() as u64).to_le_bytes());
            self.hash.update(part);
        }
        self.count += 1;
    }
}
