//! The disk of a store with a log: three files in one directory. All calls are recorded in one
//! order, so that one run covers a crash at every moment.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use phyllo::error::Result;
use phyllo::store::{Embedded, EmbeddedOptions, EmbeddedReader, LogFiles};
use rand::Rng;
use rand::rngs::StdRng;
use redb::StorageBackend;

use crate::disk::{Change, SECTOR_BYTES, apply, survivors};
use crate::recorder::Failing;

/// The segments of most tests, so that checkpoints are frequent.
pub(crate) const SEGMENT_BYTES: u64 = 64 << 10;

/// Transactions of most tests wait at so many bytes of the log.
pub(crate) const LOG_BYTES_MAX: u64 = 200_000;

/// Transactions of most tests wait at so many bytes of changes in memory.
pub(crate) const OVERLAY_BYTES_MAX: usize = 100_000;

/// Larger transactions of most tests are written to redb directly.
pub(crate) const TRANSACTION_BYTES: usize = 6_000;

/// The files by number: the two of the log, and the redb file.
const DATABASE: usize = 2;
const FILES: usize = 3;

/// The contents of the files that exist.
pub(crate) type Image = [Option<Vec<u8>>; FILES];

/// Clones share the machine.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    record: Arc<Mutex<Record>>,
    syncs: Arc<Syncs>,
}

/// Syncs, which can be held.
#[derive(Debug, Default)]
struct Syncs {
    state: Mutex<SyncState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SyncState {
    /// Whether those of the log are held.
    holds_log: bool,
    /// Whether those of the redb file are held.
    holds_database: bool,
    /// The number of those of the log that have begun.
    of_log: usize,
    /// The number of those of the redb file that have begun.
    of_database: usize,
}

#[derive(Debug)]
struct Record {
    before: Image,
    /// The contents of the files now.
    now: Image,
    calls: Vec<Call>,
    fails: Option<Failing>,
    /// The bytes that can still be written before the disk is full.
    free_bytes: Option<usize>,
    log_syncs_fail: bool,
    /// Whether writes to the redb file find no space.
    database_is_full: bool,
}

/// A call that changes the durable contents. The number is that of a file.
#[derive(Clone, Debug)]
enum Call {
    Change(usize, Change),
    Sync(usize),
    Create(usize),
    Remove,
    SyncNames,
    /// It failed without any effect.
    Nothing,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self::holding([None, None, Some(Vec::new())])
    }

    /// A machine with these contents.
    pub(crate) fn holding(image: Image) -> Self {
        let record = Record {
            before: image.clone(),
            now: image,
            calls: Vec::new(),
            fails: None,
            free_bytes: None,
            log_syncs_fail: false,
            database_is_full: false,
        };
        Self {
            record: Arc::new(Mutex::new(record)),
            syncs: Arc::default(),
        }
    }

    /// An empty machine that fails.
    pub(crate) fn failing(fails: Failing) -> Self {
        let machine = Self::new();
        machine.lock().fails = Some(fails);
        machine
    }

    /// Opens the store, which may have a log.
    pub(crate) fn open(&self) -> Result<Embedded> {
        let options = EmbeddedOptions {
            log_segment_bytes: SEGMENT_BYTES,
            log_bytes_max: LOG_BYTES_MAX,
            overlay_bytes_max: OVERLAY_BYTES_MAX,
            overlay_transaction_bytes_max: TRANSACTION_BYTES,
            ..EmbeddedOptions::default()
        };
        self.open_with(options)
    }

    pub(crate) fn open_with(&self, options: EmbeddedOptions) -> Result<Embedded> {
        let file = RecordedFile {
            machine: self.clone(),
            file: DATABASE,
        };
        Embedded::with_log(file, self.clone(), options)
    }

    /// Opens the store for reading only.
    pub(crate) fn read(&self) -> Result<EmbeddedReader> {
        let file = RecordedFile {
            machine: self.clone(),
            file: DATABASE,
        };
        EmbeddedReader::with_log(file, self)
    }

    /// Makes the disk full after this many more bytes. `None`: there is room again.
    pub(crate) fn take_only(&self, bytes: Option<usize>) {
        self.lock().free_bytes = bytes;
    }

    /// Makes writes to the redb file find no space, or find it again.
    pub(crate) fn fill_database(&self, full: bool) {
        self.lock().database_is_full = full;
    }

