//! The state that the resolvers of one execution share: the snapshot or transaction, the data
//! loader, and the documents written so far.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_graphql::dataloader::{DataLoader, Loader};
use async_graphql::{Context, PathSegment, Pos, QueryPathNode, ServerError};
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

use super::batcher::{LoadQueue, NoDelay};
use super::request_budget::RequestBudget;
use crate::budget::Budget;
use crate::database::{
    AdjacentDocuments, Answer, Database, DocumentKey, ReadRequest, Value, depend_on_version, load,
    version_before,
};
use crate::error::{Error, Limit, Result, Versions};
use crate::key::Version;
use crate::limits::{HELD_PER_LOAD, HELD_PER_READ, PAGES_AT_ONCE};
use crate::store::{Read, Transaction};

/// The shared state of one execution of an operation.
pub(crate) struct Session {
    source: LoadSource,
    loader: DataLoader<RequestLoader>,
    written: Arc<WrittenDocuments>,
    /// The versions that documents had before this operation, as far as they were read.
    before: Mutex<HashMap<Arc<DocumentKey>, Option<Version>>>,
    /// Whether the mutation has several fields, so that a later one may need the version from
    /// before an earlier one.
    several: bool,
    /// The limit on the bytes of the transaction, if the store has one.
    bytes_max: Option<usize>,
    requests: AtomicUsize,
    /// The number of documents that this operation has appended.
    appended: AtomicUsize,
    request_budget: Arc<RequestBudget>,
    /// Limits how many pages of children are read at the same time.
    pages: Semaphore,
}

#[derive(Clone)]
enum LoadSource {
    /// A query: one snapshot, opened by the first read. The budget counts its reads.
    Snapshot(Database, Budget, Arc<OnceCell<Arc<dyn Read>>>),
    /// A mutation: one transaction.
    Transaction(Arc<dyn Transaction>),
}

impl LoadSource {
    async fn read(&self) -> Result<Arc<dyn Read>> {
        match self {
            Self::Snapshot(database, budget, snapshot) => {
                let snapshot = snapshot
                    .get_or_try_init(|| database.metered_snapshot(budget))
                    .await?;
                Ok(snapshot.clone())
            }
            Self::Transaction(transaction) => Ok(transaction.clone()),
        }
    }
}

impl Session {
    /// The session of a query.
    pub(crate) fn query(
        database: &Database,
        loads: &LoadQueue,
        request_budget: &Arc<RequestBudget>,
    ) -> Self {
        let source = LoadSource::Snapshot(
            database.clone(),
            request_budget.budget().clone(),
            Arc::default(),
        );
        Self::new(source, loads, request_budget, false, None)
    }

    /// The session of a mutation with one or `several` fields. `bytes_max` limits its transaction.
    pub(crate) fn mutation(
        transaction: Arc<dyn Transaction>,
        loads: &LoadQueue,
        request_budget: &Arc<RequestBudget>,
        several: bool,
        bytes_max: Option<usize>,
    ) -> Self {
        let source = LoadSource::Transaction(transaction);
        Self::new(source, loads, request_budget, several, bytes_max)
    }

    fn new(
        source: LoadSource,
        loads: &LoadQueue,
        request_budget: &Arc<RequestBudget>,
        several: bool,
        bytes_max: Option<usize>,
    ) -> Self {
        let loader = RequestLoader(source.clone(), request_budget.clone());
        Self {
            source,
            loader: DataLoader::new(loader, loads.clone(), NoDelay).max_batch_size(usize::MAX),
            written: Arc::default(),
            before: Mutex::default(),
            several,
            bytes_max,
            requests: AtomicUsize::new(0),
            appended: AtomicUsize::new(0),
            request_budget: request_budget.clone(),
            pages: Semaphore::new(PAGES_AT_ONCE),
        }
    }

