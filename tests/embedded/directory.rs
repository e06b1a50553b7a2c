//! Unusable directories: a clear error, and existing files are unchanged.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use phyllo::store::{EmbeddedOptions, EmbeddedReader, FILE_NAME, LOG_NAMES, Store as _};
use tempfile::TempDir;

use crate::process::open;
use crate::skip::skipped;
use crate::{all, assert_unavailable, get, set};

#[tokio::test]
async fn missing_parent_directories_are_created() {
    let directory = tempfile::tempdir().expect("a directory");
    let deep = directory.path().join("a/b/c");
    let (store, _) = open(&deep).expect("a new store");
    set(&store, "key", "value").await.expect("committed");
    drop(store);
    assert!(deep.join(FILE_NAME).is_file());
}

/// A store file gets its name when it is complete. A crash before that leaves a file that is
/// ignored.
#[tokio::test]
async fn partly_created_stores_are_created_again() {
    let noise: Vec<u8> = (0..=255).cycle().take(2 << 20).collect();
    for left in [vec![], vec![0; 4096], noise] {
        let directory = tempfile::tempdir().expect("a directory");
        let making = directory.path().join("phyllo.redb.new");
        fs::write(&making, &left).expect("written");
        let (store, _) = open(directory.path()).expect("a new store");
        assert!(!making.exists());
        set(&store, "key", "value").await.expect("committed");
        drop(store);
        // Such a file next to a store is ignored too.
        fs::write(&making, &left).expect("written");
        let (store, _) = open(directory.path()).expect("it opens");
        assert_eq!(get(&store, "key").await, Some(b"value".to_vec()));
        assert_eq!(fs::read(&making).expect("read"), left);
    }
}

/// If several processes create the same store, one succeeds and none damages it.
#[tokio::test]
async fn concurrent_creation_creates_one_store() {
    for _ in 0..20 {
        let directory = tempfile::tempdir().expect("a directory");
        let made = std::thread::scope(|scope| {
            let makers = [(); 4].map(|()| scope.spawn(|| open(directory.path())));
            makers.map(|maker| maker.join().expect("no panic"))
        });
        let mut held = None;
        for opened in made {
            match opened {
                Ok((store, _)) => assert!(held.replace(store).is_none(), "two hold it"),
                Err(error) => assert!(error.message().contains("has locked it"), "{error}"),
            }
        }
        let store = held.expect("one holds it");
        set(&store, "key", "value").await.expect("committed");
        drop(store);
        let (store, _) = open(directory.path()).expect("it opens");
        assert_eq!(get(&store, "key").await, Some(b"value".to_vec()));
    }
}

#[test]
fn a_file_instead_of_the_directory_is_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("file");
    fs::write(&file, "text").expect("written");
    for path in [file.clone(), file.join("below")] {
        let error = assert_unavailable(open(&path).map(|_| ()));
        assert_names(&error, &path);
        assert!(error.message().contains("cannot be made"), "{error}");
    }
    assert_eq!(fs::read(&file).expect("read"), b"text");
}

#[test]
fn a_directory_instead_of_the_file_is_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join(FILE_NAME);
    fs::create_dir(&file).expect("made");
    let error = assert_unavailable(open(directory.path()).map(|_| ()));
    assert_names(&error, &file);
    assert!(error.message().contains("directory"), "{error}");
    assert!(file.is_dir());
}

#[tokio::test]
async fn unwritable_directories_are_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mount) = Mount::tmpfs(directory.path(), "64m") else {
        return;
    };
    let file = mount.0.join(FILE_NAME);
    let (store, _) = open(&mount.0).expect("a new store");
    set(&store, "key", "value").await.expect("committed");
    drop(store);
    let before = fs::read(&file).expect("read");
    assert!(mount.run("mount", ["-o", "remount,ro"]), "remounted");
    let error = assert_unavailable(open(&mount.0).map(|_| ()));
    assert_names(&error, &file);
    assert!(error.message().contains("Read-only"), "{error}");
    let error = assert_unavailable(open(&mount.0.join("new")).map(|_| ()));
    assert!(error.message().contains("Read-only"), "{error}");
    assert!(fs::read(&file).expect("read") == before, "untouched");

    assert!(mount.run("mount", ["-o", "remount,rw"]), "remounted");
    let (store, _) = open(&mount.0).expect("it can be written again");
    assert_eq!(get(&store, "key").await, Some(b"value".to_vec()));
}