    /// Makes the syncs of the log fail from now on.
    pub(crate) fn fail_log_syncs(&self) {
        self.lock().log_syncs_fail = true;
    }

    fn lock(&self) -> MutexGuard<'_, Record> {
        self.record.lock().expect("nothing panics in here")
    }

    fn sync_state(&self) -> MutexGuard<'_, SyncState> {
        self.syncs.state.lock().expect("nothing panics in here")
    }

    /// Holds the syncs of the log, or releases them.
    pub(crate) fn hold_log_syncs(&self, hold: bool) {
        self.sync_state().holds_log = hold;
        self.syncs.changed.notify_all();
    }

    /// Holds the syncs of the redb file, or releases them.
    pub(crate) fn hold_database_syncs(&self, hold: bool) {
        self.sync_state().holds_database = hold;
        self.syncs.changed.notify_all();
    }

    /// The number of syncs of the log that have begun.
    pub(crate) fn log_syncs(&self) -> usize {
        self.sync_state().of_log
    }

    /// The number of syncs of the redb file that have begun.
    pub(crate) fn database_syncs(&self) -> usize {
        self.sync_state().of_database
    }

    /// Waits while syncs of this file are held.
    fn begin_sync(&self, file: usize) {
        let of_database = file == DATABASE;
        let mut state = self.sync_state();
        if of_database {
            state.of_database += 1;
        } else {
            state.of_log += 1;
        }
        let held = |state: &mut SyncState| {
            if of_database {
                state.holds_database
            } else {
                state.holds_log
            }
        };
        let waited = self.syncs.changed.wait_while(state, held);
        drop(waited.expect("nothing panics in here"));
    }

    /// The number of calls so far.
    pub(crate) fn calls(&self) -> usize {
        self.lock().calls.len()
    }

    /// The contents without a crash.
    pub(crate) fn image(&self) -> Image {
        self.lock().now.clone()
    }

    /// The bytes of the two files of the log.
    pub(crate) fn log_bytes(&self) -> [usize; 2] {
        let record = self.lock();
        let bytes = |file: usize| record.now[file].as_ref().map_or(0, Vec::len);
        [bytes(0), bytes(1)]
    }

    /// The contents after a crash before this call.
    pub(crate) fn after_crash(&self, call: usize, chance: &mut StdRng) -> Image {
        let record = self.lock();
        let mut disk = Durable::new(&record.before);
        for call in &record.calls[..call] {
            disk.call(call);
        }
        disk.survivors(chance)
    }

    /// Whether the log was written.
    pub(crate) fn has_log(&self) -> bool {
        let record = self.lock();
        record.now[..DATABASE].iter().all(Option::is_some)
    }

    /// Counts the call, carries it out, and returns whether it fails.
    fn call(&self, call: Call) -> io::Result<()> {
        let mut record = self.lock();
        let number = record.calls.len();
        let fails = record
            .fails
            .is_some_and(|fails| number == fails.call || (fails.for_good && number > fails.call));
        let of_log = matches!(call, Call::Sync(file) if file != DATABASE);
        let fails = fails || (record.log_syncs_fail && of_log);
        let mut done = call;
        let mut outcome = Ok(());
        if fails {
            // A failed write may be partly done.
            done = match done {
                Call::Change(file, Change::Write(at, mut bytes)) => {
                    let end = rand::rng().random_range(0..=bytes.len());
                    bytes.truncate(end / SECTOR_BYTES * SECTOR_BYTES);
                    Call::Change(file, Change::Write(at, bytes))
                }
                _ => Call::Nothing,
            };
            outcome = Err(io::Error::other("the disk fails as the test asked for"));
        } else if record.database_is_full && matches!(done, Call::Change(DATABASE, _)) {
            done = Call::Nothing;
            outcome = Err(io::ErrorKind::StorageFull.into());
        } else if let (Some(free), Call::Change(_, Change::Write(_, bytes))) =
            (record.free_bytes, &done)
        {
            if let Some(rest) = free.checked_sub(bytes.len()) {
                record.free_bytes = Some(rest);
            } else {
                done = Call::Nothing;
                outcome = Err(io::ErrorKind::StorageFull.into());
            }
        }
        record.carry_out(&done);
        record.calls.push(done);
        outcome
    }
}

