//! Reads of one document that continue in later snapshots while the document stays the same.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::future::try_join3;

use super::snapshots::{CheckSnapshot, CheckSnapshots, changed, in_one_snapshot};
use crate::database::document_key::DocumentKey;
use crate::database::index::definition::{Index, indexes};
use crate::error::{Error, Result};
use crate::key::{Family, Version};
use crate::limits::CHECK_TRIES_MAX;
use crate::store::{Batch, MultiRange, RangeRead, Read};

/// Reads of a document and of its entries in an index. If the engine drops the snapshot, they
/// continue in a later one, provided that the document has the same version there and the index the
/// same definition. Otherwise they fail with `CONFLICT`.
pub(crate) struct DocumentRead {
    snapshots: Arc<CheckSnapshots>,
    current: Mutex<CheckSnapshot>,
    /// The number of the first snapshot.
    first: u64,
    document: DocumentKey,
    index: Index,
    entry: Option<Vec<u8>>,
    state: DocumentState,
}

/// What must be the same in the next snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocumentState {
    /// Whether the catalog has the document.
    entered: bool,
    version: Option<Vec<u8>>,
    /// The value of the entry that is compared with the document. None if there is none.
    entry: Option<Vec<u8>>,
}

impl DocumentRead {
    /// Begins to read a document, for an index whose definition was read from the snapshot `defined`.
    /// `entry` is the key of an entry that must stay the same, too. None if the index has
    /// another definition now.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn begin(
        snapshots: &Arc<CheckSnapshots>,
        document: &DocumentKey,
        index: &Index,
        defined: u64,
        entry: Option<&[u8]>,
    ) -> Result<Option<Self>> {
        let (state, snapshot) = in_one_snapshot!(snapshots, |read| state(read, document, entry))?;
        let begun = Self {
            snapshots: snapshots.clone(),
            first: snapshot.number,
            current: Mutex::new(snapshot.clone()),
            document: document.clone(),
            index: index.clone(),
            entry: entry.map(<[u8]>::to_vec),
            state,
        };
        if snapshot.number != defined && !begun.is_defined(&begun).await? {
            return Ok(None);
        }
        Ok(Some(begun))
    }

    /// Whether the catalog has the document.
    pub(crate) fn is_entered(&self) -> bool {
        self.state.entered
    }

    /// Whether the store has the entry.
    pub(crate) fn has_entry(&self) -> bool {
        self.state.entry.is_some()
    }

    /// The document in all snapshots so far, and the numbers of the first and the last one.
    pub(crate) fn state(&self) -> (DocumentState, (u64, u64)) {
        (self.state.clone(), (self.first, self.current().number))
    }

    fn current(&self) -> CheckSnapshot {
        let current = self.current.lock();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the index is the same in a snapshot.
    async fn is_defined(&self, read: &dyn Read) -> Result<bool> {
        let found = indexes(read, &self.document.collection).await?;
        Ok(found.contains(&self.index))
    }

    /// Continues after an error in a snapshot.
    async fn renew(&self, number: u64, error: Error) -> Result<CheckSnapshot> {
        let later = self.snapshots.after(number, error).await?;
        let state = state(&*later.read, &self.document, self.entry.as_deref()).await?;
        if state != self.state || !self.is_defined(&*later.read).await? {
            return Err(changed("the document"));
        }
        if self.state.version.is_none() {
            // Another program stored it, which does not say whether it has changed it.
            return Err(changed("the document, which has no version,"));
        }
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        *current = later.clone();
        Ok(later)
    }
}

/// The state of a document now, and the number of its snapshot.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn state_now(
    snapshots: &CheckSnapshots,
    document: &DocumentKey,
) -> Result<(DocumentState, u64)> {
    let (state, snapshot) = in_one_snapshot!(snapshots, |read| state(read, document, None))?;
    Ok((state, snapshot.number))
}

impl DocumentState {
    /// Whether the document in a later snapshot is certainly the one of this state.
    pub(crate) fn is_kept(&self, later: &Self) -> bool {
        self == later && (self.version.is_some() || !self.entered)
    }
}

async fn state(
    read: &dyn Read,
    document: &DocumentKey,
    entry: Option<&[u8]>,
) -> Result<DocumentState> {
    let DocumentKey { collection, id } = document;
    let existence = Family::Existence(collection, id).key();
    let version = Family::Version(collection, id).key();
    let get = |key: Option<Vec<u8>>| async move {
        match key {
            // A document whose keys would be too long has none.
            Some(key) => read.get(&key).await,
            None => Ok(None),
        }
    };
    let entry = entry.map(<[u8]>::to_vec);
    let (existence, version, entry) =
        try_join3(get(existence.ok()), get(version.ok()), get(entry)).await?;
    let is_version = |value: &Vec<u8>| Version::of_document(id, value).is_some();
    Ok(DocumentState {
        entered: existence.is_some(),
        version: version.filter(is_version),
        entry,
    })
}

/// Repeats a read in later snapshots while the document stays the same.
macro_rules! continued {
    ($self:ident, |$read:ident| $work:expr, $error:pat => $get:expr) => {{
        let mut snapshot = $self.current();
        for _ in 1..CHECK_TRIES_MAX {
            let $read = &*snapshot.read;
            match $work.await {
                $error => snapshot = $self.renew(snapshot.number, $get).await?,
                done => return done,
            }
        }
        let $read = &*snapshot.read;
        $work.await
    }};
}

#[async_trait]
impl Read for DocumentRead {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        continued!(self, |read| read.get(key), Err(error) => error)
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        continued!(self, |read| read.range(range), Err(error) => error)
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        let snapshot = self.current();
        let mut round = snapshot.read.ranges(ranges).await;
        for _ in 1..CHECK_TRIES_MAX {
            let failed = round.batches.iter().find_map(|it| it.as_ref().err());
            let Some(error) = failed.cloned() else {
                break;
            };
            let number = self.current().number;
            round = match self.renew(number, error).await {
                Ok(later) => later.read.ranges(ranges).await,
                Err(error) => return MultiRange::failed(ranges.len(), &error),
            };
        }
        round
    }

    async fn version(&self) -> Result<Version> {
        self.current().read.version().await
    }

    fn is_remote(&self) -> bool {
        self.current().read.is_remote()
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        continued!(self, |read| read.split_points(begin, end), Err(error) => error)
    }
}
