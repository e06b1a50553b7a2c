//! Sets of document keys: what the argument `keys` of a query asks for.

use super::entries::ids::{IdBytes, id_bytes};
use crate::database::document_key::strings_from;
use crate::document::id::DocumentId;
use crate::error::{Error, Limit, Result};
use crate::limits::LISTED_KEYS_MAX;
use crate::store::key_after;

/// Tests on the keys of documents. A key passes if it passes all of them.
#[derive(Clone, Debug, Default)]
pub struct KeyTests {
    /// A string that begins with this.
    pub prefix: Option<String>,
    /// After this key.
    pub gt: Option<DocumentId>,
    /// After or equal to this key.
    pub gte: Option<DocumentId>,
    /// Before this key.
    pub lt: Option<DocumentId>,
    /// Before or equal to this key.
    pub lte: Option<DocumentId>,
    /// Equal to one of these keys.
    pub one_of: Option<Vec<DocumentId>>,
}

/// A set of document keys, in the form in which the keys of the store end with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeySet {
    /// Every key.
    #[default]
    All,
    /// The keys from the first to before the second.
    Range(Vec<u8>, Vec<u8>),
    /// These keys, ascending and distinct.
    Listed(Vec<Vec<u8>>),
}

/// Greater than every key.
const PAST_ALL: &[u8] = &[0xFF];

impl KeySet {
    /// The keys of documents of `collection` that pass all `tests`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: two tests bound the same side. `TOO_COMPLEX`: more than
    /// [`LISTED_KEYS_MAX`] keys are listed. `TOO_LARGE`: a key exceeds the limit.
    pub fn new(collection: &str, tests: KeyTests) -> Result<Self> {
        for (first, second, both) in [
            ("gt", "gte", tests.gt.is_some() && tests.gte.is_some()),
            ("lt", "lte", tests.lt.is_some() && tests.lte.is_some()),
        ] {
            if both {
                return Err(Error::bad_input(format!(
                    "`{first}` and `{second}` exclude each other"
                )));
            }
        }
        let bytes = |id: &DocumentId| id_bytes(collection, id);
        let (mut begin, mut end) = (Vec::new(), PAST_ALL.to_vec());
        if let Some(prefix) = tests.prefix {
            (begin, end) = strings_from(&bytes(&DocumentId::Text(prefix))?);
        }
        if let Some(from) = &tests.gte {
            begin = begin.max(bytes(from)?);
        }
        if let Some(from) = &tests.gt {
            begin = begin.max(key_after(&bytes(from)?));
        }
        if let Some(to) = &tests.lt {
            end = end.min(bytes(to)?);
        }
        if let Some(to) = &tests.lte {
            end = end.min(key_after(&bytes(to)?));
        }
        let Some(listed) = tests.one_of else {
            return Ok(if begin.is_empty() && end == PAST_ALL {
                Self::All
            } else {
                Self::Range(begin, end)
            });
        };
        check_listed(listed.len())?;
        let mut listed: Vec<IdBytes> = listed.iter().map(bytes).collect::<Result<_>>()?;
        listed.retain(|key| begin <= *key && *key < end);
        listed.sort_unstable();
        listed.dedup();
        Ok(Self::Listed(listed))
    }

    /// Whether the set has every key.
    pub fn is_all(&self) -> bool {
        *self == Self::All
    }

    /// Whether the set is a list of keys.
    pub fn is_listed(&self) -> bool {
        matches!(self, Self::Listed(_))
    }

