//! A database in memory, with simplified calls for tests.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use phyllo::budget::Budget;
use phyllo::database::{
    Answer, Builder as IndexBuilder, Bulk, Check, Children, ChildrenPage, Database, DocumentKey,
    Existing, Extent, Finding, Foreign, Put, ReadRequest, Scan, Scanned, Severity, Summary, Value,
    bulk, children, create_index, insert, load, put,
};
use phyllo::document::filter::Filter;
use phyllo::document::id::DocumentId;
use phyllo::document::path::{Path, Place};
use phyllo::error::{Error, Result};
use phyllo::key::Leaves;
use phyllo::store::{Batches, Decision, Transaction, TransactionResult, transact};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

pub(crate) type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// It is checked when it is dropped.
pub(crate) struct World {
    runtime: Runtime,
    pub(crate) database: Database,
    /// Why it is not checked.
    damaged: Option<&'static str>,
}

impl Drop for World {
    fn drop(&mut self) {
        if self.damaged.is_some() || std::thread::panicking() {
            return;
        }
        let (mut found, _) = self.check(None);
        found.retain(|finding| finding.severity != Severity::Information);
        assert!(found.is_empty(), "the store is not sound: {found:#?}");
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self::open(None)
    }

    /// A world that is not checked when it is dropped, because of `why`.
    pub(crate) fn damaged(why: &'static str) -> Self {
        Self::open(Some(why))
    }

    fn open(damaged: Option<&'static str>) -> Self {
        let runtime = Builder::new_current_thread().enable_time().build();
        let runtime = runtime.expect("a runtime");
        let database = runtime.block_on(async {
            let store = Arc::new(super::empty_store().await);
            Database::open(store, deadline()).await
        });
        Self {
            database: database.expect("a new database"),
            runtime,
            damaged,
        }
    }

