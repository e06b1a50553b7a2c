//! The findings of a check.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;

use crate::document::assemble::Misshapen;
use crate::key::Malformed;
use crate::limits::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Damage, or a violation of a limit.
    Fault,
    /// Could not be verified, so its state is unknown.
    Unverified,
    /// Left by another program. Phyllo does not change it.
    Information,
}

/// A finding of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub severity: Severity,
    /// A code for programs, in capitals.
    pub code: Cow<'static, str>,
    /// A message for people.
    pub message: String,
    /// The key that the finding is about.
    pub key: Vec<u8>,
}

/// Counters of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Documents with a catalog entry.
    pub documents: u64,
    /// Documents that another program stored and that have no catalog entry.
    pub not_adopted: u64,
    /// Documents and pairs that no GraphQL ID can express.
    pub foreign: u64,
    /// Leaves of documents, with or without a catalog entry.
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
    /// Creates a summary from its [`Summary::numbers`].
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

    /// Every counter with its name.
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

/// The findings that were not returned yet, and the counters.
#[derive(Default)]
pub(crate) struct CheckReport {
    pub(crate) found: VecDeque<Finding>,
    pub(crate) summary: Summary,
}

impl CheckReport {
    /// Counts a pair of any kind and checks its size.
    pub(crate) fn see(&mut self, key: &[u8], value: &[u8]) {
        self.summary.pairs += 1;
        self.summary.bytes += (key.len() + value.len()) as u64;
        if key.len() > KEY_BYTES_MAX {
            self.add(FindingKind::KeyTooLong(key.len()), key);
        }
        if value.len() > VALUE_BYTES_MAX {
            self.add(FindingKind::ValueTooLong(value.len()), key);
        }
    }

    /// Adds a finding about a key.
    pub(crate) fn add(&mut self, what: FindingKind, key: &[u8]) {
        match what {
            FindingKind::NotAdopted => self.summary.not_adopted += 1,
            FindingKind::Foreign => self.summary.foreign += 1,
            _ => self.summary.faults += 1,
        }
        self.found.push_back(what.at(key));
    }

    /// Adds what a part of the check has found and counted.
    pub(crate) fn append(&mut self, part: Self) {
        let Self { found, summary } = part;
        self.found.extend(found);
        let (own, more) = (self.summary.numbers(), summary.numbers());
        let sums = own.iter().zip(more).map(|((_, own), (_, more))| own + more);
        let mut numbers = [0; 8];
        for (number, sum) in numbers.iter_mut().zip(sums) {
            *number = sum;
        }
        self.summary = Summary::from_numbers(numbers);
    }

    /// Adds a finding that the data at a key could not be verified.
    pub(crate) fn add_unverified(&mut self, reason: &str, key: &[u8]) {
        self.summary.not_verified += 1;
        self.found.push_back(Finding {
            severity: Severity::Unverified,
            code: Cow::Borrowed("NOT_VERIFIED"),
            message: format!("not verified: {reason}"),
            key: key.to_vec(),
        });
    }
}

/// All kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FindingKind {
    /// A malformed pair of a document.
    Pair(Malformed),
    KeyTooLong(usize),
    ValueTooLong(usize),
    /// A key in the system subspace that belongs to no key family.
    UnknownKey,
    NoFormat,
    FormatValue,
    /// An entry, the settings or the horizon of the change log.
    ChangeLog,
    ExistenceValue,
    /// A document with a catalog entry and without leaves.
    NoLeaves,
    /// A document with leaves and a version and without a catalog entry.
    NotEntered,
    VersionValue,
    /// A version without a catalog entry and without leaves.
    VersionAlone,
    CountValue,
    Count {
        counted: i64,
        entered: i64,
    },
    /// A damaged definition of an index.
    Definition,
    TypeDefinition,
    /// An index entry that a document should have is missing.
    NoEntry,
    /// An index entry of an index that does not exist or has failed.
    EntryAlone,
    /// An index entry that its document should not have.
    StaleEntry,
    EntryValue,
    /// A document has a value that does not fit into an entry, so an index that is in use lacks it.
    ValueNotIndexed,
    /// An entry of a unique index has the same values as the one before it.
    NotUnique,
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
            Self::ChangeLog => "CHANGE_LOG",
            Self::ExistenceValue => "EXISTENCE_VALUE",
            Self::NoLeaves => "NO_LEAVES",
            Self::NotEntered => "NOT_ENTERED",
            Self::VersionValue => "VERSION_VALUE",
            Self::VersionAlone => "VERSION_ALONE",
            Self::CountValue => "COUNT_VALUE",
            Self::Count { .. } => "COUNT",
            Self::Definition => "INDEX_DEFINITION",
            Self::TypeDefinition => "TYPE_DEFINITION",
            Self::NoEntry => "NO_INDEX_ENTRY",
            Self::EntryAlone => "INDEX_ENTRY_ALONE",
            Self::StaleEntry => "STALE_INDEX_ENTRY",
            Self::EntryValue => "INDEX_ENTRY_VALUE",
            Self::ValueNotIndexed => "VALUE_NOT_INDEXED",
            Self::NotUnique => "NOT_UNIQUE",
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
    /// The message of a finding without numbers.
    fn text(self) -> &'static str {
        match self {
            Self::UnknownKey => "a system key belongs to no key family",
            Self::NoFormat => "the format version of the store is missing",
            Self::FormatValue => "this program does not know the format version of the store",
            Self::ChangeLog => "the change log is malformed or incomplete here",
            Self::ExistenceValue => "the entry of a document has a value",
            Self::NoLeaves => "a document has a catalog entry and no leaves",
            Self::NotEntered => "a document has leaves and a version and no catalog entry",
            Self::VersionValue => "the version of a document is not a versionstamp",
            Self::VersionAlone => "a version belongs to no document",
            Self::CountValue => "a count is not a 64-bit integer",
            Self::Definition => "the definition of an index is damaged",
            Self::TypeDefinition => "the type of a collection is damaged",
            Self::NoEntry => "a document lacks this index entry",
            Self::EntryAlone => "an index entry belongs to no index",
            Self::StaleEntry => "an index entry does not match its document",
            Self::EntryValue => "an entry of an index has a value",
            Self::ValueNotIndexed => {
                "a document has a value that does not fit into an entry of its index"
            }
            Self::NotUnique => "a unique index has the same values for two documents",
            Self::NotAdopted => "another program stored this document, and it is not adopted",
            Self::Foreign => "another program stored this under a key that no GraphQL ID names",
            Self::Pair(_) | Self::KeyTooLong(_) | Self::ValueTooLong(_) | Self::Count { .. } => "",
        }
    }
}
