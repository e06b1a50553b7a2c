//! Long stretches of work give others their turn.

use crate::limits::LEAVES_AT_A_TIME;

/// To be awaited with the number of each pair that is worked on: now and then others have their
/// turn, and whoever waits for the work with a deadline can give it up.
#[inline]
pub async fn pace(at: usize) {
    if at % LEAVES_AT_A_TIME == LEAVES_AT_A_TIME - 1 {
        tokio::task::yield_now().await;
    }
}
