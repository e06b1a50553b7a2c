//! The execution of a query: its reads, and the choice among access paths.

use std::sync::Arc;

use futures::future::try_join_all;

use super::entries::id_source::IdSource;
use super::entries::ids::Ids;
use super::entries::keys::{KeyReader, Meter};
use super::key_set::KeySet;
use super::page::UsedIndexes;
use super::plan::access_path::{AccessPath, QueryPlan};
use crate::budget::{Budget, Steps};
use crate::database::index::definition::{Index, State, indexes};
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::path::Place;
use crate::error::Result;
use crate::key::Family;
use crate::limits::{BATCH_PAIRS_MAX, PROBE_ENTRIES};
use crate::store::Read;

/// A search for documents that match a filter.
pub(crate) struct Search<'q> {
    pub(crate) read: &'q dyn Read,
    pub(crate) budget: &'q Budget,
    pub(crate) meter: Meter,
    pub(crate) collection: &'q str,
    pub(crate) filter: &'q Filter,
    /// The keys that documents must have.
    pub(crate) keys: &'q KeySet,
    /// The maximum number of documents to examine.
    pub(crate) scan_max: usize,
    /// What the error message suggests, besides an index, when that limit is exceeded.
    pub(crate) remedy: String,
}

/// The chosen source of documents.
pub(crate) struct Chosen<'r> {
    pub(crate) ids: Ids<'r>,
    /// The residual filter.
    pub(crate) filter: Filter,
    /// The indexes used.
    pub(crate) index: Option<UsedIndexes>,
    /// The places of the columns in the entries that the stream returns, if it returns entries.
    pub(crate) columns: Vec<Place>,
}

/// The indexes of a collection, grouped by whether queries can use them.
#[derive(Default)]
pub(crate) struct Indexes {
    pub(crate) ready: Vec<Index>,
    pub(crate) others: Vec<Index>,
}

impl Indexes {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Index> {
        self.ready.iter().chain(&self.others)
    }
}

impl<'q> Search<'q> {
    pub(crate) fn new(
        read: &'q dyn Read,
        budget: &'q Budget,
        collection: &'q str,
        filter: &'q Filter,
        scan_max: usize,
        remedy: String,
    ) -> Self {
        Self {
            read,
            budget,
            meter: Meter::default(),
            collection,
            filter,
            keys: &KeySet::All,
            scan_max,
            remedy,
        }
    }

    /// The indexes of the collection. Returns none, without a read, if no index can help.
    pub(crate) async fn indexes(&self, is_ordered: bool) -> Result<Arc<Indexes>> {
        if !is_ordered && self.filter.is_empty() {
            return Ok(Arc::default());
        }
        let (begin, _) = Family::definitions(self.collection);
        let cache = self.read.cache();
        if let Some(kept) = cache.and_then(|cache| cache.get(&begin)) {
            return Ok(kept);
        }
        let all = indexes(self.read, self.collection).await?;
        let bytes = all.iter().map(Index::decoded_bytes).sum();
        let ready = |index: &Index| index.state == State::Ready;
        let (ready, others) = all.into_iter().partition(ready);
        let found = Arc::new(Indexes { ready, others });
        if let Some(cache) = cache {
            cache.keep(begin, found.clone(), bytes);
        }
        Ok(found)
    }

