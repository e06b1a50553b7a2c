//! Cross-origin requests (<https://fetch.spec.whatwg.org/#cors-protocol>).
//!
//! Only origins that the operator lists are allowed. There is no wildcard and no
//! `Access-Control-Allow-Credentials`, because Phyllo uses no cookies.

use std::str::FromStr;

use axum::extract::Request;
use axum::http::header::{ALLOW, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::error::Error;
use crate::limits::PREFLIGHT_TIME;

/// The methods of `/graphql`.
pub(crate) const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, OPTIONS");

/// An origin, serialized as in browsers: `https://app.example` or `http://localhost:5173`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(HeaderValue);

impl FromStr for Origin {
    type Err = Error;

    /// # Errors
    /// `BAD_USER_INPUT`: the text is not exactly one origin.
    fn from_str(text: &str) -> Result<Self, Error> {
        let lower = text.to_ascii_lowercase();
        origin(&lower).map(Self).ok_or_else(|| {
            Error::bad_input(format!(
                "{text:?} is not an origin such as https://app.example or http://localhost:5173 \
                 (no path, no trailing slash, no wildcard)"
            ))
        })
    }
}

fn origin(text: &str) -> Option<HeaderValue> {
    let uri: Uri = text.parse().ok()?;
    let (scheme, authority) = (uri.scheme_str()?, uri.authority()?);
    let host = authority.host();
    if host.is_empty() || host.contains('*') || text != format!("{scheme}://{authority}") {
        return None;
    }
    // Browsers omit the default port of the scheme and never send user information.
    let port = authority
        .port_u16()
        .filter(|port| !matches!((scheme, port), ("http", 80) | ("https", 443)));
    let plain = match authority.port() {
        Some(port) => *authority == *format!("{host}:{port}"),
        None => authority.as_str() == host,
    };
    let written = match port {
        Some(port) => format!("{scheme}://{host}:{port}"),
        None => format!("{scheme}://{host}"),
    };
    HeaderValue::from_str(&written).ok().filter(|_| plain)
}

/// Whether a WebSocket handshake comes from a page of this server, from a page of one of these
/// origins, or from no browser. Browsers send handshakes of any page to any server, without a
/// preflight and readable by the page, so the server must check the origin (RFC 6455 §10.2).
pub(crate) fn may_connect(headers: &HeaderMap, origins: &[Origin]) -> bool {
    let mut sent = headers.get_all(ORIGIN).iter();
    let Some(origin) = sent.next() else {
        return true;
    };
    let allowed = origins.iter().any(|Origin(allowed)| allowed == origin);
    sent.next().is_none() && (allowed || is_same_host(origin, headers))
}

/// Whether the origin has the host and port of the `Host` header. The schemes are not compared,
/// because a proxy in front of the server can terminate TLS.
fn is_same_host(origin: &HeaderValue, headers: &HeaderMap) -> bool {
    let text = |value: &HeaderValue| value.to_str().ok().map(str::to_ascii_lowercase);
    let origin = text(origin);
    let Some((scheme, authority)) = origin.as_deref().and_then(|text| text.split_once("://"))
    else {
        return false;
    };
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let host = headers.get(HOST).and_then(text);
    let host = host.as_deref();
    host.is_some_and(|host| host == authority || host.strip_suffix(default_port) == Some(authority))
}

/// Allows pages of these origins to send any header and to read responses.
pub(crate) fn allowing(origins: &[Origin]) -> CorsLayer {
    let origins = origins.iter().map(|Origin(origin)| origin.clone());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST])
        .allow_headers(AllowHeaders::mirror_request())
        .max_age(PREFLIGHT_TIME)
}

/// Middleware that adds `Allow` to responses to OPTIONS, for requests that are not preflights.
pub(crate) async fn with_methods(request: Request, next: Next) -> Response {
    let preflight = request.method() == Method::OPTIONS;
    let mut response = next.run(request).await;
    if preflight {
        response.headers_mut().insert(ALLOW, METHODS);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_server_and_of_allowed_origins_may_connect() {
        let origins = ["https://app.example".parse().expect("an origin")];
        for (origin, host, expected) in [
            (&[][..], "db.example", true),
            (&["https://app.example"], "db.example", true),
            (&["https://db.example"], "db.example", true),
            (&["https://DB.example"], "db.Example", true),
            (&["https://db.example"], "db.example:443", true),
            (&["http://localhost:8080"], "localhost:8080", true),
            (&["http://[::1]:8080"], "[::1]:8080", true),
            (&["http://localhost:8081"], "localhost:8080", false),
            (&["http://localhost"], "localhost:8080", false),
            (&["http://db.example"], "db.example:443", false),
            (&["https://db.example.evil"], "db.example", false),
            (&["https://evil-db.example"], "db.example", false),
            (&["https://sub.app.example"], "db.example", false),
            (&["http://app.example"], "db.example", false),
            (&["app://db.example"], "db.example", false),
            (&["db.example"], "db.example", false),
            (&["null"], "db.example", false),
            (&[""], "db.example", false),
            (
                &["https://db.example", "https://db.example"],
                "db.example",
                false,
            ),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HOST, HeaderValue::from_static(host));
            for origin in origin {
                headers.append(ORIGIN, HeaderValue::from_static(origin));
            }
            assert_eq!(
                may_connect(&headers, &origins),
                expected,
                "{origin:?} {host}"
            );
        }
    }

    #[test]
    fn origins_are_parsed_as_browsers_write_them() {
        for (text, expected) in [
            ("https://app.example", Some("https://app.example")),
            ("HTTPS://App.Example", Some("https://app.example")),
            ("http://localhost:5173", Some("http://localhost:5173")),
            ("https://app.example:443", Some("https://app.example")),
            ("http://app.example:443", Some("http://app.example:443")),
            ("http://[::1]:3000", Some("http://[::1]:3000")),
            ("app://bundle", Some("app://bundle")),
            ("https://app.example/", None),
            ("https://app.example/x", None),
            ("https://app.example?x", None),
            ("https://user@app.example", None),
            ("https://*.example", None),
            ("https://", None),
            ("app.example", None),
            ("https://a.example,https://b.example", None),
            ("https://a.example https://b.example", None),
            ("*", None),
            ("null", None),
            ("", None),
        ] {
            let read = text.parse::<Origin>().ok();
            let read = read
                .as_ref()
                .map(|Origin(value)| value.to_str().expect("ASCII"));
            assert_eq!(read, expected, "{text:?}");
        }
    }
}
