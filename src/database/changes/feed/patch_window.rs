//! The patches that a subscriber reads, and those that it reads ahead.
//!
//! A subscriber that is behind has taken many commits from the log, and returns their changes one
//! after another. If it asked for the patch of one change, it will ask for those of the next ones,
//! too. So a read of a patch also reads those of the following changes, in one round: twice as many
//! as the round before, up to a limit. On a cluster a round costs a read version and a round trip,
//! whatever it reads.
//!
//! Each response pays for the patch that it contains. What was read ahead is held in memory that
//! only subscribers share, so it takes no memory from requests, and is dropped as soon as the
//! subscriber has caught up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::patch_reader::{
    LoggedPatches, PIECE_OVERHEAD, PatchPiece, PieceId, PieceRange, Pieces, pieces_of,
};
use crate::budget::{Budget, Share};
use crate::database::changes::interest::Interest;
use crate::database::changes::read_change_log::{LoggedCommit, PatchPlace};
use crate::error::Result;
use crate::limits::{
    CHANGES_AHEAD_BYTES_MIN, CHANGES_AHEAD_GAP_BYTES_MAX, CHANGES_AHEAD_ROUND_BYTES_MAX,
    PIECE_BYTES,
};

/// What one subscriber has read ahead.
pub(super) struct PatchWindow {
    patches: Arc<LoggedPatches>,
    state: Mutex<WindowState>,
}

#[derive(Default)]
struct WindowState {
    held: Option<HeldPieces>,
    /// What the next round reads.
    planned: Option<PiecePlan>,
    /// The bytes that the next round may read. 0 until a patch was asked for.
    round_bytes: usize,
}

/// Pieces that were read ahead, and their memory.
struct HeldPieces {
    pieces: Pieces,
    _share: Share,
}

/// The edits of a change, which may not be read yet.
#[derive(Clone)]
pub struct ChangePatch {
    place: Option<PatchPlace>,
    window: Arc<PatchWindow>,
}

impl ChangePatch {
    /// The edits as a JSON Patch. `None` if the log does not have them. The budget pays for them.
    ///
    /// # Errors
    /// As [`Budget::check`]. Errors of the store.
    pub async fn read(&self, budget: &Budget) -> Result<Option<Vec<u8>>> {
        let Some(place) = &self.place else {
            return Ok(None);
        };
        budget.spend(1 + place.pieces.end.saturating_sub(place.pieces.start))?;
        budget.read(place.bytes)?;
        let pieces = match self.window.held(place) {
            Some(pieces) => pieces,
            None => self.window.read(place).await?,
        };
        Ok(place.cut(pieces.iter().map(|piece| &**piece)))
    }
}

impl PatchWindow {
    pub(super) fn new(patches: &Arc<LoggedPatches>) -> Self {
        Self {
            patches: patches.clone(),
            state: Mutex::default(),
        }
    }

    /// The patch of a change of the `first` of the commits that a subscriber has taken. The changes
    /// behind it that `interest` includes may be read ahead.
    pub(super) fn of(
        self: &Arc<Self>,
        first: &LoggedCommit,
        taken: impl Iterator<Item = Arc<LoggedCommit>>,
        change: usize,
        interest: &Interest,
    ) -> ChangePatch {
        let place = first.patch_place(change);
        if let Some(place) = &place {
            let mut state = self.state();
            state.planned = None;
            if state.round_bytes > 0
                && state.pieces_of(place).is_none()
                && self.patches.last(place).is_none()
            {
                // Many subscribers read less each, so that all of them read ahead.
                let bytes_max = state.round_bytes.min(self.patches.ahead_left() / 4);
                state.planned = Some(plan(taken, change, interest, bytes_max));
            }
        }
        ChangePatch {
            place,
            window: self.clone(),
        }
    }

    /// Drops what was read ahead, because the subscriber has caught up.
    pub(super) fn clear(&self) {
        let mut state = self.state();
        *state = WindowState {
            round_bytes: state.round_bytes.min(CHANGES_AHEAD_BYTES_MIN),
            ..WindowState::default()
        };
    }

    /// The pieces of a place, if they were read ahead.
    fn held(&self, place: &PatchPlace) -> Option<Vec<PatchPiece>> {
        self.state().pieces_of(place)
    }

