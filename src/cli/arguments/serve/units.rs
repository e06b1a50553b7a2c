//! Quantities on the command line: bytes such as `32MiB`, durations such as `30s`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::error::{Error, Result};

/// A number of bytes, plain or in KiB, MiB or GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteSize(pub(crate) usize);

const BYTES: [(&str, usize); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];

impl FromStr for ByteSize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = BYTES
            .iter()
            .find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?, *bytes)));
        let (number, unit) = found.unwrap_or((text, 1));
        let number = number.parse::<usize>().ok();
        let bytes = number.and_then(|number| number.checked_mul(unit));
        bytes
            .filter(|bytes| *bytes > 0)
            .map(Self)
            .ok_or_else(|| Error::bad_input("it must be a size in bytes such as 1000 or 64KiB"))
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = BYTES.iter().find(|(_, unit)| self.0.is_multiple_of(*unit));
        match whole {
            Some((name, unit)) => write!(f, "{}{name}", self.0 / unit),
            None => self.0.fmt(f),
        }
    }
}

/// A time for which something is kept: in seconds, minutes, hours or days, or `0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retention(pub(crate) Duration);

const RETENTION_UNITS: [(char, u64); 4] = [('s', 1), ('m', 60), ('h', 3_600), ('d', 86_400)];

impl FromStr for Retention {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let found = RETENTION_UNITS
            .iter()
            .find_map(|(unit, seconds)| Some((text.strip_suffix(*unit)?, *seconds)));
        let (number, unit) = found.unwrap_or((text, 0));
        let number = number.parse::<u64>().ok();
        // Only 0 needs no unit.
        let number = number.filter(|number| unit > 0 || *number == 0);
        let seconds = number.and_then(|number| number.checked_mul(unit));
        seconds
            .map(|seconds| Self(Duration::from_secs(seconds)))
            .ok_or_else(|| Error::bad_input("it must be a time such as 90s, 30m, 24h or 7d, or 0"))
    }
}

/// A duration in seconds or milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Duration);

impl FromStr for Time {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let milliseconds = text.strip_suffix("ms").map(|number| (number, 1));
        let found = milliseconds.or_else(|| Some((text.strip_suffix('s')?, 1_000)));
        let time = found.and_then(|(number, unit)| number.parse::<u64>().ok()?.checked_mul(unit));
        time.filter(|time| *time > 0)
            .map(|time| Self(Duration::from_millis(time)))
            .ok_or_else(|| Error::bad_input("it must be a time such as 30s or 500ms"))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.as_millis();
        if milliseconds.is_multiple_of(1_000) {
            return write!(f, "{}s", milliseconds / 1_000);
        }
        write!(f, "{milliseconds}ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_round_trip() {
        for (text, bytes) in [("1000", 1_000), ("64KiB", 65_536), ("32MiB", 32 << 20)] {
            let read = text.parse::<ByteSize>().expect(text);
            assert_eq!((read.0, &*read.to_string()), (bytes, text));
        }
        for (text, milliseconds) in [("30s", 30_000), ("500ms", 500), ("1500ms", 1_500)] {
            let read = text.parse::<Time>().expect(text);
            let time = Duration::from_millis(milliseconds);
            assert_eq!((read.0, &*read.to_string()), (time, text));
        }
        for text in [
            "",
            "0",
            "-1",
            "1.5MiB",
            "1 MiB",
            "1MB",
            "99999999999999999GiB",
        ] {
            assert!(text.parse::<ByteSize>().is_err(), "{text:?}");
        }
        for text in ["", "0s", "1", "s", "1m", "1.5s", "-1s"] {
            assert!(text.parse::<Time>().is_err(), "{text:?}");
        }
    }
}
