//! Finds the end of a JSON value: checks its grammar and builds nothing.
//!
//! Skipping is the fast path for values that stay text: elements of a patch, members of a merge
//! patch, variables of a request. It accepts exactly the values that
//! [`Reader::next`](super::Reader::next) accepts, and fails at the same byte with the same error;
//! `tests.rs` compares both.
//!
//! - [`end_of_value`] is a loop over tokens. The inner `while` handles what may follow a value: a
//!   comma and the next element or member, or the end of the container.
//! - [`BracketStack`] stores one bit per open container, so that depth costs no recursion and
//!   hardly any memory.
//! - Strings, whitespace and rows of integers are scanned in chunks without branches, which the
//!   compiler vectorizes (`run.rs`, [`is_row`]).
//! - Repeated elements or members are compared with the previous one instead of parsed (`rows.rs`).
//!
//! Past the end of the text [`byte_at`] returns NUL. No token begins with NUL, so the loop needs no
//! other check of the length.

use super::error::{JsonError, Problem, problem};
use super::rows::Rows;
use super::run::space_bytes;
use super::string::end_of_string;

/// The end of the value that begins at `begin`, which may open `levels` more containers.
///
/// # Errors
/// The errors of reading the value event by event.
pub(super) fn end_of_value(
    bytes: &[u8],
    begin: usize,
    levels: usize,
    levels_max: usize,
) -> Result<usize, JsonError> {
    let mut open = BracketStack::default();
    let mut rows = Rows::new(bytes, begin);
    let mut at = begin;
    let mut byte = byte_at(bytes, at);
    'value: loop {
        match byte {
            b'"' => at = end_of_string(bytes, at)?,
            b'[' | b'{' => {
                let inside = if byte == b'{' { In::Object } else { In::Array };
                if open.levels == levels {
                    return Err(problem(at, Problem::TooDeep(levels_max)));
                }
                (at, byte) = behind_space(bytes, at + 1);
                if byte != inside.end() {
                    open.push(inside);
                    if let Some(rows) = &mut rows {
                        rows.begin(open.levels, at);
                    }
                    if inside == In::Object {
                        (at, byte) = end_of_name(bytes, at, byte, "a member's name or '}'")?;
                    }
                    continue 'value;
                }
                at += 1;
            }
            b'0'..=b'9' | b'-' => {
                at = if open.inside == In::Array {
                    end_of_numbers(bytes, at)?
                } else {
                    end_of_number(bytes, at)?
                };
            }
            b't' => at = end_of_word(bytes, at, b"true")?,
            b'f' => at = end_of_word(bytes, at, b"false")?,
            b'n' => at = end_of_word(bytes, at, b"null")?,
            _ => return Err(expected(at, "a JSON value")),
        }
        while open.inside != In::Nothing {
            (at, byte) = behind_space(bytes, at);
            if byte == b',' {
                (at, byte) = behind_space(bytes, at + 1);
                if let Some(rows) = &mut rows
                    && let Some(end) = rows.next(bytes, open.levels, at)
                {
                    (at, byte) = behind_space(bytes, end);
                    rows.begin(open.levels, at);
                }
                if open.inside == In::Object {
                    (at, byte) = end_of_name(bytes, at, byte, "a member's name")?;
                }
                continue 'value;
            }
            if byte != open.inside.end() {
                return Err(expected(at, open.inside.expected()));
            }
            at += 1;
            open.pop();
        }
        return Ok(at);
    }
}

/// The innermost open container.
#[derive(Clone, Copy, Default, PartialEq)]
enum In {
    #[default]
    Nothing,
    Array,
    Object,
}

impl In {
    #[inline]
    fn end(self) -> u8 {
        if self == Self::Object { b'}' } else { b']' }
    }

    fn expected(self) -> &'static str {
        if self == Self::Object {
            "',' or '}'"
        } else {
            "',' or ']'"
        }
    }
}

/// The open containers, one bit each.
#[derive(Default)]
struct BracketStack {
    inside: In,
    levels: usize,
    /// The innermost 64 containers, the innermost in the lowest bit. 1 is an object.
    last: u64,
    before: Vec<u64>,
}

impl BracketStack {
    #[inline]
    fn push(&mut self, inside: In) {
        if self.levels.is_multiple_of(64) && self.levels > 0 {
            self.before.push(self.last);
        }
        self.last = (self.last << 1) | u64::from(inside == In::Object);
        self.levels += 1;
        self.inside = inside;
    }

    #[inline]
    fn pop(&mut self) {
        self.levels -= 1;
        self.last >>= 1;
        if self.levels == 0 {
            self.inside = In::Nothing;
            return;
        }
        if self.levels.is_multiple_of(64) {
            self.last = self.before.pop().unwrap_or_default();
        }
        self.inside = if self.last & 1 == 1 {
            In::Object
        } else {
            In::Array
        };
    }
}

/// The byte at `at`, or NUL past the end. No token begins with NUL.
#[inline]
fn byte_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}