    /// Reads the pieces of a place, and what is planned with them.
    async fn read(&self, place: &PatchPlace) -> Result<Vec<PatchPiece>> {
        let _turn = self.patches.turn(place.version).await;
        let planned = {
            let mut state = self.state();
            let doubled = state.round_bytes.saturating_mul(2);
            state.round_bytes =
                doubled.clamp(CHANGES_AHEAD_BYTES_MIN, CHANGES_AHEAD_ROUND_BYTES_MAX);
            state.planned.take()
        };
        if let Some(pieces) = self.patches.last(place) {
            return Ok(pieces);
        }
        let share = self.patches.share();
        let planned = planned.filter(|planned| share.take(planned.bytes).is_ok());
        let ranges = planned.map_or_else(|| vec![range_of(place)], |planned| planned.ranges);
        let pieces = self.patches.read(&ranges).await?;
        let own = pieces_in(&pieces, place);
        if ranges.len() > 1 || ranges[0] != range_of(place) {
            self.state().held = Some(HeldPieces {
                pieces,
                _share: share,
            });
        }
        Ok(own)
    }

    fn state(&self) -> MutexGuard<'_, WindowState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WindowState {
    fn pieces_of(&self, place: &PatchPlace) -> Option<Vec<PatchPiece>> {
        pieces_of(&self.held.as_ref()?.pieces, place)
    }
}

/// The pieces of a place that were found. Those of an expired entry are missing.
fn pieces_in(pieces: &Pieces, place: &PatchPlace) -> Vec<PatchPiece> {
    let numbers = place.pieces.clone();
    let found = numbers.filter_map(|number| pieces.get(&(place.version, number)).cloned());
    found.collect()
}

fn range_of(place: &PatchPlace) -> PieceRange {
    PieceRange {
        shard: place.shard,
        begin: (place.version, place.pieces.start),
        end: (place.version, place.pieces.end),
    }
}

/// Ranges of pieces to read in one round.
#[derive(Debug, PartialEq, Eq)]
struct PiecePlan {
    /// In the order of their keys.
    ranges: Vec<PieceRange>,
    /// The memory of the pieces, in bytes.
    bytes: usize,
}

/// A range that may be extended by the next changes of its shard.
struct OpenRange {
    range: PieceRange,
    /// The bytes of unwanted patches behind the range.
    gap: usize,
}

/// Plans a round of about `bytes_max` bytes that reads the patches of a change of the first commit, and
/// of the wanted changes that follow it. Changes of a shard follow each other in the order of their
/// keys, so the patches of neighbours are one range.
fn plan(
    taken: impl Iterator<Item = Arc<LoggedCommit>>,
    change: usize,
    interest: &Interest,
    bytes_max: usize,
) -> PiecePlan {
    let mut ranges = Vec::new();
    let mut open: HashMap<u8, OpenRange> = HashMap::new();
    let mut bytes = 0;
    let firsts = std::iter::once(change).chain(std::iter::repeat(0));
    'commits: for (commit, first) in taken.zip(firsts) {
        let total = commit.patch_bytes();
        for at in first..commit.changes.len() {
            let Some(place) = commit.patch_place(at) else {
                continue;
            };
            if bytes > 0 && bytes >= bytes_max {
                break 'commits;
            }
            let next = range_of(&place);
            if !interest.includes(&commit.changes[at]) {
                if let Some(open) = open.get_mut(&place.shard) {
                    open.gap += place.bytes + PIECE_OVERHEAD;
                }
                continue;
            }
            match open.get_mut(&place.shard) {
                Some(open) if open.gap <= CHANGES_AHEAD_GAP_BYTES_MAX => {
                    bytes += open.gap + memory(&place, total, Some(open.range.end));
                    open.range.end = open.range.end.max(next.end);
                    open.gap = 0;
                }
                _ => {
                    bytes += memory(&place, total, None);
                    let begun = OpenRange {
                        range: next,
                        gap: 0,
                    };
                    let before = open.insert(place.shard, begun);
                    ranges.extend(before.map(|before| before.range));
                }
            }
        }
    }
    ranges.extend(open.into_values().map(|open| open.range));
    ranges.sort_unstable_by_key(|range| (range.shard, range.begin));
    PiecePlan { ranges, bytes }
}

