//! Values of patches, taken apart.

use bytes::Bytes;

use crate::document::flatten::json_text;
use crate::error::{Error, Result};
use crate::key::Leaves;
use crate::limits::JSON_BYTES_AT_ONCE;

/// The leaves of a JSON text that came in an argument; those of a large one are made where that
/// holds nobody up.
///
/// # Errors
/// As [`Leaves::from_argument`].
pub(super) async fn leaves_of(text: &Bytes) -> Result<Leaves> {
    if text.len() <= JSON_BYTES_AT_ONCE {
        return leaves(text);
    }
    let text = text.clone();
    let made = tokio::task::spawn_blocking(move || leaves(&text)).await;
    made.map_err(|error| Error::internal(error.to_string()))?
}

fn leaves(text: &Bytes) -> Result<Leaves> {
    Leaves::from_argument(json_text(text)?)
}
