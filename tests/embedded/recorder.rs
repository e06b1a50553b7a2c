//! A disk that records its calls, so that one run covers a crash at every moment, and a disk that
//! fails at a given call.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use rand::Rng;
use rand::rngs::StdRng;
use redb::StorageBackend;

use crate::disk::{Change, Disk, apply, survivors};

/// Clones share the disk.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    disk: Disk,
    record: Arc<Mutex<Record>>,
}

#[derive(Debug, Default)]
struct Record {
    /// The contents before the first call.
    before: Vec<u8>,
    calls: Vec<Call>,
    fails: Option<Failing>,
}

/// A call that changes the durable contents.
#[derive(Clone, Debug)]
enum Call {
    Change(Change),
    Sync,
}

/// The calls that fail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failing {
    /// The first failing call, from 0.
    pub(crate) call: usize,
    /// Whether all later calls fail too.
    pub(crate) for_good: bool,
}

impl Recorder {
    /// A disk with these contents.
    pub(crate) fn holding(image: Vec<u8>) -> Self {
        let record = Record {
            before: image.clone(),
            ..Record::default()
        };
        Self {
            disk: Disk::holding(image),
            record: Arc::new(Mutex::new(record)),
        }
    }

    /// An empty disk that fails.
    pub(crate) fn failing(fails: Failing) -> Self {
        let disk = Self::holding(Vec::new());
        disk.lock().fails = Some(fails);
        disk
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("nothing panics in here")
    }

    /// The number of calls so far.
    pub(crate) fn calls(&self) -> usize {
        self.lock().calls.len()
    }

    /// The contents after a crash before this call.
    pub(crate) fn after_crash(&self, call: usize, chance: &mut StdRng) -> Vec<u8> {
        let record = self.lock();
        let calls = &record.calls[..call];
        let synced = calls.iter().rposition(|call| matches!(call, Call::Sync));
        let (synced, unsynced) = calls.split_at(synced.unwrap_or(0));
        let mut image = record.before.clone();
        for change in changes(synced) {
            apply(&mut image, change);
        }
        let unsynced: Vec<Change> = changes(unsynced).cloned().collect();
        survivors(image, &unsynced, chance)
    }

    /// The contents without a crash.
    pub(crate) fn image(&self) -> Vec<u8> {
        let record = self.lock();
        let mut image = record.before.clone();
        for change in changes(&record.calls) {
            apply(&mut image, change);
        }
        image
    }

    /// Counts the call and returns whether it fails.
    fn call(&self, call: Call) -> io::Result<()> {
        let mut record = self.lock();
        let number = record.calls.len();
        let fails = record
            .fails
            .is_some_and(|fails| number == fails.call || (fails.for_good && number > fails.call));
        if !fails {
            record.calls.push(call);
            return Ok(());
        }
        // A failed write may be partly done.
        let partly = match call {
            Call::Change(Change::Write(at, mut bytes)) => {
                bytes.truncate(rand::rng().random_range(0..=bytes.len()));
                Change::Write(at, bytes)
            }
            _ => Change::Write(0, Vec::new()),
        };
        record.calls.push(Call::Change(partly));
        Err(io::Error::other("the disk fails as the test asked for"))
    }
}

fn changes(calls: &[Call]) -> impl Iterator<Item = &Change> {
    calls.iter().filter_map(|call| match call {
        Call::Change(change) => Some(change),
        Call::Sync => None,
    })
}

impl StorageBackend for Recorder {
    fn len(&self) -> io::Result<u64> {
        self.disk.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.disk.read(offset, out)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let length = usize::try_from(bytes).expect("in memory");
        self.call(Call::Change(Change::Length(length)))?;
        self.disk.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.call(Call::Sync)?;
        self.disk.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let at = usize::try_from(offset).expect("in memory");
        self.call(Call::Change(Change::Write(at, data.to_vec())))?;
        self.disk.write(offset, data)
    }
}
