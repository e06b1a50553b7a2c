//! Ids in order, forwards or backwards, from spans of indexes.

use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};

use super::keys::{KeyReader, KeyStream};
use super::union::Union;
use crate::budget::{Budget, Share};
use crate::database::index::Index;
use crate::database::query::plan::access_path::{EntrySource, Span};
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::key::{Entry, Family, IndexKey, hex};
use crate::store::key_after;

/// An id as keys end with it: ids sort as these bytes do.
pub(crate) type IdBytes = Vec<u8>;

/// Ids in order, none twice.
pub(crate) enum Ids<'r> {
    /// From keys that go on with an id behind so many bytes.
    Keys(KeyStream<'r>, Vec<u8>),
    /// Held, those that come first last.
    Listed { ids: Vec<IdBytes>, _memory: Share },
    /// In any of these.
    Union(Union<'r>),
    /// In each of these.
    Intersection(Vec<Ids<'r>>, &'r Budget),
}

/// Where the ids of a query are to be found.
#[derive(Clone, Copy)]
pub(crate) struct IdSource<'r> {
    pub(crate) reading: KeyReader<'r>,
    pub(crate) collection: &'r str,
    /// Only what comes behind this id, in the direction of the reading.
    pub(crate) after: Option<&'r DocumentId>,
}

/// An id as keys end with it.
///
/// # Errors
/// `TOO_LARGE`: the collection's name and the id.
pub(crate) fn id_bytes(collection: &str, id: &DocumentId) -> Result<IdBytes> {
    let key = Family::Existence(collection, id).key()?;
    Ok(key[catalog(collection).len()..].to_vec())
}

/// The id that these bytes are.
///
/// # Errors
/// `INTERNAL`: they are none.
pub(crate) fn id_of(bytes: &[u8]) -> Result<DocumentId> {
    match Family::document_id(bytes, 0) {
        Ok((id, length)) if length == bytes.len() => Ok(id),
        _ => Err(Error::internal(format!(
            "an entry of the catalog or of an index ends with no id: {}",
            hex(bytes)
        ))),
    }
}

/// What the catalog's keys of a collection begin with.
fn catalog(collection: &str) -> Vec<u8> {
    Entry::Existence.key_of(&Family::documents(collection).0)
}

impl<'r> IdSource<'r> {
    /// Every document of the collection.
    ///
    /// # Errors
    /// `TOO_LARGE`: the collection's name and the id.
    pub(crate) fn every(&self) -> Result<Ids<'r>> {
        self.behind_prefix(catalog(self.collection))
    }

    /// The ids that entries lead to. None if the entries have to be put in order and are more than
    /// `sorted_max`.
    ///
    /// # Errors
    /// What the store fails with.
    pub(crate) async fn open(
        &self,
        access: &EntrySource<'_>,
        sorted_max: usize,
    ) -> Result<Option<Ids<'r>>> {
        let mut unsorted = Vec::new();
        let mut sorted = Vec::new();
        self.sort_out(access, &mut sorted, &mut unsorted)?;
        if !unsorted.is_empty() {
            let Some(listed) = self.listed(&unsorted, sorted_max).await? else {
                return Ok(None);
            };
            sorted.push(listed);
        }
        Ok(Some(match <[Ids<'r>; 1]>::try_from(sorted) {
            Ok([only]) => only,
            Err(parts) => Ids::Union(Union::new(parts)),
        }))
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
                    sorted.push(self.behind_prefix(prefix)?);
                }
            }
            EntrySource::Index { index, spans, .. } => {
                unsorted.extend(spans.iter().map(|span| (*index, span)));
            }
        }
        Ok(())
    }

    fn behind_prefix(&self, prefix: Vec<u8>) -> Result<Ids<'r>> {
        let mut begin = prefix.clone();
        let mut end = [&prefix[..], &[0xFF]].concat();
        if let Some(after) = self.after {
            let id = id_bytes(self.collection, after)?;
            let key = [&prefix[..], &id].concat();
            if self.reading.backward {
                end = key;
            } else {
                begin = key_after(&key);
            }
        }
        let keys = KeyStream::new(self.reading, &begin, &end, self.reading.backward);
        Ok(Ids::Keys(keys, prefix))
    }

    /// The ids of entries that do not come by id, put in order.
    async fn listed(
        &self,
        spans: &[(&Index, &Span)],
        sorted_max: usize,
    ) -> Result<Option<Ids<'r>>> {
        let after = self.after.map(|id| id_bytes(self.collection, id));
        let after = after.transpose()?;
        let memory = self.reading.budget.counted_share();
        let mut ids = Vec::new();
        let mut entries = 0;
        for (index, span) in spans {
            let key = IndexKey::new(self.collection, index.number)?;
            let (begin, end) = key.span(&span.begin, &span.end);
            let mut keys = KeyStream::new(self.reading, &begin, &end, false);
            while let Some(entry) = keys.peek().await? {
                let (values, _) = key
                    .parse(entry, index.on.len())
                    .ok_or_else(|| no_entry(entry))?;
                let relative = key.relative(entry).unwrap_or_default();
                let id = relative[values.len()..].to_vec();
                let passed = after.as_ref().is_some_and(|after| {
                    if self.reading.backward {
                        id >= *after
                    } else {
                        id <= *after
                    }
                });
                if !passed {
                    memory.take(id.len() + size_of::<IdBytes>())?;
                    ids.push(id);
                }
                keys.advance();
                entries += 1;
                if entries > sorted_max {
                    return Ok(None);
                }
            }
        }
        ids.sort_unstable();
        ids.dedup();
        if !self.reading.backward {
            ids.reverse();
        }
        Ok(Some(Ids::Listed {
            ids,
            _memory: memory,
        }))
    }
}

