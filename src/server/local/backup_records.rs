//! The records of a backup on the local socket. Each is a field: a length (64 bits, little-endian) and that many
//! bytes.

use crate::error::{Error, Result};
use crate::store::Pairs;

/// `GET`: returns [`BackupRecord`]s, beginning with [`BackupRecord::Begin`].
pub const BACKUP: &str = "/operator/backup";

const LENGTH_BYTES: usize = size_of::<u64>();

/// A record of a backup.
#[derive(Debug)]
pub enum BackupRecord {
    /// The number of the last commit in the backup.
    Begin(u64),
    /// Pairs, in key order after all previous ones.
    Pairs(Pairs),
    /// The backup is complete.
    End,
    /// The backup failed and ends here. The message is that of the error.
    Failed(String),
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
                for (key, value) in pairs.iter() {
                    write_field(&mut record, key);
                    write_field(&mut record, value);
                }
            }
            Self::End => record.push(b'.'),
            Self::Failed(message) => {
                record.push(b'e');
                record.extend_from_slice(message.as_bytes());
            }
        }
        let mut field = Vec::with_capacity(LENGTH_BYTES + record.len());
        write_field(&mut field, &record);
        field
    }

    /// Decodes the output of [`BackupRecord::to_field`], without its length prefix.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the record is malformed.
    pub fn read(record: &[u8]) -> Result<Self> {
        match record.split_first().ok_or_else(malformed)? {
            (b'b', number) => {
                let number = number.try_into().map_err(|_| malformed())?;
                Ok(Self::Begin(u64::from_le_bytes(number)))
            }
            (b'p', pairs) => read_pairs(pairs).map(Self::Pairs),
            (b'.', []) => Ok(Self::End),
            (b'e', message) => Ok(Self::Failed(String::from_utf8_lossy(message).into_owned())),
            _ => Err(malformed()),
        }
    }
}

/// Splits off the first field. `None` if it is incomplete.
pub fn split_field(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    rest.split_at_checked(length)
}

fn write_field(out: &mut Vec<u8>, field: &[u8]) {
    out.extend_from_slice(&(field.len() as u64).to_le_bytes());
    out.extend_from_slice(field);
}

fn read_pairs(mut bytes: &[u8]) -> Result<Pairs> {
    let mut pairs = Pairs::default();
    while !bytes.is_empty() {
        let (key, rest) = split_field(bytes).ok_or_else(malformed)?;
        let (value, rest) = split_field(rest).ok_or_else(malformed)?;
        pairs.push(key, value);
        bytes = rest;
    }
    Ok(pairs)
}

fn malformed() -> Error {
    Error::unavailable("a record of the backup is malformed", "")
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
            BackupRecord::Failed("away".to_owned()),
        ] {
            let field = record.to_field();
            let (inner, rest) = split_field(&field).expect("whole");
            assert!(rest.is_empty());
            let read = BackupRecord::read(inner).expect("readable");
            assert_eq!(format!("{read:?}"), format!("{record:?}"));
        }
        for broken in [&b""[..], b"b123", b".x", b"p1", b"?"] {
            assert!(BackupRecord::read(broken).is_err());
        }
    }
}
