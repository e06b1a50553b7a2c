//! Directories that cannot hold a store: a clear error, and what is there stays as it is.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Command;

use phyllo::store::FILE_NAME;
use tempfile::TempDir;

use crate::process::open;
use crate::skip::skipped;
use crate::{all, assert_unavailable, get, set};

#[tokio::test]
async fn a_directory_is_made_with_all_above_it() {
    let directory = tempfile::tempdir().expect("a directory");
    let deep = directory.path().join("a/b/c");
    let (store, _) = open(&deep).expect("a new store");
    set(&store, "key", "value").await.expect("committed");
    drop(store);
    assert!(deep.join(FILE_NAME).is_file());
}

/// A store gets its name once it is made: what a crash before that leaves is none, and in nobody's
/// way.
#[tokio::test]
async fn what_was_left_half_made_is_made_anew() {
    let noise: Vec<u8> = (0..=255).cycle().take(2 << 20).collect();
    for left in [vec![], vec![0; 4096], noise] {
        let directory = tempfile::tempdir().expect("a directory");
        let making = directory.path().join("phyllo.redb.new");
        fs::write(&making, &left).expect("written");
        let (store, _) = open(directory.path()).expect("a new store");
        assert!(!making.exists());
        set(&store, "key", "value").await.expect("committed");
        drop(store);
        // Nor does it matter beside a store.
        fs::write(&making, &left).expect("written");
        let (store, _) = open(directory.path()).expect("it opens");
        assert_eq!(get(&store, "key").await, Some(b"value".to_vec()));
        assert_eq!(fs::read(&making).expect("read"), left);
    }
}

/// Of many that make the same store at the same time one does, and none harms it.
#[tokio::test]
async fn a_store_is_made_by_one_of_many() {
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
                Err(error) => assert!(error.message().contains("holds it"), "{error}"),
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
fn a_file_in_place_of_the_directory_is_refused() {
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
fn a_directory_in_place_of_the_file_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join(FILE_NAME);
    fs::create_dir(&file).expect("made");
    let error = assert_unavailable(open(directory.path()).map(|_| ()));
    assert_names(&error, &file);
    assert!(error.message().contains("directory"), "{error}");
    assert!(file.is_dir());
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_refused() {
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

/// By permissions, which bind everyone but root.
#[tokio::test]
async fn a_file_that_may_not_be_written_is_refused() {
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
async fn a_full_disk_is_refused_and_used_when_there_is_room() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mount) = Mount::tmpfs(directory.path(), "256k") else {
        return;
    };
    let rest = mount.0.join("rest");
    // Fills it to the last byte: the call fails after what fits.
    fs::write(&rest, vec![0x55; 1 << 20]).expect_err("more than fits");
    let error = assert_unavailable(open(&mount.0).map(|_| ()));
    assert_names(&error, &mount.0.join(FILE_NAME));
    println!("{error}");
    assert!(error.message().contains("space"), "{error}");

    // What the attempt left does not stand in the way of the next.
    fs::remove_file(&rest).expect("removed");
    assert!(mount.run("mount", ["-o", "remount,size=64m"]), "remounted");
    let (store, _) = open(&mount.0).expect("there is room");
    set(&store, "key", "value").await.expect("committed");
}

#[tokio::test]
async fn a_disk_that_fills_up_loses_nothing_acknowledged() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(mount) = Mount::tmpfs(directory.path(), "8m") else {
        return;
    };
    let (store, _) = open(&mount.0).expect("a new store");
    let mut acknowledged = 0;
    let error = loop {
        match set(&store, format!("{acknowledged:06}"), vec![0x55; 50_000]).await {
            Ok(()) => acknowledged += 1,
            Err(error) => break error,
        }
        assert!(acknowledged < 10_000, "the disk is full");
    };
    println!("after {acknowledged} commits: {error}");
    crate::assert_failed(&store).await;
    drop(store);
    assert!(mount.run("mount", ["-o", "remount,size=64m"]), "remounted");
    let (store, _) = open(&mount.0).expect("there is room");
    assert!(all(&store).await.len() >= acknowledged);
    set(&store, "after", "").await.expect("committed");
}

fn assert_names(error: &phyllo::error::Error, path: &Path) {
    let place = path.display().to_string();
    assert!(error.message().contains(&place), "{error}");
    assert!(error.message().contains("cannot be opened"), "{error}");
}

/// A file system in memory, until it is dropped.
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

/// That the guards above leave nothing behind.
#[test]
fn a_mount_is_gone_when_its_test_ends() {
    let directory: TempDir = tempfile::tempdir().expect("a directory");
    let Some(mount) = Mount::tmpfs(directory.path(), "64k") else {
        return;
    };
    let path = mount.0.clone();
    fs::write(path.join("file"), "").expect("written");
    drop(mount);
    assert!(!path.join("file").exists());
}