impl Record {
    fn carry_out(&mut self, call: &Call) {
        match call {
            Call::Change(file, change) => {
                let file = self.now[*file].as_mut();
                // A file that was removed while it was open.
                if let Some(file) = file {
                    apply(file, change);
                }
            }
            Call::Create(file) => self.now[*file] = Some(Vec::new()),
            Call::Remove => {
                for file in &mut self.now[..DATABASE] {
                    *file = None;
                }
            }
            Call::Sync(_) | Call::SyncNames | Call::Nothing => {}
        }
    }
}

/// What survives crashes.
struct Durable {
    /// All files that ever existed.
    files: Vec<DurableFile>,
    /// The file that each name has, as of the last sync of the names.
    named: [Option<usize>; FILES],
    /// The names after each later change of them.
    renamed: Vec<[Option<usize>; FILES]>,
}

struct DurableFile {
    synced: Vec<u8>,
    unsynced: Vec<Change>,
}

impl Durable {
    fn new(before: &Image) -> Self {
        let mut disk = Self {
            files: Vec::new(),
            named: [None; FILES],
            renamed: Vec::new(),
        };
        for (name, image) in disk.named.iter_mut().zip(before) {
            if let Some(image) = image {
                *name = Some(disk.files.len());
                disk.files.push(DurableFile {
                    synced: image.clone(),
                    unsynced: Vec::new(),
                });
            }
        }
        disk
    }

    fn names(&self) -> [Option<usize>; FILES] {
        self.renamed.last().copied().unwrap_or(self.named)
    }

    fn call(&mut self, call: &Call) {
        let mut names = self.names();
        match call {
            Call::Change(file, change) => {
                if let Some(file) = names[*file] {
                    self.files[file].unsynced.push(change.clone());
                }
            }
            Call::Sync(file) => {
                if let Some(file) = names[*file] {
                    let file = &mut self.files[file];
                    for change in file.unsynced.drain(..) {
                        apply(&mut file.synced, &change);
                    }
                }
            }
            Call::Create(file) => {
                names[*file] = Some(self.files.len());
                self.renamed.push(names);
                self.files.push(DurableFile {
                    synced: Vec::new(),
                    unsynced: Vec::new(),
                });
            }
            Call::Remove => {
                names[..DATABASE].fill(None);
                self.renamed.push(names);
            }
            Call::SyncNames => {
                self.named = names;
                self.renamed.clear();
            }
            Call::Nothing => {}
        }
    }

    fn survivors(&self, chance: &mut StdRng) -> Image {
        let kept = chance.random_range(0..=self.renamed.len());
        let names = match kept {
            0 => self.named,
            kept => self.renamed[kept - 1],
        };
        names.map(|file| {
            let file = &self.files[file?];
            Some(survivors(file.synced.clone(), &file.unsynced, chance))
        })
    }
}

#[derive(Debug)]
struct RecordedFile {
    machine: Machine,
    file: usize,
}

impl StorageBackend for RecordedFile {
    fn len(&self) -> io::Result<u64> {
        let record = self.machine.lock();
        Ok(record.now[self.file].as_ref().map_or(0, Vec::len) as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let record = self.machine.lock();
        let begin = usize::try_from(offset).expect("in memory");
        let file = record.now[self.file].as_ref();
        let found = file.and_then(|file| file.get(begin..begin + out.len()));
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let length = usize::try_from(bytes).expect("in memory");
        let change = Change::Length(length);
        self.machine.call(Call::Change(self.file, change))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.machine.begin_sync(self.file);
        self.machine.call(Call::Sync(self.file))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let at = usize::try_from(offset).expect("in memory");
        let change = Change::Write(at, data.to_vec());
        self.machine.call(Call::Change(self.file, change))
    }
}

impl LogFiles for Machine {
    fn open(&self, file: usize) -> io::Result<Option<Box<dyn StorageBackend>>> {
        if self.lock().now[file].is_none() {
            return Ok(None);
        }
        let machine = self.clone();
        Ok(Some(Box::new(RecordedFile { machine, file })))
    }

    fn create(&self, file: usize) -> io::Result<Box<dyn StorageBackend>> {
        self.call(Call::Create(file))?;
        let machine = self.clone();
        Ok(Box::new(RecordedFile { machine, file }))
    }

    fn remove(&self) -> io::Result<()> {
        self.call(Call::Remove)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.call(Call::SyncNames)
    }
}
