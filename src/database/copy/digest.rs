//! What a store holds, in a few numbers.

use sha2::{Digest as _, Sha256};

use super::walk::StoreWalk;
use crate::database::catalog::collections::{Collection, collections};
use crate::database::index::definition::{IndexPath, indexes};
use crate::database::open::Database;
use crate::error::Result;
use crate::key::{Entry, all_documents};

/// What a store holds. Two stores of the same documents have the same, whatever their engines,
/// unless they differ in versions only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// The collections that hold a document, and how many.
    pub collections: Vec<Collection>,
    /// Documents that the catalog has entered.
    pub documents: u64,
    /// Leaves, also of documents that it has not.
    pub leaves: u64,
    /// SHA-256 of the leaves: of each key, in order, and its value, the length before each, in 64
    /// bits, little-endian.
    pub leaves_sha256: [u8; 32],
    /// SHA-256 of the catalog, in the same way: the entries, and then the collections with their
    /// counts in decimal, each followed by its indexes: the name, and what they are on.
    pub catalog_sha256: [u8; 32],
}

impl Digest {
    /// Reads all that a store holds. `progress` is told of every leaf's bytes.
    ///
    /// # Errors
    /// What the store fails with.
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
