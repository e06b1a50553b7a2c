//! Documents that are kept parsed and valid: the last ones, as far as there is room.

use std::num::NonZeroUsize;

use lru::LruCache;

use crate::limits::{
    OPERATION_CACHED_BYTES_MAX, OPERATIONS_CACHED_BYTES_MAX, OPERATIONS_CACHED_MAX,
};

/// What was made of texts, by the texts. Of what is made of a text nothing is known but that it
/// takes some dozen times the text's bytes, so texts are what is counted.
pub(super) struct Kept<T> {
    by_text: LruCache<Box<str>, T>,
    text_bytes: usize,
}

impl<T: Clone> Kept<T> {
    pub(super) fn new() -> Self {
        let capacity = NonZeroUsize::new(OPERATIONS_CACHED_MAX).unwrap_or(NonZeroUsize::MIN);
        Self {
            by_text: LruCache::new(capacity),
            text_bytes: 0,
        }
    }

    /// What was made of a text, which from now on is the last one.
    pub(super) fn get(&mut self, text: &str) -> Option<T> {
        self.by_text.get(text).cloned()
    }

    /// Keeps what was made of a text, unless that is long, and drops those that were not asked for
    /// the longest.
    pub(super) fn keep(&mut self, text: &str, made: T) {
        if text.len() > OPERATION_CACHED_BYTES_MAX {
            return;
        }
        self.text_bytes += text.len();
        if let Some((dropped, _)) = self.by_text.push(text.into(), made) {
            self.text_bytes -= dropped.len();
        }
        while self.text_bytes > OPERATIONS_CACHED_BYTES_MAX
            && let Some((dropped, _)) = self.by_text.pop_lru()
        {
            self.text_bytes -= dropped.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept_within_their_number_and_their_bytes() {
        let mut kept = Kept::new();
        let text = |number: usize, bytes: usize| format!("{number:0bytes$}");
        kept.keep(&text(0, OPERATION_CACHED_BYTES_MAX + 1), 0);
        assert_eq!(kept.by_text.len(), 0);
        for number in 0..2 * OPERATIONS_CACHED_MAX {
            kept.keep(&text(number, 10), number);
            assert_eq!(kept.get(&text(0, 10)), Some(0), "it is asked for");
        }
        assert_eq!(kept.by_text.len(), OPERATIONS_CACHED_MAX);
        assert_eq!(kept.text_bytes, 10 * OPERATIONS_CACHED_MAX);
        assert_eq!(kept.get(&text(1, 10)), None);
        for number in 0..OPERATIONS_CACHED_MAX {
            kept.keep(&text(number, OPERATION_CACHED_BYTES_MAX), number);
            // The same again takes no room.
            kept.keep(&text(number, OPERATION_CACHED_BYTES_MAX), number + 1);
        }
        let most = OPERATIONS_CACHED_BYTES_MAX / OPERATION_CACHED_BYTES_MAX;
        assert_eq!(kept.by_text.len(), most);
        assert_eq!(kept.text_bytes, most * OPERATION_CACHED_BYTES_MAX);
        let last = OPERATIONS_CACHED_MAX - 1;
        let found = kept.get(&text(last, OPERATION_CACHED_BYTES_MAX));
        assert_eq!(found, Some(OPERATIONS_CACHED_MAX));
    }
}
