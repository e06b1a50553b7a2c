//! `format`: the strings of a standard form.

/// A format of strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A date and time with an offset (RFC 3339 `date-time`).
    DateTime,
    /// A date (RFC 3339 `full-date`).
    Date,
    /// A UUID (RFC 4122), in the form with hyphens.
    Uuid,
    /// An email address (RFC 5321 `Mailbox`).
    Email,
    /// An absolute URI (RFC 3986).
    Uri,
}

impl Format {
    /// The formats with their names in JSON Schema.
    pub(super) const NAMED: [(&'static str, Self); 5] = [
        ("date-time", Self::DateTime),
        ("date", Self::Date),
        ("uuid", Self::Uuid),
        ("email", Self::Email),
        ("uri", Self::Uri),
    ];

    /// The name in JSON Schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::DateTime => "date-time",
            Self::Date => "date",
            Self::Uuid => "uuid",
            Self::Email => "email",
            Self::Uri => "uri",
        }
    }
}
