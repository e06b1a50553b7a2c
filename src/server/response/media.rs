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

    /// Returns the media type that the client prefers. Plain JSON if it does not say or accepts
    /// anything; `None` if it accepts neither.
    pub(crate) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let mut accept = headers.get_all(ACCEPT).iter().peekable();
        if accept.peek().is_none() {
            return Some(Self::Json);
        }
        let ranges = accept
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','));
        let mut best: Option<(f32, Self)> = None;
        for (media, quality) in ranges.filter_map(media_range) {
            if quality > 0.0 && best.is_none_or(|(best, _)| quality > best) {
                best = Some((quality, media));
            }
        }
        best.map(|(_, media)| media)
    }
}

fn media_range(range: &str) -> Option<(Media, f32)> {
    let mut parts = range.split(';').map(str::trim);
    let media = match parts.next()?.to_ascii_lowercase().as_str() {
        "application/graphql-response+json" => Media::GraphQl,
        "application/json" | "application/*" | "*/*" => Media::Json,
        _ => return None,
    };
    let quality = parts.find_map(|part| part.strip_prefix("q="));
    Some((
        media,
        quality.map_or(Some(1.0), |quality| quality.parse().ok())?,
    ))
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
