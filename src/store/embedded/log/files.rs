//! The two files of a log. Segment *n* is in file *n* mod 2.

use std::fmt::Debug;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use redb::StorageBackend;

use super::super::files;
use super::BLOCK_BYTES;

/// The names of the files, in a store's directory.
pub const LOG_NAMES: [&str; 2] = ["phyllo.log.0", "phyllo.log.1"];

/// Where the two files of a log are. Tests use their own to inject faults.
pub trait LogFiles: Debug + Send + Sync + 'static {
    /// Opens a file, 0 or 1. `None` if it does not exist.
    ///
    /// # Errors
    /// Errors of the file system.
    fn open(&self, file: usize) -> io::Result<Option<Box<dyn StorageBackend>>>;

    /// Creates an empty file, 0 or 1, in place of an existing one.
    ///
    /// # Errors
    /// Errors of the file system.
    fn create(&self, file: usize) -> io::Result<Box<dyn StorageBackend>>;

    /// Removes both files if they exist. They may exist again after a crash.
    ///
    /// # Errors
    /// Errors of the file system.
    fn remove(&self) -> io::Result<()>;

    /// Syncs the names of created files.
    ///
    /// # Errors
    /// Errors of the file system.
    fn sync_names(&self) -> io::Result<()>;

    /// The free space of the disk in bytes. `None` if it is unknown.
    ///
    /// # Errors
    /// Errors of the file system.
    fn free_bytes(&self) -> io::Result<Option<u64>> {
        Ok(None)
    }
}

/// Files in a store's directory.
#[derive(Debug)]
pub(crate) struct LogDirectory(PathBuf);

impl LogDirectory {
    pub(crate) fn new(directory: &Path) -> Self {
        Self(directory.to_owned())
    }

    fn path(&self, file: usize) -> PathBuf {
        self.0.join(LOG_NAMES[file])
    }
}

impl LogFiles for LogDirectory {
    fn open(&self, file: usize) -> io::Result<Option<Box<dyn StorageBackend>>> {
        let path = self.path(file);
        let found = match fs::symlink_metadata(&path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !found.is_file() {
            let why = format!("{} is not a regular file", path.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Ok(Some(Box::new(LogFile(File::open(path)?))))
    }

    fn create(&self, file: usize) -> io::Result<Box<dyn StorageBackend>> {
        let path = self.path(file);
        remove_if_there(&path)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(files::FILE_MODE)
            .open(path)?;
        Ok(Box::new(LogFile(file)))
    }

    fn remove(&self) -> io::Result<()> {
        for file in 0..LOG_NAMES.len() {
            remove_if_there(&self.path(file))?;
        }
        Ok(())
    }

    fn sync_names(&self) -> io::Result<()> {
        File::open(&self.0)?.sync_all()
    }

    #[cfg(target_os = "linux")]
    fn free_bytes(&self) -> io::Result<Option<u64>> {
        let disk = rustix::fs::statvfs(&self.0)?;
        Ok(Some(disk.f_bavail.saturating_mul(disk.f_frsize)))
    }
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[derive(Debug)]
struct LogFile(File);

impl StorageBackend for LogFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(out, offset)
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    /// Writes a page at a time. After a longer write, the system's cache would hold the pages
    /// together, and a write of one of them would dirty all of them.
    fn write(&self, mut offset: u64, data: &[u8]) -> io::Result<()> {
        for block in data.chunks(BLOCK_BYTES) {
            self.0.write_all_at(block, offset)?;
            offset += block.len() as u64;
        }
        Ok(())
    }
}
