//! Insertion and removal of array elements. The elements after them are renumbered.

use std::ops::Deref;

use super::Editor;
use crate::budget::Reservation;
use crate::database::changes::record::{self, Edited};
use crate::database::document_key::{below, prefix_end};
use crate::document::leaf::Kind;
use crate::document::path::{Place, Segment};
use crate::error::{Error, Limit, Result};
use crate::key::{KeyStep, Leaves, check_key_bytes, empty_marker, step};
use crate::limits::{LEAVES_PER_PACE, MOVED_BYTES_MAX};
use crate::store::{Batches, Pairs};

impl Editor<'_> {
    /// Removes existing elements, whose indexes are in ascending order. The elements after them
    /// move up.
    pub(crate) async fn remove_elements(
        &mut self,
        place: &Place,
        array: &[u8],
        removed: &[u64],
    ) -> Result<()> {
        let (Some(first), Some(last)) = (removed.first(), removed.last()) else {
            return Ok(());
        };
        let document = Edited::existing(&self.document);
        record::removed_elements(self.transaction, document, place, removed);
        self.type_guard.removed_elements(array, removed);
        let begin = below(array, &Segment::Index(*first));
        let behind = self.elements_from(array, first + 1).await?;
        let to = |index: u64| {
            let before = removed.partition_point(|removed| *removed < index);
            (removed.get(before) != Some(&index)).then(|| index - before as u64)
        };
        let moved = self.moved(array, &behind, to).await?;
        if moved.is_empty() {
            let end = prefix_end(&below(array, &Segment::Index(*last)));
            self.clear_range(&begin, &end).await?;
            if *first == 0 {
                let (marker, value) = empty_marker(array, Kind::Array);
                self.transaction.set(&marker, &value);
            }
            return Ok(());
        }
        self.overwrite_range(array, &begin, &prefix_end(array), moved.iter())
            .await
    }

    /// Inserts an element before an existing one, which is at `place` with this index. That element and those after it move down by one.
    pub(crate) async fn insert_element(
        &mut self,
        place: &Place,
        index: u64,
        leaves: &Leaves,
    ) -> Result<()> {
        let (array, _) = self.parent_of(place)?;
        let array = &array[..];
        let element = below(array, &Segment::Index(index));
        leaves.check_fits(element.len(), place.0.len())?;
        let behind = self.elements_from(array, index).await?;
        let moved = self.moved(array, &behind, |index| Some(index + 1)).await?;
        let joined = || -> Result<_> {
            let mut new = Pairs::default();
            for (key, value) in leaves.iter() {
                new.push(&[&element[array.len()..], key].concat(), value);
            }
            new.append(&moved);
            // An index with more digits makes a longer key.
            check_key_bytes(array.len(), new.iter().map(|(key, _)| key))?;
            Ok(new)
        };
        let steps = (leaves.len() + moved.len()) as u64;
        let new = self.budget.portion(steps, joined).await?;
        self.overwrite_range(array, &element, &prefix_end(array), new.iter())
            .await?;
        let document = Edited::existing(&self.document);
        record::inserted(self.transaction, document, place, leaves);
        self.type_guard.inserted(array, index);
        self.type_guard.wrote(&element, Some(leaves));
        Ok(())
    }

    /// Reads the pairs of the elements of an array from `index` on.
    async fn elements_from(&self, array: &[u8], index: u64) -> Result<HeldPairs> {
        let begin = below(array, &Segment::Index(index));
        self.pairs(begin, &prefix_end(array)).await
    }

    /// Reads all pairs from `begin` to before `end` into memory.
    pub(crate) async fn pairs(&self, begin: Vec<u8>, end: &[u8]) -> Result<HeldPairs> {
        let memory = self.budget.reserve();
        let mut found = Pairs::default();
        let mut batches = Batches::new(self.transaction, begin, end);
        while let Some(batch) = batches.next().await? {
            self.budget.pace(batch.len() as u64).await?;
            // The copies under renumbered keys are held as well.
            memory.hold(2 * batch.bytes())?;
            found.append(&batch);
            if found.bytes() > MOVED_BYTES_MAX {
                return Err(Error::too_large(
                    Limit::new("movedBytes", MOVED_BYTES_MAX),
                    format!(
                        "this moves or copies more than {MOVED_BYTES_MAX} bytes of keys and values, \
                     which is the limit of one operation"
                    ),
                ));
            }
        }
        Ok(HeldPairs {
            pairs: found,
            _memory: memory,
        })
    }

    /// Renumbers the pairs of an array's elements, and drops those that get no index. The resulting
    /// keys are relative to the array.
    async fn moved(
        &self,
        array: &[u8],
        pairs: &Pairs,
        to: impl Fn(u64) -> Option<u64>,
    ) -> Result<Pairs> {
        let mut moved = Pairs::default();
        for (at, (key, value)) in pairs.iter().enumerate() {
            let relative = &key[array.len()..];
            let Some((KeyStep::Index(index), bytes)) = step(relative) else {
                return Err(crate::database::read::value_ref::malformed(
                    crate::key::Malformed::Segment,
                    key,
                ));
            };
            if let Some(index) = to(index) {
                let mut renumbered = below(&[], &Segment::Index(index));
                renumbered.extend_from_slice(&relative[bytes..]);
                moved.push(&renumbered, value);
            }
            if at % LEAVES_PER_PACE == LEAVES_PER_PACE - 1 {
                self.budget.pace(LEAVES_PER_PACE as u64).await?;
            }
        }
        Ok(moved)
    }
}

/// Pairs that are moved or copied, and the memory reserved for them.
pub(crate) struct HeldPairs {
    pairs: Pairs,
    _memory: Reservation,
}

impl Deref for HeldPairs {
    type Target = Pairs;

    fn deref(&self) -> &Pairs {
        &self.pairs
    }
}
