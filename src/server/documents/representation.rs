//! The representations of a part: JSON, and the decoded text of a string, of which a client can read a
//! range (RFC 9110 §12.5.1, §14).

use std::ops::Range;

use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, HeaderValue, IF_RANGE, RANGE};

use crate::document::json::{Event, Reader, utf8};
use crate::server::response::conditional::elements;

/// What a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AcceptedParts {
    pub(crate) json: bool,
    pub(crate) text: bool,
    /// Whether text is preferred to JSON.
    pub(crate) prefers_text: bool,
}

impl AcceptedParts {
    /// What the header `Accept` says. Without it, or with `*/*` alone, JSON is preferred.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        if !headers.contains_key(ACCEPT) {
            return Self {
                json: true,
                text: true,
                prefers_text: false,
            };
        }
        let json = quality(headers, ["application/json", "application/*", "*/*"]);
        let text = quality(headers, ["text/plain", "text/*", "*/*"]);
        Self {
            json: json > 0.0,
            text: text > 0.0,
            prefers_text: text > json,
        }
    }
}

/// The quality of the most specific of these ranges that the header has, from specific to general.
fn quality(headers: &HeaderMap, ranges: [&str; 3]) -> f32 {
    let of = |range: &str| {
        elements(headers, &ACCEPT).find_map(|element| {
            let mut parts = element.split(';').map(str::trim);
            let media = parts.next()?;
            let quality =
                parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
            let quality = quality.map_or(1.0, |quality| quality.parse().unwrap_or(0.0));
            media.eq_ignore_ascii_case(range).then_some(quality)
        })
    };
    ranges.into_iter().find_map(of).unwrap_or(0.0)
}

/// The text of a string, given as JSON. `None` if it is not a string.
pub(crate) fn text_of(json: &[u8]) -> Option<Bytes> {
    let text = utf8(json).ok()?;
    match Reader::new(text, 0).next() {
        Ok(Event::String(text)) => Some(Bytes::from(text.into_owned())),
        _ => None,
    }
}

/// The range of a text that a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AskedRange {
    /// The whole text: no range, several, or one that is not understood.
    Whole,
    Part(Range<usize>),
    /// Nothing of the text is in the range.
    Unsatisfiable,
}

impl AskedRange {
    /// The range that the headers ask for, of `length` bytes with this tag.
    pub(crate) fn of(headers: &HeaderMap, length: usize, tag: Option<&HeaderValue>) -> Self {
        let mut ranges = headers.get_all(RANGE).iter();
        let (Some(range), None) = (ranges.next(), ranges.next()) else {
            return Self::Whole;
        };
        if let Some(condition) = headers.get(IF_RANGE)
            && tag != Some(condition)
        {
            return Self::Whole;
        }
        let text = range.to_str().unwrap_or_default();
        let parsed = text
            .strip_prefix("bytes=")
            .and_then(|range| range.split_once('-'));
        let Some((first, last)) = parsed else {
            return Self::Whole;
        };
        let number = |text: &str| -> Option<usize> {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            // A number that is too large is past every end.
            digits.then(|| text.parse().unwrap_or(usize::MAX))
        };
        let range = match (first.trim(), last.trim()) {
            ("", suffix) => number(suffix).map(|suffix| length.saturating_sub(suffix)..length),
            (first, "") => number(first).map(|first| first..length),
            (first, last) => match (number(first), number(last)) {
                (Some(first), Some(last)) if first <= last => {
                    Some(first..last.saturating_add(1).min(length))
                }
                _ => None,
            },
        };
        match range {
            None => Self::Whole,
            Some(range) if range.start < range.end => Self::Part(range),
            Some(_) => Self::Unsatisfiable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_preferred_representation_is_chosen() {
        for (accept, json, text, prefers_text) in [
            ("*/*", true, true, false),
            ("text/plain", false, true, true),
            ("text/*;q=0.5, application/json", true, true, false),
            ("text/plain, */*;q=0.1", true, true, true),
            (
                "text/html, application/xml;q=0.9, */*;q=0.8",
                true,
                true,
                false,
            ),
            ("application/json;q=0, */*", false, true, true),
            ("image/png", false, false, false),
            ("", false, false, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            let expected = AcceptedParts {
                json,
                text,
                prefers_text,
            };
            assert_eq!(AcceptedParts::of(&headers), expected, "{accept}");
        }
    }

    #[test]
    fn ranges_are_those_of_the_standard() {
        use AskedRange::{Part, Unsatisfiable, Whole};
        for (range, expected) in [
            ("bytes=0-3", Part(0..4)),
            ("bytes=3-100", Part(3..10)),
            ("bytes=9-", Part(9..10)),
            ("bytes=-3", Part(7..10)),
            ("bytes=-100", Part(0..10)),
            ("bytes=10-", Unsatisfiable),
            ("bytes=-0", Unsatisfiable),
            ("bytes=99999999999999999999999-", Unsatisfiable),
            ("bytes=3-2", Whole),
            ("bytes=0-1,3-4", Whole),
            ("bytes=a-b", Whole),
            ("bytes=-", Whole),
            ("lines=1-2", Whole),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RANGE, HeaderValue::from_static(range));
            assert_eq!(AskedRange::of(&headers, 10, None), expected, "{range}");
            let other = HeaderValue::from_static("\"1\"");
            headers.insert(IF_RANGE, HeaderValue::from_static("\"2\""));
            assert_eq!(AskedRange::of(&headers, 10, Some(&other)), Whole);
        }
        assert_eq!(AskedRange::of(&HeaderMap::new(), 10, None), Whole);
    }
}