    /// Whether the set has this key.
    pub(crate) fn contains(&self, id: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Range(begin, end) => begin[..] <= *id && *id < end[..],
            Self::Listed(listed) => listed.binary_search_by(|key| key[..].cmp(id)).is_ok(),
        }
    }

    /// A range that has all keys of the set.
    pub(crate) fn bounds(&self) -> (Vec<u8>, Vec<u8>) {
        match self {
            Self::All => (Vec::new(), PAST_ALL.to_vec()),
            Self::Range(begin, end) => (begin.clone(), end.clone()),
            Self::Listed(listed) => match (listed.first(), listed.last()) {
                (Some(first), Some(last)) => (first.clone(), key_after(last)),
                _ => (Vec::new(), Vec::new()),
            },
        }
    }

    /// The set as bytes that no other set has.
    pub fn canonical(&self) -> Vec<u8> {
        let (kind, parts): (u8, Vec<&Vec<u8>>) = match self {
            Self::All => (0, Vec::new()),
            Self::Range(begin, end) => (1, vec![begin, end]),
            Self::Listed(listed) => (2, listed.iter().collect()),
        };
        let mut bytes = vec![kind];
        for part in parts {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part);
        }
        bytes
    }
}

/// Checks the number of keys in a list.
///
/// # Errors
/// `TOO_COMPLEX`: more than [`LISTED_KEYS_MAX`].
pub fn check_listed(keys: usize) -> Result<()> {
    if keys <= LISTED_KEYS_MAX {
        return Ok(());
    }
    Err(Error::too_complex(
        Limit::new("listedKeys", LISTED_KEYS_MAX),
        format!("`in` has {keys} keys; at most {LISTED_KEYS_MAX} are allowed"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 14] = [
        "\"\"", "\u{0}", "\u{0}a", "\"0\"", "\"12\"", "a", "a\u{0}", "a\u{0}b", "ab", "b", "-300",
        "-1", "0", "70000",
    ];

    fn id(text: &str) -> DocumentId {
        DocumentId::parse(text).expect(text)
    }

    fn bytes(id: &DocumentId) -> IdBytes {
        id_bytes("D", id).expect("short")
    }

    #[test]
    fn a_set_has_the_keys_that_pass_every_test() {
        type Test = (&'static str, fn(&DocumentId, &DocumentId) -> bool);
        let tests: [Test; 5] = [
            ("gt", |key, bound| key > bound),
            ("gte", |key, bound| key >= bound),
            ("lt", |key, bound| key < bound),
            ("lte", |key, bound| key <= bound),
            ("prefix", |key, bound| match (key, bound) {
                (DocumentId::Text(key), DocumentId::Text(bound)) => key.starts_with(&bound[..]),
                _ => false,
            }),
        ];
        for (name, passes) in tests {
            for bound in KEYS.map(id) {
                let mut tests = KeyTests::default();
                match (name, bound.clone()) {
                    ("gt", bound) => tests.gt = Some(bound),
                    ("gte", bound) => tests.gte = Some(bound),
                    ("lt", bound) => tests.lt = Some(bound),
                    ("lte", bound) => tests.lte = Some(bound),
                    (_, DocumentId::Text(text)) => tests.prefix = Some(text),
                    _ => continue,
                }
                let listed = KeyTests {
                    one_of: Some(KEYS.iter().rev().chain(&KEYS).map(|key| id(key)).collect()),
                    ..tests.clone()
                };
                let range = KeySet::new("D", tests).expect("valid");
                let listed = KeySet::new("D", listed).expect("valid");
                for key in KEYS.map(id) {
                    let expected = passes(&key, &bound);
                    let at = bytes(&key);
                    assert_eq!(range.contains(&at), expected, "{key} {name} {bound}");
                    assert_eq!(listed.contains(&at), expected, "{key} {name} {bound}");
                    let (begin, end) = listed.bounds();
                    assert!(!expected || begin <= at && at < end);
                }
            }
        }
    }

    #[test]
    fn tests_that_exclude_each_other_and_long_lists_are_rejected() {
        let both = KeyTests {
            gt: Some(id("a")),
            gte: Some(id("a")),
            ..KeyTests::default()
        };
        let error = KeySet::new("D", both).expect_err("both");
        assert!(error.message().contains("`gt` and `gte`"));
        let many = KeyTests {
            one_of: Some(vec![id("a"); LISTED_KEYS_MAX + 1]),
            ..KeyTests::default()
        };
        assert!(KeySet::new("D", many).is_err());
        assert!(KeySet::new("D", KeyTests::default()).expect("all").is_all());
    }
}
