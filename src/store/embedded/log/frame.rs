//! The bytes of the log's files: the header of a segment, and frames.
//!
//! All integers are little-endian. A checksum is the CRC-32 of all other bytes of what it covers.
//!
//! ```text
//! segment header  0 "phyllolg", 8 version u32, 12 checksum u32 (of this header), 16 log u64,
//!                 24 segment u64
//! frame header    0 "PhFr", 4 flags u32, 8 log u64, 16 segment u64, 24 sequence u64, 32 base u64,
//!                 40 last u64, 48 body length u64, 56 zero u32, 60 checksum u32 (of the header and
//!                 the body)
//! ```

use super::BLOCK_BYTES;

const SEGMENT_MAGIC: [u8; 8] = *b"phyllolg";
const FRAME_MAGIC: [u8; 4] = *b"PhFr";
/// The version of the bytes of a log.
const VERSION: u32 = 1;
const SEGMENT_HEADER_BYTES: usize = 32;
/// The length of a frame's header. The body follows.
pub(super) const FRAME_HEADER_BYTES: usize = 64;
/// The flag of a frame that is the last one of its segment: the next one is in the next segment.
const LAST_OF_SEGMENT: u32 = 1;

/// The header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) log: u64,
    pub(super) segment: u64,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHeader {
    pub(super) log: u64,
    pub(super) segment: u64,
    /// 1 for the first frame of a log. Each further frame has the next number.
    pub(super) sequence: u64,
    /// The number of the last commit before the frame.
    pub(super) base: u64,
    /// The number of the last commit in the frame.
    pub(super) last: u64,
    /// Whether the next frame is in the next segment.
    pub(super) ends_segment: bool,
}

/// What the header of a frame says about the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameShape {
    pub(super) header: FrameHeader,
    pub(super) body_bytes: u64,
}

impl SegmentHeader {
    /// The first block of the segment.
    pub(super) fn block(self) -> Vec<u8> {
        let mut block = vec![0; BLOCK_BYTES];
        block[..8].copy_from_slice(&SEGMENT_MAGIC);
        block[8..12].copy_from_slice(&VERSION.to_le_bytes());
        block[16..24].copy_from_slice(&self.log.to_le_bytes());
        block[24..32].copy_from_slice(&self.segment.to_le_bytes());
        let checksum = Self::checksum(&block);
        block[12..16].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    /// The header at the beginning of `block`. `None` if there is none, or its checksum is wrong.
    pub(super) fn read(block: &[u8]) -> Option<Self> {
        let block = block.get(..SEGMENT_HEADER_BYTES)?;
        let known = block[..8] == SEGMENT_MAGIC
            && u32_at(block, 8) == VERSION
            && u32_at(block, 12) == Self::checksum(block);
        known.then(|| Self {
            log: u64_at(block, 16),
            segment: u64_at(block, 24),
        })
    }

    fn checksum(block: &[u8]) -> u32 {
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&block[..12]);
        checksum.update(&block[16..SEGMENT_HEADER_BYTES]);
        checksum.finalize()
    }
}

impl FrameHeader {
    /// Writes the header of `frame`, whose body follows the bytes for the header, and pads it to
    /// whole blocks.
    pub(super) fn complete(self, frame: &mut Vec<u8>) {
        let body_bytes = (frame.len() - FRAME_HEADER_BYTES) as u64;
        let flags = if self.ends_segment {
            LAST_OF_SEGMENT
        } else {
            0
        };
        frame[..4].copy_from_slice(&FRAME_MAGIC);
        frame[4..8].copy_from_slice(&flags.to_le_bytes());
        let numbers = [
            self.log,
            self.segment,
            self.sequence,
            self.base,
            self.last,
            body_bytes,
            0,
        ];
        for (number, place) in numbers.iter().zip(frame[8..].chunks_exact_mut(8)) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        let (header, body) = frame.split_at(FRAME_HEADER_BYTES);
        let checksum = checksum(header, body);
        frame[60..64].copy_from_slice(&checksum.to_le_bytes());
        frame.resize(frame.len().next_multiple_of(BLOCK_BYTES), 0);
    }
}

