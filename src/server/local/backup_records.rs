//! The records of a backup on the local socket, one field each ([`wire`]).

use super::wire;
use crate::error::{Error, Result};
use crate::store::Pairs;

/// `GET`: returns [`BackupRecord`]s, beginning with [`BackupRecord::Begin`].
pub const BACKUP: &str = "/v1/backup";

/// A record of a backup.
#[derive(Debug)]
pub enum BackupRecord {
    /// The number of the last commit in the backup.
    Begin(u64),
    /// Pairs, in key order after all previous ones.
    Pairs(Pairs),
    /// The backup is complete.
    End,
    /// The backup failed and ends here.
    Failed(Error),
}

impl BackupRecord {
    /// Encodes the record as a field.
    pub fn to_field(&self) -> Vec<u8> {
        let mut record = Vec::new();
        match self {
            Self::Begin(last_commit) => {
                record.push(b'b');
                record.extend_from_slice(&last_commit.to_le_bytes());
            }
            Self::Pairs(pairs) => {
                record.push(b'p');
                record.extend_from_slice(&wire::write_pairs(pairs.iter()));
            }
            Self::End => record.push(b'.'),
            Self::Failed(error) => {
                record.push(b'e');
                record.extend_from_slice(wire::error_text(error).as_bytes());
            }
        }
        wire::field(&record)
    }

    /// Decodes the output of [`BackupRecord::to_field`], without its length prefix.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the record is malformed.
    pub fn read(record: &[u8]) -> Result<Self> {
        match record.split_first().ok_or_else(wire::cut_short)? {
            (b'b', number) => {
                let number = number.try_into().map_err(|_| wire::cut_short())?;
                Ok(Self::Begin(u64::from_le_bytes(number)))
            }
            (b'p', pairs) => wire::read_pairs(pairs).map(Self::Pairs),
            (b'.', []) => Ok(Self::End),
            (b'e', error) => Ok(Self::Failed(wire::read_error(wire::text(error)?))),
            _ => Err(wire::cut_short()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        let mut pairs = Pairs::default();
        pairs.push(b"key", b"");
        pairs.push(&[0xFE; 300], &[0; 300]);
        for record in [
            BackupRecord::Begin(u64::MAX),
            BackupRecord::Pairs(pairs),
            BackupRecord::End,
            BackupRecord::Failed(Error::unavailable("away", "")),
        ] {
            let field = record.to_field();
            let (inner, rest) = wire::split_field(&field).expect("whole");
            assert!(rest.is_empty());
            let read = BackupRecord::read(inner).expect("readable");
            assert_eq!(format!("{read:?}"), format!("{record:?}"));
        }
        for broken in [&b""[..], b"b123", b".x", b"p1", b"?"] {
            assert!(BackupRecord::read(broken).is_err());
        }
    }
}
