//! The engines, each with a part of the key space for one case, and helpers to read it.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use phyllo::key::Version;
use phyllo::store::{
    Embedded, EmbeddedOptions, LogFiles, Observed, RangeRead, Read, Store, Transaction,
};
use redb::StorageBackend;
use redb::backends::InMemoryBackend;
use tokio::time::Instant;

pub(crate) type Pair = (Vec<u8>, Vec<u8>);

/// A store, and the key prefix for one case.
#[derive(Clone)]
pub(crate) struct Fresh {
    pub(crate) store: Arc<dyn Store>,
    prefix: Vec<u8>,
}

/// The embedded engine, in memory.
pub(crate) fn embedded() -> Fresh {
    Fresh::of(Arc::new(in_memory()))
}

/// The embedded engine behind the counting store, which must not change its behavior.
pub(crate) fn observed() -> Fresh {
    Fresh::of(Arc::new(Observed::new(in_memory())))
}

pub(crate) fn in_memory() -> Embedded {
    Embedded::on_backend(InMemoryBackend::new()).expect("memory does not fail")
}

/// The embedded engine with a log in memory, whose segments are so small that it makes checkpoints.
/// It writes some transactions to redb directly.
pub(crate) fn logged() -> Fresh {
    let options = EmbeddedOptions {
        log_segment_bytes: 64 << 10,
        overlay_bytes_max: 100_000,
        overlay_transaction_bytes_max: 1_000,
        ..EmbeddedOptions::default()
    };
    let log = MemoryLog;
    let store = Embedded::with_log(InMemoryBackend::new(), log, options);
    let store = store.expect("memory does not fail");
    let enabled = Box::pin(store.enable_log()).now_or_never();
    enabled.expect("nothing holds the lock").expect("enabled");
    Fresh::of(Arc::new(store))
}

/// The files of a log, in memory. They are not read: the store is not reopened.
#[derive(Debug)]
struct MemoryLog;

impl LogFiles for MemoryLog {
    fn open(&self, _file: usize) -> std::io::Result<Option<Box<dyn StorageBackend>>> {
        Ok(None)
    }

    fn create(&self, _file: usize) -> std::io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(InMemoryBackend::new()))
    }

    fn remove(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn sync_names(&self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Fresh {
    pub(crate) fn of(store: Arc<dyn Store>) -> Self {
        let prefix = format!("conformance/{:032x}/", rand::random::<u128>()).into_bytes();
        Self { store, prefix }
    }

    /// The same keys through another store that wraps this one.
    pub(crate) fn through(&self, store: Arc<dyn Store>) -> Self {
        Self {
            store,
            prefix: self.prefix.clone(),
        }
    }

    /// An unused part of the key space.
    pub(crate) fn part(&self, name: impl std::fmt::Display) -> Self {
        Self {
            store: self.store.clone(),
            prefix: self.key(format!("{name}/")),
        }
    }

    pub(crate) fn key(&self, suffix: impl AsRef<[u8]>) -> Vec<u8> {
        [&self.prefix, suffix.as_ref()].concat()
    }

    pub(crate) fn begin(&self) -> Vec<u8> {
        self.prefix.clone()
    }

    /// After all keys of the case: prefixes end with `/`, which `0` follows.
    pub(crate) fn end(&self) -> Vec<u8> {
        let mut end = self.prefix.clone();
        *end.last_mut().expect("not empty") += 1;
        end
    }

    pub(crate) async fn transaction(&self) -> Arc<dyn Transaction> {
        self.store.begin().await.expect("the store serves")
    }

    pub(crate) async fn snapshot(&self) -> Arc<dyn Read> {
        self.store.snapshot().await.expect("the store serves")
    }

    /// Commits the writes of `write`.
    pub(crate) async fn write(&self, write: impl FnOnce(&dyn Transaction)) -> Version {
        let transaction = self.transaction().await;
        write(&*transaction);
        transaction.commit().await.expect("nobody else writes")
    }

    pub(crate) async fn set(&self, key: &str, value: impl AsRef<[u8]>) -> Version {
        let (key, value) = (self.key(key), value.as_ref());
        self.write(|transaction| transaction.set(&key, value)).await
    }

    /// Reads from a new snapshot.
    pub(crate) async fn get(&self, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        get(&*self.snapshot().await, &self.key(key)).await
    }

    /// All pairs of the case, with keys without the prefix.
    pub(crate) async fn all(&self) -> Vec<Pair> {
        self.all_in(&*self.snapshot().await).await
    }

    pub(crate) async fn all_in(&self, read: &dyn Read) -> Vec<Pair> {
        let (begin, end) = (self.begin(), self.end());
        let found = pairs(read, RangeRead::new(&begin, &end)).await;
        self.without_prefix(found)
    }

    pub(crate) fn without_prefix(&self, pairs: Vec<Pair>) -> Vec<Pair> {
        let cut = |(key, value): Pair| (key[self.prefix.len()..].to_vec(), value);
        pairs.into_iter().map(cut).collect()
    }
}

pub(crate) async fn get(read: &dyn Read, key: &[u8]) -> Option<Vec<u8>> {
    read.get(key).await.expect("the store serves")
}

/// A whole range, batch by batch.
pub(crate) async fn pairs(read: &dyn Read, range: RangeRead<'_>) -> Vec<Pair> {
    let (mut begin, mut end) = (range.begin.to_vec(), range.end.to_vec());
    let mut found: Vec<Pair> = Vec::new();
    loop {
        let batch = read
            .range(RangeRead {
                begin: &begin,
                end: &end,
                pairs_max: range.pairs_max - found.len(),
                reverse: range.reverse,
                resumed: !found.is_empty(),
                ..range
            })
            .await
            .expect("the store serves");
        let owned = |(key, value): (&[u8], &[u8])| (key.to_vec(), value.to_vec());
        found.extend(batch.pairs.iter().map(owned));
        assert!(found.len() <= range.pairs_max, "more than was asked for");
        match batch.pairs.last() {
            Some((last, _)) if batch.more && range.reverse => end = last.to_vec(),
            Some((last, _)) if batch.more => begin = [last, b"\0"].concat(),
            _ => return found,
        }
    }
}

/// A pair of texts.
pub(crate) fn pair(key: impl AsRef<[u8]>, value: impl AsRef<[u8]>) -> Pair {
    (key.as_ref().to_vec(), value.as_ref().to_vec())
}

/// A deadline that no case reaches.
pub(crate) fn late() -> Instant {
    Instant::now() + Duration::from_secs(600)
}