pub(crate) fn no_entry(key: &[u8]) -> Error {
    Error::internal(format!("no entry of an index: the key {}", hex(key)))
}

impl Ids<'_> {
    /// The next ids, at most `count`; fewer only if there are no more.
    ///
    /// # Errors
    /// What the store fails with. `INTERNAL`: damaged entries.
    pub(crate) async fn next(
        &mut self,
        count: usize,
        backward: bool,
        budget: &Budget,
    ) -> Result<Vec<DocumentId>> {
        let mut found = Vec::new();
        while found.len() < count {
            budget.pace(self.streams()).await?;
            let Some(id) = self.peek(backward).await? else {
                break;
            };
            found.push(id_of(&id)?);
            self.advance(&id, backward);
        }
        Ok(found)
    }

    /// The id that comes next.
    ///
    /// # Errors
    /// What the store fails with.
    pub(crate) fn peek(&mut self, backward: bool) -> BoxFuture<'_, Result<Option<IdBytes>>> {
        async move {
            match self {
                Self::Keys(keys, prefix) => {
                    let key = keys.peek().await?;
                    Ok(key.map(|key| key[prefix.len()..].to_vec()))
                }
                Self::Listed { ids, .. } => Ok(ids.last().cloned()),
                Self::Union(union) => union.peek(backward).await,
                Self::Intersection(parts, budget) => loop {
                    budget.pace(parts.len() as u64).await?;
                    let heads = parts.iter_mut().map(|part| part.peek(backward));
                    let heads: Option<Vec<_>> = try_join_all(heads).await?.into_iter().collect();
                    let Some(heads) = heads else {
                        return Ok(None);
                    };
                    let target = if backward {
                        heads.iter().min()
                    } else {
                        heads.iter().max()
                    };
                    let Some(target) = target else {
                        return Ok(None);
                    };
                    if heads.iter().all(|head| head == target) {
                        return Ok(Some(target.clone()));
                    }
                    for part in parts.iter_mut() {
                        part.seek(target, backward);
                    }
                },
            }
        }
        .boxed()
    }

    /// Goes on behind `id`, which was peeked at. What comes next elsewhere stays.
    pub(crate) fn advance(&mut self, id: &[u8], backward: bool) {
        match self {
            Self::Keys(keys, prefix) => {
                if keys.head().and_then(|key| key.strip_prefix(&prefix[..])) == Some(id) {
                    keys.advance();
                }
            }
            Self::Listed { ids, .. } => {
                ids.pop_if(|last| last == id);
            }
            Self::Union(union) => union.advance(id, backward),
            Self::Intersection(parts, _) => {
                for part in parts {
                    part.advance(id, backward);
                }
            }
        }
    }

    /// Goes on to the first id that does not stand before `id` in this direction.
    pub(crate) fn seek(&mut self, id: &[u8], backward: bool) {
        match self {
            Self::Keys(keys, prefix) => keys.seek(&[&prefix[..], id].concat()),
            Self::Listed { ids, .. } => {
                let stands_before = |other: &IdBytes| {
                    if backward {
                        other[..] > *id
                    } else {
                        other[..] < *id
                    }
                };
                let rest = ids.partition_point(|other| !stands_before(other));
                ids.truncate(rest);
            }
            Self::Union(union) => union.seek(id, backward),
            Self::Intersection(parts, _) => {
                for part in parts {
                    part.seek(id, backward);
                }
            }
        }
    }

    /// How many streams are looked at for the next id, at most.
    fn streams(&self) -> u64 {
        match self {
            Self::Keys(..) | Self::Listed { .. } => 1,
            Self::Union(union) => 2 + u64::from(union.parts().len().max(1).ilog2()),
            Self::Intersection(parts, _) => parts.iter().map(Self::streams).sum(),
        }
    }

    /// How many ids are left, at most, if all of them are read already.
    pub(crate) fn left(&self) -> Option<usize> {
        match self {
            Self::Keys(keys, _) => keys.left(),
            Self::Listed { ids, .. } => Some(ids.len()),
            Self::Union(union) => union.parts().iter().map(Self::left).sum(),
            Self::Intersection(parts, _) => parts.iter().filter_map(Self::left).min(),
        }
    }
}
