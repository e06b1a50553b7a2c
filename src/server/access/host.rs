//! Rejects requests with an unknown `Host` header, as a protection against DNS rebinding: another
//! site could resolve its own name to this machine, and its pages would then be same-origin.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HOST};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, StatusCode, Version};
use axum::response::{IntoResponse, Response};
use tower_http::validate_request::{ValidateRequest, ValidateRequestHeaderLayer};

use crate::document::leaf::abridged;
use crate::error::Error;
use crate::graphql::GraphQl;
use crate::server::observe::refusal_log::{RefusalLog, refused_name};

/// A host name or address of the server, such as `db.example`, valid for every port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host(String);

impl FromStr for Host {
    type Err = Error;

    /// # Errors
    /// `BAD_USER_INPUT`: the text is not a host name or address, or has a port or a scheme.
    fn from_str(text: &str) -> Result<Self, Error> {
        let host = text.to_ascii_lowercase();
        let bare = host
            .parse::<Ipv6Addr>()
            .map(|address| format!("[{address}]"));
        let host = bare.unwrap_or(host);
        match name(&host) {
            Some(found) if found == host => Ok(Self(host)),
            _ => Err(Error::bad_input(format!(
                "{text:?} is not a host name or address such as db.example or 192.0.2.1 (no \
                 port, no scheme, no wildcard)"
            ))),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Middleware that rejects requests to unknown hosts.
#[derive(Clone, Debug)]
pub(crate) struct KnownHosts {
    /// Names other than those of this machine. `None` if every host is accepted.
    configured: Option<Arc<[Host]>>,
    refused: RefusalLog,
}

impl KnownHosts {
    /// On a loopback address, these are the names of this machine and the configured ones. On other
    /// addresses, they are the same if any are configured; if none are, every host is accepted.
    pub(crate) fn layer(listen: SocketAddr, hosts: &[Host]) -> ValidateRequestHeaderLayer<Self> {
        let is_limited = !hosts.is_empty() || listen.ip().to_canonical().is_loopback();
        let refused = RefusalLog::default();
        let configured = is_limited.then(|| hosts.into());
        ValidateRequestHeaderLayer::custom(Self {
            configured,
            refused,
        })
    }
}

impl ValidateRequest<Body> for KnownHosts {
    type ResponseBody = Body;

    fn validate(&mut self, request: &mut Request) -> Result<(), Response> {
        match &self.configured {
            Some(hosts) if !is_known(request, hosts) => Err(self.refuse(request)),
            _ => Ok(()),
        }
    }
}

impl KnownHosts {
    /// Logs the refused host, and returns the response.
    fn refuse(&self, request: &Request) -> Response {
        let named = named_host(request);
        let host = name(named).unwrap_or_default();
        let remedy = match host.parse::<Host>() {
            Ok(host) => format!("--host {host} allows it"),
            Err(_) => "--host allows the hosts that it names".to_owned(),
        };
        self.refused.warn(format!(
            "a request for the host {:?} was refused, because it is not a name of this server: {}",
            refused_name(named),
            refused_name(&remedy),
        ));
        let error = Error::bad_input(format!(
            "{:?} is not a host name of this server: start it with --host NAME for each name that \
             clients use",
            abridged(named)
        ));
        let json = HeaderValue::from_static("application/json; charset=utf-8");
        let mut response = GraphQl::refuse(&error).into_response();
        response.headers_mut().insert(CONTENT_TYPE, json);
        *response.status_mut() = StatusCode::MISDIRECTED_REQUEST;
        response
    }
}

/// The host that the request names, as it was sent.
fn named_host(request: &Request) -> &str {
    let host = request.headers().get(HOST);
    let host = host.map(|host| host.to_str().unwrap_or_default());
    let authority = request.uri().authority().map(Authority::as_str);
    host.or(authority).unwrap_or_default()
}

/// Whether every host that the request names is known.
fn is_known(request: &Request, hosts: &[Host]) -> bool {
    let known = |host: &str| {
        name(host)
            .is_some_and(|host| is_of_this_machine(&host) || hosts.iter().any(|it| it.0 == host))
    };
    let mut headers = request.headers().get_all(HOST).iter();
    let header = headers.next().map(|host| host.to_str().is_ok_and(known));
    // HTTP/2 names the host in `:authority`. In HTTP/1.1 the request target has an authority in
    // absolute form, as sent to proxies.
    let authority = request.uri().authority();
    let authority = authority.map(|authority| known(authority.as_str()));
    let named = match request.version() {
        Version::HTTP_2 => header.or(authority),
        _ => header,
    };
    named.is_some_and(|known| known)
        && authority.is_none_or(|known| known)
        && headers.next().is_none()
}

/// The host of an authority, in lower case and without its port.
pub(super) fn name(text: &str) -> Option<Cow<'_, str>> {
    plain_name(text)
        .map(Cow::Borrowed)
        .or_else(|| parsed_name(text).map(Cow::Owned))
}

/// As [`name`], of the usual form: a name in lower case, or an IPv4 address, that no root dot ends.
fn plain_name(text: &str) -> Option<&str> {
    let (host, port) = text.split_once(':').unwrap_or((text, ""));
    let is_plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-');
    let has_dot_at_end = host.ends_with('.');
    let plain = !host.is_empty() && !has_dot_at_end && host.bytes().all(is_plain);
    (plain && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(host)
}

fn parsed_name(text: &str) -> Option<String> {
    let authority: Authority = text.parse().ok()?;
    let host = authority.host().to_ascii_lowercase();
    let host = host.strip_suffix('.').unwrap_or(&host);
    let plain = !host.is_empty() && !text.contains(['@', '*']);
    plain.then(|| host.to_owned())
}

/// Whether the host always refers to this machine. Browsers never resolve these names by DNS (RFC
/// 6761 §6.3), so no other site can claim them.
pub(super) fn is_of_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_are_those_that_a_parser_finds() {
        for text in [
            "localhost",
            "127.0.0.1:8080",
            "db-1.example:",
            "a..b:1",
            "-",
            "x:99999",
        ] {
            assert!(plain_name(text).is_some(), "{text}");
            assert_eq!(plain_name(text), parsed_name(text).as_deref(), "{text}");
        }
        for text in [
            "",
            ":80",
            "Localhost",
            "localhost.",
            "[::1]:80",
            "::1",
            "a:b",
            "a:1:2",
            "u@a",
            "a/b",
            "*.a",
            "a_b",
        ] {
            assert_eq!(plain_name(text), None, "{text}");
        }
    }

    #[test]
    fn a_host_is_a_name_or_an_address_without_a_port() {
        for (text, expected) in [
            ("db.example", Some("db.example")),
            ("DB.Example", Some("db.example")),
            ("192.0.2.1", Some("192.0.2.1")),
            ("::1", Some("[::1]")),
            ("[2001:db8::1]", Some("[2001:db8::1]")),
            ("db.example:8080", None),
            ("http://db.example", None),
            ("db.example/", None),
            ("*.example", None),
            ("user@db.example", None),
            ("", None),
        ] {
            let host = text.parse::<Host>().ok().map(|host| host.0);
            assert_eq!(host.as_deref(), expected, "{text:?}");
        }
    }
}
