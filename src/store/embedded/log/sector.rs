//! The sectors of a log, which make every part of its files recognizable.
//!
//! Disks write a sector completely or not at all. A frame is many sectors, and a crash before its sync
//! leaves any of them as they were before. So each sector has the number of its frame and a checksum,
//! and allocated space consists of valid sectors of the frame 0. A sector that is neither of the frame
//! nor older was damaged after it was written.
//!
//! ```text
//! sector  0 500 bytes of the frame, 500 sequence u64 (of the frame; 0: allocated space),
//!         508 checksum u32 (of the bytes 0 to 507, the log u64, and the offset in the file u64)
//! ```

use std::io;
use std::ops::Range;

use redb::StorageBackend;

use super::BLOCK_BYTES;

pub(super) const SECTOR_BYTES: usize = 512;
/// The bytes of a frame in one sector.
pub(super) const PAYLOAD_BYTES: usize = 500;
const CHECKSUM_AT: usize = 508;
/// Sectors that are read or written at once.
const SECTORS_AT_ONCE: usize = 128;

/// What a sector is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sector<'s> {
    /// A part of a frame, or allocated space.
    Valid {
        sequence: u64,
        payload: &'s [u8],
    },
    /// Only zeros, as space is that was allocated and not synced.
    Zero,
    Invalid,
}

impl<'s> Sector<'s> {
    /// The sector of `log` at an offset of its file.
    pub(super) fn read(log: u64, offset: u64, bytes: &'s [u8]) -> Self {
        let (content, checked) = bytes.split_at(CHECKSUM_AT);
        if checked != checksum(log, offset, content) {
            let zero = bytes.iter().all(|byte| *byte == 0);
            return if zero { Self::Zero } else { Self::Invalid };
        }
        let (payload, sequence) = content.split_at(PAYLOAD_BYTES);
        let mut number = [0; 8];
        number.copy_from_slice(sequence);
        Self::Valid {
            sequence: u64::from_le_bytes(number),
            payload,
        }
    }
}

/// The bytes that a frame of this length takes in a file: whole sectors, and whole blocks.
pub(super) fn stored_bytes(frame_bytes: u64) -> Option<u64> {
    let sectors = frame_bytes.div_ceil(PAYLOAD_BYTES as u64);
    let bytes = sectors.checked_mul(SECTOR_BYTES as u64)?;
    bytes.checked_next_multiple_of(BLOCK_BYTES as u64)
}

/// Writes the sectors of a frame, or allocated space: the sectors of the frame 0, which is empty.
///
/// # Errors
/// Errors of the file.
pub(super) fn write(
    file: &dyn StorageBackend,
    log: u64,
    sequence: u64,
    frame: &[u8],
    places: Range<u64>,
) -> io::Result<()> {
    const BYTES_AT_ONCE: usize = SECTORS_AT_ONCE * SECTOR_BYTES;
    let mut payloads = frame.chunks(PAYLOAD_BYTES);
    let bytes = places.end.saturating_sub(places.start);
    let bytes = usize::try_from(bytes).map_or(BYTES_AT_ONCE, |bytes| bytes.min(BYTES_AT_ONCE));
    let mut sectors = Vec::with_capacity(bytes);
    let mut begin = places.start;
    let mut offset = places.start;
    while offset < places.end {
        let payload = payloads.next().unwrap_or_default();
        push(log, sequence, offset, payload, &mut sectors);
        offset += SECTOR_BYTES as u64;
        if sectors.len() == BYTES_AT_ONCE || offset == places.end {
            file.write(begin, &sectors)?;
            sectors.clear();
            begin = offset;
        }
    }
    Ok(())
}

/// Calls `each` with the sectors at these offsets and their offsets, until it returns a value.
///
/// # Errors
/// Errors of the file.
pub(super) fn find<T>(
    file: &dyn StorageBackend,
    log: u64,
    places: Range<u64>,
    mut each: impl FnMut(u64, Sector<'_>) -> Option<T>,
) -> io::Result<Option<T>> {
    let mut begin = places.start;
    let mut sectors = Vec::new();
    while begin + SECTOR_BYTES as u64 <= places.end {
        let bytes = (places.end - begin).min((SECTORS_AT_ONCE * SECTOR_BYTES) as u64);
        let bytes = bytes - bytes % SECTOR_BYTES as u64;
        sectors.resize(usize::try_from(bytes).expect("at most 64 KiB"), 0);
        file.read(begin, &mut sectors)?;
        for sector in sectors.chunks_exact(SECTOR_BYTES) {
            let found = each(begin, Sector::read(log, begin, sector));
            if found.is_some() {
                return Ok(found);
            }
            begin += SECTOR_BYTES as u64;
        }
    }
    Ok(None)
}

fn push(log: u64, sequence: u64, offset: u64, payload: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    out.extend_from_slice(payload);
    out.resize(begin + PAYLOAD_BYTES, 0);
    out.extend_from_slice(&sequence.to_le_bytes());
    let checksum = checksum(log, offset, &out[begin..]);
    out.extend_from_slice(&checksum);
}

fn checksum(log: u64, offset: u64, content: &[u8]) -> [u8; 4] {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(content);
    checksum.update(&log.to_le_bytes());
    checksum.update(&offset.to_le_bytes());
    checksum.finalize().to_le_bytes()
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;

    const LOG: u64 = 0x1122_3344_5566_7788;

    fn sector(payload: &[u8]) -> Vec<u8> {
        let mut sector = Vec::new();
        push(LOG, 9, 4096, payload, &mut sector);
        sector
    }

    #[test]
    fn every_flipped_bit_and_every_other_place_of_a_sector_is_noticed() {
        let sector = sector(b"payload");
        assert_eq!(sector.len(), SECTOR_BYTES);
        let found = Sector::read(LOG, 4096, &sector);
        assert!(
            matches!(found, Sector::Valid { sequence: 9, payload } if payload.starts_with(b"payload\0"))
        );
        assert_eq!(Sector::read(LOG, 4608, &sector), Sector::Invalid);
        assert_eq!(Sector::read(LOG + 1, 4096, &sector), Sector::Invalid);
        for bit in 0..SECTOR_BYTES * 8 {
            let mut flipped = sector.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                Sector::read(LOG, 4096, &flipped),
                Sector::Invalid,
                "bit {bit}"
            );
        }
        assert_eq!(Sector::read(LOG, 4096, &[0; SECTOR_BYTES]), Sector::Zero);
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        for length in [1, PAYLOAD_BYTES, PAYLOAD_BYTES + 1, 300_000] {
            let frame: Vec<u8> = (1..=250).cycle().take(length).collect();
            let bytes = stored_bytes(frame.len() as u64).expect("short");
            assert_eq!(bytes % BLOCK_BYTES as u64, 0);
            let file = InMemoryBackend::new();
            file.set_len(4096 + bytes).expect("memory");
            write(&file, LOG, 3, &frame, 4096..4096 + bytes).expect("memory");
            let mut read = Vec::new();
            let found = find(&file, LOG, 4096..4096 + bytes, |_, sector| {
                let Sector::Valid {
                    sequence: 3,
                    payload,
                } = sector
                else {
                    return Some(());
                };
                read.extend_from_slice(payload);
                None
            });
            assert_eq!(found.expect("memory"), None);
            assert_eq!(read[..length], frame);
            assert!(read[length..].iter().all(|byte| *byte == 0));
        }
        assert_eq!(stored_bytes(u64::MAX), None);
    }
}
