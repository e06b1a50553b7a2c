//! One error type for the whole crate. The kind says what the caller can do; the message says what
//! is wrong, where, and which limit was exceeded. [`Facts`] carry the same for programs.

mod facts;

use std::fmt;

pub use facts::{Facts, Limit, TypeViolation, Versions};

/// A resource whose use is limited for one request, or for all requests together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Steps of work.
    Steps,
    /// Bytes read from the store.
    ReadBytes,
    /// Bytes written by one transaction.
    WriteBytes,
    /// Bytes of the response.
    ResponseBytes,
    /// Bytes of memory held by all requests together.
    Memory,
    /// Time.
    Time,
}

/// What the caller can do about an [`Error`]. Clients receive it as `extensions.code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The input is malformed or has no meaning. Correct it.
    BadUserInput,
    /// The path cannot name a place in any document.
    InvalidPath,
    /// The place or document that the operation requires does not exist.
    NotFound,
    /// The operation creates something that already exists.
    AlreadyExists,
    /// The document has changed since the expected version.
    VersionMismatch,
    /// Another document has the same values in a unique index; the message names both.
    UniqueViolation,
    /// A document refers to one that would be deleted, and its type restricts the deletion.
    ReferenceViolation,
    /// A value does not fit the type of its collection. Correct it.
    TypeMismatch,
    /// A `test` operation of a JSON Patch failed.
    TestFailed,
    /// A limit on size was exceeded. The message names it.
    TooLarge,
    /// The key would exceed the maximum length, so nothing is stored under it.
    KeyTooLong,
    /// The budget of the request is used up. The message names the limit. It is never a statement
    /// about the data.
    Exhausted(Resource),
    /// The server has no query for the hash. Send the text of the query too.
    PersistedQueryNotFound,
    /// The query requires more work than one request may do. The message names the limit.
    TooComplex,
    /// The change log no longer has the changes after a position. Read the current state, and
    /// follow the changes from there.
    ChangesExpired,
    /// Concurrent writes conflicted with the transaction on every try. Retry.
    Conflict,
    /// The deadline passed. Retry, or request less.
    Timeout,
    /// The transaction has taken effect as a whole, may still take effect, or never will. Retry
    /// only with the same idempotency key, or read first.
    OutcomeUnknown,
    /// The request has no token or an unknown one. Send a valid token.
    Unauthenticated,
    /// The token is valid but does not permit the operation.
    Forbidden,
    /// The store is unreachable or can no longer be trusted. Retry later.
    Unavailable,
    /// A defect or damaged data. The detail is in the log.
    Internal,
}

impl ErrorKind {
    const ALL: [Self; 20] = [
        Self::BadUserInput,
        Self::InvalidPath,
        Self::NotFound,
        Self::AlreadyExists,
        Self::VersionMismatch,
        Self::UniqueViolation,
        Self::ReferenceViolation,
        Self::TypeMismatch,
        Self::TestFailed,
        Self::TooLarge,
        Self::PersistedQueryNotFound,
        Self::TooComplex,
        Self::ChangesExpired,
        Self::Conflict,
        Self::Timeout,
        Self::OutcomeUnknown,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::Unavailable,
        Self::Internal,
    ];