    /// The session of a resolver.
    pub(crate) fn of<'c>(context: &Context<'c>) -> &'c Self {
        context.data_unchecked::<Self>()
    }

    /// The budget of the request.
    pub(crate) fn budget(&self) -> &Budget {
        self.request_budget.budget()
    }

    /// The counters and limits of the request.
    pub(crate) fn request_budget(&self) -> &RequestBudget {
        &self.request_budget
    }

    /// The snapshot or transaction, for reads that do not go through the loader.
    ///
    /// # Errors
    /// As [`RequestBudget::check`]. Errors of the store.
    pub(crate) async fn read(&self) -> Result<Arc<dyn Read>> {
        self.request_budget.check()?;
        self.source.read().await
    }

    /// The transaction of a mutation.
    pub(crate) fn transaction(&self) -> Result<&dyn Transaction> {
        match &self.source {
            LoadSource::Transaction(transaction) => Ok(&**transaction),
            LoadSource::Snapshot(..) => Err(Error::internal("a query requested a transaction")),
        }
    }

    /// The limit on the bytes of a mutation's transaction, if the store has one.
    pub(crate) fn bytes_max(&self) -> Option<usize> {
        self.bytes_max
    }

    /// Loads all of `reads`, in one batch with the loads of other resolvers.
    pub(crate) async fn load(&self, reads: Vec<ReadRequest>) -> Result<LoadedReads> {
        self.request(reads, false).await
    }

    /// As [`Session::load`], from documents that are adjacent in their collection.
    pub(crate) async fn load_in_a_row(&self, reads: Vec<ReadRequest>) -> Result<LoadedReads> {
        self.request(reads, true).await
    }

    async fn request(&self, reads: Vec<ReadRequest>, in_a_row: bool) -> Result<LoadedReads> {
        let places: usize = reads.iter().map(ReadRequest::places).sum();
        self.request_budget.places(places)?;
        let held = HELD_PER_LOAD.max(HELD_PER_READ * places.max(reads.len()));
        self.request_budget.memory.hold(held)?;
        let request = LoadRequest {
            number: self.requests.fetch_add(1, Relaxed),
            reads: reads.into(),
            in_a_row,
        };
        // Boxed, because every resolver's future contains this one.
        let answers = Box::pin(self.loader.load_one(request.clone())).await?;
        let answers = answers.ok_or_else(|| Error::internal("a load returned no result"))?;
        Ok(LoadedReads {
            reads: request.reads,
            answers,
        })
    }

    /// Reads whose answers are known without the store. They count as if they were read.
    ///
    /// # Errors
    /// `TOO_COMPLEX`, `TOO_LARGE`: the named limit is exceeded.
    pub(crate) fn answered(
        &self,
        reads: Vec<ReadRequest>,
        answers: Vec<Answer>,
    ) -> Result<LoadedReads> {
        self.request_budget.places(reads.len())?;
        let held = HELD_PER_LOAD.max(HELD_PER_READ * reads.len());
        self.request_budget.memory.hold(held)?;
        Ok(LoadedReads {
            reads: reads.into(),
            answers: answers.into_iter().map(Ok).collect(),
        })
    }

    /// Waits for a permit to read a page of children. A page is counted when it is read, so this
    /// bounds how many nested pages are read before the limit is found to be exceeded.
    pub(crate) async fn turn_to_page(&self) -> SemaphorePermit<'_> {
        let turn = self.pages.acquire().await;
        turn.expect("the semaphore is never closed")
    }

    /// Checks that a document had the `expected` version before this operation, if one is given.
    /// Must be called before the operation first writes the document: after a write, the version is
    /// unknown until the commit.
    ///
    /// # Errors
    /// `VERSION_MISMATCH`: the document had another version or none.
    pub(crate) async fn expect_version(
        &self,
        document: &Arc<DocumentKey>,
        expected: Option<Version>,
    ) -> Result<()> {
        if expected.is_none() && !self.several {
            return Ok(());
        }
        let transaction = self.transaction()?;
        let known = self.before().get(document).copied();
        let before = if let Some(before) = known {
            before
        } else {
            let before = version_before(transaction, document).await?;
            self.before().insert(document.clone(), before);
            before
        };
        let Some(expected) = expected else {
            return Ok(());
        };
        depend_on_version(transaction, document)?;
        if before == Some(expected) {
            return Ok(());
        }
        let DocumentKey { collection, id } = &**document;
        let found = before.map_or_else(
            || "has no version or does not exist".to_owned(),
            |before| format!("has the version {before}"),
        );
        let versions = Versions {
            expected: expected.to_string(),
            current: before.map(|before| before.to_string()),
        };
        Err(Error::version_mismatch(
            versions,
            format!("the document {id} in the collection {collection:?} {found}, not {expected}"),
        ))
    }

    /// Records that this operation inserted a document, which had no version before.
    pub(crate) fn inserted(&self, document: &Arc<DocumentKey>) {
        if self.several {
            self.before().entry(document.clone()).or_insert(None);
        }
    }

    /// The number of the next document that this operation appends.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: a versionstamp has no greater number.
    pub(crate) fn next_append(&self) -> Result<u16> {
        let number = self.appended.fetch_add(1, Relaxed);
        u16::try_from(number).map_err(|_| {
            let max = usize::from(u16::MAX) + 1;
            Error::too_complex(
                Limit::new("appendedDocuments", max),
                format!("one operation appends at most {max} documents"),
            )
        })
    }

    fn before(&self) -> std::sync::MutexGuard<'_, HashMap<Arc<DocumentKey>, Option<Version>>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The documents that this operation has written.
    pub(crate) fn written(&self) -> &Arc<WrittenDocuments> {
        &self.written
    }

    /// Records that a field of this operation has written documents.
    pub(crate) fn wrote(
        &self,
        context: &Context<'_>,
        documents: impl IntoIterator<Item = Arc<DocumentKey>>,
    ) {
        let field = Arc::new(FieldPosition {
            at: context.item.pos,
            path: path_of(context),
        });
        let mut written = self.written.lock();
        written.extend(
            documents
                .into_iter()
                .map(|document| (document, field.clone())),
        );
    }

    /// Whether this operation has written a document.
    pub(crate) fn has_written(&self, document: &DocumentKey) -> bool {
        self.written.lock().contains_key(document)
    }
}