/// The memory for the pieces of a place that a range which ends at `end` does not have. The patches of
/// the commit have `total` bytes.
fn memory(place: &PatchPlace, total: u64, end: Option<PieceId>) -> usize {
    let shared = end.filter(|(version, _)| *version == place.version);
    let first = shared.map_or(place.pieces.start, |(_, number)| {
        place.pieces.start.max(number)
    });
    let pieces = place.pieces.end.saturating_sub(first);
    let position = |piece: u64| piece.saturating_mul(PIECE_BYTES as u64).min(total);
    let bytes = position(place.pieces.end)
        .saturating_sub(position(first))
        .saturating_add(pieces.saturating_mul(PIECE_OVERHEAD as u64));
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use super::*;
    use crate::document::id::DocumentId;
    use crate::document::path::Place;
    use crate::key::{ChangeKind, LoggedChange, Version};

    /// A commit in a shard that changes documents with these ids. Each patch has so many bytes.
    fn commit(number: u8, shard: u8, changes: &[(i64, u64)]) -> Arc<LoggedCommit> {
        let mut at = 0;
        let changes = changes.iter().map(|(id, bytes)| {
            let patch = Some((at, *bytes));
            at += bytes;
            LoggedChange {
                collection: "D".to_owned(),
                kind: ChangeKind::Updated,
                id: Some(DocumentId::Integer(*id)),
                places: vec![Place::default()],
                patch,
            }
        });
        Arc::new(LoggedCommit {
            version: version(number),
            time: 0,
            changes: changes.collect(),
            shard,
            bytes: 0,
            held: OnceLock::new(),
        })
    }

    fn version(number: u8) -> Version {
        Version([0, 0, 0, 0, 0, 0, 0, number, 0, 0])
    }

    /// A shard, and the commits and numbers of the first piece and of the end.
    type Planned = (u8, (u8, u64), (u8, u64));

    fn ranges(plan: &PiecePlan) -> Vec<Planned> {
        let id = |(Version(bytes), number): PieceId| (bytes[7], number);
        let ranges = plan.ranges.iter();
        ranges
            .map(|range| (range.shard, id(range.begin), id(range.end)))
            .collect()
    }

    #[test]
    fn changes_of_neighbouring_commits_are_one_range_of_each_shard() {
        let taken = Vec::from([
            commit(1, 3, &[(1, 100), (2, 100)]),
            commit(2, 5, &[(1, 100)]),
            commit(3, 3, &[(1, 100)]),
            commit(4, 3, &[(1, 30_000)]),
        ]);
        let all = Interest::in_collection("D".to_owned());
        let planned = plan(taken.iter().cloned(), 1, &all, usize::MAX);
        assert_eq!(ranges(&planned), [(3, (1, 0), (4, 3)), (5, (2, 0), (2, 1))]);
        assert_eq!(planned.bytes, 200 + 100 + 100 + 30_000 + 6 * PIECE_OVERHEAD);
    }

    #[test]
    fn a_round_ends_at_its_limit_and_has_the_first_change() {
        let taken = Vec::from([commit(1, 0, &[(1, 500), (1, 20_000), (1, 50_000)])]);
        let all = Interest::in_collection("D".to_owned());
        let of = |change, bytes| ranges(&plan(taken.iter().cloned(), change, &all, bytes));
        assert_eq!(of(0, 0), [(0, (1, 0), (1, 1))]);
        assert_eq!(of(0, 15_000), [(0, (1, 0), (1, 3))]);
        assert_eq!(of(2, 0), [(0, (1, 2), (1, 8))]);
        assert_eq!(of(0, usize::MAX), [(0, (1, 0), (1, 8))]);
    }

    #[test]
    fn large_patches_of_unwanted_changes_are_not_read() {
        let one = Interest {
            id: Some(DocumentId::Integer(1)),
            ..Interest::in_collection("D".to_owned())
        };
        let mut taken = Vec::from([
            commit(1, 0, &[(1, 100)]),
            commit(2, 0, &[(2, 50)]),
            commit(3, 0, &[(1, 100)]),
        ]);
        let planned = plan(taken.iter().cloned(), 0, &one, usize::MAX);
        assert_eq!(ranges(&planned), [(0, (1, 0), (3, 1))]);
        assert_eq!(planned.bytes, 250 + 3 * PIECE_OVERHEAD);
        taken[1] = commit(2, 0, &[(2, 5_000)]);
        let planned = plan(taken.iter().cloned(), 0, &one, usize::MAX);
        assert_eq!(ranges(&planned), [(0, (1, 0), (1, 1)), (0, (3, 0), (3, 1))]);
        assert_eq!(planned.bytes, 200 + 2 * PIECE_OVERHEAD);
    }
}
