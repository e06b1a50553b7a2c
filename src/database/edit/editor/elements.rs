//! Addition of elements at the end of an array, and search for elements by value.

use super::location::{Location, Target};
use super::{Editor, set_leaves};
use crate::budget::Steps;
use crate::database::changes::record::{self, Edited};
use crate::database::document_key::{below, prefix_end};
use crate::database::read::value_ref::malformed;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::{Path, Segment, Token};
use crate::error::{Error, Result};
use crate::key::{
    DistinctElements, EqualElement, EqualElements, KeyStep, Leaves, ValueSet, check_key_bytes, step,
};
use crate::limits::{COPIED_BYTES_PER_STEP, LEAVES_PER_PACE};
use crate::store::{Batches, Pairs};

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
        elements.check_fits(array.key.len(), array.place.0.len())?;
        // An index with more digits makes a longer key.
        check_key_bytes(array.key.len(), moved.iter().map(|(key, _)| key))?;
        let begin = &place.key;
        let end = below(&array.key, &Segment::Index(first + count));
        self.transaction.add_read_conflict(begin, &end);
        self.extend(parent).await?;
        self.index_maintainer.touch(begin, &end).await?;
        self.transaction.add_write_conflict(begin, &end);
        self.transaction.without_write_conflicts(true);
        let set = |key: &[u8], value: &[u8]| self.transaction.set(key, value);
        set_leaves(self.budget, &array.key, moved.iter(), set).await?;
        self.transaction.without_write_conflicts(false);
        self.changed = true;
        let document = Edited::existing(&self.document);
        record::appended(self.transaction, document, &array.place, first, elements);
        self.type_guard.appended(&array.key, first, count);
        Ok(())
    }

    /// Numbers the elements of an array from `first` on. Returns also how many there are.
    async fn moved_behind(&self, elements: &Leaves, first: u64) -> Result<(Pairs, u64)> {
        let mut moved = Pairs::default();
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

    /// Adds those elements at the end of an array that it does not have. The transaction conflicts with
    /// others that change the array.
    pub(crate) async fn add_missing(
        &mut self,
        array: &Location,
        elements: &DistinctElements,
    ) -> Result<()> {
        let found = self.equal_elements(array, elements.values()).await?;
        if found.is_empty() {
            return self.append(array, elements.array()).await;
        }
        let memory = self.budget.reserve();
        memory.hold(2 * elements.array().held())?;
        let missing = |steps: &Steps<'_>| elements.without(&found, steps);
        match self.budget.compute(missing).await? {
            Some(missing) => self.append(array, &missing).await,
            None => Ok(()),
        }
    }

    /// The elements of an array that are equal to one of `values`.
    pub(crate) async fn equal_elements(
        &self,
        array: &Location,
        values: &ValueSet,
    ) -> Result<Vec<EqualElement>> {
        check_is_array(array)?;
        if values.is_empty() {
            return Ok(Vec::new());
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
            memory.hold((equal.count() - found) * size_of::<EqualElement>())?;
            found = equal.count();
        }
        Ok(equal.finish())
    }

    /// Whether an array ends with exactly these elements, which have these ascending indexes.
    pub(crate) async fn ends_with(
        &self,
        array: &Location,
        indexes: &[u64],
        elements: &Leaves,
    ) -> Result<bool> {
        let (Some(first), Some(last)) = (indexes.first(), indexes.last()) else {
            return Ok(false);
        };
        let memory = self.budget.reserve();
        memory.hold(elements.held())?;
        let (moved, count) = self.moved_behind(elements, *first).await?;
        if count != indexes.len() as u64 || last - first + 1 != count {
            return Ok(false);
        }
        let begin = below(&array.key, &Segment::Index(*first));
        let mut expected = moved.iter();
        let mut batches = Batches::new(self.transaction, begin, prefix_end(&array.key));
        while let Some(batch) = batches.next().await? {
            self.budget.pace(batch.len() as u64).await?;
            let mut stored = batch.iter();
            if !stored.all(|(key, value)| expected.next() == Some((&key[array.key.len()..], value)))
            {
                return Ok(false);
            }
        }
        Ok(expected.next().is_none())
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