fn path_of(context: &Context<'_>) -> Vec<PathSegment> {
    let segments = context.path_node.map(QueryPathNode::to_string_vec);
    segments
        .unwrap_or_default()
        .into_iter()
        .map(PathSegment::Field)
        .collect()
}

/// The documents that an operation has written, each with the field that wrote it last.
#[derive(Default)]
pub(crate) struct WrittenDocuments(Mutex<HashMap<Arc<DocumentKey>, Arc<FieldPosition>>>);

/// The position of a field in the query, and its path in the response.
struct FieldPosition {
    at: Pos,
    path: Vec<PathSegment>,
}

impl WrittenDocuments {
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<DocumentKey>, Arc<FieldPosition>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the position and the path of the field that wrote a document last to an error.
    pub(crate) fn place(&self, document: &DocumentKey, error: ServerError) -> ServerError {
        match self.lock().get(document) {
            Some(field) => ServerError {
                locations: vec![field.at],
                path: field.path.clone(),
                ..error
            },
            None => error,
        }
    }
}

/// Reads that were requested together, and their results.
#[derive(Clone, Default)]
pub(crate) struct LoadedReads {
    reads: Arc<[ReadRequest]>,
    answers: Arc<[Result<Answer>]>,
}

impl LoadedReads {
    /// A single read and its result.
    pub(crate) fn of(read: ReadRequest, answer: Answer) -> Self {
        Self {
            reads: Arc::new([read]),
            answers: Arc::new([Ok(answer)]),
        }
    }

    /// Splits the reads into groups of `reads`, in order.
    pub(crate) fn each(&self, reads: usize) -> impl Iterator<Item = Self> {
        let answers = self.answers.chunks(reads);
        let chunks = self.reads.chunks(reads).zip(answers);
        chunks.map(|(reads, answers)| Self {
            reads: reads.into(),
            answers: answers.into(),
        })
    }

    /// The part that a single read requested; none if nothing is stored there.
    ///
    /// # Errors
    /// The error of the read.
    pub(crate) fn part(&self) -> Result<Option<Value>> {
        match self.answer(|_| true).cloned() {
            Some(answer) => match answer? {
                Answer::Value(part) => Ok(part),
                Answer::Remainder(_) | Answer::Version(_) => {
                    Err(Error::internal("a load returned a version for a part"))
                }
            },
            None => Err(Error::internal("a load returned no result")),
        }
    }

    /// The parts that reads of values requested, in their order.
    ///
    /// # Errors
    /// Each part has the error of its read.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Result<Option<Value>>> {
        self.answers.iter().map(|answer| match answer.clone()? {
            Answer::Value(part) => Ok(part),
            Answer::Remainder(_) | Answer::Version(_) => Err(mismatch()),
        })
    }

    /// The number of reads.
    pub(crate) fn count(&self) -> usize {
        self.reads.len()
    }

    /// The result of the first read that matches; none if there is no such read.
    pub(crate) fn answer(
        &self,
        is_wanted: impl Fn(&ReadRequest) -> bool,
    ) -> Option<&Result<Answer>> {
        self.find(is_wanted).map(|(_, answer)| answer)
    }

    /// The first read that matches, and its result.
    pub(crate) fn find(
        &self,
        is_wanted: impl Fn(&ReadRequest) -> bool,
    ) -> Option<(&ReadRequest, &Result<Answer>)> {
        let mut reads = self.reads.iter().zip(&*self.answers);
        reads.find(|(read, _)| is_wanted(read))
    }
}

/// The reads that one resolver requests. Compared by its number, which is cheaper than comparing
/// the reads.
#[derive(Clone)]
struct LoadRequest {
    number: usize,
    reads: Arc<[ReadRequest]>,
    in_a_row: bool,
}

impl PartialEq for LoadRequest {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for LoadRequest {}

impl Hash for LoadRequest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

struct RequestLoader(LoadSource, Arc<RequestBudget>);

impl Loader<LoadRequest> for RequestLoader {
    type Value = Arc<[Result<Answer>]>;
    type Error = Error;

    async fn load(
        &self,
        requests: &[LoadRequest],
    ) -> Result<HashMap<LoadRequest, Arc<[Result<Answer>]>>> {
        self.1.check()?;
        let read = self.0.read().await?;
        let reads: Vec<&ReadRequest> = requests
            .iter()
            .flat_map(|request| request.reads.iter())
            .collect();
        let in_a_row = AdjacentDocuments(&*read);
        let read = match requests {
            [request] if request.in_a_row => &in_a_row,
            _ => &*read,
        };
        let mut answers = load(read, &reads, &self.1.memory).await.into_iter();
        let answered = requests.iter().map(|request| {
            let answers = answers.by_ref().take(request.reads.len());
            (request.clone(), answers.collect())
        });
        Ok(answered.collect())
    }
}

/// The error for a load whose answers do not match its requests.
pub(crate) fn mismatch() -> Error {
    Error::internal("a load returned no matching result")
}
