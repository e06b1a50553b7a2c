//! Conditional requests (RFC 9110 §13).

use axum::http::header::IF_NONE_MATCH;
use axum::http::{HeaderMap, HeaderName};

/// The element of `If-None-Match` that matches the entity tag, or `*`. Tags are compared
/// weakly (RFC 9110 §13.1.2). `None` if the response must be sent.
pub(crate) fn known<'r>(etag: &str, request: &'r HeaderMap) -> Option<&'r str> {
    let mut known = elements(request, &IF_NONE_MATCH);
    known.find(|known| *known == "*" || opaque(known) == opaque(etag))
}

/// The tag without its `W/` prefix.
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// Splits the elements of a list header (RFC 9110 §5.6.1). A quoted string with a comma is split
/// too; its parts match no tag of this server.
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
    fn weak_and_strong_entity_tags_match() {
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
