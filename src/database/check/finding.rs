//! What a check tells.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use crate::document::assemble::Misshapen;
use crate::key::Malformed;
use crate::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// No store should have it.
    Fault,
    /// It could not be verified, so nothing is known of it.
    Unverified,
    /// Other programs leave it there, and Phyllo leaves it alone.
    Information,
}

/// Something that a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is, for machines: words in capitals.
    pub code: Cow<'static, str>,
    /// What it is, for people.
    pub message: String,
    /// The key at which it is.
    pub key: Vec<u8>,
}

/// How much a check has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Documents that are entered.
    pub documents: u64,
    /// Documents that another program stored and nobody has entered.
    pub not_adopted: u64,
    /// Documents and pairs that no GraphQL ID names.
    pub foreign: u64,
    /// Leaves of documents, whether entered or not.
    pub leaves: u64,
    /// Pairs of every kind.
    pub pairs: u64,
    /// Bytes of the keys and values of all pairs.
    pub bytes: u64,
    /// Faults.
    pub faults: u64,
    /// Documents and index entries that could not be verified.
    pub not_verified: u64,
}

impl Summary {
    /// The summary of which [`Summary::numbers`] are these.
    pub fn from_numbers(numbers: [u64; 8]) -> Self {
        let [
            documents,
            not_adopted,
            foreign,
            leaves,
            pairs,
            bytes,
            faults,
            not_verified,
        ] = numbers;
        Self {
            documents,
            not_adopted,
            foreign,
            leaves,
            pairs,
            bytes,
            faults,
            not_verified,
        }
    }

    /// Every number by its name.
    pub fn numbers(&self) -> [(&'static str, u64); 8] {
        [
            ("documents", self.documents),
            ("notAdopted", self.not_adopted),
            ("foreign", self.foreign),
            ("leaves", self.leaves),
            ("pairs", self.pairs),
            ("bytes", self.bytes),
            ("faults", self.faults),
            ("notVerified", self.not_verified),
        ]
    }
}

/// What has been found and is not told yet, and what has been seen.
#[derive(Default)]
pub(crate) struct CheckReport {
    pub(crate) found: VecDeque<Finding>,
    pub(crate) summary: Summary,
}

impl CheckReport {
    /// A pair of any kind, which is counted and measured.
    pub(crate) fn see(&mut self, key: &[u8], value: &[u8]) {
        self.summary.pairs += 1;
        self.summary.bytes += (key.len() + value.len()) as u64;
        if key.len() > KEY_BYTES_MAX {
            self.tell(FindingKind::KeyTooLong(key.len()), key);
        }
        if value.len() > VALUE_BYTES_MAX {
            self.tell(FindingKind::ValueTooLong(value.len()), key);
        }
    }

    /// Something found at a key.
    pub(crate) fn tell(&mut self, what: FindingKind, key: &[u8]) {
        match what {
            FindingKind::NotAdopted => self.summary.not_adopted += 1,
            FindingKind::Foreign => self.summary.foreign += 1,
            _ => self.summary.faults += 1,
        }
        self.found.push_back(what.at(key));
    }

    /// What is stored at a key could not be verified, for this reason.
    pub(crate) fn tell_unverified(&mut self, reason: &str, key: &[u8]) {
        self.summary.not_verified += 1;
        self.found.push_back(Finding {
            severity: Severity::Unverified,
            code: Cow::Borrowed("NOT_VERIFIED"),
            message: format!("not verified: {reason}"),
            key: key.to_vec(),
        });
    }
}

/// Everything that can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindingKind {
    /// A pair that no document has.
    Pair(Malformed),
    KeyTooLong(usize),
    ValueTooLong(usize),
    /// A key that begins with null and is of no family.
    UnknownKey,
    NoFormat,
    FormatValue,
    ExistenceValue,
    /// A document that is entered and has no leaf.
    NoLeaves,
    /// A document that has a version and leaves and is not entered.
    NotEntered,
    VersionValue,
    /// A version, and neither an entry nor a leaf.
    VersionAlone,
    CountValue,
    Count {
        counted: i64,
        entered: i64,
    },
    /// A definition of an index that means nothing.
    Definition,
    /// An entry that a document should have in an index.
    NoEntry,
    /// An entry of an index that is not there, or has none.
    EntryAlone,
    /// An entry that the document it leads to should not have.
    StaleEntry,
    EntryValue,
    NotAdopted,
    Foreign,
}

