//! Scans runs of bytes of one kind, many bytes at a time.

#[expect(
    clippy::needless_bitwise_bool,
    reason = "branch-free code is vectorized"
)]
#[inline]
pub(super) fn space_bytes(bytes: &[u8]) -> usize {
    run(bytes, |byte| {
        (byte == b' ') | (byte == b'\n') | (byte == b'\r') | (byte == b'\t')
    })
}

/// The number of leading bytes for which `is_one` holds.
#[inline]
pub(super) fn run(bytes: &[u8], is_one: impl Fn(u8) -> bool) -> usize {
    const SHORT: usize = 16;
    let beginning = &bytes[..bytes.len().min(SHORT)];
    if let Some(end) = beginning.iter().position(|byte| !is_one(*byte)) {
        return end;
    }
    // A long run is tested in whole chunks, which the compiler vectorizes.
    let chunks = bytes[beginning.len()..].chunks_exact(4 * SHORT);
    let whole = |chunk: &&[u8]| chunk.iter().fold(true, |all, byte| all & is_one(*byte));
    let begin = beginning.len() + 4 * SHORT * chunks.take_while(whole).count();
    let rest = bytes[begin..].iter();
    begin + rest.take_while(|byte| is_one(**byte)).count()
}
