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
use crate::store::{Batches, Pairs, RangeRead, Read};

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

/// Reads the first commits from `start` on: of each shard the first batch, or less of it if its commits take
/// much memory.
///
/// # Errors
/// `INTERNAL`: an entry is malformed. Errors of the store.
pub(crate) async fn read_commits(read: &dyn Read, start: Start) -> Result<CommitPage> {
    let shards: Vec<ChangeLogRange> = (0..CHANGE_SHARDS)
        .map(|shard| ChangeLogRange::new(ChangeLogPart::Headers, shard))
        .collect();
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
    let mut commits = Vec::new();
    let mut complete_to: Option<Version> = None;
    for ((shard, range), batch) in (0..).zip(&shards).zip(round.into_batches()) {
        let batch = batch?;
        let mut found = decode(range, shard, &batch.pairs)?;
        if batch.more
            && !found.is_cut
            && let Some(last) = found.commits.pop()
        {
            // The last commit may have further headers.
            let last = whole(read, range, shard, last.version).await?;
            found.commits.push(last);
        }
        if (batch.more || found.is_cut)
            && let Some(LoggedCommit { version, .. }) = found.commits.last()
        {
            complete_to = Some(complete_to.map_or(*version, |to| to.min(*version)));
        }
        commits.append(&mut found.commits);
    }
    commits.sort_unstable_by_key(|commit| commit.version);
    if let Some(to) = complete_to {
        commits.retain(|commit| commit.version <= to);
    }
    Ok(CommitPage {
        commits,
        is_last: complete_to.is_none(),
        horizon,
    })
}

/// Reads all headers of one commit.
async fn whole(
    read: &dyn Read,
    range: &ChangeLogRange,
    shard: u8,
    version: Version,
) -> Result<LoggedCommit> {
    let mut pairs = Pairs::default();
    let mut batches = Batches::new(read, range.from(version), range.after(version));
    while let Some(batch) = batches.next().await? {
        pairs.append(&batch);
    }
    let found = decode(range, shard, &pairs)?.commits.pop();
    found.ok_or_else(|| Error::internal("an entry of the change log has disappeared"))
}

/// Decoded commits of a shard.
struct DecodedCommits {
    commits: Vec<LoggedCommit>,
    /// Whether the headers have further commits. All that are decoded are whole then.
    is_cut: bool,
}

/// Decodes the headers of a shard, up to the commit with which they take [`CHANGES_PAGE_BYTES`]. A follower of
/// commits with thousands of changes uses them for long, and may have to read them again. Many changes are
/// decoded on a blocking thread, and at once: the follower uses them before memory is needed for those of others.
fn decode(range: &ChangeLogRange, shard: u8, pairs: &Pairs) -> Result<DecodedCommits> {
    if pairs.bytes() > CHANGE_HEADER_PIECE_BYTES {
        return block_thread(|| decode_here(range, shard, pairs));
    }
    decode_here(range, shard, pairs)
}

fn decode_here(range: &ChangeLogRange, shard: u8, pairs: &Pairs) -> Result<DecodedCommits> {
    let mut commits: Vec<LoggedCommit> = Vec::new();
    let mut held = 0;
    let mut decoder: Option<(Version, ChangesDecoder)> = None;
    for (key, value) in pairs.iter() {
        let (version, _) = range.parse(key).ok_or_else(|| malformed("key"))?;
        if decoder
            .as_ref()
            .is_none_or(|(current, _)| *current != version)
        {
            if held >= CHANGES_PAGE_BYTES {
                return Ok(DecodedCommits {
                    commits,
                    is_cut: true,
                });
            }
            decoder = Some((version, ChangesDecoder::new(version)));
        }
        let decoded = decoder
            .as_mut()
            .and_then(|(_, decoder)| decoder.decode(value));
        let (time, mut changes) = decoded.ok_or_else(|| malformed("header"))?;
        let bytes = changes.iter().map(held_bytes).sum();
        held += bytes;
        match commits.last_mut().filter(|last| last.version == version) {
            Some(commit) => {
                commit.changes.append(&mut changes);
                commit.bytes += bytes;
            }
            None => commits.push(LoggedCommit {
                version,
                time,
                changes,
                shard,
                bytes,
                held: OnceLock::new(),
            }),
        }
    }
    Ok(DecodedCommits {
        commits,
        is_cut: false,
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

    const SHARD: u8 = 3;

    fn version(number: u8) -> Version {
        Version([0, 0, 0, 0, 0, 0, 0, number, 0, 0])
    }

    /// The headers of a commit that created documents.
    fn append_commit(pairs: &mut Pairs, range: &ChangeLogRange, number: u8, documents: i64) {
        let created = (0..documents).map(|id| LoggedChange {
            collection: "D".to_owned(),
            kind: ChangeKind::Created,
            id: Some(DocumentId::Integer(id)),
            places: vec![Place::default()],
            patch: None,
        });
        let created: Vec<LoggedChange> = created.collect();
        let headers = encode_changes(0, created.iter(), CHANGE_HEADER_PIECE_BYTES);
        for (part, header) in (0..).zip(headers) {
            pairs.push(&range.key(version(number), part), &header);
        }
    }

    /// The number of changes in each decoded commit, and whether there are further commits.
    fn decoded(documents: &[i64]) -> (Vec<usize>, bool) {
        let range = ChangeLogRange::new(ChangeLogPart::Headers, SHARD);
        let mut pairs = Pairs::default();
        for (number, documents) in (1..).zip(documents) {
            append_commit(&mut pairs, &range, number, *documents);
        }
        let found = decode(&range, SHARD, &pairs).expect("well-formed");
        let versions = (1..).map(version).take(found.commits.len());
        assert!(
            found
                .commits
                .iter()
                .map(|commit| commit.version)
                .eq(versions)
        );
        let changes = found.commits.iter().map(|commit| commit.changes.len());
        (changes.collect(), found.is_cut)
    }

    #[test]
    fn a_page_ends_with_the_commit_that_fills_it() {
        assert_eq!(decoded(&[]), (vec![], false));
        assert_eq!(decoded(&[3, 1, 2]), (vec![3, 1, 2], false));
        // The headers of a commit are decoded together, and are several.
        assert_eq!(decoded(&[10_000]), (vec![10_000], false));
        assert_eq!(decoded(&[3, 10_000, 1]), (vec![3, 10_000], true));
        assert_eq!(decoded(&[10_000, 10_000, 10_000]), (vec![10_000], true));
    }
}