    /// The kind whose [`code`](ErrorKind::code) is `code`.
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Maps all kinds that share a [`code`](ErrorKind::code) to one of them.
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
            Self::ReferenceViolation => "REFERENCE_VIOLATION",
            Self::TypeMismatch => "TYPE_MISMATCH",
            Self::TestFailed => "TEST_FAILED",
            Self::TooLarge | Self::KeyTooLong => "TOO_LARGE",
            Self::Exhausted(resource) => resource.code(),
            Self::PersistedQueryNotFound => "PERSISTED_QUERY_NOT_FOUND",
            Self::TooComplex => "TOO_COMPLEX",
            Self::ChangesExpired => "CHANGES_EXPIRED",
            Self::Conflict => "CONFLICT",
            Self::Timeout => "TIMEOUT",
            Self::OutcomeUnknown => "OUTCOME_UNKNOWN",
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

/// An error. The caller receives `kind`, `message` and `facts`; the log also receives `detail`.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    /// Boxed to keep `Result` small: most errors have no facts.
    facts: Option<Box<Facts>>,
}

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error with a message for the caller. Kinds that have facts have their own constructors,
    /// which require the facts.
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

    /// Input that is malformed or has no meaning.
    pub fn bad_input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadUserInput, message)
    }

    /// A path that is invalid in every document, or in this document. In the second case `place` is
    /// the JSON Pointer of the last valid place.
    pub fn invalid_path(place: Option<String>, message: impl Into<String>) -> Self {
        let error = Self::new(ErrorKind::InvalidPath, message);
        match place {
            Some(place) => error.with(|facts| facts.place = Some(place)),
            None => error,
        }
    }

    /// Nothing is stored at `place`, a JSON Pointer.
    pub fn not_found(place: String, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message).with(|facts| facts.place = Some(place))
    }

    /// A `test` operation failed at `place`, a JSON Pointer.
    pub fn test_failed(place: String, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TestFailed, message).with(|facts| facts.place = Some(place))
    }

    /// Values do not fit the type of their collection. The message describes the first of
    /// `violations`, of which there is at least one.
    pub fn type_mismatch(violations: Vec<TypeViolation>, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TypeMismatch, message).with(|facts| {
            facts.place = violations.first().map(|first| first.place.clone());
            facts.violations = violations;
        })
    }

    /// The document does not have the expected version.
    pub fn version_mismatch(versions: Versions, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::VersionMismatch, message).with(|facts| facts.versions = Some(versions))
    }

    /// A limit on size was exceeded.
    pub fn too_large(limit: Limit, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TooLarge, message).with_limit(limit)
    }

    /// A limit on work was exceeded.
    pub fn too_complex(limit: Limit, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TooComplex, message).with_limit(limit)
    }

    /// The deadline passed. `limit` is `None` if only the caller knows it.
    pub fn timeout(limit: Option<Limit>, message: impl Into<String>) -> Self {
        let error = Self::new(ErrorKind::Timeout, message);
        match limit {
            Some(limit) => error.with_limit(limit),
            None => error,
        }
    }

    /// A key that exceeds the maximum length.
    pub fn key_too_long(limit: Limit, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::KeyTooLong, message).with_limit(limit)
    }

    /// The budget of a resource is used up.
    pub fn exhausted(resource: Resource, limit: Limit, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Exhausted(resource), message).with_limit(limit)
    }

    /// A defect or damaged data. `detail` goes to the log and never to the client.
    pub fn internal(detail: impl Into<String>) -> Self {
        let message = "an internal error; the server's log has the detail";
        let detail = detail.into();
        Self::new(ErrorKind::Internal, message).with(|facts| facts.detail = Some(detail))
    }

    /// The store cannot serve requests. A non-empty `detail` goes to the log.
    pub fn unavailable(message: impl Into<String>, detail: impl Into<String>) -> Self {
        let error = Self::new(ErrorKind::Unavailable, message);
        match detail.into() {
            empty if empty.is_empty() => error,
            detail => error.with(|facts| facts.detail = Some(detail)),
        }
    }

    /// Adds the limit that was exceeded, unless the error already has one.
    #[must_use]
    pub fn with_limit(self, limit: Limit) -> Self {
        self.with(|facts| facts.limit = facts.limit.or(Some(limit)))
    }

    /// Adds the mutation that would avoid the error to the facts.
    #[must_use]
    pub fn with_remedy(self, mutation: Option<String>) -> Self {
        if mutation.is_none() {
            return self;
        }
        self.with(|facts| facts.remedy = mutation)
    }

    /// Adds the operation of a JSON Patch, counted from 0, to the facts and in front of the
    /// message.
    #[must_use]
    pub fn at_operation(self, number: usize) -> Self {
        self.at(format_args!("operation {number} of the patch"))
            .with(|facts| facts.operation = Some(number))
    }

    /// Adds `place` in front of the message.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// What the caller can do about the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The message for the caller.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The detail for the log only.
    pub fn detail(&self) -> Option<&str> {
        self.facts.as_ref()?.detail.as_deref()
    }

    /// The facts for programs.
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
