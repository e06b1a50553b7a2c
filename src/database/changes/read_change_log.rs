//! Reads entries of the change log in the order of commits.

use std::ops::Range;
use std::sync::OnceLock;

use futures::future::join;

use super::settings::horizon_of;
use crate::budget::{Pool, Share, block_thread};
use crate::document::id::DocumentId;
use crate::document::path::{Place, Segment};
use crate::error::{Error, Result};
use crate::key::{ChangeLogPart, ChangeLogRange, ChangesDecoder, Family, LoggedChange, Version};
use crate::limits::{CHANGE_HEADER_PIECE_BYTES, CHANGE_SHARDS, CHANGES_PAGE_BYTES, PIECE_BYTES};
use crate::store::{Batches, Pairs, RangeRead, Read, RoundBatch};

/// A commit in the change log.
#[derive(Debug)]
pub struct LoggedCommit {
    /// The version of the commit.
    pub version: Version,
    /// The time of the commit by the clock of its server, in milliseconds since 1970.
    pub time: u64,
    /// The changes, in the order in which each document first changed.
    pub changes: Vec<LoggedChange>,
    /// The shard of the entry.
    pub(super) shard: u8,
    /// An estimate of the memory that the commit takes.
    pub(super) bytes: usize,
    /// The memory of the commit, once it counts.
    pub(super) held: OnceLock<(Share, Option<Share>)>,
}

/// The first commits after a version.
#[derive(Debug)]
pub(crate) struct CommitPage {
    /// The commits, in order.
    pub(crate) commits: Vec<LoggedCommit>,
    /// Whether these are all commits up to the version of the snapshot.
    pub(crate) is_last: bool,
    /// All commits after this version are in the log.
    pub(crate) horizon: Version,
}

/// Where a read of the log begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// With the first commit after this version.
    After(Version),
    /// With the commit of this version.
    At(Version),
}

/// Reads the first commits from `start` on: those in the first batch of each shard, up to the commit with which
/// they take [`CHANGES_PAGE_BYTES`]. A follower of commits with thousands of changes uses them for long, and may
/// have to read them again.
///
/// # Errors
/// `INTERNAL`: an entry is malformed. Errors of the store.
pub(crate) async fn read_commits(read: &dyn Read, start: Start) -> Result<CommitPage> {
    let shards: Vec<ChangeLogRange> = (0..CHANGE_SHARDS).map(headers_of).collect();
    let bounds: Vec<_> = shards
        .iter()
        .map(|range| match start {
            Start::After(version) => (range.after(version), range.end()),
            Start::At(version) => (range.from(version), range.end()),
        })
        .collect();
    let ranges: Vec<_> = bounds
        .iter()
        .map(|(begin, end)| RangeRead::new(begin, end))
        .collect();
    let horizon = Family::ChangeHorizon.key()?;
    let (horizon, round) = join(read.get(&horizon), read.ranges(&ranges)).await;
    let horizon = horizon_of(horizon?.as_deref())?;
    let mut entries = Vec::new();
    for ((shard, range), batch) in (0..).zip(&shards).zip(round.batches) {
        find_entries(range, shard, &round.pairs, &batch?, &mut entries)?;
    }
    entries.sort_unstable_by_key(|entry| entry.version);
    // Only up to the first entry that may have further headers, all commits are known.
    let known = entries.iter().position(|entry| entry.is_partial);
    let (complete, partial) = entries.split_at(known.unwrap_or(entries.len()));
    let mut page = decode_page(&round.pairs, complete)?;
    if let Some(partial) = partial.first()
        && !page.is_full()
    {
        page.push(read_commit(read, partial).await?);
    }
    Ok(CommitPage {
        is_last: page.commits.len() == entries.len() && partial.is_empty(),
        commits: page.commits,
        horizon,
    })
}

/// The headers of a shard.
fn headers_of(shard: u8) -> ChangeLogRange {
    ChangeLogRange::new(ChangeLogPart::Headers, shard)
}

/// The headers of one commit, among those that have been read of all shards.
#[derive(Debug, PartialEq, Eq)]
struct LogEntry {
    version: Version,
    shard: u8,
    /// The indexes of the headers.
    headers: Range<usize>,
    /// Whether the commit may have further headers.
    is_partial: bool,
}

/// Finds the entries in a batch of a shard.
fn find_entries(
    range: &ChangeLogRange,
    shard: u8,
    pairs: &Pairs,
    batch: &RoundBatch,
    entries: &mut Vec<LogEntry>,
) -> Result<()> {
    let first = entries.len();
    for index in batch.pairs.clone() {
        let (version, _) = range
            .parse(pairs.get(index).0)
            .ok_or_else(|| malformed("key"))?;
        match entries[first..].last_mut() {
            Some(entry) if entry.version == version => entry.headers.end = index + 1,
            _ => entries.push(LogEntry {
                version,
                shard,
                headers: index..index + 1,
                is_partial: false,
            }),
        }
    }
    if let Some(last) = entries[first..].last_mut() {
        last.is_partial = batch.more;
    }
    Ok(())
}

