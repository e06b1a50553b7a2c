//! The format of a redb file, as far as it is needed to read a damaged one: redb verifies no checksum
//! when it reads a page, and does not say which one is wrong.
//!
//! All integers are little-endian. A checksum is the XXH3 hash of 128 bits.
//!
//! ```text
//! header    0 magic, 9 flags u8 (1: slot 1 is the current one, 2: not closed, 4: two-phase commit),
//!           12 page size u32, 16 header pages of a region u32, 20 data pages of a region u32,
//!           64 slot 0, 192 slot 1
//! slot      0 version u8, 1 has a root u8, 8 root, 104 transaction u64, 112 checksum u128
//! root      page number u64, checksum u128, length u64
//! page      number: 20 bits index, 20 bits region, 19 bits unused, 5 bits order; 2^order pages long
//! ```
//!
//! The root of a slot is a tree from the names of tables to their definitions ([`table_of`]). `btree.rs`
//! has the format of trees.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use twox_hash::XxHash3_128;

const MAGIC: &[u8] = b"redb\x1A\x0A\xA9\x0D\x0A";
const HEADER_BYTES: usize = 320;
const SLOTS: [usize; 2] = [64, 192];
const SLOT_BYTES: usize = 128;
const SLOT_VERSION: u8 = 3;
const SLOT_CHECKSUM: usize = 112;
const CURRENT_IS_SECOND: u8 = 1;
const NOT_CLOSED: u8 = 2;
const TWO_PHASE: u8 = 4;
const ROOT_BYTES: usize = 32;
/// A larger page is not read: its number is damaged.
const ORDER_MAX: u64 = 20;

/// A redb file whose header is intact.
pub(super) struct RedbFile<'f> {
    file: &'f File,
    file_bytes: u64,
    page_bytes: u64,
    region_bytes: u64,
    region_header_bytes: u64,
    /// The slots with a valid checksum, the best first.
    pub(super) slots: Vec<CommitSlot>,
    /// Whether the first slot may be of a commit that was not written completely.
    pub(super) may_be_torn: bool,
}

/// A durable commit.
#[derive(Clone, Copy)]
pub(super) struct CommitSlot {
    pub(super) root: Option<Root>,
    transaction: u64,
}

/// The root of a tree.
#[derive(Clone, Copy)]
pub(super) struct Root {
    pub(super) page: u64,
    pub(super) checksum: u128,
}

/// A table.
#[derive(Clone, Copy, Default)]
pub(super) struct TableDefinition {
    pub(super) root: Option<Root>,
    /// The length of each key in bytes, if all have the same.
    pub(super) key_bytes: Option<usize>,
    /// The length of each value in bytes, if all have the same.
    pub(super) value_bytes: Option<usize>,
}

impl<'f> RedbFile<'f> {
    /// Reads the header. `None`: it is damaged.
    ///
    /// # Errors
    /// Errors of the file.
    pub(super) fn open(file: &'f File) -> io::Result<Option<Self>> {
        let file_bytes = file.metadata()?.len();
        if file_bytes < HEADER_BYTES as u64 {
            return Ok(None);
        }
        let mut header = vec![0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0)?;
        Ok(Self::parse(file, file_bytes, &header))
    }

    fn parse(file: &'f File, file_bytes: u64, header: &[u8]) -> Option<Self> {
        let flags = header.strip_prefix(MAGIC)?.first()?;
        let page_bytes = u64::from(u32_at(header, 12)?);
        let region_header_bytes = u64::from(u32_at(header, 16)?) * page_bytes;
        let region_bytes = region_header_bytes + u64::from(u32_at(header, 20)?) * page_bytes;
        if page_bytes == 0 || region_bytes == 0 {
            return None;
        }
        let mut slots = SLOTS.map(|at| CommitSlot::parse(&header[at..at + SLOT_BYTES]));
        let is_two_phase = flags & TWO_PHASE != 0;
        if flags & CURRENT_IS_SECOND != 0 {
            slots.reverse();
        }
        let mut slots: Vec<CommitSlot> = slots.into_iter().flatten().collect();
        let may_be_torn = flags & NOT_CLOSED != 0 && !is_two_phase;
        if may_be_torn {
            slots.sort_by_key(|slot| std::cmp::Reverse(slot.transaction));
        }
        Some(Self {
            file,
            file_bytes,
            page_bytes,
            region_bytes,
            region_header_bytes,
            slots,
            may_be_torn,
        })
    }

    /// Where a page is in the file.
    pub(super) fn offset(&self, page: u64) -> u64 {
        let order = page >> 59;
        let index = page & (0xF_FFFF >> order.min(ORDER_MAX));
        let region = (page >> 20) & 0xF_FFFF;
        self.page_bytes
            + region * self.region_bytes
            + self.region_header_bytes
            + index * (self.page_bytes << order.min(ORDER_MAX))
    }

    /// Reads a page. `None`: it is not in the file.
    ///
    /// # Errors
    /// Errors of the file.
    pub(super) fn page(&self, page: u64) -> io::Result<Option<Vec<u8>>> {
        let (order, offset) = (page >> 59, self.offset(page));
        if order > ORDER_MAX {
            return Ok(None);
        }
        let bytes = self.page_bytes << order;
        if offset.saturating_add(bytes) > self.file_bytes {
            return Ok(None);
        }
        let Ok(bytes) = usize::try_from(bytes) else {
            return Ok(None);
        };
        let mut contents = vec![0; bytes];
        self.file.read_exact_at(&mut contents, offset)?;
        Ok(Some(contents))
    }
}

impl CommitSlot {
    /// `None`: the slot is damaged, or was never written.
    fn parse(slot: &[u8]) -> Option<Self> {
        let (fields, stored) = slot.split_at_checked(SLOT_CHECKSUM)?;
        if checksum(fields) != u128::from_le_bytes(*stored.first_chunk()?) {
            return None;
        }
        if fields[0] != SLOT_VERSION {
            return None;
        }
        Some(Self {
            root: (fields[1] != 0)
                .then(|| Root::parse(&fields[8..]))
                .flatten(),
            transaction: u64_at(fields, 104)?,
        })
    }
}

impl Root {
    fn parse(bytes: &[u8]) -> Option<Self> {
        Some(Self {
            page: u64_at(bytes, 0)?,
            checksum: u128::from_le_bytes(*bytes.get(8..)?.first_chunk()?),
        })
    }
}

/// The definition of a table: the kind u8, the length u64, has a root u8, the root, then for keys and
/// values: has a fixed length u8, the length u32. `None`: it is not one of a usual table.
pub(super) fn table_of(definition: &[u8]) -> Option<TableDefinition> {
    const USUAL: u8 = 3;
    let fixed = |at: usize| {
        let has = *definition.get(at)? != 0;
        let bytes = usize::try_from(u32_at(definition, at + 1)?).ok()?;
        Some(has.then_some(bytes))
    };
    if *definition.first()? != USUAL {
        return None;
    }
    let has_root = *definition.get(9)? != 0;
    Some(TableDefinition {
        root: if has_root {
            Some(Root::parse(&definition[10..])?)
        } else {
            None
        },
        key_bytes: fixed(10 + ROOT_BYTES)?,
        value_bytes: fixed(15 + ROOT_BYTES)?,
    })
}

pub(super) fn checksum(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}