/// By permissions, which do not apply to root.
#[tokio::test]
async fn read_only_files_are_rejected() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join(FILE_NAME);
    let (store, _) = open(directory.path()).expect("a new store");
    set(&store, "key", "value").await.expect("committed");
    drop(store);
    let before = fs::read(&file).expect("read");
    let Some(_immutable) = Unwritable::make(&file) else {
        return;
    };
    let error = assert_unavailable(open(directory.path()).map(|_| ()));
    assert_names(&error, &file);
    assert!(fs::read(&file).expect("read") == before, "untouched");
}

#[tokio::test]
async fn a_full_disk_is_rejected_until_there_is_space() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mount) = Mount::tmpfs(directory.path(), "256k") else {
        return;
    };
    let rest = mount.0.join("rest");
    // Fills the disk to the last byte. The call fails after writing what fits.
    fs::write(&rest, vec![0x55; 1 << 20]).expect_err("more than fits");
    let error = assert_unavailable(open(&mount.0).map(|_| ()));
    assert_names(&error, &mount.0.join(FILE_NAME));
    println!("{error}");
    assert!(error.message().contains("space"), "{error}");

    // The next attempt ignores what the first one left.
    fs::remove_file(&rest).expect("removed");
    assert!(mount.run("mount", ["-o", "remount,size=64m"]), "remounted");
    let (store, _) = open(&mount.0).expect("there is room");
    set(&store, "key", "value").await.expect("committed");
}

#[tokio::test]
async fn a_disk_that_becomes_full_loses_nothing_acknowledged() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mount) = Mount::tmpfs(directory.path(), "8m") else {
        return;
    };
    let (store, _) = open(&mount.0).expect("a new store");
    let store = Arc::new(store);
    let mut acknowledged = 0;
    let waiting = loop {
        let write = {
            let (store, key) = (store.clone(), format!("{acknowledged:06}"));
            tokio::spawn(async move { set(&store, key, vec![0x55; 50_000]).await })
        };
        let full = loop {
            let next = store.begin().await;
            if next.is_err() || write.is_finished() {
                break next.is_err();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        };
        if full {
            break write;
        }
        write.await.expect("no panic").expect("committed");
        acknowledged += 1;
        assert!(acknowledged < 10_000, "the disk is full");
    };
    // A commit that no log has waits for space. Reads continue.
    assert_eq!(all(&store).await.len(), acknowledged);
    assert!(mount.run("mount", ["-o", "remount,size=64m"]), "remounted");
    waiting.await.expect("no panic").expect("there is space");
    assert_eq!(all(&store).await.len(), acknowledged + 1);
    drop(store);
    let (store, _) = open(&mount.0).expect("there is room");
    assert_eq!(all(&store).await.len(), acknowledged + 1);
    set(&store, "after", "").await.expect("committed");
}

