//! Permissions and creation of a store's files.
//!
//! A store contains all data, so its directory has the mode 0700 and its files 0600, whatever the
//! umask. The modes of an older store are restricted when it is opened. Files are created without
//! following symbolic links.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The mode of files: readable and writable by the owner.
pub(super) const FILE_MODE: u32 = 0o600;
/// The mode of directories: accessible by the owner.
const DIRECTORY_MODE: u32 = 0o700;
/// The permission bits of the group and of others.
const OTHERS: u32 = 0o077;
/// The sticky bit of shared directories such as /tmp.
const STICKY: u32 = 0o1000;
/// Tries to create a file while other processes create the same one.
const TRIES_MAX: usize = 16;

/// Whether a directory entry with this name exists. A symbolic link counts, whatever its target.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// Creates a directory and its parents if they do not exist.
pub(super) fn make_directory(directory: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(directory)
}

/// [`make_directory`] for a path that must not be a symbolic link, which another user may have
/// created.
pub(super) fn make_own_directory(directory: &Path) -> io::Result<()> {
    let made = make_directory(directory);
    // Without a trailing slash, because the system would follow a link.
    let directory = directory.components().as_path();
    if fs::symlink_metadata(directory).is_ok_and(|found| found.is_symlink()) {
        let why = "it is a symbolic link, which is not followed; name the directory itself";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    made
}

/// Creates a file. Removes a file of this name that a terminated process has left. Fails if the
/// name is a link or anything else that is not a file; it neither follows nor changes it.
///
/// The caller locks the file and then checks with [`is_named`] that the file still has its name:
/// until it is locked, another process may mistake it for a leftover file.
///
/// # Errors
/// `WouldBlock`: another process is creating the file.
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
        // Its process has renamed or removed it.
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) => return there(error),
    };
    if !found.is_file() {
        let place = path.display();
        let why = format!("{place} is not a regular file; links are not followed");
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

/// Whether an open file is the directory entry `path` itself, and not only the target of a link.
pub(super) fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    let (file, named) = (file.metadata()?, fs::symlink_metadata(path));
    Ok(named.is_ok_and(|named| (named.dev(), named.ino()) == (file.dev(), file.ino())))
}

/// Removes the permissions of the group and of others, through an open handle so that no link is
/// followed. If that fails, it logs a warning and the store is used as it is.
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
        tracing::warn!("{place} is a shared directory (mode {mode:o}); its mode is not changed");
        return;
    }
    let narrowed = mode & !OTHERS;
    match file.set_permissions(Permissions::from_mode(narrowed)) {
        Ok(()) => tracing::warn!(
            "{place} was open to other users (mode {mode:o}); it is now open to its owner only \
             (mode {narrowed:o})"
        ),
        Err(error) => tracing::warn!(
            "{place} is open to other users (mode {mode:o}) and cannot be restricted: {error}"
        ),
    }
}

/// [`narrow`] for the file or directory at `path`. Links are ignored.
pub(super) fn narrow_at(path: &Path) {
    let ordinary = fs::symlink_metadata(path).is_ok_and(|it| it.is_file() || it.is_dir());
    if ordinary && let Ok(file) = File::open(path) {
        narrow(&file, path);
    }
}
