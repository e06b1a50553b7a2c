//! Deferred operations, and the bytes between two syncs.

use redb::backends::InMemoryBackend;

use super::*;

/// Counts the bytes between the syncs of a file.
#[derive(Clone, Debug, Default)]
struct SyncedPortions {
    written: Arc<AtomicU64>,
    portions: Arc<Mutex<Vec<u64>>>,
}

impl StorageBackend for SyncedPortions {
    fn len(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn read(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        Ok(())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let written = self.written.swap(0, Ordering::Relaxed);
        let mut portions = self.portions.lock().expect("one thread");
        portions.push(written);
        Ok(())
    }

    fn write(&self, _: u64, data: &[u8]) -> io::Result<()> {
        self.written.fetch_add(data.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn a_sync_writes_a_limited_number_of_bytes_to_the_disk() {
    let synced = SyncedPortions::default();
    let file = DeferredFile::on(synced.clone()).expect("memory");
    file.settle().expect("memory");
    let page = UNSYNCED_BYTES_MAX / 4;
    let data = vec![0; usize::try_from(page).expect("small")];
    for number in 0..6 {
        file.write(number * page, &data).expect("memory");
    }
    file.sync_data().expect("memory");
    file.write(0, &data).expect("memory");
    file.sync_data().expect("memory");
    let portions = synced.portions.lock().expect("one thread");
    assert_eq!(*portions, [4 * page, 2 * page, page]);
}

#[test]
fn changes_are_deferred_until_the_file_is_settled_and_rejected_once_it_is_blocked() {
    let file = InMemoryBackend::new();
    file.set_len(6).expect("memory");
    let file = DeferredFile::on(file).expect("memory");
    let inner = || {
        let mut read = [0; 6];
        file.0.file.read(0, &mut read).expect("inside");
        (file.0.file.len().expect("memory"), read)
    };
    file.set_len(10).expect("deferred");
    file.write(4, b"bytes").expect("deferred");
    let mut read = [0; 6];
    file.read(3, &mut read).expect("inside");
    assert_eq!(&read, b"\0bytes");
    assert_eq!(inner(), (6, [0; 6]));
    file.settle().expect("memory");
    assert_eq!(inner(), (10, *b"\0\0\0\0by"));
    file.block();
    assert!(file.write(0, b"more").is_err());
    assert!(file.set_len(0).is_err());
    assert!(file.sync_data().is_err());
}

/// A file on a full disk.
#[derive(Debug, Default)]
struct FullDisk {
    /// Whether writes succeed, so that only syncs find no space.
    only_syncs: bool,
}

impl StorageBackend for FullDisk {
    fn len(&self) -> io::Result<u64> {
        Ok(4)
    }

    fn read(&self, _: u64, out: &mut [u8]) -> io::Result<()> {
        out.fill(0);
        Ok(())
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn write(&self, _: u64, _: &[u8]) -> io::Result<()> {
        if self.only_syncs {
            return Ok(());
        }
        Err(io::ErrorKind::StorageFull.into())
    }
}

#[test]
fn writes_that_find_no_space_are_deferred_and_can_be_read() {
    let file = DeferredFile::on(FullDisk::default()).expect("memory");
    file.settle().expect("nothing to apply");
    assert_eq!(file.missing_bytes(), None);
    file.write(2, b"abcd").expect("deferred");
    assert_eq!(file.missing_bytes(), Some(4_096));
    file.write(8_000, &[7; 300]).expect("deferred");
    assert_eq!(file.missing_bytes(), Some(3 * 4_096));
    let mut read = [9; 6];
    file.read(0, &mut read).expect("inside");
    assert_eq!(&read, b"\0\0abcd");
    file.settle().expect("it is still full");
    assert_eq!(file.missing_bytes(), Some(3 * 4_096));
    file.check_written().expect_err("it is still full");
}

/// What was written before it may be lost, and another sync would not write it.
#[test]
fn a_sync_that_finds_no_space_fails() {
    let file = DeferredFile::on(FullDisk { only_syncs: true }).expect("memory");
    file.write(0, b"deferred").expect("deferred");
    file.settle().expect("it was written");
    file.sync_data().expect_err("the disk is full");
    let file = DeferredFile::on(FullDisk { only_syncs: true }).expect("memory");
    file.sync_data().expect("deferred");
    file.settle().expect_err("the disk is full");
}