/// The position of the next byte that is not whitespace, and that byte.
#[inline]
fn behind_space(bytes: &[u8], at: usize) -> (usize, u8) {
    let byte = byte_at(bytes, at);
    if byte > b' ' {
        return (at, byte);
    }
    behind_some_space(bytes, at)
}

fn behind_some_space(bytes: &[u8], at: usize) -> (usize, u8) {
    let at = at + space_bytes(bytes.get(at..).unwrap_or_default());
    (at, byte_at(bytes, at))
}

/// The position and first byte of the value of the member whose name begins at `at`.
#[inline]
fn end_of_name(
    bytes: &[u8],
    at: usize,
    byte: u8,
    what: &'static str,
) -> Result<(usize, u8), JsonError> {
    if byte != b'"' {
        return Err(expected(at, what));
    }
    let (at, byte) = behind_space(bytes, end_of_string(bytes, at)?);
    if byte != b':' {
        return Err(expected(at, "':'"));
    }
    Ok(behind_space(bytes, at + 1))
}

/// The end of the number at `at`, or of a later number in the same array.
#[inline]
fn end_of_numbers(bytes: &[u8], mut at: usize) -> Result<usize, JsonError> {
    const BEFORE_ROW: u32 = 8;
    let mut numbers = 0;
    loop {
        at = end_of_number(bytes, at)?;
        if byte_at(bytes, at) != b',' {
            return Ok(at);
        }
        numbers += 1;
        if numbers % BEFORE_ROW == 0 {
            at = end_of_row(bytes, at);
        }
        let next = at + 1 + usize::from(byte_at(bytes, at + 1) == b' ');
        if !byte_at(bytes, next).is_ascii_digit() {
            return Ok(at);
        }
        at = next;
    }
}

/// The end of a row of integers that starts at the comma at `begin`. Each integer follows a comma
/// and at most one space. It may return an earlier comma of the row. Rows of integers have the most
/// tokens per byte, so they are tested in whole chunks, which the compiler vectorizes.
#[inline(never)]
fn end_of_row(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk)
        && is_row(chunk)
    {
        at += ROW_CHUNK;
    }
    // The last number may continue with a fraction or exponent, so the row ends before it.
    memchr::memrchr(b',', &bytes[begin..at]).map_or(begin, |comma| begin + comma)
}

/// Bytes of a row that are tested in one step.
const ROW_CHUNK: usize = 32;

/// Whether each byte of the chunk may be followed by the next one in a row of integers. The test
/// also reads the byte after that.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "branch-free code is vectorized"
)]
fn is_row(chunk: &[u8; ROW_CHUNK + 2]) -> bool {
    let is_digit = |byte: u8| byte.wrapping_sub(b'0') < 10;
    let mut all = true;
    for at in 0..ROW_CHUNK {
        let (byte, next, behind) = (chunk[at], chunk[at + 1], chunk[at + 2]);
        let begins = (is_digit(next) & !((next == b'0') & is_digit(behind)))
            | ((next == b'-') & (byte != b'-') & is_digit(behind))
            | ((next == b' ') & (byte == b','));
        let digit = is_digit(byte) & (is_digit(next) | (next == b','));
        let before = (byte == b',') | (byte == b' ') | (byte == b'-');
        all &= digit | (before & begins);
    }
    all
}

#[inline]
fn end_of_word<const BYTES: usize>(
    bytes: &[u8],
    at: usize,
    word: &[u8; BYTES],
) -> Result<usize, JsonError> {
    if bytes[at..].first_chunk() == Some(word) {
        return Ok(at + BYTES);
    }
    Err(expected(at, "a JSON value"))
}

#[inline]
pub(super) fn end_of_number(bytes: &[u8], at: usize) -> Result<usize, JsonError> {
    let at = at + usize::from(byte_at(bytes, at) == b'-');
    let at = match byte_at(bytes, at) {
        b'0' => at + 1,
        _ => end_of_digits(bytes, at)?,
    };
    match byte_at(bytes, at) {
        b'.' | b'e' | b'E' => end_of_fraction(bytes, at),
        _ => Ok(at),
    }
}

fn end_of_fraction(bytes: &[u8], mut at: usize) -> Result<usize, JsonError> {
    if byte_at(bytes, at) == b'.' {
        at = end_of_digits(bytes, at + 1)?;
    }
    if !matches!(byte_at(bytes, at), b'e' | b'E') {
        return Ok(at);
    }
    let signed = matches!(byte_at(bytes, at + 1), b'+' | b'-');
    end_of_digits(bytes, at + 1 + usize::from(signed))
}

#[inline]
fn end_of_digits(bytes: &[u8], begin: usize) -> Result<usize, JsonError> {
    let mut at = begin;
    while byte_at(bytes, at).is_ascii_digit() {
        at += 1;
    }
    if at == begin {
        return Err(expected(at, "a digit"));
    }
    Ok(at)
}

fn expected(at: usize, what: &'static str) -> JsonError {
    problem(at, Problem::Expected(what))
}
