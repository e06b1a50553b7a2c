//! Values of patches, taken apart.

use bytes::Bytes;

use crate::budget::Budget;
use crate::document::flatten::json_text;
use crate::error::Result;
use crate::key::Leaves;
use crate::limits::JSON_BYTES_PER_STEP;
use crate::store::offload_if_large;

/// The leaves of a JSON text that came in an argument; those of a large one are made where that
/// holds nobody up.
///
/// # Errors
/// As [`Leaves::from_argument`].
pub(crate) async fn leaves_of(text: &Bytes, budget: &Budget) -> Result<Leaves> {
    budget.pace(text.len() as u64 / JSON_BYTES_PER_STEP).await?;
    let text = text.clone();
    offload_if_large(text.len(), move || Leaves::from_argument(json_text(&text)?)).await
}
