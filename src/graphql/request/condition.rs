//! What must be stored at the place of a write before it, as the headers of conditional requests say
//! (RFC 9110 §13).

use crate::error::{Error, ErrorKind, Result, Versions};

/// Versions of a document, as a header lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VersionTags {
    /// `*`: any version, or none, as long as something is stored at the place.
    Any,
    /// These versions.
    Listed(Vec<String>),
}

/// What must be stored at a place before it is written. By default, the state matters to nobody, and is
/// only reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteCondition {
    /// The versions of which the document must have one.
    pub is_one_of: Option<VersionTags>,
    /// The versions of which the document must have none.
    pub is_none_of: Option<VersionTags>,
}

/// What is stored at a place: the version of its document, which may have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredState {
    pub(crate) version: Option<String>,
}

impl VersionTags {
    fn has(&self, version: Option<&str>) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(listed) => version.is_some_and(|it| listed.iter().any(|tag| tag == it)),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Any => "*".to_owned(),
            Self::Listed(listed) => listed.join(", "),
        }
    }
}

impl WriteCondition {
    /// Whether every state fulfils it.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_one_of.is_none() && self.is_none_of.is_none()
    }

    /// Whether it depends on the version of the document, and not only on what is at the place.
    pub(crate) fn needs_version(&self) -> bool {
        [&self.is_one_of, &self.is_none_of]
            .into_iter()
            .any(|tags| matches!(tags, Some(VersionTags::Listed(_))))
    }

    /// A text that differs for different conditions.
    pub(crate) fn text(&self) -> String {
        let text = |tags: &Option<VersionTags>| tags.as_ref().map(VersionTags::text);
        let (one_of, none_of) = (text(&self.is_one_of), text(&self.is_none_of));
        format!(
            "{}\n{}",
            one_of.unwrap_or_default(),
            none_of.unwrap_or_default()
        )
    }

    /// As `WriteCondition::check`, where something with this version is stored.
    ///
    /// # Errors
    /// As `WriteCondition::check`.
    pub fn check_version(&self, version: Option<&str>) -> Result<()> {
        self.check(Some(&StoredState {
            version: version.map(str::to_owned),
        }))
    }

    /// Checks the state of a place, which is `None` if nothing is stored there.
    ///
    /// # Errors
    /// `VERSION_MISMATCH`: the document has none of the required versions, or nothing is stored at the
    /// place. `ALREADY_EXISTS`: it has one of the excluded versions.
    pub(crate) fn check(&self, state: Option<&StoredState>) -> Result<()> {
        let version = state.and_then(|state| state.version.as_deref());
        if let Some(required) = &self.is_one_of
            && !(state.is_some() && required.has(version))
        {
            let message = match (state, version) {
                (None, _) => "nothing is stored at the place".to_owned(),
                (Some(_), None) => "the document has no version".to_owned(),
                (Some(_), Some(version)) => {
                    format!("the document has the version {version}, which is not listed")
                }
            };
            let versions = Versions {
                expected: required.text(),
                current: version.map(str::to_owned),
            };
            return Err(Error::version_mismatch(versions, message));
        }
        if let Some(excluded) = &self.is_none_of
            && state.is_some()
            && excluded.has(version)
        {
            let message = "something is stored at the place, in a version that is excluded";
            return Err(Error::new(ErrorKind::AlreadyExists, message));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_as_the_standard_says() {
        let listed = |tags: &[&str]| {
            let tags = tags.iter().map(|tag| (*tag).to_owned());
            Some(VersionTags::Listed(tags.collect()))
        };
        let any = Some(VersionTags::Any);
        let state = |version: Option<&str>| {
            Some(StoredState {
                version: version.map(str::to_owned),
            })
        };
        for (is_one_of, is_none_of, state, expected) in [
            (None, None, None, None),
            (any.clone(), None, None, Some(ErrorKind::VersionMismatch)),
            (any.clone(), None, state(None), None),
            (listed(&["1"]), None, None, Some(ErrorKind::VersionMismatch)),
            (
                listed(&["1"]),
                None,
                state(None),
                Some(ErrorKind::VersionMismatch),
            ),
            (
                listed(&["1"]),
                None,
                state(Some("2")),
                Some(ErrorKind::VersionMismatch),
            ),
            (listed(&["1", "2"]), None, state(Some("2")), None),
            (
                listed(&[]),
                None,
                state(Some("2")),
                Some(ErrorKind::VersionMismatch),
            ),
            (None, any.clone(), None, None),
            (
                None,
                any.clone(),
                state(None),
                Some(ErrorKind::AlreadyExists),
            ),
            (
                None,
                listed(&["1"]),
                state(Some("1")),
                Some(ErrorKind::AlreadyExists),
            ),
            (None, listed(&["1"]), state(Some("2")), None),
            (None, listed(&["1"]), None, None),
        ] {
            let condition = WriteCondition {
                is_one_of,
                is_none_of,
            };
            let found = condition
                .check(state.as_ref())
                .err()
                .map(|error| error.kind());
            assert_eq!(found, expected, "{condition:?}, {state:?}");
        }
    }
}
