//! Outcomes and exit codes of commands.

use crate::error::{Error, ErrorKind};

/// Exit code of a command that failed.
pub(crate) const FAILED: u8 = 1;

/// Exit code of an invalid command line, as in clap, or of one that names a missing collection.
pub(crate) const MISUSED: u8 = 2;

/// Why a command ended early.
pub(crate) enum Ended {
    /// It failed; the error is not printed yet.
    Failed(Error),
    /// The command line is invalid; the error is not printed yet.
    Misused(Error),
    /// It failed and has reported that.
    Told,
    /// A signal ended it.
    Interrupted(Interrupt),
    /// A signal ended it, and it has reported that.
    InterruptedAndTold(Interrupt),
    /// The reader of its output has closed it, as in `phyllo export | head`. This counts as
    /// success.
    Unread,
}

/// A signal that ends a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// SIGINT
    Interrupt,
    /// SIGTERM
    Terminate,
}

impl Interrupt {
    /// The exit code, as a shell reports the signal.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 128 + 2,
            Self::Terminate => 128 + 15,
        }
    }
}

pub(crate) type Done = Result<(), Ended>;

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// An error that the environment caused, not the input.
pub(crate) fn failed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}
