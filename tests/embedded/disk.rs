//! A disk in memory. Its syncs can be blocked, it can fail or be full, and a crash loses unsynced
//! data.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use redb::StorageBackend;
use tokio::sync::watch;

/// A disk writes so many bytes completely or not at all, so torn writes end at a multiple of this.
pub(crate) const SECTOR_BYTES: usize = 512;

/// Clones share the disk.
#[derive(Clone, Debug)]
pub(crate) struct Disk(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
    /// The number of syncs that have begun.
    syncs: watch::Sender<usize>,
}

#[derive(Debug)]
struct State {
    /// The contents that reads return.
    image: Vec<u8>,
    /// The contents that survive any crash.
    synced: Vec<u8>,
    /// Changes that a crash may lose independently.
    unsynced: Vec<Change>,
    sync: Sync,
    bytes_max: usize,
    free_bytes: Option<usize>,
}

/// A change of the length, or of the bytes at an offset.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Length(usize),
    Write(usize, Vec<u8>),
}

/// The behavior of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    Succeeds,
    /// Waits until the behavior is changed.
    Waits,
    Fails,
    Panics,
}

impl Disk {
    pub(crate) fn new() -> Self {
        Self::holding(Vec::new())
    }

    /// A disk with these synced contents.
    pub(crate) fn holding(image: Vec<u8>) -> Self {
        Self(Arc::new(Inner {
            state: Mutex::new(State {
                synced: image.clone(),
                image,
                unsynced: Vec::new(),
                sync: Sync::Succeeds,
                bytes_max: usize::MAX,
                free_bytes: None,
            }),
            changed: Condvar::new(),
            syncs: watch::Sender::new(0),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The panic is intended.
        let state = self.0.state.lock();
        state.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn let_syncs(&self, sync: Sync) {
        self.lock().sync = sync;
        self.0.changed.notify_all();
    }

    /// Makes the disk full at its present length.
    pub(crate) fn fill(&self) {
        let mut state = self.lock();
        state.bytes_max = state.image.len();
    }

    /// Makes the disk full after this many more bytes.
    pub(crate) fn take_only(&self, bytes: usize) {
        self.lock().free_bytes = Some(bytes);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.lock().image.len()
    }

    /// The number of syncs that have begun.
    pub(crate) fn syncs(&self) -> usize {
        *self.0.syncs.borrow()
    }

    /// Waits until this many syncs have begun.
    pub(crate) async fn begins_sync(&self, number: usize) {
        let mut syncs = self.0.syncs.subscribe();
        let reached = syncs.wait_for(|begun| *begun >= number).await;
        reached.expect("the disk is there");
    }

    /// The contents after a crash: everything synced, and a random part of the rest, possibly torn.
    pub(crate) fn after_crash(&self, chance: &mut StdRng) -> Self {
        let state = self.lock();
        Self::holding(survivors(state.synced.clone(), &state.unsynced, chance))
    }

    /// The present contents.
    pub(crate) fn copy(&self) -> Self {
        Self::holding(self.lock().image.clone())
    }
}

pub(crate) fn chance(seed: u64) -> StdRng {
    StdRng::seed_from_u64(seed)
}

/// The image after a crash with these unsynced changes: a random subset of them, and of each write
/// possibly only some sectors or its beginning.
pub(crate) fn survivors(mut image: Vec<u8>, unsynced: &[Change], chance: &mut StdRng) -> Vec<u8> {
    let (all, none) = (chance.random_bool(0.1), chance.random_bool(0.1));
    for change in unsynced {
        match change {
            _ if all => apply(&mut image, change),
            _ if none => {}
            Change::Write(at, bytes) if chance.random_bool(0.1) => {
                let end = chance.random_range(0..=bytes.len()) / SECTOR_BYTES * SECTOR_BYTES;
                let begins = bytes[..end].to_vec();
                apply(&mut image, &Change::Write(*at, begins));
            }
            Change::Write(at, bytes) if chance.random_bool(0.3) => {
                for (sector, bytes) in bytes.chunks(SECTOR_BYTES).enumerate() {
                    if chance.random_bool(0.5) {
                        let at = at + sector * SECTOR_BYTES;
                        apply(&mut image, &Change::Write(at, bytes.to_vec()));
                    }
                }
            }
            whole if chance.random_bool(0.5) => apply(&mut image, whole),
            _ => {}
        }
    }
    image
}

pub(crate) fn apply(image: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Length(bytes) => image.resize(*bytes, 0),
        Change::Write(at, bytes) => {
            let end = at + bytes.len();
            if image.len() < end {
                image.resize(end, 0);
            }
            image[*at..end].copy_from_slice(bytes);
        }
    }
}

impl State {
    fn change(&mut self, change: Change) {
        apply(&mut self.image, &change);
        self.unsynced.push(change);
    }
}

fn place(offset: u64) -> usize {
    usize::try_from(offset).expect("in memory")
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.lock().image.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let state = self.lock();
        let begin = place(offset);
        let found = state.image.get(begin..begin + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.lock();
        if place(bytes) > state.bytes_max {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.change(Change::Length(place(bytes)));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.lock();
        self.0.syncs.send_modify(|begun| *begun += 1);
        while state.sync == Sync::Waits {
            let waited = self.0.changed.wait(state);
            state = waited.expect("nothing panics while it waits");
        }
        match state.sync {
            Sync::Fails => Err(io::Error::other("the disk is gone")),
            Sync::Panics => panic!("a panic that the test asked for"),
            Sync::Succeeds | Sync::Waits => {
                let State {
                    synced, unsynced, ..
                } = &mut *state;
                for change in unsynced.drain(..) {
                    apply(synced, &change);
                }
                Ok(())
            }
        }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut state = self.lock();
        if let Some(free) = state.free_bytes {
            let rest = free.checked_sub(data.len());
            state.free_bytes = Some(rest.ok_or(io::ErrorKind::StorageFull)?);
        }
        state.change(Change::Write(place(offset), data.to_vec()));
        Ok(())
    }
}
