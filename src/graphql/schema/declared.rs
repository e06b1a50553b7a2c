//! Declarations of fields. The derived types declare the schema: its introspection, its validation and its
//! text. Their fields are executed from plans.

use crate::error::{Error, Result};

/// The resolver of a field that is only declared.
///
/// # Errors
/// `INTERNAL`, always.
pub(crate) fn declared<T>() -> Result<T> {
    Err(Error::internal(
        "a field that is declared alone was resolved",
    ))
}
