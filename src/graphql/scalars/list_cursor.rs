//! Cursors: a position in a list, as text that is valid only for the same query.

use crate::error::{Error, Result};
use crate::key::hex;

/// A digest of a query, which binds its cursors to it: FNV-1a over `of`.
pub(crate) fn digest(of: &[u8]) -> u64 {
    of.iter().fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Encodes a cursor at a position.
pub(crate) fn encode(digest: u64, position: &[u8]) -> String {
    hex(&[&digest.to_be_bytes(), position].concat())
}

/// The position of a cursor. For error messages, `argument` names the argument that gave it, and
/// `of` what it must belong to.
///
/// # Errors
/// `BAD_USER_INPUT`: the cursor is malformed or belongs to another query.
pub(crate) fn decode(cursor: &str, digest: u64, argument: &str, of: &str) -> Result<Vec<u8>> {
    let bytes = unhex(cursor).unwrap_or_default();
    match bytes.strip_prefix(&digest.to_be_bytes()) {
        Some(position) => Ok(position.to_vec()),
        None => Err(Error::bad_input(format!(
            "the cursor given as `{argument}` does not belong to {of}"
        ))),
    }
}

/// The error for a cursor with an invalid position.
pub(crate) fn damaged(argument: &str) -> Error {
    Error::bad_input(format!("the cursor given as `{argument}` is damaged"))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let digit = |digit: u8| {
        char::from(digit)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    digits
        .chunks(2)
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}
