//! Opens streams of document ids from index entries and from the catalog.

use super::ids::{IdBytes, Ids, Union, catalog, id_bytes, no_entry};
use super::keys::{KeyReader, KeyStream};
use super::listed_ids::ListedIds;
use super::lookup::KeyLookup;
use crate::budget::in_turns;
use crate::database::index::definition::Index;
use crate::database::query::key_set::KeySet;
use crate::database::query::plan::access_path::{EntrySource, Span};
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::key::IndexKey;
use crate::store::key_after;

/// Opens the streams of ids of a query.
#[derive(Clone, Copy)]
pub(crate) struct IdSource<'r> {
    pub(crate) reading: KeyReader<'r>,
    pub(crate) collection: &'r str,
    /// Return only these ids.
    pub(crate) keys: &'r KeySet,
    /// Return only ids after this one, in the direction of the stream.
    pub(crate) after: Option<&'r DocumentId>,
    /// Whether the streams return what entries hold, if the entries are of one index and
    /// [hold the values of documents](Index::holds_values).
    pub(crate) holds: bool,
}

impl<'r> IdSource<'r> {
    /// Opens the stream of all documents of the collection whose keys are in the set.
    ///
    /// # Errors
    /// `TOO_LARGE`: the collection's name and the id are too long.
    pub(crate) fn every(&self) -> Result<Ids<'r>> {
        let prefix = catalog(self.collection);
        match self.keys {
            KeySet::Listed(listed) => {
                let listed = self.rest_of(listed)?;
                Ok(Ids::Lookup(KeyLookup::new(self.reading, prefix, listed)))
            }
            KeySet::All | KeySet::Range(..) => self.behind_prefix(prefix, None),
        }
    }

    /// The listed ids that the stream returns, the next one last.
    fn rest_of(&self, listed: &[IdBytes]) -> Result<Vec<IdBytes>> {
        let after = self
            .after
            .map(|id| id_bytes(self.collection, id))
            .transpose()?;
        let rest = match &after {
            None => listed,
            Some(after) if self.reading.backward => {
                &listed[..listed.partition_point(|id| id < after)]
            }
            Some(after) => &listed[listed.partition_point(|id| id <= after)..],
        };
        let mut rest = rest.to_vec();
        if !self.reading.backward {
            rest.reverse();
        }
        Ok(rest)
    }

    /// Opens the stream of the ids in `access`. None if entries have to be sorted and are
    /// more than `sorted_max`.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn open(
        &self,
        access: &EntrySource<'_>,
        sorted_max: usize,
    ) -> Result<Option<Ids<'r>>> {
        let mut unsorted = Vec::new();
        let mut sorted = Vec::new();
        let holds = match access {
            EntrySource::Index { index, .. } => self.holds && index.holds_values(),
            EntrySource::Union(_) => false,
        };
        let source = Self { holds, ..*self };
        source.sort_out(access, &mut sorted, &mut unsorted)?;
        if !unsorted.is_empty() {
            let Some(listed) = source.listed(&unsorted, sorted_max).await? else {
                return Ok(None);
            };
            sorted.push(listed);
        }
        let ids = match <[Ids<'r>; 1]>::try_from(sorted) {
            Ok([only]) => only,
            Err(parts) => Ids::Union(Union::new(parts, self.reading.budget)),
        };
        let KeySet::Listed(listed) = self.keys else {
            return Ok(Some(ids));
        };
        let listed = self.listed_keys(listed).await?;
        let both = vec![ids, listed];
        Ok(Some(Ids::Intersection(both, self.reading.budget)))
    }

    fn sort_out<'a>(
        &self,
        access: &'a EntrySource<'_>,
        sorted: &mut Vec<Ids<'r>>,
        unsorted: &mut Vec<(&'a Index, &'a Span)>,
    ) -> Result<()> {
        match access {
            EntrySource::Union(parts) => {
                for part in parts {
                    self.sort_out(part, sorted, unsorted)?;
                }
            }
            EntrySource::Index {
                index,
                spans,
                sorted: true,
            } => {
                let key = IndexKey::new(self.collection, index.number)?;
                for span in spans {
                    let (prefix, _) = key.span(&span.begin, &span.end);
                    let values_at = prefix.len() - span.begin.len();
                    let values_at = self.holds.then_some(values_at);
                    sorted.push(self.behind_prefix(prefix, values_at)?);
                }
            }
            EntrySource::Index { index, spans, .. } => {
                unsorted.extend(spans.iter().map(|span| (*index, span)));
            }
        }
        Ok(())
    }

    fn behind_prefix(&self, prefix: Vec<u8>, values_at: Option<usize>) -> Result<Ids<'r>> {
        let (begin, end) = self.keys.bounds();
        let mut begin = [&prefix[..], &begin].concat();
        let mut end = [&prefix[..], &end].concat();
        if let Some(after) = self.after {
            let id = id_bytes(self.collection, after)?;
            let key = [&prefix[..], &id].concat();
            if self.reading.backward {
                end = end.min(key);
            } else {
                begin = begin.max(key_after(&key));
            }
        }
        let keys = KeyStream::new(self.reading, &begin, &end, self.reading.backward);
        Ok(Ids::Keys(keys, prefix, values_at))
    }

    /// Reads the ids of spans whose entries are not ordered by id, and sorts them.
    async fn listed(
        &self,
        spans: &[(&Index, &Span)],
        sorted_max: usize,
    ) -> Result<Option<Ids<'r>>> {
        let after = self
            .after
            .map(|id| id_bytes(self.collection, id))
            .transpose()?;
        let mut ids = ListedIds::new(self.reading.budget);
        let mut entries = 0;
        for (index, span) in spans {
            let key = IndexKey::new(self.collection, index.number)?;
            let (begin, end) = key.span(&span.begin, &span.end);
            let mut keys = KeyStream::new(self.reading, &begin, &end, false);
            while let Some((entry, forms)) = keys.peek_pair().await? {
                let (values, _) = key
                    .parse(entry, index.on.len())
                    .ok_or_else(|| no_entry(entry))?;
                let relative = key.relative(entry).unwrap_or_default();
                let id = &relative[values.len()..];
                let passed = after.as_ref().is_some_and(|after| {
                    if self.reading.backward {
                        *id >= after[..]
                    } else {
                        *id <= after[..]
                    }
                });
                if !passed && self.keys.contains(id) {
                    ids.add(id, self.holds.then_some((values, forms)))?;
                }
                keys.advance();
                entries += 1;
                if entries > sorted_max {
                    return Ok(None);
                }
            }
        }
        ids.sort(self.reading.backward, self.reading.budget).await?;
        Ok(Some(Ids::Listed(ids)))
    }

    /// The ids of a list of keys, which is sorted.
    async fn listed_keys(&self, listed: &[IdBytes]) -> Result<Ids<'r>> {
        let mut ids = ListedIds::new(self.reading.budget);
        let mut listed = in_turns(self.rest_of(listed)?);
        while let Some(id) = listed.next().await {
            ids.add(&id, None)?;
        }
        Ok(Ids::Listed(ids))
    }
}