/// The first commits of a page, and the memory that they take.
#[derive(Default)]
struct DecodedCommits {
    commits: Vec<LoggedCommit>,
    bytes: usize,
}

impl DecodedCommits {
    fn is_full(&self) -> bool {
        self.bytes >= CHANGES_PAGE_BYTES
    }

    fn push(&mut self, commit: LoggedCommit) {
        self.bytes += commit.bytes;
        self.commits.push(commit);
    }
}

/// Decodes entries until a page is full. Many headers are decoded on a blocking thread, and at once: the follower
/// uses the commits before memory is needed for those of others.
fn decode_page(pairs: &Pairs, entries: &[LogEntry]) -> Result<DecodedCommits> {
    let decode = || {
        let mut page = DecodedCommits::default();
        for entry in entries {
            if page.is_full() {
                break;
            }
            page.push(decode_commit(pairs, entry)?);
        }
        Ok(page)
    };
    if pairs.bytes() > CHANGE_HEADER_PIECE_BYTES {
        return block_thread(decode);
    }
    decode()
}

/// Reads all headers of a commit, and decodes them.
async fn read_commit(read: &dyn Read, entry: &LogEntry) -> Result<LoggedCommit> {
    let range = headers_of(entry.shard);
    let mut pairs = Pairs::default();
    let mut batches = Batches::new(read, range.from(entry.version), range.after(entry.version));
    while let Some(batch) = batches.next().await? {
        pairs.append(&batch);
    }
    let entry = LogEntry {
        headers: 0..pairs.len(),
        is_partial: false,
        ..*entry
    };
    block_thread(|| decode_commit(&pairs, &entry))
}

fn decode_commit(pairs: &Pairs, entry: &LogEntry) -> Result<LoggedCommit> {
    let mut decoder = ChangesDecoder::new(entry.version);
    let mut commit_time = None;
    let mut changes = Vec::new();
    for index in entry.headers.clone() {
        let decoded = decoder.decode(pairs.get(index).1);
        let (time, mut decoded) = decoded.ok_or_else(|| malformed("header"))?;
        commit_time.get_or_insert(time);
        changes.append(&mut decoded);
    }
    let time =
        commit_time.ok_or_else(|| Error::internal("an entry of the change log has disappeared"))?;
    Ok(LoggedCommit {
        version: entry.version,
        time,
        bytes: changes.iter().map(held_bytes).sum(),
        changes,
        shard: entry.shard,
        held: OnceLock::new(),
    })
}

impl LoggedCommit {
    /// Counts the memory of the commit in the pool of commits, and in that of all requests if there
    /// is one, unless it counts already.
    pub(super) fn count_in(&self, commits: &Pool, requests: Option<&Pool>) {
        let share = |pool: &Pool| {
            let share = pool.counted_share();
            share.add(self.bytes);
            share
        };
        self.held
            .get_or_init(|| (share(commits), requests.map(share)));
    }

    /// The bytes of the patches of all changes.
    pub(super) fn patch_bytes(&self) -> u64 {
        let last = self.changes.iter().rev().find_map(|change| change.patch);
        last.map_or(0, |(at, bytes)| at + bytes)
    }

    /// Where the log has the edits of the change at a position in the commit. `None` if it does not
    /// have them.
    pub(super) fn patch_place(&self, change: usize) -> Option<PatchPlace> {
        let (at, bytes) = self.changes[change].patch?;
        let first = at / PIECE_BYTES as u64;
        Some(PatchPlace {
            shard: self.shard,
            version: self.version,
            pieces: first..(at + bytes).div_ceil(PIECE_BYTES as u64),
            at: usize::try_from(at - first * PIECE_BYTES as u64).unwrap_or(usize::MAX),
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        })
    }
}

/// Where the log has the edits of a change: in pieces of the patches of its commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PatchPlace {
    pub(super) shard: u8,
    pub(super) version: Version,
    /// The numbers of the pieces.
    pub(super) pieces: Range<u64>,
    /// The position in the first piece, in bytes.
    at: usize,
    /// The length of the edits, in bytes.
    pub(super) bytes: usize,
}

impl PatchPlace {
    /// The JSON Patch in the pieces, which are those of this place. `None` if the entry has expired
    /// since its header was read, so that pieces are missing.
    pub(super) fn cut<'p>(&self, pieces: impl Iterator<Item = &'p [u8]>) -> Option<Vec<u8>> {
        let mut patch = vec![b'['];
        let mut skip = self.at;
        for piece in pieces {
            let rest = piece.get(skip..).unwrap_or_default();
            skip = skip.saturating_sub(piece.len());
            let left = self.bytes + 1 - patch.len();
            patch.extend_from_slice(&rest[..rest.len().min(left)]);
        }
        if patch.len() <= self.bytes {
            return None;
        }
        patch.push(b']');
        Some(patch)
    }
}

