//! Parses documents and patches in arguments: small ones at once, large ones on a blocking thread.

use std::ops::Deref;

use bytes::Bytes;
use tokio::time::Instant;

use crate::budget::Share;
use crate::budget::offload_if_large;
use crate::document::flatten::json_text;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::key::{Leaves, LeavesReader};
use crate::limits::{JSON_BYTES_PER_STEP, LEAVES_AT_A_TIME};

/// The leaves of a document. They count towards the memory that all requests hold.
pub(crate) struct LeavesArgument {
    leaves: Leaves,
    _share: Share,
}

impl Deref for LeavesArgument {
    type Target = Leaves;

    fn deref(&self) -> &Leaves {
        &self.leaves
    }
}

/// Flattens a JSON text into leaves.
///
/// # Errors
/// As [`Leaves::from_argument`]. `TIMEOUT`: the request's time limit has passed. `UNAVAILABLE`: all
/// requests together hold too much memory.
pub(crate) async fn leaves(text: Bytes, request_budget: &RequestBudget) -> Result<LeavesArgument> {
    request_budget.check()?;
    let budget = request_budget.budget();
    budget.pace(text.len() as u64 / JSON_BYTES_PER_STEP).await?;
    let (deadline, share) = (budget.deadline(), budget.share());
    let leaves = offload_if_large(text.len(), move || flattened(&text, deadline, share)).await?;
    // The time limit has passed, so the check reports it.
    leaves.ok_or_else(|| request_budget.check().err().unwrap_or_else(stopped))
}

/// Runs `parse` on a JSON text.
///
/// # Errors
/// The errors of `parse`. `TIMEOUT`: the request's time limit has passed.
pub(crate) async fn parsed<T: Send + 'static>(
    text: Bytes,
    request_budget: &RequestBudget,
    parse: impl FnOnce(&Bytes) -> Result<T> + Send + 'static,
) -> Result<T> {
    request_budget.check()?;
    request_budget
        .budget()
        .pace(text.len() as u64 / JSON_BYTES_PER_STEP)
        .await?;
    offload_if_large(text.len(), move || parse(&text)).await
}

/// Flattens a text into leaves; none if the deadline passes.
fn flattened(text: &Bytes, deadline: Instant, share: Share) -> Result<Option<LeavesArgument>> {
    let mut reader = LeavesReader::new(json_text(text)?);
    let mut held = 0;
    loop {
        if let Some(leaves) = reader.advance(LEAVES_AT_A_TIME)? {
            share.take(leaves.held().saturating_sub(held))?;
            return Ok(Some(LeavesArgument {
                leaves,
                _share: share,
            }));
        }
        share.take(reader.held() - held)?;
        held = reader.held();
        if Instant::now() >= deadline {
            return Ok(None);
        }
    }
}

fn stopped() -> Error {
    Error::timeout(None, "the time limit of the request has passed")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::budget::{Pool, Resource};
    use crate::error::ErrorKind;
    use crate::limits::Bounds;

    fn text(values: usize) -> Bytes {
        format!("[{}1]", "1,".repeat(values - 1)).into()
    }

    fn later() -> Instant {
        Instant::now() + Duration::from_secs(600)
    }

    #[tokio::test]
    async fn a_patch_is_not_parsed_after_the_deadline() {
        let pool = Pool::new(usize::MAX);
        let request_budget = RequestBudget::new(&Bounds::DEFAULT, &pool, Instant::now());
        let late = parsed(Bytes::new(), &request_budget, |_| Ok(()))
            .await
            .expect_err("the time is over");
        assert_eq!(late.kind(), ErrorKind::Exhausted(Resource::Time));
    }

    #[test]
    fn a_large_document_is_abandoned_after_the_deadline() {
        let text = text(3 * LEAVES_AT_A_TIME);
        let pool = Pool::new(usize::MAX);
        let cancelled = flattened(&text, Instant::now(), pool.share()).expect("valid JSON");
        assert!(cancelled.is_none());
        let whole = flattened(&text, later(), pool.share()).expect("valid JSON");
        assert_eq!(whole.map(|leaves| leaves.len()), Some(3 * LEAVES_AT_A_TIME));
    }

    #[test]
    fn leaves_are_held_in_the_pool_while_they_are_built() {
        let pool = Pool::new(1 << 20);
        let small = flattened(&text(1_000), later(), pool.share()).expect("valid JSON");
        assert_eq!(pool.held(), 0);
        let large = flattened(&text(10_000), later(), pool.share()).expect("valid JSON");
        assert!(pool.held() > 0);
        let Err(error) = flattened(&text(1_000_000), later(), pool.share()) else {
            panic!("it has far more than a mebibyte");
        };
        assert_eq!(error.kind(), ErrorKind::Exhausted(Resource::Memory));
        drop((small, large));
        assert_eq!(pool.held(), 0);
    }

    #[test]
    fn long_names_count_once_for_each_value_below_them() {
        let name = "k".repeat(9_900);
        let text = format!("{{\"{name}\":[{}1]}}", "1,".repeat(20_000));
        let pool = Pool::new(usize::MAX);
        let Err(error) = flattened(&text.into(), later(), pool.share()) else {
            panic!("its keys have some 200 MB");
        };
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("134217728 bytes"), "{error:?}");
        assert_eq!(pool.held(), 0);
    }
}
