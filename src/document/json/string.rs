//! The ends and escapes of strings in JSON text.

use super::error::{JsonError, Problem, problem};
use super::run::run;

/// Whether a byte is unescaped in a string.
const PLAIN: [bool; 256] = {
    let mut plain = [true; 256];
    let mut control = 0;
    while control < 0x20 {
        plain[control] = false;
        control += 1;
    }
    plain[b'"' as usize] = false;
    plain[b'\\' as usize] = false;
    plain
};

/// The number of leading bytes that are unescaped in a string.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "branch-free code is vectorized"
)]
#[inline]
pub(super) fn plain_bytes(bytes: &[u8]) -> usize {
    run(bytes, |byte| {
        (byte >= 0x20) & (byte != b'"') & (byte != b'\\')
    })
}

/// The end of the string whose opening quote is at `at`.
#[inline]
pub(super) fn end_of_string(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    const SHORT: usize = 16;
    let begin = at + 1;
    let mut at = begin;
    while at < begin + SHORT {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(byte) if PLAIN[usize::from(*byte)] => at += 1,
            _ => break,
        }
    }
    end_of_long_string(bytes, at)
}

#[inline(never)]
fn end_of_long_string(bytes: &[u8], mut at: usize) -> Result<usize, JsonError> {
    loop {
        match bytes.get(at) {
            Some(byte) if PLAIN[usize::from(*byte)] => at += plain_bytes(&bytes[at..]),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => (_, at) = escape(bytes, at)?,
            Some(_) => return Err(problem(at, Problem::ControlCharacter)),
            None => return Err(not_closed(at)),
        }
    }
}

pub(super) fn not_closed(at: usize) -> JsonError {
    problem(at, Problem::Expected("the string's closing '\"'"))
}

/// The character of the escape at `at`, and the end of the escape.
#[inline]
pub(super) fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), JsonError> {
    let character = match bytes.get(at + 1) {
        Some(b'"') => '"',
        Some(b'\\') => '\\',
        Some(b'/') => '/',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(bytes, at),
        _ => return Err(not_an_escape(bytes, at)),
    };
    Ok((character, at + 2))
}

/// The error for the `\` at `at`, which begins no escape.
#[cold]
fn not_an_escape(bytes: &[u8], at: usize) -> JsonError {
    const CHARACTER_BYTES_MAX: usize = 4;
    let behind = bytes.get(at + 1..).unwrap_or_default();
    let first = &behind[..behind.len().min(CHARACTER_BYTES_MAX)];
    let mut characters = first.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
    match characters.next() {
        Some(character) => problem(at, Problem::UnknownEscape(character)),
        None => not_closed(bytes.len()),
    }
}

/// The character of the escape `\u` at `begin`.
fn unicode(bytes: &[u8], begin: usize) -> Result<(char, usize), JsonError> {
    let hex4 =
        |escape| hex4(bytes, escape + 2).ok_or_else(|| problem(escape, Problem::UnicodeEscape));
    let (unit, end) = (hex4(begin)?, begin + 6);
    if let Some(character) = char::from_u32(unit) {
        return Ok((character, end));
    }
    let lone = problem(begin, Problem::LoneSurrogate);
    if unit >= 0xDC00 || !bytes[end..].starts_with(b"\\u") {
        return Err(lone);
    }
    let low = hex4(end)?;
    if !(0xDC00..0xE000).contains(&low) {
        return Err(lone);
    }
    let character = char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
    Ok((character.ok_or(lone)?, end + 6))
}

fn hex4(bytes: &[u8], at: usize) -> Option<u32> {
    let digits = bytes.get(at..at + 4)?;
    digits.iter().try_fold(0, |unit, digit| {
        Some(unit * 16 + char::from(*digit).to_digit(16)?)
    })
}
