//! Reads pieces of patches for all subscribers of a server, and keeps the last ones.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::MutexGuard as Turn;

use crate::budget::{Pool, Share};
use crate::database::changes::read_change_log::PatchPlace;
use crate::error::{Error, Result};
use crate::key::{ChangeLogPart, ChangeLogRange, Version};
use crate::limits::{CHANGES_AHEAD_BYTES_MAX, CHANGES_PIECES_BYTES_MAX};
use crate::store::{Batches, RangeRead, Store, key_after};

/// The patches of the change log, for the subscribers of this process.
pub(super) struct LoggedPatches {
    store: Arc<dyn Store>,
    last: Mutex<LastPieces>,
    /// The memory that all subscribers may hold for what they read ahead.
    ahead: Pool,
    /// Subscribers that want the same pieces wait for the first one of them, and then find the pieces
    /// among the last ones. A commit has one of these locks.
    turns: [tokio::sync::Mutex<()>; TURNS],
    hashes: RandomState,
}

/// More than the rounds that usually run at the same time.
const TURNS: usize = 64;

/// A piece of the patches of a commit, by its number.
pub(super) type PieceId = (Version, u64);

/// The bytes of a piece, which subscribers share.
pub(super) type PatchPiece = Arc<[u8]>;

/// Pieces that were read together.
pub(super) type Pieces = HashMap<PieceId, PatchPiece>;

/// Consecutive pieces of one shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PieceRange {
    pub(super) shard: u8,
    pub(super) begin: PieceId,
    /// Exclusive.
    pub(super) end: PieceId,
}

/// An estimate of the memory for a piece, besides its bytes.
pub(super) const PIECE_OVERHEAD: usize = 96;

/// The pieces that were read last. The oldest is dropped first.
#[derive(Default)]
struct LastPieces {
    pieces: Pieces,
    order: VecDeque<PieceId>,
    bytes: usize,
}

impl LoggedPatches {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            last: Mutex::default(),
            ahead: Pool::new(CHANGES_AHEAD_BYTES_MAX),
            turns: std::array::from_fn(|_| tokio::sync::Mutex::default()),
            hashes: RandomState::new(),
        }
    }

    /// Waits until no other subscriber reads the patches of this commit.
    pub(super) async fn turn(&self, version: Version) -> Turn<'_, ()> {
        let hash = self.hashes.hash_one(version) % TURNS as u64;
        self.turns[usize::try_from(hash).unwrap_or_default()]
            .lock()
            .await
    }

    /// The pieces of a place, if all of them are among the last ones.
    pub(super) fn last(&self, place: &PatchPlace) -> Option<Vec<PatchPiece>> {
        pieces_of(&self.last_pieces().pieces, place)
    }

    /// An empty share of the memory for what is read ahead.
    pub(super) fn share(&self) -> Share {
        self.ahead.counted_share()
    }

    /// The bytes that are left of the memory for what is read ahead.
    pub(super) fn ahead_left(&self) -> usize {
        CHANGES_AHEAD_BYTES_MAX.saturating_sub(self.ahead.held())
    }

    /// Reads ranges of pieces in one round, at a snapshot that includes all commits whose changes were
    /// returned before.
    ///
    /// # Errors
    /// `INTERNAL`: a key is malformed. Errors of the store.
    pub(super) async fn read(&self, ranges: &[PieceRange]) -> Result<Pieces> {
        let bounds: Vec<_> = ranges
            .iter()
            .map(|range| {
                let keys = ChangeLogRange::new(ChangeLogPart::Patches, range.shard);
                let (begin, end) = (range.begin, range.end);
                let (begin, end) = (keys.key(begin.0, begin.1), keys.key(end.0, end.1));
                (keys, begin, end)
            })
            .collect();
        let reads: Vec<_> = bounds
            .iter()
            .map(|(_, begin, end)| RangeRead::new(begin, end))
            .collect();
        let snapshot = self.store.snapshot().await?;
        let round = snapshot.ranges(&reads).await;
        let mut found = Pieces::new();
        let mut keep = |keys: &ChangeLogRange, key: &[u8], value: &[u8]| {
            let id = keys
                .parse(key)
                .ok_or_else(|| Error::internal("a malformed key in the change log"))?;
            found.insert(id, value.into());
            Ok::<_, Error>(())
        };
        for ((keys, _, end), batch) in bounds.iter().zip(round.into_batches()) {
            let batch = batch?;
            for (key, piece) in batch.pairs.iter() {
                keep(keys, key, piece)?;
            }
            let Some((last, _)) = batch.pairs.last().filter(|_| batch.more) else {
                continue;
            };
            let mut rest = Batches::new(&*snapshot, key_after(last), &end[..]).resumed();
            while let Some(pairs) = rest.next().await? {
                for (key, piece) in pairs.iter() {
                    keep(keys, key, piece)?;
                }
            }
        }
        self.last_pieces().keep(&found);
        Ok(found)
    }

    fn last_pieces(&self) -> MutexGuard<'_, LastPieces> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The pieces of a place. `None` if one is missing.
pub(super) fn pieces_of(pieces: &Pieces, place: &PatchPlace) -> Option<Vec<PatchPiece>> {
    let numbers = place.pieces.clone();
    let found = numbers.map(|number| pieces.get(&(place.version, number)).cloned());
    found.collect()
}

impl LastPieces {
    fn keep(&mut self, pieces: &Pieces) {
        for (id, piece) in pieces {
            if self.pieces.insert(*id, piece.clone()).is_none() {
                self.order.push_back(*id);
                self.bytes += piece.len() + PIECE_OVERHEAD;
            }
        }
        while self.bytes > CHANGES_PIECES_BYTES_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            let piece = self.pieces.remove(&oldest);
            self.bytes -= piece.map_or(0, |piece| piece.len() + PIECE_OVERHEAD);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_pieces_are_dropped() {
        let mut last = LastPieces::default();
        let id = |number| (Version([0; 10]), number);
        let piece: PatchPiece = vec![7; CHANGES_PIECES_BYTES_MAX / 4].into();
        for number in 0..6 {
            let piece = HashMap::from([(id(number), piece.clone())]);
            last.keep(&piece);
            last.keep(&piece);
            assert!(last.bytes <= CHANGES_PIECES_BYTES_MAX);
            assert_eq!(last.order.len(), last.pieces.len());
        }
        assert!(last.pieces.contains_key(&id(5)));
        assert!(!last.pieces.contains_key(&id(0)));
        assert_eq!(last.pieces.len(), 3, "each takes a bit more than a quarter");
    }
}
