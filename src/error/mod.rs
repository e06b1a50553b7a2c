//! One error type for the whole crate: a kind that says what the caller can do about it, and a
//! message that says what was wrong, where, and which limit was passed. [`Facts`] say the same to
//! programs.

mod facts;

use std::fmt;

pub use facts::{Facts, Limit, Versions};

/// Something of which a request, or all requests together, may use a bounded amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Steps of work.
    Steps,
    /// Bytes read of the store.
    ReadBytes,
    /// Bytes that one transaction writes.
    WriteBytes,
    /// Bytes of the response.
    ResponseBytes,
    /// Bytes of memory that all requests hold together.
    Memory,
    /// Time.
    Time,
}

/// What the caller can do about an [`Error`]; the GraphQL interface shows it as
/// `extensions.code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The input is malformed or means nothing: mend it.
    BadUserInput,
    /// A path that can never name a place in any document.
    InvalidPath,
    /// What the operation starts from is not there.
    NotFound,
    /// Something is already stored where the operation wants to create.
    AlreadyExists,
    /// The document has changed since the version that was named.
    VersionMismatch,
    /// Another document has the same values in a unique index; the message names both.
    UniqueViolation,
    /// A `test` of a JSON Patch does not hold.
    TestFailed,
    /// A limit on size was passed; the message names it.
    TooLarge,
    /// A key would be longer than a key can be, so nothing can be stored or found there.
    KeyTooLong,
    /// The budget of the request is used up, which says nothing about the data; the message names
    /// the limit.
    Exhausted(Resource),
    /// No query is kept under the hash that was sent: send its text, too.
    PersistedQueryNotFound,
    /// The query asks for more work than one request may; the message names the limit.
    TooComplex,
    /// Others kept changing what the transaction read until its tries were used up: try again.
    Conflict,
    /// The deadline passed: try again, or ask for less.
    Timeout,
    /// No token was sent, or none that the server knows: send another.
    Unauthenticated,
    /// The sender is known and may not do this.
    Forbidden,
    /// The store cannot be reached or can no longer be trusted: try later.
    Unavailable,
    /// A defect or damaged data. The detail is in the log.
    Internal,
}

impl ErrorKind {
    const ALL: [Self; 16] = [
        Self::BadUserInput,
        Self::InvalidPath,
        Self::NotFound,
        Self::AlreadyExists,
        Self::VersionMismatch,
        Self::UniqueViolation,
        Self::TestFailed,
        Self::TooLarge,
        Self::PersistedQueryNotFound,
        Self::TooComplex,
        Self::Conflict,
        Self::Timeout,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The kind of which [`ErrorKind::code`] is the text.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// The same with the kinds that clients are not told apart by: those that share a
    /// [`code`](ErrorKind::code) are one.
    #[must_use]
    pub fn for_clients(self) -> Self {
        Self::from_code(self.code()).unwrap_or(self)
    }

    /// The text of `extensions.code`.
    pub const fn code(self) -> &'static str {
        match self {
            Self::BadUserInput => "BAD_USER_INPUT",
            Self::InvalidPath => "INVALID_PATH",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::VersionMismatch => "VERSION_MISMATCH",
            Self::UniqueViolation => "UNIQUE_VIOLATION",
            Self::TestFailed => "TEST_FAILED",
            Self::TooLarge | Self::KeyTooLong => "TOO_LARGE",
            Self::Exhausted(resource) => resource.code(),
            Self::PersistedQueryNotFound => "PERSISTED_QUERY_NOT_FOUND",
            Self::TooComplex => "TOO_COMPLEX",
            Self::Conflict => "CONFLICT",
            Self::Timeout => "TIMEOUT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::Unavailable => "UNAVAILABLE",
            Self::Internal => "INTERNAL",
        }
    }
}

impl Resource {
    const fn code(self) -> &'static str {
        match self {
            Self::Steps => "TOO_COMPLEX",
            Self::ReadBytes | Self::WriteBytes | Self::ResponseBytes => "TOO_LARGE",
            Self::Memory => "UNAVAILABLE",
            Self::Time => "TIMEOUT",
        }
    }
}

