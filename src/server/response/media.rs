//! Media types of requests and responses.

use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};

/// The media types of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Media {
    GraphQl,
    Json,
}

impl Media {
    pub(crate) const fn content_type(self) -> HeaderValue {
        match self {
            Self::GraphQl => {
                HeaderValue::from_static("application/graphql-response+json; charset=utf-8")
            }
            Self::Json => HeaderValue::from_static("application/json; charset=utf-8"),
        }
    }

    /// The status of a response to a request that was parsed but not executed. Clients that expect
    /// `application/json` treat any status other than 200 as a network failure.
    pub(crate) const fn refused(self) -> StatusCode {
        match self {
            Self::GraphQl => StatusCode::BAD_REQUEST,
            Self::Json => StatusCode::OK,
        }
    }

    /// The media type of a single response that the client prefers. Plain JSON if it does
    /// not say or accepts anything; `None` if it accepts neither.
    pub(crate) fn accepted(headers: &HeaderMap) -> Option<Self> {
        preferred(headers, |range| match media_range(range)? {
            (Accepted::Whole(media), quality) => Some((media, quality)),
            (Accepted::Stream(_), _) => None,
        })
    }
}

/// The media types of any number of responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamMedia {
    /// Server-sent events.
    Events,
    /// The parts of Apollo's protocol for subscriptions.
    Multipart,
}

/// How a client wants to receive responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepted {
    Whole(Media),
    Stream(StreamMedia),
}

impl Accepted {
    /// What the client prefers, in the way of [`Media::accepted`].
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        preferred(headers, media_range)
    }

    /// The media type of the response to a request that could not be read.
    pub(crate) fn for_errors(self) -> Media {
        match self {
            Self::Whole(media) => media,
            Self::Stream(_) => Media::Json,
        }
    }
}

/// The media type with the best quality, and the first of several.
fn preferred<T: Preferable>(
    headers: &HeaderMap,
    known: impl Fn(&str) -> Option<(T, f32)>,
) -> Option<T> {
    let mut accept = headers.get_all(ACCEPT).iter().peekable();
    if accept.peek().is_none() {
        return Some(T::UNSAID);
    }
    let ranges = accept
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    let mut best: Option<(f32, T)> = None;
    for (media, quality) in ranges.filter_map(known) {
        if quality > 0.0 && best.as_ref().is_none_or(|(best, _)| quality > *best) {
            best = Some((quality, media));
        }
    }
    best.map(|(_, media)| media)
}

/// A choice of media types with a default.
trait Preferable {
    /// What is sent to a client that does not say what it accepts.
    const UNSAID: Self;
}

impl Preferable for Media {
    const UNSAID: Self = Self::Json;
}

impl Preferable for Accepted {
    const UNSAID: Self = Self::Whole(Media::Json);
}

fn media_range(range: &str) -> Option<(Accepted, f32)> {
    let mut parts = range.split(';').map(str::trim);
    let media = match parts.next()?.to_ascii_lowercase().as_str() {
        "application/graphql-response+json" => Accepted::Whole(Media::GraphQl),
        "application/json" | "application/*" | "*/*" => Accepted::Whole(Media::Json),
        "text/event-stream" => Accepted::Stream(StreamMedia::Events),
        // Without this parameter, the client expects parts in another form.
        "multipart/mixed" if parts.clone().any(is_subscription_spec) => {
            Accepted::Stream(StreamMedia::Multipart)
        }
        _ => return None,
    };
    let quality = parts.find_map(|part| part.strip_prefix("q="));
    Some((
        media,
        quality.map_or(Some(1.0), |quality| quality.parse().ok())?,
    ))
}

fn is_subscription_spec(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    let version = value.trim().trim_matches('"');
    name.trim().eq_ignore_ascii_case("subscriptionSpec") && version == "1.0"
}

/// Whether the content type is JSON in UTF-8.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let Some(content_type) = content_type else {
        return false;
    };
    let mut parts = content_type.split(';').map(str::trim);
    let json = parts
        .next()
        .is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    let utf8 = parts.all(
        |part| match part.to_ascii_lowercase().strip_prefix("charset=") {
            Some(charset) => charset.trim_matches('"') == "utf-8",
            None => true,
        },
    );
    json && utf8
}

#[cfg(test)]
mod tests {
    use axum::http::header::ACCEPT;

    use super::*;

    #[test]
    fn the_preferred_media_type_is_chosen() {
        use StreamMedia::{Events, Multipart};
        for (accept, expected) in [
            ("", None),
            ("*/*", Some(Accepted::Whole(Media::Json))),
            ("text/html", None),
            ("text/event-stream", Some(Accepted::Stream(Events))),
            (
                "Text/Event-Stream;q=0.5, application/json;q=0.4",
                Some(Accepted::Stream(Events)),
            ),
            (
                "application/json, text/event-stream",
                Some(Accepted::Whole(Media::Json)),
            ),
            ("text/event-stream;q=0", None),
            ("multipart/mixed", None),
            ("multipart/mixed;deferSpec=20220824", None),
            ("multipart/mixed;subscriptionSpec=2.0", None),
            (
                "multipart/mixed;boundary=\"graphql\";subscriptionSpec=\"1.0\",application/json",
                Some(Accepted::Stream(Multipart)),
            ),
            (
                "multipart/mixed; subscriptionspec=1.0",
                Some(Accepted::Stream(Multipart)),
            ),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(accept));
            assert_eq!(Accepted::of(&headers), expected, "{accept}");
            let whole = match expected {
                Some(Accepted::Whole(media)) => Some(media),
                _ if accept.contains("application/json") => Some(Media::Json),
                _ => None,
            };
            assert_eq!(Media::accepted(&headers), whole, "{accept}");
        }
        assert_eq!(
            Accepted::of(&HeaderMap::new()),
            Some(Accepted::Whole(Media::Json))
        );
    }
}
