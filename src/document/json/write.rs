//! Writes strings as JSON text.

/// Appends `text` as a JSON string with quotes.
#[inline]
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = first_escaped(rest) {
        out.extend_from_slice(&rest[..at]);
        write_escape(out, rest[at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// Appends the text before the first NUL of `bytes` as a JSON string and returns its length, if the
/// text is ASCII without escapes. Otherwise it appends nothing and returns `None`. Most texts are,
/// so it copies eight bytes at a time.
#[inline]
pub fn write_plain_before_nul(out: &mut Vec<u8>, bytes: &[u8]) -> Option<usize> {
    let before = out.len();
    out.push(b'"');
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        out.extend_from_slice(word);
        let bits = u64::from_le_bytes(*word);
        let found = (escaped_bits(bits) | bits) & HIGH;
        if found != 0 {
            let at = 8 * at + found.trailing_zeros() as usize / 8;
            return end_plain(out, before, bytes, at);
        }
    }
    for (at, byte) in rest.iter().enumerate() {
        if is_escaped(*byte) || !byte.is_ascii() {
            return end_plain(out, before, bytes, 8 * words.len() + at);
        }
        out.push(*byte);
    }
    out.truncate(before);
    None
}

/// Ends the string at `at`, the first byte that is not plain. Reverts it if that byte is not NUL.
#[inline]
fn end_plain(out: &mut Vec<u8>, before: usize, bytes: &[u8], at: usize) -> Option<usize> {
    if bytes[at] != 0 {
        out.truncate(before);
        return None;
    }
    out.truncate(before + 1 + at);
    out.push(b'"');
    Some(at)
}

/// The offset of the first byte that needs an escape. Tests eight bytes at a time.
#[inline]
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let found = escaped_bits(u64::from_le_bytes(*word)) & HIGH;
        if found != 0
            && let Some(found) = word.iter().position(|byte| is_escaped(*byte))
        {
            return Some(8 * at + found);
        }
    }
    let found = rest.iter().position(|byte| is_escaped(*byte))?;
    Some(8 * words.len() + found)
}

const ONES: u64 = u64::from_ne_bytes([1; 8]);
/// The high bit of each byte.
const HIGH: u64 = ONES << 7;

/// Sets the high bit of each of eight bytes that needs an escape. Bits after the first one may be
/// wrong. The other bits have no meaning.
#[inline]
fn escaped_bits(bits: u64) -> u64 {
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = bits.wrapping_sub(ONES * 0x20) & !bits;
    let quote = zero(bits ^ (ONES * u64::from(b'"')));
    let backslash = zero(bits ^ (ONES * u64::from(b'\\')));
    control | quote | backslash
}

#[inline]
fn is_escaped(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
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
