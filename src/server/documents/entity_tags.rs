//! Entity tags of documents and their parts (RFC 9110 §8.8), which are the versions of the documents.
//!
//! The version is the same for all representations of a part, and a strong tag must not be. So a
//! suffix names the representation: `"VERSION"` is JSON, `"VERSION-text"` text, and `-gzip` follows if
//! it is compressed. For a condition only the version matters.

use axum::http::header::{IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::graphql::{VersionTags, WriteCondition};
use crate::server::response::conditional::elements;

/// The tag of a representation.
pub(crate) fn entity_tag(version: &str, suffix: &str) -> Option<HeaderValue> {
    HeaderValue::from_str(&format!("\"{version}{suffix}\"")).ok()
}

/// What the headers of a conditional request require.
pub(crate) fn condition(headers: &HeaderMap) -> WriteCondition {
    WriteCondition {
        is_one_of: tags(headers, &IF_MATCH, Comparison::Strong),
        is_none_of: tags(headers, &IF_NONE_MATCH, Comparison::Weak),
    }
}

/// How a header compares tags (RFC 9110 §8.8.3.2).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// A weak tag matches nothing.
    Strong,
    /// A weak tag matches as a strong one.
    Weak,
}

fn tags(headers: &HeaderMap, name: &HeaderName, comparison: Comparison) -> Option<VersionTags> {
    if !headers.contains_key(name) {
        return None;
    }
    let mut versions = Vec::new();
    for element in elements(headers, name) {
        if element == "*" {
            return Some(VersionTags::Any);
        }
        let tag = match (element.strip_prefix("W/"), comparison) {
            (None, _) => element,
            (Some(tag), Comparison::Weak) => tag,
            (Some(_), Comparison::Strong) => continue,
        };
        let quoted = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
        if let Some(tag) = quoted {
            let version = tag.split_once('-').map_or(tag, |(version, _)| version);
            versions.push(version.to_owned());
        }
    }
    Some(VersionTags::Listed(versions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_in_a_tag_counts() {
        let listed = |versions: &[&str]| {
            let versions = versions.iter().map(|version| (*version).to_owned());
            Some(VersionTags::Listed(versions.collect()))
        };
        for (text, strong, weak) in [
            ("*", Some(VersionTags::Any), Some(VersionTags::Any)),
            ("\"1a\"", listed(&["1a"]), listed(&["1a"])),
            (
                "\"1a-text\", \"2-text-gzip\"",
                listed(&["1a", "2"]),
                listed(&["1a", "2"]),
            ),
            ("W/\"1a\"", listed(&[]), listed(&["1a"])),
            ("1a, \"", listed(&[]), listed(&[])),
            ("", listed(&[]), listed(&[])),
        ] {
            let mut headers = HeaderMap::new();
            assert_eq!(condition(&headers), WriteCondition::default());
            let value = HeaderValue::from_static(text);
            headers.insert(IF_MATCH, value.clone());
            headers.insert(IF_NONE_MATCH, value);
            let expected = WriteCondition {
                is_one_of: strong,
                is_none_of: weak,
            };
            assert_eq!(condition(&headers), expected, "{text}");
        }
    }
}
