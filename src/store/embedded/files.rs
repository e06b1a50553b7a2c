//! The files of a store: only their owner can open them, and no link is followed to make one.
//!
//! A store holds all data, so its directory has the mode 0700 and its files 0600, whatever the umask
//! is. A store of an older program is narrowed when it is opened.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// A file: its owner reads and writes.
const FILE_MODE: u32 = 0o600;
/// A directory: its owner lists, enters and changes it.
const DIRECTORY_MODE: u32 = 0o700;
/// What others than the owner may do.
const OTHERS: u32 = 0o077;
/// A directory that many users share, such as /tmp.
const STICKY: u32 = 0o1000;
/// Times that a file is made anew when other processes do the same.
const TRIES_MAX: usize = 16;

/// Whether a directory has an entry of this name: a link counts, wherever it leads to.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Makes a directory, and those above it, unless it is there.
pub(super) fn make_directory(directory: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(directory)
}

/// As [`make_directory`], for one that is to be no link, which another user may have planted.
pub(super) fn make_own_directory(directory: &Path) -> io::Result<()> {
    let made = make_directory(directory);
    // Without a slash at the end, at which the system would follow a link.
    let directory = directory.components().as_path();
    if fs::symlink_metadata(directory).is_ok_and(|found| found.is_symlink()) {
        let why = "it is a symbolic link, which is not followed; name the directory itself";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    made
}

/// Makes a file anew. What a process that has ended left under this name is removed; a link or
/// anything else that is no file is an error, and neither followed nor changed.
///
/// Whoever makes the file locks it next, and then asks [`is_named`] whether it still has its name:
/// until it is locked, another process may take it for one that was left behind.
///
/// # Errors
/// `WouldBlock`: another process makes it.
pub(super) fn make_anew(path: &Path) -> io::Result<File> {
    for _ in 0..TRIES_MAX {
        let made = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path);
        match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove_left(path)?,
            made => return made,
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Removes a file that no process has locked.
fn remove_left(path: &Path) -> io::Result<()> {
    let there = |error: io::Error| match error.kind() {
        // Whoever has made it has given it another name, or removed it.
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) => return there(error),
    };
    if !found.is_file() {
        let place = path.display();
        let why = format!("{place} is no file but a link or the like, which is not followed");
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
    }
    let left = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(left) => left,
        Err(error) => return there(error),
    };
    match left.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::WouldBlock.into()),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    if is_named(&left, path)? {
        fs::remove_file(path).or_else(there)?;
    }
    Ok(())
}

/// Whether an open file has this name, and not only a link to it.
pub(super) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let (file, named) = (file.metadata()?, fs::symlink_metadata(path));
    Ok(named.is_ok_and(|named| (named.dev(), named.ino()) == (file.dev(), file.ino())))
}

/// Takes from others than the owner what they may do with a file or directory, by an open handle
/// so that no link is followed. What cannot be narrowed is logged and serves as it is.
pub(super) fn narrow(file: &File, path: &Path) {
    let Ok(found) = file.metadata() else {
        return;
    };
    let mode = found.permissions().mode() & 0o7777;
    if mode & OTHERS == 0 {
        return;
    }
    let place = path.display();
    if found.is_dir() && mode & STICKY != 0 {
        tracing::warn!("{place} is a directory that users share (mode {mode:o}); it stays so");
        return;
    }
    let narrowed = mode & !OTHERS;
    match file.set_permissions(Permissions::from_mode(narrowed)) {
        Ok(()) => tracing::warn!(
            "{place} was open to other users (mode {mode:o}); it is now open to its owner only \
             (mode {narrowed:o})"
        ),
        Err(error) => tracing::warn!(
            "{place} is open to other users (mode {mode:o}), which cannot be changed: {error}"
        ),
    }
}

/// As [`narrow`], of what is at this path, if it is a file or directory.
pub(super) fn narrow_at(path: &Path) {
    let ordinary = fs::symlink_metadata(path).is_ok_and(|it| it.is_file() || it.is_dir());
    if ordinary && let Ok(file) = File::open(path) {
        narrow(&file, path);
    }
}
