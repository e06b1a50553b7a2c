//! Cross-origin requests (<https://fetch.spec.whatwg.org/#cors-protocol>).
//!
//! Only origins that the operator allows are allowed. There is no wildcard and no
//! `Access-Control-Allow-Credentials`, because Phyllo uses no cookies.

use std::str::FromStr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ALLOW, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};
use tower_http::validate_request::{ValidateRequest, ValidateRequestHeaderLayer};

use super::host::{is_of_this_machine, name};
use crate::error::Error;
use crate::limits::PREFLIGHT_TIME;
use crate::server::observe::refusal_log::{RefusalLog, refused_name};

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

/// The origins whose pages may send requests. Clones share the log of the others.
#[derive(Clone, Debug, Default)]
pub struct AllowedOrigins {
    listed: Arc<[Origin]>,
    /// Whether every origin of this machine is allowed, too.
    local: bool,
    refused: RefusalLog,
}

impl AllowedOrigins {
    /// Allows these origins and, if `local`, the origins with `http` or `https` and any port of
    /// `localhost` and of loopback addresses.
    pub fn new(listed: Vec<Origin>, local: bool) -> Self {
        Self {
            listed: listed.into(),
            local,
            refused: RefusalLog::default(),
        }
    }

    /// Whether only pages of the server itself may send requests.
    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty() && !self.local
    }

    fn allow(&self, origin: &HeaderValue) -> bool {
        let listed = self.listed.iter().any(|Origin(listed)| listed == origin);
        listed || (self.local && is_local(origin))
    }

    /// Whether a WebSocket handshake comes from a page of this server, from a page of an allowed
    /// origin, or from no browser. Browsers send handshakes of any page to any server, without a
    /// preflight and readable by the page, so the server must check the origin (RFC 6455 §10.2).
    /// Logs a refused origin.
    pub(crate) fn may_connect(&self, headers: &HeaderMap) -> bool {
        match self.refused(headers) {
            None => true,
            Some(origin) => {
                self.log(origin, "a WebSocket handshake from");
                false
            }
        }
    }

    /// The origin that the request names, if its pages may not use this server.
    fn refused<'h>(&self, headers: &'h HeaderMap) -> Option<&'h HeaderValue> {
        let mut sent = headers.get_all(ORIGIN).iter();
        let origin = sent.next()?;
        let allowed =
            sent.next().is_none() && (self.allow(origin) || is_same_host(origin, headers));
        (!allowed).then_some(origin)
    }

    fn log(&self, origin: &HeaderValue, what: &str) {
        let name = refused_name(origin.to_str().unwrap_or_default());
        let remedy = match name.parse::<Origin>() {
            Ok(_) => format!("--cors-origin {name} allows it"),
            Err(_) => "--cors-origin allows the origins that it names".to_owned(),
        };
        self.refused.warn(format!(
            "{what} a page of {name:?} was refused, because the origin is not allowed: {remedy}"
        ));
    }
}

/// Whether the origin is one of a web server on this machine.
fn is_local(origin: &HeaderValue) -> bool {
    let origin = origin.to_str().unwrap_or_default();
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    let host = authority.and_then(name);
    // A browser writes nothing but the host and the port.
    host.is_some_and(|host| is_of_this_machine(&host)) && self::origin(origin).is_some()
}

/// Middleware that logs requests of pages whose origin is not allowed. The browser refuses them, because
/// the response does not allow the origin.
#[derive(Clone, Debug)]
pub(crate) struct RefusedOrigins(AllowedOrigins);

impl RefusedOrigins {
    pub(crate) fn layer(origins: &AllowedOrigins) -> ValidateRequestHeaderLayer<Self> {
        ValidateRequestHeaderLayer::custom(Self(origins.clone()))
    }
}

impl ValidateRequest<Body> for RefusedOrigins {
    type ResponseBody = Body;

    fn validate(&mut self, request: &mut Request) -> Result<(), Response> {
        let headers = request.headers();
        if let Some(origin) = self.0.refused(headers)
            // A proxy can have replaced the name of the host.
            && headers.get("sec-fetch-site").is_none_or(|site| site != "same-origin")
        {
            self.0.log(origin, "a request from");
        }
        Ok(())
    }
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
pub(crate) fn allowing(origins: &AllowedOrigins) -> CorsLayer {
    let origins = origins.clone();
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, _| {
            origins.allow(origin)
        }))
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
        let origins = vec!["https://app.example".parse().expect("an origin")];
        let origins = AllowedOrigins::new(origins, false);
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
            assert_eq!(origins.may_connect(&headers), expected, "{origin:?} {host}");
        }
    }

    #[test]
    fn local_origins_are_those_of_web_servers_on_this_machine() {
        for (origin, expected) in [
            ("http://localhost", true),
            ("http://localhost:5173", true),
            ("https://localhost:5173", true),
            ("http://app.localhost:3000", true),
            ("http://127.0.0.1:8080", true),
            ("http://127.1.2.3", true),
            ("http://[::1]:3000", true),
            ("http://localhost.evil.example", false),
            ("http://localhost:5173.evil.example", false),
            ("http://evil.example:5173", false),
            ("http://notlocalhost", false),
            ("http://192.0.2.1", false),
            ("http://10.0.0.1:5173", false),
            ("http://[2001:db8::1]", false),
            ("http://0.0.0.0:5173", false),
            ("http://user@localhost", false),
            ("http://localhost/", false),
            ("http://localhost:5173/x", false),
            ("ftp://localhost", false),
            ("app://localhost", false),
            ("localhost", false),
            ("file://", false),
            ("null", false),
            ("", false),
        ] {
            let origins = AllowedOrigins::new(Vec::new(), true);
            let sent = HeaderValue::from_static(origin);
            assert_eq!(origins.allow(&sent), expected, "{origin:?}");
            assert!(!AllowedOrigins::default().allow(&sent), "{origin:?}");
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
