//! The records of a check on the local socket, one field each ([`wire`]).

use std::borrow::Cow;

use super::wire;
use crate::database::{Finding, Severity, Summary};
use crate::error::{Error, Result};

/// `GET ?collection=…`, or without it for the whole store: returns [`CheckRecord`]s.
pub const CHECK: &str = "/v1/check";

/// A record of a check.
#[derive(Debug)]
pub enum CheckRecord {
    /// A finding.
    Finding(Finding),
    /// The check is complete.
    End(Summary),
    /// The check failed and ends here.
    Failed(Error),
}

impl CheckRecord {
    /// Encodes the record as a field.
    pub fn to_field(&self) -> Vec<u8> {
        let mut record = Vec::new();
        match self {
            Self::Finding(finding) => {
                record.push(match finding.severity {
                    Severity::Fault => b'f',
                    Severity::Unverified => b'u',
                    Severity::Information => b'i',
                });
                wire::write_field(&mut record, finding.code.as_bytes());
                wire::write_field(&mut record, finding.message.as_bytes());
                record.extend_from_slice(&finding.key);
            }
            Self::End(summary) => {
                record.push(b'.');
                for (_, number) in summary.numbers() {
                    record.extend_from_slice(&number.to_le_bytes());
                }
            }
            Self::Failed(error) => {
                record.push(b'e');
                record.extend_from_slice(wire::error_text(error).as_bytes());
            }
        }
        wire::field(&record)
    }

    /// Decodes the output of [`CheckRecord::to_field`], without its length prefix.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the record is malformed.
    pub fn read(record: &[u8]) -> Result<Self> {
        let (kind, rest) = record.split_first().ok_or_else(wire::cut_short)?;
        match kind {
            b'f' => finding(Severity::Fault, rest).map(Self::Finding),
            b'u' => finding(Severity::Unverified, rest).map(Self::Finding),
            b'i' => finding(Severity::Information, rest).map(Self::Finding),
            b'.' => summary(rest).map(Self::End),
            b'e' => Ok(Self::Failed(wire::read_error(wire::text(rest)?))),
            _ => Err(wire::cut_short()),
        }
    }
}

fn finding(severity: Severity, rest: &[u8]) -> Result<Finding> {
    let (code, rest) = wire::split_field(rest).ok_or_else(wire::cut_short)?;
    let (message, key) = wire::split_field(rest).ok_or_else(wire::cut_short)?;
    Ok(Finding {
        severity,
        code: Cow::Owned(wire::text(code)?.to_owned()),
        message: wire::text(message)?.to_owned(),
        key: key.to_vec(),
    })
}

fn summary(rest: &[u8]) -> Result<Summary> {
    let (numbers, []) = rest.as_chunks() else {
        return Err(wire::cut_short());
    };
    let numbers: Vec<u64> = numbers.iter().copied().map(u64::from_le_bytes).collect();
    let numbers = numbers.try_into().map_err(|_| wire::cut_short())?;
    Ok(Summary::from_numbers(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_round_trip() {
        let finding = |severity| Finding {
            severity,
            code: Cow::Borrowed("HOLE"),
            message: "an array lacks an element".to_owned(),
            key: vec![0, 0xFF],
        };
        let summary = Summary::from_numbers([1, 2, 3, 4, 5, 6, 7, u64::MAX]);
        for record in [
            CheckRecord::Finding(finding(Severity::Fault)),
            CheckRecord::Finding(finding(Severity::Information)),
            CheckRecord::Finding(finding(Severity::Unverified)),
            CheckRecord::End(summary),
            CheckRecord::Failed(Error::unavailable("away", "")),
        ] {
            let field = record.to_field();
            let (inner, rest) = wire::split_field(&field).expect("whole");
            assert!(rest.is_empty());
            let read = CheckRecord::read(inner).expect("readable");
            assert_eq!(format!("{read:?}"), format!("{record:?}"));
            assert!(CheckRecord::read(&inner[..0]).is_err());
        }
        assert!(CheckRecord::read(b".12345678").is_err());
    }
}
