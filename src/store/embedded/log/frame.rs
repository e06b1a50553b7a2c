//! The header of a segment, and the headers of frames.
//!
//! All integers are little-endian. A checksum is the CRC-32 of all other bytes of what it covers.
//! The version of a segment is that of its frames. Version 1 is only read.
//!
//! ```text
//! segment header  0 "phyllolg", 8 version u32, 12 checksum u32 (of this header), 16 log u64,
//!                 24 segment u64, from version 2: 32 reserved u64, 40 base u64
//! frame header    0 "PhFr", 4 flags u32, 8 log u64, 16 segment u64, 24 sequence u64, 32 base u64,
//!                 40 last u64, 48 body length u64, 56 reserved u64, 64 needed u64,
//!                 72 checksum of the frame before u32, 76 checksum u32 (of the header and the body)
//! of version 1    as above up to 55, 56 zero u32, 60 checksum u32
//! ```

use super::BLOCK_BYTES;
use super::sector::stored_bytes;

const SEGMENT_MAGIC: [u8; 8] = *b"phyllolg";
const FRAME_MAGIC: [u8; 4] = *b"PhFr";
/// The length of a frame's header. The body follows.
pub(super) const FRAME_HEADER_BYTES: usize = 80;
/// The flag of a frame that is the last one of its segment: the next one is in the next segment.
const LAST_OF_SEGMENT: u32 = 1;

/// The version of the bytes of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogVersion {
    /// Frames are stored as they are. Only read.
    Blocks,
    /// Frames are stored in sectors.
    Sectors,
}

impl LogVersion {
    const ALL: [Self; 2] = [Self::Blocks, Self::Sectors];

    fn number(self) -> u32 {
        match self {
            Self::Blocks => 1,
            Self::Sectors => 2,
        }
    }

    fn segment_header_bytes(self) -> usize {
        match self {
            Self::Blocks => 32,
            Self::Sectors => 48,
        }
    }

    /// The length of a frame's header.
    pub(super) fn frame_header_bytes(self) -> usize {
        match self {
            Self::Blocks => 64,
            Self::Sectors => FRAME_HEADER_BYTES,
        }
    }
}

/// The header of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentHeader {
    pub(super) version: LogVersion,
    pub(super) log: u64,
    pub(super) segment: u64,
    /// The bytes of the file that were allocated and synced before the segment began. 0 in version 1.
    pub(super) reserved: u64,
    /// The last commit that redb had durably before the log began. 0 in version 1.
    pub(super) base: u64,
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
    /// The bytes of the file that were allocated and synced before the frame was written. They
    /// include the first block after the frame. 0 in version 1.
    pub(super) reserved: u64,
    /// The last commit that redb has and no frame: redb must have the commits up to this one. 0 in
    /// version 1.
    pub(super) needed: u64,
    /// The checksum of the frame before, or 0 for the first frame of a log. 0 in version 1.
    pub(super) previous: u32,
    /// Whether the next frame is in the next segment.
    pub(super) ends_segment: bool,
}

/// What the header of a frame says about the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameShape {
    pub(super) header: FrameHeader,
    pub(super) body_bytes: u64,
    pub(super) checksum: u32,
    pub(super) version: LogVersion,
}

impl SegmentHeader {
    /// The first block of the segment.
    pub(super) fn block(self) -> Vec<u8> {
        let mut block = vec![0; BLOCK_BYTES];
        block[..8].copy_from_slice(&SEGMENT_MAGIC);
        block[8..12].copy_from_slice(&self.version.number().to_le_bytes());
        block[16..24].copy_from_slice(&self.log.to_le_bytes());
        block[24..32].copy_from_slice(&self.segment.to_le_bytes());
        block[32..40].copy_from_slice(&self.reserved.to_le_bytes());
        block[40..48].copy_from_slice(&self.base.to_le_bytes());
        let checksum = Self::checksum(&block[..self.version.segment_header_bytes()]);
        block[12..16].copy_from_slice(&checksum.to_le_bytes());
        block
    }

    /// The header at the beginning of `block`. `None` if there is none, or its checksum is wrong.
    pub(super) fn read(block: &[u8]) -> Option<Self> {
        let number = u32_at(block.get(..12)?, 8);
        let mut versions = LogVersion::ALL.into_iter();
        let version = versions.find(|version| version.number() == number)?;
        let block = block.get(..version.segment_header_bytes())?;
        let known = block[..8] == SEGMENT_MAGIC && u32_at(block, 12) == Self::checksum(block);
        let (reserved, base) = match version {
            LogVersion::Blocks => (0, 0),
            LogVersion::Sectors => (u64_at(block, 32), u64_at(block, 40)),
        };
        known.then(|| Self {
            version,
            log: u64_at(block, 16),
            segment: u64_at(block, 24),
            reserved,
            base,
        })
    }

    fn checksum(header: &[u8]) -> u32 {
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&header[..12]);
        checksum.update(&header[16..]);
        checksum.finalize()
    }
}

impl FrameHeader {
    /// Writes the header of `frame`, whose body follows the bytes for the header. Returns its
    /// checksum.
    pub(super) fn complete(self, frame: &mut [u8]) -> u32 {
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
            self.reserved,
            self.needed,
        ];
        for (number, place) in numbers.iter().zip(frame[8..].chunks_exact_mut(8)) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        frame[72..76].copy_from_slice(&self.previous.to_le_bytes());
        let (header, body) = frame.split_at(FRAME_HEADER_BYTES);
        let checksum = checksum(header, body);
        frame[76..80].copy_from_slice(&checksum.to_le_bytes());
        checksum
    }
}

