//! The location of a store: a directory or a FoundationDB cluster.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{self, PathBuf};

use clap::builder::{OsStringValueParser, TypedValueParser};

use crate::error::{Error, Result};

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

impl StoreLocation {
    /// Parses `fdb:` as the default cluster and `fdb:FILE` as the cluster of a cluster file. Any
    /// other text is a directory.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: as [`parse_file_path`].
    fn parse(text: OsString) -> Result<Self> {
        match text.as_bytes().strip_prefix(CLUSTER) {
            Some([]) => Ok(Self::Cluster(None)),
            Some(file) => Ok(Self::Cluster(Some(
                OsString::from_vec(file.to_vec()).into(),
            ))),
            None => parse_file_path(text).map(Self::Directory),
        }
    }

    /// The location with an absolute path, for messages.
    pub(crate) fn absolute(&self) -> String {
        match self {
            Self::Directory(directory) => path::absolute(directory)
                .unwrap_or_else(|_| directory.clone())
                .display()
                .to_string(),
            Self::Cluster(_) => self.to_string(),
        }
    }
}

/// A parser of `--store` and the like.
pub(crate) fn store() -> impl TypedValueParser<Value = StoreLocation> {
    OsStringValueParser::new().try_map(StoreLocation::parse)
}

/// A parser of paths of files and directories.
pub(crate) fn file_path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().try_map(parse_file_path)
}

/// # Errors
/// `BAD_USER_INPUT`: the text is a URL, such as `s3://bucket/name`. As a path it would name the
/// directory `s3:`.
fn parse_file_path(text: OsString) -> Result<PathBuf> {
    let Some(scheme) = scheme_of(text.as_bytes()) else {
        return Ok(text.into());
    };
    Err(Error::bad_input(format!(
        "a URL ({scheme}://) is not a path: name a file or directory of this machine"
    )))
}

/// The scheme of a URL (RFC 3986 §3.1), if it is followed by `://`.
fn scheme_of(text: &[u8]) -> Option<String> {
    let end = text.windows(3).position(|window| window == b"://")?;
    let scheme = text.get(..end)?;
    let is_scheme = scheme.first().is_some_and(u8::is_ascii_alphabetic)
        && scheme
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte));
    is_scheme.then(|| String::from_utf8_lossy(scheme).into_owned())
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

    fn location(text: &str) -> StoreLocation {
        StoreLocation::parse(OsString::from(text)).expect(text)
    }

    #[test]
    fn locations_that_begin_with_fdb_are_clusters() {
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

    #[test]
    fn urls_are_not_paths() {
        for (text, scheme) in [
            ("s3://bucket/name", "s3"),
            ("file:///data", "file"),
            ("HTTP+unix://", "HTTP+unix"),
        ] {
            let path = parse_file_path(text.into()).expect_err(text).to_string();
            assert!(path.contains(&format!("({scheme}://)")), "{path}");
            let store = StoreLocation::parse(text.into()).expect_err(text);
            assert_eq!(store.to_string(), path);
        }
        for path in [
            "s3:", "s3:/a", "./s3://a", "/a://b", "1://a", "://a", "a b://c", "",
        ] {
            let parsed = parse_file_path(path.into()).expect(path);
            assert_eq!(parsed, PathBuf::from(path));
        }
    }
}