impl FindingKind {
    fn at(self, key: &[u8]) -> Finding {
        Finding {
            severity: self.severity(),
            code: Cow::Borrowed(self.code()),
            message: self.to_string(),
            key: key.to_vec(),
        }
    }

    fn severity(self) -> Severity {
        match self {
            Self::NotAdopted | Self::Foreign => Severity::Information,
            _ => Severity::Fault,
        }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Pair(Malformed::Segment) => "SEGMENT",
            Self::Pair(Malformed::Value) => "VALUE",
            Self::Pair(Malformed::Pieces) => "PIECES",
            Self::Pair(Malformed::Shape(Misshapen::LeafWithChildren)) => "LEAF_WITH_CHILDREN",
            Self::Pair(Malformed::Shape(Misshapen::Hole)) => "HOLE",
            Self::Pair(Malformed::Shape(Misshapen::MixedSegments)) => "MIXED_SEGMENTS",
            Self::KeyTooLong(_) => "KEY_TOO_LONG",
            Self::ValueTooLong(_) => "VALUE_TOO_LONG",
            Self::UnknownKey => "UNKNOWN_KEY",
            Self::NoFormat => "NO_FORMAT",
            Self::FormatValue => "FORMAT_VALUE",
            Self::ExistenceValue => "EXISTENCE_VALUE",
            Self::NoLeaves => "NO_LEAVES",
            Self::NotEntered => "NOT_ENTERED",
            Self::VersionValue => "VERSION_VALUE",
            Self::VersionAlone => "VERSION_ALONE",
            Self::CountValue => "COUNT_VALUE",
            Self::Count { .. } => "COUNT",
            Self::Definition => "INDEX_DEFINITION",
            Self::NoEntry => "NO_INDEX_ENTRY",
            Self::EntryAlone => "INDEX_ENTRY_ALONE",
            Self::StaleEntry => "STALE_INDEX_ENTRY",
            Self::EntryValue => "INDEX_ENTRY_VALUE",
            Self::NotAdopted => "NOT_ADOPTED",
            Self::Foreign => "FOREIGN",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pair(malformed) => malformed.fmt(f),
            Self::KeyTooLong(bytes) => write!(
                f,
                "the key has {bytes} bytes; the limit is {KEY_BYTES_MAX} bytes"
            ),
            Self::ValueTooLong(bytes) => write!(
                f,
                "the value has {bytes} bytes; the limit is {VALUE_BYTES_MAX} bytes"
            ),
            Self::Count { counted, entered } => write!(
                f,
                "the counts of the collection add up to {counted}, and it has {entered} documents"
            ),
            other => f.write_str(other.text()),
        }
    }
}

impl FindingKind {
    /// What is said of a finding that has no numbers.
    fn text(self) -> &'static str {
        match self {
            Self::UnknownKey => "a key of the system is of no family",
            Self::NoFormat => "the format version of the store is missing",
            Self::FormatValue => "the format version of the store is not the one of this program",
            Self::ExistenceValue => "the entry of a document has a value",
            Self::NoLeaves => "a document is entered and has no leaf",
            Self::NotEntered => "a document has leaves and a version and is not entered",
            Self::VersionValue => "the version of a document is no versionstamp",
            Self::VersionAlone => "a version is of no document",
            Self::CountValue => "a count is no 64-bit integer",
            Self::Definition => "the definition of an index is damaged",
            Self::NoEntry => "a document has no such entry in an index, and should have it",
            Self::EntryAlone => "an entry is of no index",
            Self::StaleEntry => "an entry of an index is not what its document holds",
            Self::EntryValue => "an entry of an index has a value",
            Self::NotAdopted => "another program stored this document, and it is not adopted",
            Self::Foreign => "another program stored this where no document with a text id stands",
            Self::Pair(_) | Self::KeyTooLong(_) | Self::ValueTooLong(_) | Self::Count { .. } => "",
        }
    }
}
