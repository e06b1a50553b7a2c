//! The token in the headers of a request.

use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};

use crate::error::{Error, ErrorKind, Result};

/// Returns the token in the `Authorization` header (RFC 6750 §2.1).
pub(super) fn bearer(headers: &HeaderMap) -> Result<&[u8]> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let value = sent.next().map_or(&[][..], HeaderValue::as_bytes);
    let (scheme, token) = value
        .iter()
        .position(|byte| *byte == b' ')
        .map_or((value, &[][..]), |at| value.split_at(at));
    let token = token.trim_ascii();
    if !scheme.eq_ignore_ascii_case(b"bearer") || token.is_empty() || sent.next().is_some() {
        return Err(unauthenticated(
            "there must be exactly one Authorization header, of the form `Bearer …`, with a token",
        ));
    }
    Ok(token)
}

/// The error of a request whose token is missing or refused.
pub(super) fn unauthenticated(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unauthenticated, message)
}
