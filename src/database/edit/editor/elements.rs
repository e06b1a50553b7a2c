//! Addition of elements at the end of an array, and removal of elements by value.

use super::location::{Location, Target};
use super::{Editor, set_leaves};
use crate::database::changes::record::{self, Edited};
use crate::database::document_key::{below, prefix_end};
use crate::database::read::value_ref::malformed;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::{Path, Segment, Token};
use crate::error::{Error, Result};
use crate::key::{EqualElements, KeyStep, Leaves, ValueSet, step};
use crate::limits::{COPIED_BYTES_PER_STEP, LEAVES_PER_PACE};
use crate::store::Batches;

impl Editor<'_> {
    /// Adds the elements of the array `elements` at the end of an array. The transaction conflicts
    /// with others that change the length of the array.
    pub(crate) async fn append(&mut self, array: &Location, elements: &Leaves) -> Result<()> {
        check_is_array(array)?;
        let end = Path::from(&array.place).join(&Path::new(vec![Token::Dash]));
        let place = match self.locate(&end).await? {
            Target::Vacant(place) => place,
            Target::Unfit(error) => return Err(error),
            Target::Present(_) | Target::Orphan => return Err(no_end()),
        };
        let (Some(first), Some(parent)) = (place.element(), &place.parent) else {
            return Err(no_end());
        };
        let memory = self.budget.reserve();
        memory.hold(elements.held())?;
        let (moved, count) = self.moved_behind(elements, first).await?;
        if count == 0 {
            return Ok(());
        }
        moved.check_keys(array.key.len())?;
        let begin = &place.key;
        let end = below(&array.key, &Segment::Index(first + count));
        self.transaction.add_read_conflict(begin, &end);
        self.extend(parent).await?;
        self.index_maintainer.touch(begin, &end).await?;
        self.transaction.add_write_conflict(begin, &end);
        self.transaction.without_write_conflicts(true);
        let set = |key: &[u8], value: &[u8]| self.transaction.set(key, value);
        set_leaves(self.budget, &array.key, &moved, set).await?;
        self.transaction.without_write_conflicts(false);
        self.changed = true;
        let document = Edited::existing(&self.document);
        record::appended(self.transaction, document, &array.place, first, elements);
        Ok(())
    }

    /// Numbers the elements of an array from `first` on. Returns also how many there are.
    async fn moved_behind(&self, elements: &Leaves, first: u64) -> Result<(Leaves, u64)> {
        let mut moved = Leaves::default();
        let mut count = 0;
        for (at, (key, value)) in elements.iter().enumerate() {
            // The only other key is the marker of an empty array.
            let Some((KeyStep::Index(index), bytes)) = step(key) else {
                break;
            };
            count = index + 1;
            let mut behind = below(&[], &Segment::Index(first + index));
            behind.extend_from_slice(&key[bytes..]);
            moved.push(&behind, value);
            if at % LEAVES_PER_PACE == LEAVES_PER_PACE - 1 {
                self.budget.pace(LEAVES_PER_PACE as u64).await?;
            }
        }
        Ok((moved, count))
    }

    /// Removes the elements of an array that are equal to one of `values`. The elements after them
    /// move up.
    pub(crate) async fn remove_equal(&mut self, array: &Location, values: &ValueSet) -> Result<()> {
        check_is_array(array)?;
        if values.is_empty() {
            return Ok(());
        }
        let memory = self.budget.reserve();
        let mut equal = EqualElements::new(values);
        let mut found = 0;
        let mut batches = Batches::new(self.transaction, &array.key[..], prefix_end(&array.key));
        while let Some(batch) = batches.next().await? {
            let bytes = batch.bytes() as u64;
            self.budget
                .pace(batch.len() as u64 + bytes / COPIED_BYTES_PER_STEP)
                .await?;
            for (key, value) in batch.iter() {
                let pushed = equal.push(&key[array.key.len()..], value);
                pushed.map_err(|error| malformed(error, key))?;
            }
            memory.hold((equal.count() - found) * size_of::<u64>())?;
            found = equal.count();
        }
        let indexes = equal.finish();
        self.remove_elements(&array.place, &array.key, &indexes)
            .await
    }
}

fn check_is_array(location: &Location) -> Result<()> {
    if location.kind()? == Some(Kind::Array) {
        return Ok(());
    }
    Err(Error::bad_input(format!(
        "the value at {:?} is not an array",
        abridged(&location.place.to_string())
    )))
}

fn no_end() -> Error {
    Error::internal("an array without a place for an element")
}
