//! Strings as JSON text.

/// Appends `text` to `out` as a JSON string, quotes included.
#[inline]
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut begin = 0;
    for (at, byte) in bytes.iter().enumerate() {
        if *byte >= 0x20 && *byte != b'"' && *byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[begin..at]);
        write_escape(out, *byte);
        begin = at + 1;
    }
    out.extend_from_slice(&bytes[begin..]);
    out.push(b'"');
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
