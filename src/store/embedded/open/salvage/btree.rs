//! Reads the trees of a redb file page by page, and verifies each page.
//!
//! ```text
//! leaf      0 type u8 = 1, 2 pairs u16, 4 the end of each key u32, the end of each value u32, keys, values
//! branch    0 type u8 = 2, 2 keys u16, 8 checksum of each child u128, page of each child u64,
//!           the end of each key u32, keys
//! ```
//!
//! Ends are offsets in the page. They are missing for keys or values of a fixed length. The checksum of a
//! page covers it up to its last end. A branch has one child more than keys; the keys of child *n* are
//! greater than key *n* − 1, and not greater than key *n*.

use std::io;
use std::ops::Range;

use super::redb_file::{RedbFile, Root, TableDefinition, checksum, u16_at, u32_at, u64_at};

const LEAF: u8 = 1;
const BRANCH: u8 = 2;
const CHECKSUM_BYTES: usize = 16;
const PAGE_NUMBER_BYTES: usize = 8;
/// No tree is as deep.
const DEPTH_MAX: usize = 128;

/// What is in a tree, in the order of its keys.
pub(super) enum TreeItem<'p> {
    Pair(&'p [u8], &'p [u8]),
    /// A page is damaged: all pairs with keys between these are lost. Without an end there is no limit.
    Lost {
        begin: Vec<u8>,
        end: Option<Vec<u8>>,
        /// The offset of the page in the file.
        offset: u64,
    },
}

/// A tree of a file.
pub(super) struct PageTree<'r> {
    file: &'r RedbFile<'r>,
    table: TableDefinition,
}

/// A page, and the keys that it can have.
struct TreePart {
    root: Root,
    begin: Vec<u8>,
    end: Option<Vec<u8>>,
    depth: usize,
}

/// A page whose checksum is correct.
enum VerifiedPage {
    Leaf(Vec<(Range<usize>, Range<usize>)>),
    Branch(Vec<Root>, Vec<Range<usize>>),
}

impl<'r> PageTree<'r> {
    pub(super) fn new(file: &'r RedbFile<'r>, table: TableDefinition) -> Self {
        Self { file, table }
    }

    /// Calls `found` with everything that is in the tree.
    ///
    /// # Errors
    /// Errors of the file and of `found`.
    pub(super) fn read<E: From<io::Error>>(
        &self,
        mut found: impl FnMut(TreeItem<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(root) = self.table.root else {
            return Ok(());
        };
        let mut parts = vec![TreePart {
            root,
            begin: Vec::new(),
            end: None,
            depth: 0,
        }];
        while let Some(part) = parts.pop() {
            let page = self.file.page(part.root.page)?.unwrap_or_default();
            match self.verified(&page, part.root.checksum) {
                Some(VerifiedPage::Leaf(pairs)) => {
                    for (key, value) in pairs {
                        found(TreeItem::Pair(&page[key], &page[value]))?;
                    }
                }
                Some(VerifiedPage::Branch(children, keys)) if part.depth < DEPTH_MAX => {
                    let first = parts.len();
                    let mut begin = part.begin;
                    for (at, root) in children.into_iter().enumerate() {
                        let end = match keys.get(at) {
                            Some(key) => Some(after(&page[key.clone()])),
                            None => part.end.clone(),
                        };
                        let next = end.clone().unwrap_or_default();
                        parts.push(TreePart {
                            root,
                            begin: std::mem::replace(&mut begin, next),
                            end,
                            depth: part.depth + 1,
                        });
                    }
                    parts[first..].reverse();
                }
                Some(VerifiedPage::Branch(..)) | None => found(TreeItem::Lost {
                    begin: part.begin,
                    end: part.end,
                    offset: self.file.offset(part.root.page),
                })?,
            }
        }
        Ok(())
    }

    /// The contents of a page. `None`: it is damaged.
    fn verified(&self, page: &[u8], expected: u128) -> Option<VerifiedPage> {
        let (parsed, end) = match *page.first()? {
            LEAF => self.leaf(page)?,
            BRANCH => self.branch(page)?,
            _ => return None,
        };
        (checksum(page.get(..end)?) == expected).then_some(parsed)
    }

    /// A leaf and the end of its last value.
    fn leaf(&self, page: &[u8]) -> Option<(VerifiedPage, usize)> {
        let count = usize::from(u16_at(page, 2)?);
        let mut at = 4;
        let mut ends = |fixed: Option<usize>| {
            let offsets = at;
            if fixed.is_none() {
                at += 4 * count;
            }
            (offsets, fixed)
        };
        let (keys, values) = (ends(self.table.key_bytes), ends(self.table.value_bytes));
        let (keys, end) = ranges(page, keys, at, count)?;
        let (values, end) = ranges(page, values, end, count)?;
        let pairs = keys.into_iter().zip(values).collect();
        (count > 0).then_some((VerifiedPage::Leaf(pairs), end))
    }

    /// A branch and the end of its last key.
    fn branch(&self, page: &[u8]) -> Option<(VerifiedPage, usize)> {
        let count = usize::from(u16_at(page, 2)?);
        let pages = 8 + CHECKSUM_BYTES * (count + 1);
        let child = |at: usize| {
            let checksum = page.get(8 + CHECKSUM_BYTES * at..)?.first_chunk()?;
            Some(Root {
                page: u64_at(page, pages + PAGE_NUMBER_BYTES * at)?,
                checksum: u128::from_le_bytes(*checksum),
            })
        };
        let children = (0..=count).map(child).collect::<Option<_>>()?;
        let offsets = pages + PAGE_NUMBER_BYTES * (count + 1);
        let fixed = self.table.key_bytes;
        let first = offsets + fixed.map_or(4 * count, |_| 0);
        let (keys, end) = ranges(page, (offsets, fixed), first, count)?;
        (count > 0).then_some((VerifiedPage::Branch(children, keys), end))
    }
}

/// The ranges of keys or values in a page, of which the first begins at `first`, and the end of the last.
/// `ends` has the place of their ends, or their fixed length.
fn ranges(
    page: &[u8],
    ends: (usize, Option<usize>),
    first: usize,
    count: usize,
) -> Option<(Vec<Range<usize>>, usize)> {
    let (offsets, fixed) = ends;
    let mut begin = first;
    let mut found = Vec::with_capacity(count);
    for at in 0..count {
        let end = match fixed {
            Some(bytes) => begin.checked_add(bytes)?,
            None => usize::try_from(u32_at(page, offsets + 4 * at)?).ok()?,
        };
        page.get(begin..end)?;
        found.push(begin..end);
        begin = end;
    }
    Some((found, begin))
}

/// The first key after another one.
pub(super) fn after(key: &[u8]) -> Vec<u8> {
    [key, &[0]].concat()
}