    pub(crate) fn run<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Runs `body` in one transaction.
    fn transact<T, F, W>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(Arc<dyn Transaction>) -> W + Send + Sync,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let settled = self.run(self.database.transact(deadline(), |transaction| {
            let work = body(transaction);
            async move { work.await.map(Decision::Commit) }.boxed()
        }))?;
        match settled {
            TransactionResult::Committed(value, _) | TransactionResult::Aborted(value) => Ok(value),
        }
    }

    /// Runs `body` in one transaction that does not check the format, as another program would.
    fn transact_beside<T, F, W>(&self, body: F) -> Result<T>
    where
        T: Send + 'static,
        F: Fn(Arc<dyn Transaction>) -> W + Send + Sync,
        W: Future<Output = Result<T>> + Send + 'static,
    {
        let store = self.database.store();
        let settled = self.run(transact(&**store, deadline(), |transaction| {
            let work = body(transaction);
            async move { work.await.map(Decision::Commit) }.boxed()
        }))?;
        match settled {
            TransactionResult::Committed(value, _) | TransactionResult::Aborted(value) => Ok(value),
        }
    }

    pub(crate) fn insert(&self, id: Option<DocumentId>, json: &str) -> Result<DocumentKey> {
        let leaves = Arc::new(Leaves::from_json(json)?);
        self.transact(move |transaction| {
            let (id, leaves) = (id.clone(), leaves.clone());
            async move { insert(&*transaction, &Budget::of_background(), "D", id, &leaves).await }
        })
    }

    pub(crate) fn put(
        &self,
        document: &DocumentKey,
        json: &str,
        existing: Existing,
    ) -> Result<Put> {
        let leaves = Arc::new(Leaves::from_json(json)?);
        self.transact(move |transaction| {
            let (document, leaves) = (document.clone(), leaves.clone());
            async move {
                put(
                    &*transaction,
                    &Budget::of_background(),
                    &document,
                    &leaves,
                    existing,
                )
                .await
            }
        })
    }

    /// Deletes documents in one transaction, which may take so many bytes.
    pub(crate) fn delete_all(&self, documents: &[DocumentKey], bytes_max: usize) -> Result<usize> {
        let documents: Vec<_> = documents.iter().cloned().map(Arc::new).collect();
        self.transact(move |transaction| {
            let documents = documents.clone();
            async move {
                let budget = Budget::of_background();
                let max = Some(bytes_max);
                let changes = bulk(&*transaction, &budget, documents, &Bulk::Delete, max).await?;
                Ok(changes.changed.len())
            }
        })
    }

    /// Creates an index of the collection `D` and builds it.
    pub(crate) fn create_index(&self, name: &'static str, on: &'static [&'static str]) {
        self.create_index_of(name, on, false);
    }

    /// As [`World::create_index`], of values that may be `unique`.
    pub(crate) fn create_index_of(
        &self,
        name: &'static str,
        on: &'static [&'static str],
        unique: bool,
    ) {
        let made = self.transact(move |transaction| async move {
            create_index(&*transaction, "D", name, on, unique, Filter::default()).await
        });
        made.expect("an index");
        let mut builder = IndexBuilder::new(self.database.clone());
        self.run(builder.finish()).expect("it can be built");
    }

    /// Writes pairs as another program would, without the catalog.
    pub(crate) fn write(&self, pairs: &[(Vec<u8>, Vec<u8>)]) {
        let written = self.transact_beside(|transaction| {
            for (key, value) in pairs {
                transaction.set(key, value);
            }
            async move { Ok(()) }
        });
        written.expect("pairs can be written");
    }

    /// Removes a pair as another program would.
    pub(crate) fn clear(&self, key: &[u8]) {
        let cleared = self.transact_beside(|transaction| {
            transaction.clear(key);
            async move { Ok(()) }
        });
        cleared.expect("a pair can be removed");
    }

    /// The findings of a check of the store, or of one collection.
    pub(crate) fn check(&self, collection: Option<&str>) -> (Vec<Finding>, Summary) {
        self.run(async {
            let store = self.database.store().clone();
            let check = Check::of_store(store, collection).await;
            let mut check = check.expect("a check");
            let mut found = Vec::new();
            while let Some(finding) = check.next_finding().await.expect("a check") {
                found.push(finding);
            }
            (found, check.summary())
        })
    }

    pub(crate) fn load(&self, document: &DocumentKey, path: &Path) -> Result<Option<Value>> {
        self.read(document, path, Extent::Whole)
    }

    pub(crate) fn first(&self, document: &DocumentKey, path: &Path) -> Result<Option<Value>> {
        self.read(document, path, Extent::First)
    }

    fn read(&self, document: &DocumentKey, path: &Path, extent: Extent) -> Result<Option<Value>> {
        let want = ReadRequest::Value(Arc::new(document.clone()), path.clone(), extent);
        let answers = self.run(async {
            let snapshot = self.database.snapshot().await?;
            Ok::<_, Error>(load(&*snapshot, &[&want], &Budget::of_background().reserve()).await)
        })?;
        match &answers[..] {
            [Ok(Answer::Value(part))] => Ok(part.clone()),
            [Err(error)] => Err(error.clone()),
            other => panic!("no answer: {other:?}"),
        }
    }

    pub(crate) fn load_all(&self, wants: &[ReadRequest]) -> Vec<Option<Value>> {
        let answers = self.run(async {
            let snapshot = self.database.snapshot().await?;
            let wants: Vec<&ReadRequest> = wants.iter().collect();
            Ok::<_, Error>(load(&*snapshot, &wants, &Budget::of_background().reserve()).await)
        });
        let answers = answers.expect("they can be read").into_iter();
        let part = |answer| match answer {
            Ok(Answer::Value(part)) => part,
            other => panic!("no part: {other:?}"),
        };
        answers.map(part).collect()
    }

    pub(crate) fn children(
        &self,
        document: &DocumentKey,
        place: &Place,
        page: &ChildrenPage,
    ) -> Result<Children> {
        let document = Arc::new(document.clone());
        self.run(async {
            let snapshot = self.database.snapshot().await?;
            let budget = Budget::of_background().reserve();
            children(&*snapshot, &document, place, page, &budget).await
        })
    }

    pub(crate) fn scan(&self) -> Vec<Result<Result<Scanned, Foreign>>> {
        self.run(async {
            let snapshot = self.database.snapshot().await.expect("a snapshot");
            let mut scan = Scan::new(snapshot, "D");
            let mut found = Vec::new();
            loop {
                match scan.next().await {
                    Ok(None) => return found,
                    Ok(Some(scanned)) => found.push(Ok(scanned)),
                    Err(error) => found.push(Err(error)),
                }
            }
        })
    }

    /// The raw pairs from `begin` to before `end`.
    pub(crate) fn pairs(&self, begin: &[u8], end: &[u8]) -> Pairs {
        self.run(async {
            let snapshot = self.database.snapshot().await.expect("a snapshot");
            let mut found = Vec::new();
            let mut batches = Batches::new(snapshot, begin, end);
            while let Some(batch) = batches.next().await.expect("a range can be read") {
                let pair = |(key, value): (&[u8], &[u8])| (key.to_vec(), value.to_vec());
                found.extend(batch.iter().map(pair));
            }
            found
        })
    }

    /// The raw pairs of a document.
    pub(crate) fn stored(&self, document: &DocumentKey) -> Pairs {
        let begin = document_key(document);
        self.pairs(&begin, &[&begin[..], &[0xFF]].concat())
    }
}

pub(crate) fn document_key(document: &DocumentKey) -> Vec<u8> {
    document.place(&Place::default()).expect("a short key")
}

/// The document of this number.
pub(crate) fn numbered(id: i64) -> DocumentKey {
    DocumentKey::new("D", DocumentId::Integer(id)).expect("a short key")
}

pub(crate) fn text(part: &Value) -> String {
    let json = part.json().expect("a well-formed part");
    String::from_utf8(json).expect("JSON text is UTF-8")
}

pub(crate) fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(30)
}
