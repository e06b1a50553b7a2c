//! Sorted ids in memory, with what their entries hold.

use super::held::HeldEntry;
use crate::budget::{Budget, Share};
use crate::error::{Error, Result};
use crate::limits::{BATCH_PAIRS_MAX, HELD_ENTRIES_MAX};

/// Ids in memory, in the reverse order of the stream: the next one is the last. They are in two allocations.
pub(crate) struct ListedIds {
    /// The ids, and behind each what its entry holds.
    bytes: Vec<u8>,
    ids: Vec<ListedId>,
    /// Whether what all entries hold is kept.
    holds: bool,
    memory: Share,
}

/// Where an id is.
#[derive(Clone, Copy)]
struct ListedId {
    /// Its first bytes, which usually distinguish it from others.
    head: u64,
    at: u32,
    length: u16,
    /// The bytes of the values and of the forms of its entry. None if they are not kept.
    packed: Option<u16>,
    forms: u16,
}

impl ListedIds {
    pub(crate) fn new(budget: &Budget) -> Self {
        Self {
            bytes: Vec::new(),
            ids: Vec::new(),
            holds: true,
            memory: budget.counted_share(),
        }
    }

    /// Adds an id, with what its entry holds. Only the first [`HELD_ENTRIES_MAX`] of them are kept.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted): the memory. `INTERNAL`: the id is longer
    /// than a key.
    pub(crate) fn add(&mut self, id: &[u8], held: Option<(&[u8], &[u8])>) -> Result<()> {
        let held = held.filter(|_| self.ids.len() < HELD_ENTRIES_MAX);
        let (packed, forms) = held.unwrap_or_default();
        let too_long = || Error::internal("an entry is longer than a key");
        let length = |bytes: &[u8]| u16::try_from(bytes.len()).map_err(|_| too_long());
        let listed = ListedId {
            head: head(id),
            at: u32::try_from(self.bytes.len()).map_err(|_| too_long())?,
            length: length(id)?,
            packed: held.map(|_| length(packed)).transpose()?,
            forms: length(forms)?,
        };
        let room = id.len() + packed.len() + forms.len();
        self.memory.grow(&mut self.bytes, room)?;
        for part in [id, packed, forms] {
            self.bytes.extend_from_slice(part);
        }
        self.memory.grow(&mut self.ids, 1)?;
        self.ids.push(listed);
        Ok(())
    }

    /// Sorts what was added, and removes duplicates.
    ///
    /// # Errors
    /// As [`Budget::compute_long`].
    pub(crate) async fn sort(&mut self, backward: bool, budget: &Budget) -> Result<()> {
        let count = self.ids.len();
        self.holds = count <= HELD_ENTRIES_MAX;
        let bytes = &self.bytes;
        let ids = &mut self.ids;
        let mut sort = || {
            ids.sort_unstable_by(|a, b| {
                let rest = || a.id(bytes).cmp(b.id(bytes)).then(a.at.cmp(&b.at));
                a.head.cmp(&b.head).then_with(rest)
            });
            ids.dedup_by(|a, b| a.id(bytes) == b.id(bytes));
            if !backward {
                ids.reverse();
            }
            Ok(())
        };
        if count > BATCH_PAIRS_MAX {
            budget.compute_long(sort).await
        } else {
            sort()
        }
    }

    /// The next id.
    pub(crate) fn peek(&self) -> Option<Vec<u8>> {
        self.ids.last().map(|id| id.id(&self.bytes).to_vec())
    }

    /// What the entry of the next id holds, if that is `id`.
    pub(crate) fn held(&self, id: &[u8]) -> Option<HeldEntry> {
        let listed = self.ids.last().filter(|_| self.holds)?;
        let rest = &self.bytes[listed.at as usize..].strip_prefix(id)?;
        let (packed, rest) = rest.split_at(usize::from(listed.packed?));
        (usize::from(listed.length) == id.len()).then(|| HeldEntry {
            packed: packed.to_vec(),
            forms: rest[..usize::from(listed.forms)].to_vec(),
        })
    }

    /// Moves past `id` if it is the next one.
    pub(crate) fn advance(&mut self, id: &[u8]) {
        self.ids.pop_if(|last| last.id(&self.bytes) == id);
    }

    /// Moves to the first id at or after `id`, in the direction of the stream.
    pub(crate) fn seek(&mut self, id: &[u8], backward: bool) {
        let stands_before = |other: &ListedId| {
            let other = other.id(&self.bytes);
            if backward { other > id } else { other < id }
        };
        let rest = self.ids.partition_point(|other| !stands_before(other));
        self.ids.truncate(rest);
    }

    /// The number of ids left.
    pub(crate) fn left(&self) -> usize {
        self.ids.len()
    }
}

impl ListedId {
    fn id<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let at = self.at as usize;
        &bytes[at..at + usize::from(self.length)]
    }
}

/// The first bytes of an id as a number that sorts like them.
fn head(id: &[u8]) -> u64 {
    let mut head = [0; size_of::<u64>()];
    let length = id.len().min(head.len());
    head[..length].copy_from_slice(&id[..length]);
    u64::from_be_bytes(head)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::limits::Bounds;

    fn id(number: usize) -> Vec<u8> {
        // Ids of several lengths, of which some begin with others.
        let text = format!("{:x}", number * 7919 % 4096);
        text.into_bytes().repeat(1 + number % 3)
    }

    #[tokio::test]
    async fn ids_are_sorted_in_both_directions_with_what_their_entries_hold() {
        let budget = Budget::of_test(&Bounds::DEFAULT);
        for (count, backward) in [(0, false), (1, true), (5_000, false), (5_000, true)] {
            let mut listed = ListedIds::new(&budget);
            let mut expected = BTreeMap::new();
            for number in 0..count {
                let (id, packed) = (id(number), number.to_be_bytes());
                listed.add(&id, Some((&packed, &[1]))).expect("added");
                expected.entry(id).or_insert(packed);
            }
            listed.sort(backward, &budget).await.expect("sorted");
            let mut expected: Vec<_> = expected.into_iter().collect();
            if backward {
                expected.reverse();
            }
            let half = expected.len() / 2;
            for (number, (id, packed)) in expected.iter().enumerate() {
                if number == half {
                    listed.seek(id, backward);
                }
                assert_eq!(listed.left(), expected.len() - number);
                assert_eq!(listed.peek().as_ref(), Some(id));
                let held = listed.held(id).expect("held");
                assert_eq!((&held.packed[..], &held.forms[..]), (&packed[..], &[1][..]));
                assert_eq!(listed.held(b"other"), None);
                listed.advance(b"other");
                listed.advance(id);
            }
            assert_eq!(listed.peek(), None);
        }
    }

    #[tokio::test]
    async fn what_many_entries_hold_is_not_kept() {
        let budget = Budget::of_test(&Bounds::DEFAULT);
        let mut listed = ListedIds::new(&budget);
        for number in 0..=HELD_ENTRIES_MAX {
            let id = number.to_be_bytes();
            listed.add(&id, Some((b"value", &[]))).expect("added");
        }
        listed.sort(true, &budget).await.expect("sorted");
        assert_eq!(listed.left(), HELD_ENTRIES_MAX + 1);
        assert_eq!(listed.held(&listed.peek().expect("one")), None);
    }
}
