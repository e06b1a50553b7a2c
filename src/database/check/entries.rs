//! Entries of indexes, compared both ways with the documents.

use std::sync::Arc;

use super::finding::{Report, What};
use crate::database::DocumentKey;
use crate::database::index::{Index, State, Values, indexes, of_stored};
use crate::error::{ErrorKind, Result};
use crate::key::{Family, IndexKey, OwnKey, SystemKey};
use crate::store::Read;

/// The indexes of the collection at hand.
pub(super) struct Indexes {
    read: Arc<dyn Read>,
    collection: String,
    found: Arc<[Index]>,
}

impl Indexes {
    pub(super) fn new(read: Arc<dyn Read>) -> Self {
        Self {
            read,
            collection: String::new(),
            found: Arc::default(),
        }
    }

    /// The indexes of a collection; none if a definition is damaged, which is told of itself.
    async fn of(&mut self, collection: &str) -> Result<Arc<[Index]>> {
        if self.collection != collection {
            self.found = match indexes(&*self.read, collection).await {
                Ok(indexes) => indexes.into(),
                Err(error) if error.kind() == ErrorKind::Internal => Arc::default(),
                Err(error) => return Err(error),
            };
            collection.clone_into(&mut self.collection);
        }
        Ok(self.found.clone())
    }

    /// Whether a document that is entered has each of its entries in the indexes that serve.
    pub(super) async fn check_document(
        &mut self,
        document: &[u8],
        report: &mut Report,
    ) -> Result<()> {
        let Some(document) = document_key(document) else {
            return Ok(());
        };
        for index in &*self.of(&document.collection).await? {
            if index.state != State::Ready {
                continue;
            }
            let key = IndexKey::new(&document.collection, index.number)?;
            for values in self.values(&document, index).await? {
                let Ok(entry) = key.entry(&values, &document.id) else {
                    continue;
                };
                if self.read.get(&entry).await?.is_none() {
                    report.tell(What::NoEntry, &entry);
                }
            }
        }
        Ok(())
    }

    /// Whether an entry is of an index, and its document holds what it says.
    pub(super) async fn check_entry(
        &mut self,
        entry: &[u8],
        value: &[u8],
        report: &mut Report,
    ) -> Result<()> {
        let Some(SystemKey::Entry(collection, number)) = SystemKey::parse(entry) else {
            report.tell(What::UnknownKey, entry);
            return Ok(());
        };
        let Some(collection) = OwnKey::of(collection).collection else {
            report.tell(What::UnknownKey, entry);
            return Ok(());
        };
        if !value.is_empty() {
            report.tell(What::EntryValue, entry);
        }
        let indexes = self.of(&collection).await?;
        let index = indexes.iter().find(|index| index.number == number);
        let Some(index) = index.filter(|index| index.is_kept()) else {
            report.tell(What::EntryAlone, entry);
            return Ok(());
        };
        let key = IndexKey::new(&collection, number)?;
        let Some((values, id)) = key.parse(entry, index.on.len()) else {
            report.tell(What::UnknownKey, entry);
            return Ok(());
        };
        let existence = Family::Existence(&collection, &id).key();
        let entered = match existence {
            Ok(existence) => self.read.get(&existence).await?.is_some(),
            Err(_) => false,
        };
        let holds = entered && {
            let document = Arc::new(DocumentKey::new(collection, id)?);
            self.values(&document, index).await?.contains(values)
        };
        if !holds {
            report.tell(What::StaleEntry, entry);
        }
        Ok(())
    }

    /// The entries that a document should have; none if a value is one that no entry can hold.
    async fn values(&self, document: &Arc<DocumentKey>, index: &Index) -> Result<Values> {
        let found = of_stored(&*self.read, document, &[index]).await?;
        Ok(found.into_iter().flatten().flatten().collect())
    }
}

fn document_key(document: &[u8]) -> Option<Arc<DocumentKey>> {
    let collection = OwnKey::of(document).collection?;
    let bytes = super::collection_of(document).len();
    let (id, _) = Family::document_id(document, bytes).ok()?;
    DocumentKey::new(collection, id).ok().map(Arc::new)
}