/// The memory that a decoded change takes: itself, and each of its texts and lists with what the
/// allocator adds.
fn held_bytes(change: &LoggedChange) -> usize {
    const ALLOCATION_BYTES: usize = 16;
    let id = change.id.as_ref().map_or(0, DocumentId::bytes);
    let segment = |segment: &Segment| match segment {
        Segment::Key(name) => size_of::<Segment>() + name.len() + ALLOCATION_BYTES,
        Segment::Index(_) => size_of::<Segment>(),
    };
    let place = |place: &Place| {
        size_of::<Place>() + ALLOCATION_BYTES + place.0.iter().map(segment).sum::<usize>()
    };
    let places: usize = change.places.iter().map(place).sum();
    size_of::<LoggedChange>() + change.collection.len() + id + places + 3 * ALLOCATION_BYTES
}

fn malformed(part: &str) -> Error {
    Error::internal(format!("a malformed {part} in the change log"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{ChangeKind, encode_changes};

    fn version(number: u8) -> Version {
        Version([0, 0, 0, 0, 0, 0, 0, number, 0, 0])
    }

    /// The headers of commits that created so many documents, in the batch of one shard.
    fn append_shard(
        round: &mut (Pairs, Vec<LogEntry>),
        shard: u8,
        commits: &[(u8, i64)],
        more: bool,
    ) {
        let (pairs, entries) = round;
        let range = headers_of(shard);
        let first = pairs.len();
        for (number, documents) in commits {
            let created = (0..*documents).map(|id| LoggedChange {
                collection: "D".to_owned(),
                kind: ChangeKind::Created,
                id: Some(DocumentId::Integer(id)),
                places: vec![Place::default()],
                patch: None,
            });
            let created: Vec<LoggedChange> = created.collect();
            let headers = encode_changes(0, created.iter(), CHANGE_HEADER_PIECE_BYTES);
            for (part, header) in (0..).zip(headers) {
                pairs.push(&range.key(version(*number), part), &header);
            }
        }
        let batch = RoundBatch {
            pairs: first..pairs.len(),
            more,
        };
        find_entries(&range, shard, pairs, &batch, entries).expect("well-formed keys");
    }

    #[test]
    fn entries_are_found_in_each_shard_and_the_last_of_a_batch_may_continue() {
        let mut round = (Pairs::default(), Vec::new());
        append_shard(&mut round, 3, &[(1, 1), (4, 10_000)], true);
        append_shard(&mut round, 5, &[], false);
        // The same version in the next shard is another entry.
        append_shard(&mut round, 7, &[(4, 2), (5, 3)], false);
        let (pairs, entries) = round;
        let found: Vec<_> = entries
            .iter()
            .map(|entry| (entry.version, entry.shard, entry.is_partial))
            .collect();
        assert_eq!(
            found,
            [
                (version(1), 3, false),
                (version(4), 3, true),
                (version(4), 7, false),
                (version(5), 7, false),
            ]
        );
        let large = entries[1].headers.len();
        assert!(large > 1, "{large} headers");
        assert_eq!(pairs.len(), large + 3);
    }

    /// The number of changes in each decoded commit of a page.
    fn decoded(documents: &[i64]) -> Vec<usize> {
        let mut round = (Pairs::default(), Vec::new());
        for (number, documents) in (1..).zip(documents) {
            append_shard(&mut round, number, &[(number, *documents)], false);
        }
        let page = decode_page(&round.0, &round.1).expect("well-formed headers");
        let held: usize = page.commits.iter().map(|commit| commit.bytes).sum();
        assert_eq!(held, page.bytes);
        let versions = (1..).map(version).take(page.commits.len());
        let commits = page.commits.iter();
        assert!(commits.map(|commit| commit.version).eq(versions));
        let commits = page.commits.iter();
        commits.map(|commit| commit.changes.len()).collect()
    }

    #[test]
    fn a_page_ends_with_the_commit_that_fills_it() {
        assert_eq!(decoded(&[]), [0; 0]);
        assert_eq!(decoded(&[3, 1, 2]), [3, 1, 2]);
        // The headers of a commit are decoded together, and are several.
        assert_eq!(decoded(&[10_000]), [10_000]);
        assert_eq!(decoded(&[3, 10_000, 1]), [3, 10_000]);
        // The bound is one for all shards.
        assert_eq!(decoded(&[10_000, 10_000, 10_000]), [10_000]);
    }
}
