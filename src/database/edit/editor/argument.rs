//! Values in patches.

use bytes::Bytes;

use crate::budget::Budget;
use crate::budget::offload_if_large;
use crate::document::flatten::json_text;
use crate::error::Result;
use crate::key::Leaves;
use crate::limits::JSON_BYTES_PER_STEP;

/// Parses a JSON text from an argument into leaves. A large text is parsed on another thread, so
/// that it does not block the scheduler.
///
/// # Errors
/// As [`Leaves::from_argument`].
pub(crate) async fn leaves_of(text: &Bytes, budget: &Budget) -> Result<Leaves> {
    budget.pace(text.len() as u64 / JSON_BYTES_PER_STEP).await?;
    let text = text.clone();
    offload_if_large(text.len(), move || Leaves::from_argument(json_text(&text)?)).await
}