    /// The plan for the filter.
    pub(crate) async fn plan<'i>(&self, indexes: &'i Indexes) -> Result<QueryPlan<'i>> {
        let plan = |steps: &Steps<'_>| QueryPlan::new(self.filter, &indexes.ready, steps);
        self.budget.compute(plan).await
    }

    /// The source of ids. `first_batch` is the size of the first batch of each range.
    pub(crate) fn source<'r>(
        &'r self,
        first_batch: usize,
        backward: bool,
        after: Option<&'r DocumentId>,
    ) -> IdSource<'r> {
        IdSource {
            reading: KeyReader {
                read: self.read,
                budget: self.budget,
                meter: &self.meter,
                backward,
                first_batch,
                batch_max: BATCH_PAIRS_MAX,
            },
            collection: self.collection,
            keys: self.keys,
            after,
            holds: false,
        }
    }

    /// Chooses among the access paths of a plan. If one of them yields few documents, it is used
    /// alone, because reading those documents costs no more than another index. Otherwise the paths
    /// whose ids are in order are intersected. A set of few keys is used without an index.
    pub(crate) async fn choose<'r>(
        &'r self,
        plan: &QueryPlan<'_>,
        source: IdSource<'r>,
        sorted_max: usize,
    ) -> Result<Chosen<'r>> {
        if let KeySet::Listed(listed) = self.keys
            && listed.len() <= PROBE_ENTRIES.min(self.scan_max)
        {
            return Ok(self.unindexed(source.every()?));
        }
        if let [first, others @ ..] = &plan.access_paths[..] {
            // Documents need not be examined if one path has exactly the result.
            let is_exact = first.access.is_sorted() && first.covers.len() == plan.conjuncts.len();
            if (!others.is_empty() || !self.keys.is_all() && !is_exact)
                && let Some(chosen) = self.choose_among(plan, source).await?
            {
                return Ok(chosen);
            }
            if let Some(ids) = source.open(&first.access, sorted_max).await? {
                return Ok(chosen(plan, &[first], ids));
            }
        }
        Ok(self.unindexed(source.every()?))
    }

    /// Whether the set of keys has so few documents that reading them is cheapest.
    pub(crate) async fn has_few_keys(&self) -> Result<bool> {
        match self.keys {
            KeySet::All => Ok(false),
            KeySet::Listed(listed) => Ok(listed.len() <= self.scan_max),
            KeySet::Range(..) => {
                let mut ids = self.source(PROBE_ENTRIES + 1, false, None).every()?;
                ids.peek(false).await?;
                let few = PROBE_ENTRIES.min(self.scan_max);
                Ok(ids.left().is_some_and(|left| left <= few))
            }
        }
    }

    fn unindexed<'r>(&self, ids: Ids<'r>) -> Chosen<'r> {
        Chosen {
            ids,
            filter: self.filter.clone(),
            index: None,
            columns: Vec::new(),
        }
    }

    /// None if no access path yields few documents or has its ids in order.
    async fn choose_among<'r>(
        &'r self,
        plan: &QueryPlan<'_>,
        source: IdSource<'r>,
    ) -> Result<Option<Chosen<'r>>> {
        let mut probing = source;
        probing.reading.first_batch = PROBE_ENTRIES + 1;
        let probed = plan
            .access_paths
            .iter()
            .map(|access_path| probe(&probing, access_path));
        let mut probed: Vec<(&AccessPath<'_>, Ids<'r>)> =
            try_join_all(probed).await?.into_iter().flatten().collect();
        let few = probed
            .iter()
            .enumerate()
            .filter_map(|(at, (_, ids))| Some((ids.left()?, at)))
            .min();
        if !self.keys.is_all() {
            let mut ids = probing.every()?;
            ids.peek(probing.reading.backward).await?;
            if let Some(left) = ids
                .left()
                .filter(|left| *left <= PROBE_ENTRIES.min(self.scan_max))
                && few.is_none_or(|(fewest, _)| left < fewest)
            {
                return Ok(Some(self.unindexed(ids)));
            }
        }
        if let Some((_, at)) = few {
            let (access_path, ids) = probed.swap_remove(at);
            return Ok(Some(chosen(plan, &[access_path], ids)));
        }
        let (access_paths, mut ids): (Vec<_>, Vec<_>) = probed.into_iter().unzip();
        Ok(match ids.len() {
            0 => None,
            1 => ids.pop().map(|ids| chosen(plan, &access_paths, ids)),
            _ => Some(chosen(
                plan,
                &access_paths,
                Ids::Intersection(ids, self.budget),
            )),
        })
    }
}

/// Opens an access path and reads its first batch. None if its ids would have to be sorted
/// and there are more than [`PROBE_ENTRIES`].
pub(crate) async fn probe<'r, 'w, 'i>(
    source: &IdSource<'r>,
    access_path: &'w AccessPath<'i>,
) -> Result<Option<(&'w AccessPath<'i>, Ids<'r>)>> {
    let Some(mut ids) = source.open(&access_path.access, PROBE_ENTRIES).await? else {
        return Ok(None);
    };
    ids.peek(source.reading.backward).await?;
    Ok(Some((access_path, ids)))
}

pub(crate) fn chosen<'r>(
    plan: &QueryPlan<'_>,
    access_paths: &[&AccessPath<'_>],
    ids: Ids<'r>,
) -> Chosen<'r> {
    let names: Vec<String> = access_paths
        .iter()
        .map(|access_path| access_path.access.name())
        .collect();
    let names = names.join(" & ");
    let partial = access_paths
        .iter()
        .any(|access_path| access_path.access.is_partial());
    let columns = match access_paths {
        [access_path] => access_path.access.columns(),
        _ => Vec::new(),
    };
    Chosen {
        ids,
        filter: plan.residual(access_paths.iter().map(|access_path| &access_path.covers)),
        index: (!names.is_empty()).then_some(UsedIndexes { names, partial }),
        columns,
    }
}
