//! Documents that come in arguments, taken apart: small ones at once, large ones on a thread where
//! they hold nobody up.

use bytes::Bytes;
use tokio::time::Instant;

use super::tally::Tally;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Leaves, LeavesReader};
use crate::limits::{APART_BYTES_AT_ONCE, LEAVES_AT_A_TIME};

/// The leaves of a JSON text.
///
/// # Errors
/// As [`Leaves::from_json`]; `TIMEOUT`: the time of the request is over.
pub(super) async fn leaves(text: Bytes, tally: &Tally) -> Result<Leaves> {
    tally.check()?;
    if text.len() <= APART_BYTES_AT_ONCE {
        return Leaves::from_json(utf8(&text)?);
    }
    let deadline = tally.deadline();
    let taken = tokio::task::spawn_blocking(move || large(utf8(&text)?, deadline)).await;
    match taken.map_err(|error| Error::internal(error.to_string()))?? {
        Some(leaves) => Ok(leaves),
        // It says so, now that the time is over.
        None => Err(tally.check().err().unwrap_or_else(stopped)),
    }
}

/// None if the time is over.
fn large(text: &str, deadline: Instant) -> Result<Option<Leaves>> {
    let mut reader = LeavesReader::new(text);
    loop {
        if let Some(leaves) = reader.advance(LEAVES_AT_A_TIME)? {
            return Ok(Some(leaves));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
    }
}

fn stopped() -> Error {
    Error::new(ErrorKind::Timeout, "the time for the request is over")
}

fn utf8(text: &Bytes) -> Result<&str> {
    std::str::from_utf8(text).map_err(|_| Error::bad_input("not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_document_is_given_up_when_the_time_is_over() {
        let text = format!("[{}1]", "1,".repeat(3 * LEAVES_AT_A_TIME));
        let now = Instant::now();
        let given_up = large(&text, now).expect("valid JSON");
        assert!(given_up.is_none());
        let mut reader = LeavesReader::new(&text);
        let mut steps = 1;
        let leaves = loop {
            if let Some(leaves) = reader.advance(LEAVES_AT_A_TIME).expect("valid JSON") {
                break leaves;
            }
            steps += 1;
        };
        assert_eq!((steps, leaves.len()), (4, 3 * LEAVES_AT_A_TIME + 1));
    }
}
