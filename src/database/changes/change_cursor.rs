//! Positions in the change log, as text.

use std::fmt;

use super::history::Histories;
use super::read_change_log::Start;
use super::settings::ChangeSettings;
use crate::error::{Error, Result};
use crate::key::Version;
use crate::store::Read;

/// A position after a change. Its text is visible ASCII: the history, the version of the commit and,
/// unless the position is after the whole commit, the number of the change in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeCursor {
    /// The history to which the version of the position belongs.
    pub history: String,
    /// The position.
    pub position: ChangePosition,
}

/// A position after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangePosition {
    /// The version of a commit.
    pub version: Version,
    /// The number of the last change before the position, from 0. [`u32::MAX`] if the position is
    /// after the whole commit.
    pub change: u32,
}

/// The position after all commits that a snapshot includes. `None` if the change log is off.
///
/// # Errors
/// Errors of the store.
pub async fn changes_cursor(read: &dyn Read) -> Result<Option<ChangeCursor>> {
    let settings = ChangeSettings::read(read).await?;
    let Some(settings) = settings.filter(ChangeSettings::is_on) else {
        return Ok(None);
    };
    let version = read.version().await?;
    Ok(Some(ChangeCursor {
        history: Histories::of(settings, read).name(version),
        position: ChangePosition::after(version),
    }))
}

impl ChangePosition {
    /// The position after all changes of the commits up to a version.
    pub fn after(version: Version) -> Self {
        Self {
            version,
            change: u32::MAX,
        }
    }

    /// Where to begin to read the log.
    pub(super) fn start(self) -> Start {
        if self.change == u32::MAX {
            Start::After(self.version)
        } else {
            Start::At(self.version)
        }
    }
}

impl ChangeCursor {
    /// Parses the text of a cursor.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is not the text of a cursor.
    pub fn parse(text: &str) -> Result<Self> {
        parse(text).ok_or_else(|| {
            Error::bad_input("the cursor is not one of the change log (`DocumentChange.cursor`)")
        })
    }
}

fn parse(text: &str) -> Option<ChangeCursor> {
    let mut parts = text.split('-');
    let history = parts.next().filter(|text| is_hex(text, 16))?;
    let version = parts.next().filter(|text| is_hex(text, 20))?;
    let version = Version::parse(version)?;
    let change = match parts.next() {
        None => u32::MAX,
        Some(number) => {
            let parsed: u32 = number.parse().ok()?;
            (parsed.to_string() == number && parsed < u32::MAX).then_some(parsed)?
        }
    };
    if parts.next().is_some() {
        return None;
    }
    Some(ChangeCursor {
        history: history.to_owned(),
        position: ChangePosition { version, change },
    })
}

fn is_hex(text: &str, digits: usize) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
    text.len() == digits && text.bytes().all(is_digit)
}

impl fmt::Display for ChangeCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.history, self.position.version)?;
        match self.position.change {
            u32::MAX => Ok(()),
            change => write!(f, "-{change}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_text_of_a_cursor_is_accepted() {
        for change in [0, 7, u32::MAX] {
            let version = Version([0, 0, 0, 0, 0, 0, 1, 0xAB, 0, 3]);
            let cursor = ChangeCursor {
                history: "00ff00ff00ff00ff".to_owned(),
                position: ChangePosition { version, change },
            };
            let text = cursor.to_string();
            assert_eq!(ChangeCursor::parse(&text).expect("valid"), cursor);
            for wrong in [
                format!("{text}-"),
                format!("{text}-1-1"),
                text.to_uppercase(),
                text[1..].to_owned(),
                format!("{}-00", &text[..37]),
                format!("{}-4294967295", &text[..37]),
            ] {
                assert!(ChangeCursor::parse(&wrong).is_err(), "{wrong}");
            }
        }
    }
}
