//! The location of a store: a directory or a FoundationDB cluster.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The prefix of cluster locations.
const CLUSTER: &[u8] = b"fdb:";

/// The location of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreLocation {
    /// The embedded engine in this directory.
    Directory(PathBuf),
    /// The cluster of this cluster file, or of the default one.
    Cluster(Option<PathBuf>),
}

impl From<OsString> for StoreLocation {
    /// Parses `fdb:` as the default cluster and `fdb:FILE` as the cluster of a cluster file. Any
    /// other text is a directory.
    fn from(text: OsString) -> Self {
        match text.as_bytes().strip_prefix(CLUSTER) {
            Some([]) => Self::Cluster(None),
            Some(file) => Self::Cluster(Some(OsString::from_vec(file.to_vec()).into())),
            None => Self::Directory(text.into()),
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(directory) => directory.display().fmt(f),
            Self::Cluster(None) => f.write_str("fdb:"),
            Self::Cluster(Some(file)) => write!(f, "fdb:{}", file.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_that_begin_with_fdb_are_clusters() {
        let location = |text: &str| StoreLocation::from(OsString::from(text));
        let cluster = |file: &str| StoreLocation::Cluster(Some(file.into()));
        assert_eq!(location("fdb:"), StoreLocation::Cluster(None));
        assert_eq!(
            location("fdb:/etc/fdb.cluster"),
            cluster("/etc/fdb.cluster")
        );
        assert_eq!(location("fdb:a:b"), cluster("a:b"));
        for directory in ["fdb", "./fdb:x", "/data", "FDB:"] {
            assert_eq!(
                location(directory),
                StoreLocation::Directory(directory.into())
            );
        }
    }
}
