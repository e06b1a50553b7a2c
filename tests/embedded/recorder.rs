//! A disk that records what is done to it, so that one run has a crash at every moment; and one
//! that fails at a call of one's choice.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use rand::Rng;
use rand::rngs::StdRng;
use redb::StorageBackend;

use crate::disk::{Change, Disk, apply, survivors};

/// Clones are the same disk.
#[derive(Clone, Debug)]
pub(crate) struct Recorder {
    disk: Disk,
    record: Arc<Mutex<Record>>,
}

#[derive(Debug, Default)]
struct Record {
    /// What the disk held before.
    before: Vec<u8>,
    calls: Vec<Call>,
    fails: Option<Failing>,
}

/// A call that changes what survives.
#[derive(Clone, Debug)]
enum Call {
    Change(Change),
    Sync,
}

/// Which calls fail.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failing {
    /// The first that does, from 0.
    pub(crate) call: usize,
    /// Whether all behind it do too, or none.
    pub(crate) for_good: bool,
}

impl Recorder {
    /// A disk that holds this.
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

    /// How many calls there were.
    pub(crate) fn calls(&self) -> usize {
        self.lock().calls.len()
    }

    /// What the machine finds after a crash before the call of this number.
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

    /// What is on the disk, as long as the machine runs on.
    pub(crate) fn image(&self) -> Vec<u8> {
        let record = self.lock();
        let mut image = record.before.clone();
        for change in changes(&record.calls) {
            apply(&mut image, change);
        }
        image
    }

    /// Whether the call at hand is to fail; it is counted.
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
        // A write that fails may have done a part of its work.
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
