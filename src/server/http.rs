//! GraphQL over HTTP, as its specification has it: <https://graphql.github.io/graphql-over-http/>.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{ACCEPT, ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Request as HttpRequest, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tokio::time::timeout;

use crate::error::{Error, ErrorKind};
use crate::graphql::{Answer, GraphQl, Methods, Request};
use crate::limits::{BODY_TIME_MAX, IDEMPOTENCY_KEY_BYTES_MAX};

/// What `/graphql` needs to answer.
#[derive(Clone)]
pub(super) struct Endpoint {
    graphql: GraphQl,
    body_bytes_max: usize,
}

impl Endpoint {
    pub(super) fn new(graphql: GraphQl, body_bytes_max: usize) -> Self {
        Self {
            graphql,
            body_bytes_max,
        }
    }

    async fn answer(&self, media: Media, request: Request, methods: Methods) -> Response<Body> {
        match self.graphql.answer(request, methods).await {
            Answer::Executed(body) => response(media, StatusCode::OK, body),
            Answer::Refused(body) => response(media, media.refused(), body),
            Answer::MutationRefused(body) => {
                let mut response = response(media, StatusCode::METHOD_NOT_ALLOWED, body);
                response
                    .headers_mut()
                    .insert(ALLOW, HeaderValue::from_static("POST"));
                response
            }
        }
    }
}

/// Queries may come by GET: `?query=…&variables=…&operationName=…`.
pub(super) async fn by_get(
    State(endpoint): State<Endpoint>,
    request: HttpRequest<Body>,
) -> Response<Body> {
    let Some(media) = Media::accepted(request.headers()) else {
        return not_acceptable();
    };
    match Request::from_parameters(request.uri().query().unwrap_or_default()) {
        Ok(request) => endpoint.answer(media, request, Methods::Queries).await,
        Err(error) => refused(media, &error),
    }
}

/// All operations come by POST, as JSON and nothing else, so that no form of another site can
/// send one.
pub(super) async fn by_post(
    State(endpoint): State<Endpoint>,
    request: HttpRequest<Body>,
) -> Response<Body> {
    let Some(media) = Media::accepted(request.headers()) else {
        return not_acceptable();
    };
    if !is_json(request.headers()) {
        let error = Error::bad_input("the content type of the body must be application/json");
        return response(
            media,
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            GraphQl::refuse(&error),
        );
    }
    let idempotency_key = match idempotency_key(request.headers()) {
        Ok(key) => key,
        Err(error) => return refused(media, &error),
    };
    let body = match body(request, endpoint.body_bytes_max).await {
        Ok(body) => body,
        Err(error) => return refused(media, &error),
    };
    match Request::from_json(&body) {
        Ok(request) => {
            let request = Request {
                idempotency_key,
                ..request
            };
            endpoint.answer(media, request, Methods::All).await
        }
        Err(error) => refused(media, &error),
    }
}

/// The key of the header `Idempotency-Key`, with or without the quotes that its draft standard
/// has around it.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let mut given = headers.get_all("idempotency-key").iter();
    let Some(value) = given.next() else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|_| given.next().is_none());
    let key = text.map(str::trim).map(|text| {
        let quoted = text.strip_prefix('"');
        quoted
            .and_then(|text| text.strip_suffix('"'))
            .unwrap_or(text)
    });
    match key {
        Some(key) if !key.is_empty() && key.len() <= IDEMPOTENCY_KEY_BYTES_MAX => {
            Ok(Some(key.to_owned()))
        }
        _ => Err(Error::bad_input(format!(
            "the header Idempotency-Key must be one text of 1 to {IDEMPOTENCY_KEY_BYTES_MAX} \
             visible ASCII characters"
        ))),
    }
}

/// The media types that a response can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Media {
    GraphQl,
    Json,
}

impl Media {
    const fn content_type(self) -> HeaderValue {
        match self {
            Self::GraphQl => {
                HeaderValue::from_static("application/graphql-response+json; charset=utf-8")
            }
            Self::Json => HeaderValue::from_static("application/json; charset=utf-8"),
        }
    }

    /// The status of a response to a request that was read but not executed: clients of plain
    /// JSON take any other status than 200 for a failure of the network.
    const fn refused(self) -> StatusCode {
        match self {
            Self::GraphQl => StatusCode::BAD_REQUEST,
            Self::Json => StatusCode::OK,
        }
    }

    /// The one that the client likes best; plain JSON if it does not say or takes anything.
    fn accepted(headers: &HeaderMap) -> Option<Self> {
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

fn is_json(headers: &HeaderMap) -> bool {
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

async fn body(request: HttpRequest<Body>, bytes_max: usize) -> Result<Bytes, Error> {
    let too_large = || {
        Error::too_large(format!(
            "the body is larger than {bytes_max} bytes, which is the limit"
        ))
    };
    let length = request.headers().get(CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if length.is_some_and(|length| length > bytes_max) {
        return Err(too_large());
    }
    let read = Limited::new(request.into_body(), bytes_max).collect();
    match timeout(BODY_TIME_MAX, read).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => Err(Error::bad_input(format!(
            "the body did not arrive whole: {error}"
        ))),
        Err(_) => Err(Error::new(
            ErrorKind::Timeout,
            format!(
                "the body did not arrive within {} s",
                BODY_TIME_MAX.as_secs()
            ),
        )),
    }
}

/// The response to a request that could not be read.
fn refused(media: Media, error: &Error) -> Response<Body> {
    let status = match error.kind() {
        ErrorKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorKind::Timeout => StatusCode::REQUEST_TIMEOUT,
        _ => StatusCode::BAD_REQUEST,
    };
    response(media, status, GraphQl::refuse(error))
}

fn not_acceptable() -> Response<Body> {
    let error = Error::bad_input(
        "the Accept header must allow application/graphql-response+json or application/json",
    );
    response(
        Media::Json,
        StatusCode::NOT_ACCEPTABLE,
        GraphQl::refuse(&error),
    )
}

fn response(media: Media, status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(CONTENT_TYPE, media.content_type());
    response
}