impl FrameShape {
    /// What the header at the beginning of `block` says. Its checksum is not verified.
    pub(super) fn read(block: &[u8], version: LogVersion) -> Option<Self> {
        let block = block.get(..version.frame_header_bytes())?;
        let flags = u32_at(block, 4);
        let known = block[..4] == FRAME_MAGIC && flags & !LAST_OF_SEGMENT == 0;
        let (reserved, needed, previous) = match version {
            LogVersion::Blocks => (0, 0, 0),
            LogVersion::Sectors => (u64_at(block, 56), u64_at(block, 64), u32_at(block, 72)),
        };
        known.then(|| Self {
            header: FrameHeader {
                log: u64_at(block, 8),
                segment: u64_at(block, 16),
                sequence: u64_at(block, 24),
                base: u64_at(block, 32),
                last: u64_at(block, 40),
                reserved,
                needed,
                previous,
                ends_segment: flags == LAST_OF_SEGMENT,
            },
            body_bytes: u64_at(block, 48),
            checksum: u32_at(block, version.frame_header_bytes() - 4),
            version,
        })
    }

    /// The length of the frame without padding. `None` if no file is that long.
    pub(super) fn frame_bytes(&self) -> Option<u64> {
        let header_bytes = self.version.frame_header_bytes() as u64;
        self.body_bytes.checked_add(header_bytes)
    }

    /// The bytes of the frame in its file. `None` if no file is that long.
    pub(super) fn bytes(&self) -> Option<u64> {
        let bytes = self.frame_bytes()?;
        match self.version {
            LogVersion::Blocks => bytes.checked_next_multiple_of(BLOCK_BYTES as u64),
            LogVersion::Sectors => stored_bytes(bytes),
        }
    }

    /// Whether the checksum is that of the header and the body of `frame`.
    pub(super) fn is_intact(&self, frame: &[u8]) -> bool {
        let (header, body) = frame.split_at(self.version.frame_header_bytes());
        self.checksum == checksum(header, body)
    }
}

/// The checksum of a header, whose last four bytes are for it, and a body.
fn checksum(header: &[u8], body: &[u8]) -> u32 {
    let mut checksum = crc32fast::Hasher::new();
    checksum.update(&header[..header.len() - 4]);
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
        reserved: 1 << 20,
        needed: 41,
        previous: 0xAABB_CCDD,
        ends_segment: true,
    };

    fn frame(body: &[u8]) -> Vec<u8> {
        let mut frame = [&[0; FRAME_HEADER_BYTES], body].concat();
        HEADER.complete(&mut frame);
        frame
    }

    fn is_valid(frame: &[u8]) -> bool {
        let shape = FrameShape::read(frame, LogVersion::Sectors);
        shape.is_some_and(|shape| {
            shape.frame_bytes() == Some(frame.len() as u64) && shape.is_intact(frame)
        })
    }

    #[test]
    fn a_frame_has_the_documented_bytes() {
        let frame = frame(b"body");
        assert_eq!(&frame[..8], b"PhFr\x01\0\0\0");
        let numbers = [HEADER.log, 3, 9, 40, 44, 4, 1 << 20, 41];
        for (number, place) in numbers.iter().zip(frame[8..].chunks_exact(8)) {
            assert_eq!(place, number.to_le_bytes());
        }
        assert_eq!(frame[72..76], HEADER.previous.to_le_bytes());
        assert_eq!(&frame[80..], b"body");
        let shape = FrameShape::read(&frame, LogVersion::Sectors).expect("a frame");
        assert_eq!(shape.header, HEADER);
        assert_eq!(shape.bytes(), Some(BLOCK_BYTES as u64));
    }

    #[test]
    fn the_length_of_a_frame_is_limited() {
        let mut long = frame(b"");
        long[48..56].copy_from_slice(&u64::MAX.to_le_bytes());
        for version in LogVersion::ALL {
            let shape = FrameShape::read(&long, version).expect("a header");
            assert_eq!(shape.bytes(), None);
        }
    }

    #[test]
    fn every_flipped_bit_of_a_frame_is_noticed() {
        let frame = frame(b"the body of a frame");
        assert!(is_valid(&frame));
        for bit in 0..frame.len() * 8 {
            let mut flipped = frame.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_valid(&flipped), "bit {bit}");
        }
    }

    #[test]
    fn every_flipped_bit_of_a_segment_header_is_noticed() {
        for (version, number) in [(LogVersion::Blocks, 0), (LogVersion::Sectors, 8192)] {
            let header = SegmentHeader {
                version,
                log: 5,
                segment: 6,
                reserved: number,
                base: number,
            };
            let block = header.block();
            assert_eq!(block.len(), BLOCK_BYTES);
            assert_eq!(SegmentHeader::read(&block), Some(header));
            for bit in 0..version.segment_header_bytes() * 8 {
                let mut flipped = block.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(SegmentHeader::read(&flipped), None, "bit {bit}");
            }
            assert_eq!(SegmentHeader::read(&block[..20]), None);
        }
    }
}