impl FrameShape {
    /// What the header at the beginning of `block` says. Its checksum is not verified.
    pub(super) fn read(block: &[u8]) -> Option<Self> {
        let block = block.get(..FRAME_HEADER_BYTES)?;
        let flags = u32_at(block, 4);
        let known = block[..4] == FRAME_MAGIC && flags & !LAST_OF_SEGMENT == 0;
        known.then(|| Self {
            header: FrameHeader {
                log: u64_at(block, 8),
                segment: u64_at(block, 16),
                sequence: u64_at(block, 24),
                base: u64_at(block, 32),
                last: u64_at(block, 40),
                ends_segment: flags == LAST_OF_SEGMENT,
            },
            body_bytes: u64_at(block, 48),
        })
    }

    /// The bytes of the frame with its padding. `None` if no file is that long.
    pub(super) fn bytes(&self) -> Option<u64> {
        let bytes = self.body_bytes.checked_add(FRAME_HEADER_BYTES as u64)?;
        bytes.checked_next_multiple_of(BLOCK_BYTES as u64)
    }
}

/// Whether the checksum in a frame's header is that of its header and body.
pub(super) fn is_intact(header: &[u8], body: &[u8]) -> bool {
    u32_at(header, 60) == checksum(header, body)
}

fn checksum(header: &[u8], body: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&header[..60]);
    checksum.update(body);
    checksum.finalize()
}

fn u32_at(block: &[u8], at: usize) -> u32 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&block[at..at + 4]);
    u32::from_le_bytes(bytes)
}

fn u64_at(block: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&block[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: FrameHeader = FrameHeader {
        log: 0x1122_3344_5566_7788,
        segment: 3,
        sequence: 9,
        base: 40,
        last: 44,
        ends_segment: true,
    };

    fn frame(body: &[u8]) -> Vec<u8> {
        let mut frame = [&[0; FRAME_HEADER_BYTES], body].concat();
        HEADER.complete(&mut frame);
        frame
    }

    fn is_valid(frame: &[u8], body_bytes: usize) -> bool {
        let shape = FrameShape::read(frame);
        let body = &frame[FRAME_HEADER_BYTES..FRAME_HEADER_BYTES + body_bytes];
        shape.is_some_and(|shape| shape.body_bytes == body_bytes as u64)
            && is_intact(&frame[..FRAME_HEADER_BYTES], body)
    }

    #[test]
    fn a_frame_has_the_documented_bytes() {
        let frame = frame(b"body");
        assert_eq!(frame.len(), BLOCK_BYTES);
        assert_eq!(&frame[..8], b"PhFr\x01\0\0\0");
        assert_eq!(frame[8..16], HEADER.log.to_le_bytes());
        assert_eq!(frame[16], 3);
        assert_eq!(frame[24], 9);
        assert_eq!(frame[32], 40);
        assert_eq!(frame[40], 44);
        assert_eq!(frame[48], 4);
        assert_eq!(&frame[64..69], b"body\0");
        let shape = FrameShape::read(&frame).expect("a frame");
        assert_eq!(shape.header, HEADER);
        assert_eq!(shape.bytes(), Some(BLOCK_BYTES as u64));
    }

    #[test]
    fn frames_are_padded_to_blocks() {
        for (body, blocks) in [(0, 1), (BLOCK_BYTES - 64, 1), (BLOCK_BYTES - 63, 2)] {
            let frame = frame(&vec![1; body]);
            assert_eq!(frame.len(), blocks * BLOCK_BYTES);
            let shape = FrameShape::read(&frame).expect("a frame");
            assert_eq!(shape.bytes(), Some(frame.len() as u64));
            assert!(is_valid(&frame, body));
        }
        let mut long = frame(b"");
        long[48..56].copy_from_slice(&u64::MAX.to_le_bytes());
        let shape = FrameShape::read(&long).expect("a header");
        assert_eq!(shape.bytes(), None);
    }

    #[test]
    fn every_flipped_bit_of_a_frame_is_noticed() {
        let body = b"the body of a frame";
        let frame = frame(body);
        assert!(is_valid(&frame, body.len()));
        for bit in 0..(FRAME_HEADER_BYTES + body.len()) * 8 {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_valid(&flipped, body.len()), "bit {bit}");
        }
    }

    #[test]
    fn every_flipped_bit_of_a_segment_header_is_noticed() {
        let header = SegmentHeader { log: 5, segment: 6 };
        let block = header.block();
        assert_eq!(block.len(), BLOCK_BYTES);
        assert_eq!(SegmentHeader::read(&block), Some(header));
        for bit in 0..SEGMENT_HEADER_BYTES * 8 {
            let mut flipped = block.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::read(&flipped), None, "bit {bit}");
        }
        assert_eq!(SegmentHeader::read(&block[..20]), None);
    }
}
