//! How a command ends.

use crate::error::{Error, ErrorKind};

/// Exit code of a command that did not do what it was told to.
pub(crate) const FAILED: u8 = 1;

/// Exit code of a command line that means nothing, as clap has it, or that names a collection which
/// is not there.
pub(crate) const MISUSED: u8 = 2;

/// How a command ended early.
pub(crate) enum Ended {
    /// It failed, and this is to be said.
    Failed(Error),
    /// The command line means nothing, as this says.
    Misused(Error),
    /// It failed, and has said so.
    Told,
    /// Nobody reads its output any more, as in `phyllo export | head`, so it was done.
    Unread,
}

pub(crate) type Done = Result<(), Ended>;

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The error of a command that the machine, and not what it was given, makes fail.
pub(crate) fn failed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}
