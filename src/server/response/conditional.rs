//! Conditional requests (RFC 9110 §13): whether a client has what it asks for already.

use axum::http::header::IF_NONE_MATCH;
use axum::http::{HeaderMap, HeaderName};

/// The element of `If-None-Match` that names an entity tag, or `*`. Tags are compared weakly
/// (RFC 9110 §13.1.2). None if the client has to be sent what it asks for.
pub(crate) fn known<'r>(etag: &str, request: &'r HeaderMap) -> Option<&'r str> {
    let mut known = elements(request, &IF_NONE_MATCH);
    known.find(|known| *known == "*" || opaque(known) == opaque(etag))
}

/// A tag without the mark of a weak one.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// The elements of a header that is a list (RFC 9110 §5.6.1). Those of a quoted text that has a
/// comma are parts of it, which no value of ours equals.
pub(crate) fn elements<'r>(
    request: &'r HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = &'r str> {
    let values = request.get_all(name).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).map(str::trim)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_version_is_known_whatever_the_strength_of_its_tag() {
        for (tags, expected) in [
            (&["\"1\""][..], Some("\"1\"")),
            (&["\"0\", W/\"1\""], Some("W/\"1\"")),
            (&["\"0\"", "\"2\" ,\"1\""], Some("\"1\"")),
            (&["*"], Some("*")),
            (&["\"11\""], None),
            (&["1"], None),
            (&["w/\"1\""], None),
            (&["W/W/\"1\""], None),
            (&["\"0,\"1\"\""], None),
            (&[""], None),
            (&[], None),
        ] {
            let values = tags.iter().map(|tags| HeaderValue::from_static(tags));
            let request: HeaderMap = values.map(|value| (IF_NONE_MATCH, value)).collect();
            for etag in ["\"1\"", "W/\"1\""] {
                assert_eq!(known(etag, &request), expected, "{tags:?}");
            }
        }
    }
}
