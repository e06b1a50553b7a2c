//! Loops over what clients send or store.

use super::slice::{count_steps, turn};
use crate::limits::{ITEMS_PER_TURN, STEPS_PER_ITEM};

/// Asks for the slice of the task in a loop, once for several items.
#[derive(Default)]
pub struct Turns {
    /// The number of items until the slice is asked for.
    left: u64,
}

impl Turns {
    /// Waits for the next slice of the task if the slice is over. Call it before each item, which takes some
    /// microseconds at most.
    #[inline]
    pub async fn next(&mut self) {
        if self.left == 0 {
            turn().await;
            count_steps(ITEMS_PER_TURN * STEPS_PER_ITEM);
            self.left = ITEMS_PER_TURN;
        }
        self.left -= 1;
    }
}

/// Items that are visited in the slices of a task.
pub struct InTurns<I> {
    items: I,
    turns: Turns,
}

/// Visits items, of which each takes some microseconds at most, and waits for the next slice of the task
/// between them when the slice is over.
pub fn in_turns<I: IntoIterator>(items: I) -> InTurns<I::IntoIter> {
    InTurns {
        items: items.into_iter(),
        turns: Turns::default(),
    }
}

impl<I: Iterator> InTurns<I> {
    /// The next item.
    #[inline]
    pub async fn next(&mut self) -> Option<I::Item> {
        self.turns.next().await;
        self.items.next()
    }
}

/// Parts of a task that run together, of which each begins when the slice is not over. Use it if their number
/// depends on what clients send or store: to begin a read takes microseconds. It also takes kilobytes, so begin at
/// most [`PARTS_AT_ONCE`](crate::limits::PARTS_AT_ONCE) together.
pub fn begun_in_turns<F: Future>(
    parts: impl IntoIterator<Item = F>,
) -> impl Iterator<Item = impl Future<Output = F::Output>> {
    parts.into_iter().map(async |part| {
        turn().await;
        part.await
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::poll_fn;
    use std::pin::pin;

    use futures::future::join_all;

    use super::*;
    use crate::budget::Sliced;
    use crate::limits::SLICE_STEPS_MAX;

    #[tokio::test]
    async fn a_loop_ends_its_poll_with_the_slice() {
        const ITEMS: u64 = 10 * SLICE_STEPS_MAX / STEPS_PER_ITEM;
        let mut task = pin!(Sliced::new(async {
            let mut items = in_turns(0..ITEMS);
            let mut visited = 0;
            while items.next().await.is_some() {
                visited += 1;
            }
            visited
        }));
        let mut polls = 0;
        let visited = poll_fn(|context| {
            polls += 1;
            task.as_mut().poll(context)
        });
        assert_eq!(visited.await, ITEMS);
        assert!(polls >= 10, "{polls}");
    }

    #[tokio::test]
    async fn parts_begin_when_there_is_a_slice() {
        let begun = Cell::new(0);
        let counted = &begun;
        let parts = (0..1_000).map(async |part| {
            counted.set(counted.get() + 1);
            count_steps(SLICE_STEPS_MAX / 2);
            turn().await;
            part
        });
        let mut task = pin!(Sliced::new(join_all(begun_in_turns(parts))));
        let mut most = 0;
        let joined = poll_fn(|context| {
            let before = begun.get();
            let polled = task.as_mut().poll(context);
            most = most.max(begun.get() - before);
            polled
        });
        assert!(joined.await.into_iter().eq(0..1_000));
        assert!(most <= 2, "{most}");
    }
}