/// What went wrong: told to the caller by `kind`, `message` and `facts`, told to the log by `detail`.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    /// Boxed, because most errors have none and all results have room for one.
    facts: Option<Box<Facts>>,
}

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error that the caller is told about in these words. Kinds that have facts have functions
    /// of their own, which ask for them.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            facts: None,
        }
    }

    fn with(mut self, add: impl FnOnce(&mut Facts)) -> Self {
        add(self.facts.get_or_insert_default());
        self
    }

    /// Malformed or meaningless input.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadUserInput, message)
    }

    /// A path that can never be one, or never in this document; then with the place where it ends
    /// to be one, as a JSON Pointer.
    pub fn invalid_path(place: Option<String>, message: impl Into<String>) -> Self {
        let error = Self::new(ErrorKind::InvalidPath, message);
        match place {
            Some(place) => error.with(|facts| facts.place = Some(place)),
            None => error,
        }
    }

    /// Nothing is stored at a place of a document, given as a JSON Pointer.
    pub fn not_found(place: String, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message).with(|facts| facts.place = Some(place))
    }

    /// A `test` does not hold at a place, given as a JSON Pointer.
    pub fn test_failed(place: String, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TestFailed, message).with(|facts| facts.place = Some(place))
    }

    /// A document has another version than was expected.
    pub fn version_mismatch(versions: Versions, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::VersionMismatch, message).with(|facts| facts.versions = Some(versions))
    }

    /// A limit on size was passed.
    pub fn too_large(limit: Limit, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TooLarge, message).with_limit(limit)
    }

    /// A limit on work was passed.
    pub fn too_complex(limit: Limit, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TooComplex, message).with_limit(limit)
    }

    /// The time is over; with the limit, unless only the caller knows it.
    pub fn timeout(limit: Option<Limit>, message: impl Into<String>) -> Self {
        let error = Self::new(ErrorKind::Timeout, message);
        match limit {
            Some(limit) => error.with_limit(limit),
            None => error,
        }
    }

    /// A key that would be longer than keys can be.
    pub fn key_too_long(limit: Limit, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::KeyTooLong, message).with_limit(limit)
    }

    /// The budget has no more of a resource.
    pub fn exhausted(resource: Resource, limit: Limit, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Exhausted(resource), message).with_limit(limit)
    }

    /// A defect or damaged data; `detail` goes to the log and never to the client.
    pub fn internal(detail: impl Into<String>) -> Self {
        let message = "an internal error; the server's log has the detail";
        let detail = detail.into();
        Self::new(ErrorKind::Internal, message).with(|facts| facts.detail = Some(detail))
    }

    /// The store cannot serve; `detail`, if it is not empty, goes to the log.
    pub fn unavailable(message: impl Into<String>, detail: impl Into<String>) -> Self {
        let error = Self::new(ErrorKind::Unavailable, message);
        match detail.into() {
            empty if empty.is_empty() => error,
            detail => error.with(|facts| facts.detail = Some(detail)),
        }
    }

    /// The same error with the limit that was passed, unless it has one.
    #[must_use]
    pub fn with_limit(self, limit: Limit) -> Self {
        self.with(|facts| facts.limit = facts.limit.or(Some(limit)))
    }

    /// The same error about an operation of a JSON Patch, counted from 0: its message begins with
    /// that.
    #[must_use]
    pub fn at_operation(self, number: usize) -> Self {
        self.at(format_args!("operation {number} of the patch"))
            .with(|facts| facts.operation = Some(number))
    }

    /// The same error with a message that begins with where it happened.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// What the caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What the caller is told.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What only the log is told.
    pub fn detail(&self) -> Option<&str> {
        self.facts.as_ref()?.detail.as_deref()
    }

    /// What programs are told besides.
    pub fn facts(&self) -> Option<&Facts> {
        self.facts.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.detail() {
            Some(detail) => write!(f, "{} ({detail})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
