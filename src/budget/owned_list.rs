//! Lists whose items own memory.

use std::mem;
use std::ops::{Deref, DerefMut};

use super::block_thread;
use super::slice::{count_steps, portion_is_over};
use crate::limits::{PORTION_STEPS_MAX, STEPS_PER_ITEM};

/// A list whose items own memory. To free many of them is work of the task that does it: it counts as steps of
/// the current poll. Once a portion behind the slice is over, it is done while other threads serve.
#[derive(Clone, Debug)]
pub struct OwnedList<T>(Vec<T>);

impl<T> Default for OwnedList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> From<Vec<T>> for OwnedList<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T> FromIterator<T> for OwnedList<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(Vec::from_iter(items))
    }
}

impl<T> Deref for OwnedList<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for OwnedList<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<'l, T> IntoIterator for &'l OwnedList<T> {
    type Item = &'l T;
    type IntoIter = std::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> Drop for OwnedList<T> {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            let items = mem::take(&mut self.0);
            free(items.len(), items);
        }
    }
}

/// Frees what has so many items. See [`OwnedList`].
pub fn free<T>(items: usize, owner: T) {
    let steps = items as u64 * STEPS_PER_ITEM;
    if steps > PORTION_STEPS_MAX || portion_is_over() {
        block_thread(|| drop(owner));
    } else {
        count_steps(steps);
        drop(owner);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;
    use crate::budget::{Sliced, longest_poll_steps};
    use crate::limits::POLL_STEPS_MAX;

    struct Item(Arc<AtomicUsize>);

    impl Drop for Item {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn many_items_are_freed_in_no_more_steps_than_a_poll_has() {
        let freed = Arc::new(AtomicUsize::new(0));
        let per_list = usize::try_from(PORTION_STEPS_MAX / STEPS_PER_ITEM).expect("small");
        for (lists, length) in [(1, 100 * per_list), (100, per_list), (1_000, per_list / 10)] {
            freed.store(0, Relaxed);
            let all: Vec<OwnedList<Item>> = (0..lists)
                .map(|_| (0..length).map(|_| Item(freed.clone())).collect())
                .collect();
            Sliced::new(async { drop(all) }).await;
            assert_eq!(freed.load(Relaxed), lists * length);
        }
        assert!(longest_poll_steps() <= POLL_STEPS_MAX);
    }
}
