//! Strings as JSON text.

/// Appends `text` to `out` as a JSON string, quotes included.
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

/// The first byte that a JSON string has escaped. Most have none, so eight bytes are looked at at a
/// time.
#[inline]
fn first_escaped(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // The high bit of a byte is set if it is 0; of those behind one that is, perhaps wrongly.
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let escaped = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let bits = u64::from_le_bytes(*word);
        let control = bits.wrapping_sub(ONES * 0x20) & !bits;
        let quote = zero(bits ^ (ONES * u64::from(b'"')));
        let backslash = zero(bits ^ (ONES * u64::from(b'\\')));
        if (control | quote | backslash) & HIGH != 0
            && let Some(found) = word.iter().position(|byte| escaped(*byte))
        {
            return Some(8 * at + found);
        }
    }
    let found = rest.iter().position(|byte| escaped(*byte))?;
    Some(8 * words.len() + found)
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
