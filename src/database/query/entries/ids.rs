//! Sorted streams of document ids, in either direction, from spans of index entries or from the
//! catalog.

use std::collections::BTreeSet;

use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};

use super::held::HeldEntry;
use super::keys::KeyStream;
use super::listed_ids::ListedIds;
use super::lookup::KeyLookup;
use crate::budget::{Budget, Share, begun_in_turns};
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::key::{Entry, Family, hex};
use crate::limits::PARTS_AT_ONCE;

/// An id in the form in which keys end with it. The bytes sort like the ids.
pub(crate) type IdBytes = Vec<u8>;

/// A sorted stream of distinct ids.
pub(crate) enum Ids<'r> {
    /// From keys that consist of this prefix and an id. If they are entries, the number is the length
    /// of the prefix before their values.
    Keys(KeyStream<'r>, Vec<u8>, Option<usize>),
    /// In memory.
    Listed(ListedIds),
    /// Listed, and in the catalog.
    Lookup(KeyLookup<'r>),
    /// In any of these streams.
    Union(Union<'r>),
    /// In each of these streams.
    Intersection(Vec<Ids<'r>>, &'r Budget),
}

/// Encodes an id in the form in which keys end with it.
///
/// # Errors
/// `TOO_LARGE`: the collection's name and the id.
pub(crate) fn id_bytes(collection: &str, id: &DocumentId) -> Result<IdBytes> {
    let key = Family::Existence(collection, id).key()?;
    Ok(key[catalog(collection).len()..].to_vec())
}

/// Decodes an id.
///
/// # Errors
/// `INTERNAL`: the bytes are not an id.
pub(crate) fn id_of(bytes: &[u8]) -> Result<DocumentId> {
    match Family::document_id(bytes, 0) {
        Ok((id, length)) if length == bytes.len() => Ok(id),
        _ => Err(Error::internal(format!(
            "an entry of the catalog or of an index does not end with an id: {}",
            hex(bytes)
        ))),
    }
}

pub(crate) fn no_entry(key: &[u8]) -> Error {
    Error::internal(format!("damaged index entry: the key {}", hex(key)))
}

impl Ids<'_> {
    /// The next ids, at most `count`. Fewer only at the end. `memory` holds them.
    ///
    /// # Errors
    /// Errors of the store. `INTERNAL`: damaged entries. `UNAVAILABLE`: the memory.
    pub(crate) async fn next(
        &mut self,
        count: usize,
        backward: bool,
        (budget, memory): (&Budget, &Share),
    ) -> Result<Vec<DocumentId>> {
        let mut found = Vec::new();
        while found.len() < count
            && let Some((id, _)) = self.next_held(backward, budget).await?
        {
            memory.grow(&mut found, 1)?;
            memory.take(id.bytes())?;
            found.push(id);
        }
        Ok(found)
    }

    /// The next id, with what its entry holds, if [the source](super::id_source::IdSource::holds) asks for it.
    /// None after the last.
    ///
    /// # Errors
    /// Errors of the store. `INTERNAL`: damaged entries.
    pub(crate) async fn next_held(
        &mut self,
        backward: bool,
        budget: &Budget,
    ) -> Result<Option<(DocumentId, Option<HeldEntry>)>> {
        budget.pace(self.streams()).await?;
        let Some(id) = self.peek(backward).await? else {
            return Ok(None);
        };
        let found = (id_of(&id)?, self.held(&id));
        self.advance(&id, backward);
        Ok(Some(found))
    }

    /// What the entry of the current id holds.
    fn held(&self, id: &[u8]) -> Option<HeldEntry> {
        match self {
            Self::Keys(keys, prefix, values_at) => {
                let packed = prefix.get((*values_at)?..)?.to_vec();
                let (key, forms) = keys.head_pair()?;
                (key.strip_prefix(&prefix[..]) == Some(id)).then(|| HeldEntry {
                    packed,
                    forms: forms.to_vec(),
                })
            }
            Self::Listed(listed) => listed.held(id),
            Self::Lookup(_) => None,
            Self::Union(union) => union.parts().iter().find_map(|part| part.held(id)),
            Self::Intersection(parts, _) => parts.iter().find_map(|part| part.held(id)),
        }
    }

    /// The current id. None after the last.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) fn peek(&mut self, backward: bool) -> BoxFuture<'_, Result<Option<IdBytes>>> {
        async move {
            match self {
                Self::Keys(keys, prefix, _) => {
                    let key = keys.peek().await?;
                    Ok(key.map(|key| key[prefix.len()..].to_vec()))
                }
                Self::Listed(listed) => Ok(listed.peek()),
                Self::Lookup(lookup) => lookup.peek().await,
                Self::Union(union) => union.peek(backward).await,
                Self::Intersection(parts, budget) => loop {
                    budget.pace(parts.len() as u64).await?;
                    let heads = parts.iter_mut().map(|part| part.peek(backward));
                    let heads: Option<Vec<_>> = try_join_all(begun_in_turns(heads))
                        .await?
                        .into_iter()
                        .collect();
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

    /// Moves past `id`, the current id. Parts of the stream that are at another id do not move.
    pub(crate) fn advance(&mut self, id: &[u8], backward: bool) {
        match self {
            Self::Keys(keys, prefix, _) => {
                if keys.head().and_then(|key| key.strip_prefix(&prefix[..])) == Some(id) {
                    keys.advance();
                }
            }
            Self::Listed(listed) => listed.advance(id),
            Self::Lookup(lookup) => lookup.advance(id),
            Self::Union(union) => union.advance(id, backward),
            Self::Intersection(parts, _) => {
                for part in parts {
                    part.advance(id, backward);
                }
            }
        }
    }

    /// Moves to the first id at or after `id`, in the direction of the stream.
    pub(crate) fn seek(&mut self, id: &[u8], backward: bool) {
        match self {
            Self::Keys(keys, prefix, _) => keys.seek(&[&prefix[..], id].concat()),
            Self::Listed(listed) => listed.seek(id, backward),
            Self::Lookup(lookup) => lookup.seek(id),
            Self::Union(union) => union.seek(id, backward),
            Self::Intersection(parts, _) => {
                for part in parts {
                    part.seek(id, backward);
                }
            }
        }
    }

    /// The maximum number of streams examined for the next id.
    fn streams(&self) -> u64 {
        match self {
            Self::Keys(..) | Self::Listed(_) | Self::Lookup(_) => 1,
            Self::Union(union) => 2 + u64::from(union.parts().len().max(1).ilog2()),
            Self::Intersection(parts, _) => parts.iter().map(Self::streams).sum(),
        }
    }

    /// The maximum number of ids left, if all of them are in memory.
    pub(crate) fn left(&self) -> Option<usize> {
        match self {
            Self::Keys(keys, ..) => keys.left(),
            Self::Listed(listed) => Some(listed.left()),
            Self::Lookup(lookup) => Some(lookup.left()),
            Self::Union(union) => union.parts().iter().map(Self::left).sum(),
            Self::Intersection(parts, _) => parts.iter().filter_map(Self::left).min(),
        }
    }
}

/// The union of sorted streams of ids, without duplicates. The merge keeps the heads of the streams
/// sorted, so each id costs the logarithm of the number of streams.
pub(crate) struct Union<'r> {
    parts: Vec<Ids<'r>>,
    /// The current id of each stream that is not in `unread` and not at its end, with the number of
    /// the stream.
    heads: BTreeSet<(IdBytes, usize)>,
    /// Memory for them.
    memory: Share,
    /// The streams whose current id is unknown.
    unread: Vec<usize>,
}

impl<'r> Union<'r> {
    pub(crate) fn new(parts: Vec<Ids<'r>>, budget: &Budget) -> Self {
        Self {
            heads: BTreeSet::new(),
            memory: budget.counted_share(),
            unread: (0..parts.len()).collect(),
            parts,
        }
    }

    pub(crate) fn parts(&self) -> &[Ids<'r>] {
        &self.parts
    }

    /// The current id. None after the last.
    ///
    /// # Errors
    /// As [`Ids::peek`].
    pub(crate) async fn peek(&mut self, backward: bool) -> Result<Option<IdBytes>> {
        match &self.unread[..] {
            [] => {}
            [only] => {
                let part = *only;
                let head = self.parts[part].peek(backward).await?;
                let head = head.map(|id| (id, part));
                hold(&mut self.heads, &self.memory, [head])?;
            }
            _ => {
                let unread: BTreeSet<usize> = self.unread.iter().copied().collect();
                let parts = self.parts.iter_mut().enumerate();
                let mut unread: Vec<_> = parts.filter(|(at, _)| unread.contains(at)).collect();
                for parts in unread.chunks_mut(PARTS_AT_ONCE) {
                    let peeked = parts.iter_mut().map(|(at, part)| async move {
                        let head = part.peek(backward).await?;
                        Ok::<_, Error>(head.map(|id| (id, *at)))
                    });
                    let heads = try_join_all(begun_in_turns(peeked)).await?;
                    hold(&mut self.heads, &self.memory, heads)?;
                }
            }
        }
        self.unread.clear();
        Ok(self.first(backward).map(|(id, _)| id.clone()))
    }

    /// Moves past `id` in every stream that is at `id`.
    pub(crate) fn advance(&mut self, id: &[u8], backward: bool) {
        self.pop_while(
            backward,
            |head| head == id,
            |part| part.advance(id, backward),
        );
    }

    /// Moves each stream to its first id at or after `id`, in this direction.
    pub(crate) fn seek(&mut self, id: &[u8], backward: bool) {
        for at in self.unread.clone() {
            self.parts[at].seek(id, backward);
        }
        let before = |head: &[u8]| if backward { head > id } else { head < id };
        self.pop_while(backward, before, |part| part.seek(id, backward));
    }

    fn pop_while(
        &mut self,
        backward: bool,
        is_passed: impl Fn(&[u8]) -> bool,
        pass: impl Fn(&mut Ids<'r>),
    ) {
        while self.first(backward).is_some_and(|(id, _)| is_passed(id)) {
            let head = if backward {
                self.heads.pop_last()
            } else {
                self.heads.pop_first()
            };
            let Some((id, part)) = head else {
                return;
            };
            self.memory.give(head_bytes(&id));
            pass(&mut self.parts[part]);
            self.unread.push(part);
        }
    }

    fn first(&self, backward: bool) -> Option<&(IdBytes, usize)> {
        if backward {
            self.heads.last()
        } else {
            self.heads.first()
        }
    }
}

/// Adds the current ids of streams to the heads.
fn hold(
    heads: &mut BTreeSet<(IdBytes, usize)>,
    memory: &Share,
    ids: impl IntoIterator<Item = Option<(IdBytes, usize)>>,
) -> Result<()> {
    for (id, part) in ids.into_iter().flatten() {
        memory.take(head_bytes(&id))?;
        heads.insert((id, part));
    }
    Ok(())
}

/// The memory of the current id of a stream, in bytes.
fn head_bytes(id: &IdBytes) -> usize {
    size_of::<(IdBytes, usize)>() + id.len()
}

/// The prefix of the catalog's keys of a collection.
pub(crate) fn catalog(collection: &str) -> Vec<u8> {
    Entry::Existence.key_of(&Family::documents(collection).0)
}
