//! Writes strings and lists as JSON text.

/// Appends `text` as a JSON string with quotes.
#[inline]
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_characters(out, text);
    out.push(b'"');
}

/// Appends `text` as a part of a JSON string, without quotes.
#[inline]
pub fn write_characters(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    while let Some(at) = first_escaped(rest) {
        out.extend_from_slice(&rest[..at]);
        write_escape(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

/// Appends a JSON array, whose elements `write` appends.
#[inline]
pub fn write_list<T>(
    out: &mut Vec<u8>,
    elements: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (at, element) in elements.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(out, element);
    }
    out.push(b']');
}

/// Appends the text before the first NUL of `bytes` as a JSON string and returns its length, if the
/// text is ASCII without escapes. Otherwise it appends nothing and returns `None`.
#[inline]
pub fn write_plain_before_nul(out: &mut Vec<u8>, bytes: &[u8]) -> Option<usize> {
    let at = first(bytes, |word| escaped_bits(word) | word)?;
    if bytes[at] != 0 {
        return None;
    }
    out.reserve(at + 2);
    out.push(b'"');
    out.extend_from_slice(&bytes[..at]);
    out.push(b'"');
    Some(at)
}

/// The offset of the first byte that needs an escape.
#[inline]
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    first(bytes, escaped_bits)
}

/// The offset of the first byte that `bits` finds: it sets the high bit of each such byte of a word, and
/// of NUL. Bits after the first one, and the others, have no meaning. Tests eight bytes at a time.
#[inline]
fn first(bytes: &[u8], bits: impl Fn(u64) -> u64) -> Option<usize> {
    let found = |word: u64| {
        let found = bits(word) & HIGH;
        (found != 0).then(|| found.trailing_zeros() as usize / 8)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        if let Some(at) = found(u64::from_le_bytes(*word)) {
            return Some(8 * number + at);
        }
    }
    let at = found(filled_word(rest)).filter(|at| *at < rest.len())?;
    Some(8 * words.len() + at)
}

/// A word of fewer than eight bytes, and NULs after them.
#[inline]
fn filled_word(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let last = u64::from(u32::from_le_bytes(*last));
        return u64::from(u32::from_le_bytes(*first)) | last << (8 * (bytes.len() - 4));
    }
    let fill = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
    bytes.iter().rev().fold(0, fill)
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
/// The high bit of each byte.
const HIGH: u64 = ONES << 7;

/// Sets the high bit of each of eight bytes that needs an escape, as NUL does. Bits after the first one
/// may be wrong. The other bits have no meaning.
#[inline]
fn escaped_bits(bits: u64) -> u64 {
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = bits.wrapping_sub(ONES * 0x20) & !bits;
    let quote = zero(bits ^ (ONES * u64::from(b'"')));
    let backslash = zero(bits ^ (ONES * u64::from(b'\\')));
    control | quote | backslash
}

#[cold]
fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'\\');
    match byte {
        b'"' | b'\\' => out.push(byte),
        b'\n' => out.push(b'n'),
        b'\r' => out.push(b'r'),
        b'\t' => out.push(b't'),
        8 => out.push(b'b'),
        12 => out.push(b'f'),
        _ => {
            out.extend_from_slice(b"u00");
            out.push(HEX[usize::from(byte >> 4)]);
            out.push(HEX[usize::from(byte & 15)]);
        }
    }
}
