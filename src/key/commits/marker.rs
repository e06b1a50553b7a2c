//! The marker that a commit writes, from which its outcome can be determined.

use crate::error::Result;
use crate::key::family::{Family, Version};
use crate::key::tuple::{append, split_first};
use crate::limits::COMMIT_SHARDS;

/// The marker of one transaction: [`Family::Commit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitMarker {
    token: [u8; 16],
    expiry: u64,
}

impl CommitMarker {
    /// The offset of the versionstamp in the value.
    pub const STAMP_AT: usize = Version::VALUE_PREFIX.len();

    /// A marker with a random token. It may be cleared at `expiry`, in seconds since 1970.
    pub fn new(token: [u8; 16], expiry: u64) -> Self {
        Self { token, expiry }
    }

    /// The key of the marker.
    ///
    /// # Errors
    /// Never, because the key is short.
    pub fn key(&self) -> Result<Vec<u8>> {
        Family::Commit(self.token[0] % COMMIT_SHARDS, self.expiry, &self.token).key()
    }

    /// The value for the try `number`, with a placeholder for the versionstamp.
    pub fn value(number: u64) -> Vec<u8> {
        let mut value = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
        append(&mut value, &number);
        value
    }

    /// The version and the try in a marker's value. `None` if the value is malformed.
    pub fn decode(value: &[u8]) -> Option<(Version, u64)> {
        let (stamp, number) = value.split_at_checked(1 + Version::PLACEHOLDER.len())?;
        match split_first(number)? {
            (number, []) => Some((Version::decode(stamp)?, number)),
            _ => None,
        }
    }

    /// The range of the markers of a shard that expired before `now`, in seconds since 1970, as its
    /// first key and its end.
    pub fn expired(shard: u8, now: u64) -> (Vec<u8>, Vec<u8>) {
        Family::commits_before(shard, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_values_round_trip() {
        for number in [1, 2, 255, 256, 70_000] {
            let mut value = CommitMarker::value(number);
            value[1..11].copy_from_slice(&[7; 10]);
            assert_eq!(
                CommitMarker::decode(&value),
                Some((Version([7; 10]), number))
            );
        }
        assert_eq!(CommitMarker::decode(b""), None);
        assert_eq!(CommitMarker::decode(&CommitMarker::value(1)[..13]), None);
    }

    #[test]
    fn only_expired_markers_are_cleared() {
        let key = |token: u8, expiry| CommitMarker::new([token; 16], expiry).key().expect("short");
        let (begin, end) = CommitMarker::expired(3, 1_000);
        let cleared = |key: Vec<u8>| begin <= key && key < end;
        assert!(cleared(key(3, 0)) && cleared(key(3, 999)) && cleared(key(19, 12)));
        assert!(!cleared(key(3, 1_000)) && !cleared(key(3, 70_000)));
        assert!(!cleared(key(2, 999)) && !cleared(key(4, 0)));
    }
}
