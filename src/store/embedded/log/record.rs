//! The record of one commit in a frame: its number and its writes, in order.
//!
//! All integers are little-endian.
//!
//! ```text
//! record  number u64, count u32, then `count` writes
//! write   kind u8, key bytes, then by kind:
//!         0 clear         nothing
//!         1 set           value bytes
//!         2 clear range   end bytes
//!         3 cover range   end bytes
//!         4 add           i64
//! bytes   length u32, then the bytes
//! ```

use super::super::tables::writes::{WriteKind, WriteList};

const CLEAR: u8 = 0;
const SET: u8 = 1;
const CLEAR_RANGE: u8 = 2;
const COVER_RANGE: u8 = 3;
const ADD: u8 = 4;

/// Bytes of a record besides its writes.
const RECORD_BYTES: u64 = 12;
/// The most bytes of a write besides its key, value and end.
const WRITE_BYTES: u64 = 13;

/// A commit as the log has it.
pub(crate) struct Commit {
    /// The number of the commit.
    pub(crate) number: u64,
    pub(crate) writes: WriteList,
}

/// An upper bound of the bytes that [`encode`] appends.
pub(crate) fn bytes_max(writes: &WriteList) -> u64 {
    RECORD_BYTES + writes.len() as u64 * WRITE_BYTES + writes.bytes() as u64
}

/// Appends the record of a commit.
pub(crate) fn encode(number: u64, writes: &WriteList, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&length(writes.len()));
    for (key, kind) in writes.iter() {
        let code = match kind {
            WriteKind::Clear => CLEAR,
            WriteKind::Set(_) => SET,
            WriteKind::ClearTo(_) => CLEAR_RANGE,
            WriteKind::CoverTo(_) => COVER_RANGE,
            WriteKind::Add(_) => ADD,
        };
        out.push(code);
        append(out, key);
        match kind {
            WriteKind::Clear => {}
            WriteKind::Set(bytes) | WriteKind::ClearTo(bytes) | WriteKind::CoverTo(bytes) => {
                append(out, bytes);
            }
            WriteKind::Add(by) => out.extend_from_slice(&by.to_le_bytes()),
        }
    }
}

/// Reads the record at the beginning of `body` and removes it from `body`. `None` if `body` does
/// not begin with a record.
pub(super) fn decode(body: &mut &[u8]) -> Option<Commit> {
    let mut commit = Commit {
        number: u64::from_le_bytes(take_array(body)?),
        writes: WriteList::default(),
    };
    let count = u32::from_le_bytes(take_array(body)?);
    for _ in 0..count {
        let [code] = take_array(body)?;
        let key = take(body)?;
        let kind = match code {
            CLEAR => WriteKind::Clear,
            SET => WriteKind::Set(take(body)?),
            CLEAR_RANGE => WriteKind::ClearTo(take(body)?),
            COVER_RANGE => WriteKind::CoverTo(take(body)?),
            ADD => WriteKind::Add(i64::from_le_bytes(take_array(body)?)),
            _ => return None,
        };
        commit.writes.push(key, kind);
    }
    Some(commit)
}

fn append(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(&length(bytes.len()));
    out.extend_from_slice(bytes);
}

fn length(length: usize) -> [u8; 4] {
    u32::try_from(length)
        .expect("transactions are limited to far less than 4 GiB")
        .to_le_bytes()
}

fn take<'b>(body: &mut &'b [u8]) -> Option<&'b [u8]> {
    let length = u32::from_le_bytes(take_array(body)?);
    let (bytes, rest) = body.split_at_checked(usize::try_from(length).ok()?)?;
    *body = rest;
    Some(bytes)
}

fn take_array<const N: usize>(body: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, rest) = body.split_first_chunk()?;
    *body = rest;
    Some(*bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITES: [(&[u8], WriteKind<'static>); 6] = [
        (b"key", WriteKind::Set(b"value")),
        (b"", WriteKind::Set(b"")),
        (b"a", WriteKind::Clear),
        (b"b", WriteKind::ClearTo(b"c")),
        (b"d", WriteKind::CoverTo(b"e")),
        (b"count", WriteKind::Add(-3)),
    ];

    fn encoded() -> Vec<u8> {
        let mut writes = WriteList::default();
        for (key, kind) in WRITES {
            writes.push(key, kind);
        }
        let mut bytes = Vec::new();
        encode(7, &writes, &mut bytes);
        assert!(bytes.len() as u64 <= bytes_max(&writes));
        bytes
    }

    #[test]
    fn records_are_read_as_they_were_written() {
        let bytes = [encoded(), encoded()].concat();
        let mut body = &bytes[..];
        for _ in 0..2 {
            let commit = decode(&mut body).expect("a record");
            assert_eq!(commit.number, 7);
            assert_eq!(commit.writes.iter().collect::<Vec<_>>(), WRITES);
        }
        assert!(body.is_empty());
    }

    #[test]
    fn incomplete_records_are_rejected() {
        let bytes = encoded();
        for length in 0..bytes.len() {
            assert!(decode(&mut &bytes[..length]).is_none(), "{length} bytes");
        }
        let mut unknown = bytes;
        unknown[12] = 5;
        assert!(decode(&mut &unknown[..]).is_none());
    }
}
