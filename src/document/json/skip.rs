//! Skipping a value: its grammar is checked, and nothing is made of it.

use super::error::{JsonError, Problem, problem};
use super::rows::Rows;
use super::run::space_bytes;
use super::string::end_of_string;

/// Where the value ends that begins at `at`, in which so many levels more may be open.
///
/// # Errors
/// Those of reading it event by event.
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

/// What a place of a text is in.
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

/// The containers that are open, a bit for each: any number of them takes little room.
#[derive(Default)]
struct BracketStack {
    inside: In,
    levels: usize,
    /// The last 64, the innermost one lowest; set for an object.
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

/// The byte there; behind the end NUL, which no token begins with.
#[inline]
fn byte_at(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}

/// Where what is no space begins, and that byte.
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

/// Where the value begins, and with what, whose member's name begins at `at`.
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

/// Where the number ends that begins at `at`, or one further on in the same array.
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

/// Where, from the comma behind a number, a row of integers ends, each behind a comma and perhaps a
/// space; or somewhere between them. Nothing is denser, so it is looked at in chunks, each as a
/// whole: so the processor takes many bytes at a time.
#[inline(never)]
fn end_of_row(bytes: &[u8], begin: usize) -> usize {
    let mut at = begin;
    while let Some(chunk) = bytes.get(at..).and_then(<[u8]>::first_chunk)
        && is_row(chunk)
    {
        at += ROW_CHUNK;
    }
    // The last number may go on as one that is no integer.
    memchr::memrchr(b',', &bytes[begin..at]).map_or(begin, |comma| begin + comma)
}

/// Bytes of a row that are looked at in one step.
const ROW_CHUNK: usize = 32;

/// Whether each byte of a chunk may be followed in a row of integers by the next one, which depends
/// on the one behind as well.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without branches, many bytes are looked at in one step"
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
