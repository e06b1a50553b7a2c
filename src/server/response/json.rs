//! JSON responses.

use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderName, VARY};
use axum::http::{HeaderValue, Response, StatusCode};

use super::media::Media;

pub(crate) fn response(media: Media, status: StatusCode, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, media.content_type());
    headers.insert(VARY, HeaderValue::from_name(ACCEPT));
    response
}

pub(crate) fn with(
    mut response: Response<Body>,
    name: HeaderName,
    value: &'static str,
) -> Response<Body> {
    let value = HeaderValue::from_static(value);
    response.headers_mut().insert(name, value);
    response
}
