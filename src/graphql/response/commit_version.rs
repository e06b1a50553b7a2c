//! The version of a commit in the response to its mutation. It is known after the commit, so the response
//! has a placeholder for it until then.

use crate::document::json::write_string;
use crate::key::Version;

/// Marks the position of the version, as a string. No JSON text contains this byte.
const HOLE: u8 = 0;
/// Marks the position of the digits of the version inside a string. No JSON text contains this byte.
const HOLE_IN_TEXT: u8 = 1;

/// The text of a step that writes the version.
pub(crate) const OF_COMMIT: &[u8] = &[HOLE];

/// The hexadecimal digits of the commit's version, with which a versionstamp begins.
const COMMIT_DIGITS: usize = 20;
/// The hexadecimal digits of a versionstamp.
const STAMP_DIGITS: usize = 24;

/// Writes a text that ends with the pending versionstamp of a document, as its key and its global id do.
pub(crate) fn text_of_commit(out: &mut Vec<u8>, text: &str) {
    let (before, stamp) = text.split_at(text.len() - STAMP_DIGITS);
    write_string(out, before);
    // The string continues.
    out.pop();
    out.push(HOLE_IN_TEXT);
    out.extend_from_slice(&stamp.as_bytes()[COMMIT_DIGITS..]);
    out.push(b'"');
}

/// Writes the version into a response that has placeholders for it.
pub(crate) fn fill(uncommitted: &[u8], version: Version) -> Vec<u8> {
    let version = version.to_string();
    let mut out = Vec::with_capacity(uncommitted.len() + 2 * version.len());
    let mut rest = uncommitted;
    while let Some(at) = memchr::memchr2(HOLE, HOLE_IN_TEXT, rest) {
        out.extend_from_slice(&rest[..at]);
        if rest[at] == HOLE {
            write_string(&mut out, &version);
        } else {
            out.extend_from_slice(version.as_bytes());
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out
}