/// The reported space is enough, and half of it is not.
#[tokio::test]
async fn a_store_that_was_killed_on_a_full_disk_reports_how_much_space_it_needs() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mount) = Mount::tmpfs(directory.path(), "64m") else {
        return;
    };
    let (store, _) = open(&mount.0).expect("a new store");
    store.enable_log().await.expect("enabled");
    for number in 0..300 {
        set(&store, format!("{number:06}"), vec![0x55; 9_000])
            .await
            .expect("committed");
    }
    let expected = all(&store).await;
    // The files as a kill leaves them.
    let killed = mount.0.join("killed");
    fs::create_dir(&killed).expect("made");
    for name in [FILE_NAME].iter().chain(&LOG_NAMES) {
        fs::copy(mount.0.join(name), killed.join(name)).expect("copied");
    }
    drop(store);
    let rest = mount.0.join("rest");
    fs::write(&rest, vec![0x55; 100 << 20]).expect_err("more than fits");
    // A store that was closed needs no space to open.
    let (closed, _) = open(&mount.0).expect("it can be read");
    let error = assert_unavailable(closed.ready().await);
    assert!(
        error.message().contains("disk of the store is full"),
        "{error}"
    );
    drop(closed);
    let (store, _) = open(&killed).expect("it can be read");
    assert_eq!(all(&store).await, expected);
    let error = assert_unavailable(set(&store, "refused", "").await);
    assert_unavailable(store.ready().await);
    drop(store);
    println!("{error}");
    let missing = error.message().split_once("about ").and_then(|(_, rest)| {
        rest.split_once(" bytes of space are missing")?
            .0
            .parse()
            .ok()
    });
    let missing: u64 = missing.expect("a number of bytes");
    let reader = EmbeddedReader::open(&killed, EmbeddedOptions::default(), |_| {});
    let reader = reader.expect("it can be read");
    let snapshot = reader.snapshot().await.expect("a snapshot");
    assert_eq!(crate::all_in(&*snapshot).await.expect("read"), expected);
    drop((snapshot, reader));
    let full = fs::metadata(&rest).expect("there").len();
    let file = fs::File::options().write(true).open(&rest);
    let file = file.expect("opened");
    file.set_len(full - missing / 2).expect("shorter");
    let (store, _) = open(&killed).expect("it can be read");
    assert_unavailable(set(&store, "refused", "").await);
    file.set_len(full - missing - (64 << 10)).expect("shorter");
    crate::full_disk::accepted(&store, "accepted").await;
    drop(store);
    let (store, _) = open(&killed).expect("there is room");
    assert_eq!(all(&store).await.len(), expected.len() + 1);
}

fn assert_names(error: &phyllo::error::Error, path: &Path) {
    let place = path.display().to_string();
    assert!(error.message().contains(&place), "{error}");
    assert!(error.message().contains("cannot be opened"), "{error}");
}

/// A file system in memory, unmounted when dropped.
struct Mount(PathBuf);

impl Mount {
    /// None, which is reported, if this process may not mount.
    fn tmpfs(directory: &Path, size: &str) -> Option<Self> {
        let mount = Self(directory.join("mount"));
        fs::create_dir(&mount.0).expect("made");
        let option = format!("size={size}");
        if mount.run("mount", ["-t", "tmpfs", "-o", &option, "phyllo-test"]) {
            return Some(mount);
        }
        skipped("a full or read-only file system", "mounting one needs root");
        None
    }

    fn run<'a>(&'a self, command: &str, options: impl IntoIterator<Item = &'a str>) -> bool {
        let options = options.into_iter().map(OsStr::new);
        succeeds(command, options.chain([self.0.as_os_str()]))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        self.run("umount", ["-l"]);
    }
}

/// A file that nobody may write, until it is dropped.
struct Unwritable(PathBuf);

impl Unwritable {
    /// None, which is reported, if nothing stops this process from writing.
    fn make(file: &Path) -> Option<Self> {
        let made = Self(file.to_owned());
        let mut permissions = fs::metadata(file).expect("there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(file, permissions).expect("its owner may");
        if made.is_writable() {
            succeeds("chattr", [OsStr::new("+i"), file.as_os_str()]);
        }
        if made.is_writable() {
            skipped(
                "an unwritable file",
                "neither permissions nor attributes stop root",
            );
            return None;
        }
        Some(made)
    }

    fn is_writable(&self) -> bool {
        OpenOptions::new().write(true).open(&self.0).is_ok()
    }
}

impl Drop for Unwritable {
    fn drop(&mut self) {
        succeeds("chattr", [OsStr::new("-i"), self.0.as_os_str()]);
    }
}

fn succeeds<'a>(command: &str, arguments: impl IntoIterator<Item = &'a OsStr>) -> bool {
    let output = Command::new(command).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

/// The guards above clean up.
#[test]
fn mounts_are_removed_when_their_test_ends() {
    let directory: TempDir = tempfile::tempdir().expect("a directory");
    let Some(mount) = Mount::tmpfs(directory.path(), "64k") else {
        return;
    };
    let path = mount.0.clone();
    fs::write(path.join("file"), "").expect("written");
    drop(mount);
    assert!(!path.join("file").exists());
}
