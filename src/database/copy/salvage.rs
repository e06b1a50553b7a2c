//! What of a damaged store is whole: its documents, its index definitions, and the settings of its change
//! log. The catalog and the counts are not needed, so they may be damaged.

use std::sync::Arc;

use super::walk::{DocumentHead, Documents};
use crate::database::catalog::scan::Scanned;
use crate::database::changes::settings::ChangeSettings;
use crate::database::index::definition::Index;
use crate::database::open::Database;
use crate::database::types::define::{StoredType, stored_type};
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::key::{Entry, Family, JsonText, all_documents, name_of_collection};
use crate::store::{Batches, LostKeys, Read};

/// The documents of a damaged store, in the order of their keys.
pub struct SalvagedDocuments {
    documents: Documents,
    lost: LostKeys,
}

/// A document of a damaged store.
pub enum SalvagedDocument {
    /// All of it is there.
    Whole {
        /// The name of its collection.
        collection: String,
        /// The document.
        document: Scanned,
    },
    /// Something of it is lost.
    Lost {
        /// The prefix of its keys.
        key: Vec<u8>,
        /// What is known to be lost.
        reason: String,
    },
    /// It was stored by another program under an id that no GraphQL ID can express.
    Foreign {
        /// The prefix of its keys.
        key: Vec<u8>,
    },
}

/// The settings of a damaged store that are whole.
#[derive(Default)]
pub struct SalvagedSettings {
    /// The collections and definitions of the indexes.
    pub indexes: Vec<(String, Index)>,
    /// The types of collections.
    pub types: Vec<StoredType>,
    /// The settings of the change log, if it was ever on.
    pub changes: Option<ChangeSettings>,
    /// What is lost, or may be.
    pub faults: Vec<String>,
}

impl SalvagedDocuments {
    /// The documents of a database that lacks the lost keys.
    ///
    /// # Errors
    /// As [`Database::snapshot`].
    pub async fn of(database: &Database, lost: LostKeys) -> Result<Self> {
        Ok(Self {
            documents: Documents::of(database).await?,
            lost,
        })
    }

    /// The next document. `None` after the last.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn next(&mut self) -> Result<Option<SalvagedDocument>> {
        let Some(head) = self.documents.next().await? else {
            return Ok(None);
        };
        let text = self.text(&head).await?;
        let id = id_of(&head);
        let (text, collection, id) = match (text, head.collection, id) {
            (Err(reason), ..) => {
                let key = head.key;
                return Ok(Some(SalvagedDocument::Lost { key, reason }));
            }
            (Ok(text), Some(collection), Some(id)) => (text, collection, id),
            _ => return Ok(Some(SalvagedDocument::Foreign { key: head.key })),
        };
        Ok(Some(SalvagedDocument::Whole {
            collection,
            document: Scanned { id, json: text },
        }))
    }

    /// The JSON of a document, or what is lost of it. Moves past its leaves.
    async fn text(&mut self, head: &DocumentHead) -> Result<Result<Vec<u8>, String>> {
        let is_lost = self.lost.has_any(&head.key, &head.end());
        let mut json = Vec::new();
        let mut text = JsonText::new(&mut json);
        let (mut damage, mut is_empty) = (None, true);
        while let Some((key, value)) = self.documents.leaves.pair().await? {
            if !head.covers(key) {
                break;
            }
            is_empty = false;
            if !is_lost && damage.is_none() {
                let pushed = text.push(&key[head.key.len()..], value);
                damage = pushed.err().map(|error| error.to_string());
            }
            self.documents.leaves.step();
        }
        let outcome = match damage {
            _ if is_lost => Err("a part of its pairs is lost".to_owned()),
            _ if is_empty => Err("it is in the catalog, but its pairs are missing".to_owned()),
            Some(damage) => Err(damage),
            None => text.finish().map_err(|error| error.to_string()),
        };
        Ok(outcome.map(|()| json))
    }
}

fn id_of(head: &DocumentHead) -> Option<DocumentId> {
    let (_, collection) = name_of_collection(&head.key)?;
    match Family::document_id(&head.key, collection) {
        Ok((id, bytes)) if bytes == head.key.len() => Some(id),
        _ => None,
    }
}

impl SalvagedSettings {
    /// Reads the settings of a database that lacks the lost keys.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn of(database: &Database, lost: &LostKeys) -> Result<Self> {
        let snapshot = database.snapshot().await?;
        let mut settings = Self::default();
        settings.read_definitions(&snapshot, lost).await?;
        let key = Family::ChangeSettings.key()?;
        let is_lost = lost.has_any(&key, &crate::store::key_after(&key));
        match ChangeSettings::read(&*snapshot).await {
            _ if is_lost => settings.lacks("the settings of the change log are lost".to_owned()),
            Ok(changes) => settings.changes = changes,
            Err(error) => settings.lacks(error.to_string()),
        }
        let is_any_lost = |(begin, end): (Vec<u8>, Vec<u8>)| lost.has_any(&begin, &end);
        if is_any_lost(all_documents()) && is_any_lost(Entry::Existence.all()) {
            settings.lacks("documents may be missing of which nothing is known".to_owned());
        }
        Ok(settings)
    }

    async fn read_definitions(&mut self, snapshot: &Arc<dyn Read>, lost: &LostKeys) -> Result<()> {
        let (begin, end) = Family::counts();
        if lost.has_any(&begin, &end) {
            self.lacks("definitions of indexes and types may be missing".to_owned());
        }
        let mut batches = Batches::new(&**snapshot, begin, end);
        while let Some(pairs) = batches.next().await? {
            for (key, value) in pairs.iter() {
                let Some(collection) = Family::defined_collection(key) else {
                    continue;
                };
                if Family::is_type(key) {
                    match stored_type(&**snapshot, &collection).await {
                        Ok(stored) => self.types.extend(stored),
                        Err(_) => self.lacks(format!("the type of {collection}")),
                    }
                    continue;
                }
                let index = Family::index_name(key).and_then(|name| Index::decode(name, value));
                match index {
                    Some(index) => self.indexes.push((collection, index)),
                    None => self.lacks(format!("a definition of an index of {collection}")),
                }
            }
        }
        Ok(())
    }

    fn lacks(&mut self, fault: String) {
        self.faults.push(fault);
    }
}
