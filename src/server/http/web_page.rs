//! The page at `/`: the tabs Explore and `GraphiQL`, built from `web/` by `build.rs` and embedded in the binary.
//!
//! The page loads nothing from other hosts, and [`CONTENT_SECURITY_POLICY`] enforces that. Files
//! are embedded and sent as gzip, and decompressed for clients that do not accept gzip. File names
//! contain a digest of the contents, so the files are cached indefinitely. The page that names them
//! is revalidated each time.
//!
//! A binary built without npm has neither. It serves a page that explains how to build it.

use std::io::Read as _;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;

use crate::server::response::conditional::{elements, known};

include!(concat!(env!("OUT_DIR"), "/page_assets.rs"));

const INDEX: &str = "index.html";

/// Two directives are wider than `'self'`, both for Monaco, the editor in `GraphiQL`. Monaco
/// positions text with `style` attributes, writes colors into `<style>` elements, and draws
/// squiggly underlines with `data:` images. Scripts, workers, fonts and requests are limited to
/// this server, without `eval`.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; \
    worker-src 'self'; connect-src 'self'; font-src 'self'; img-src 'self' data:; \
    style-src 'self' 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Security headers of every response of this module.
const SAFETY: [(HeaderName, HeaderValue); 3] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(CONTENT_SECURITY_POLICY),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
];

/// One file of the page. `build.rs` generates the table of assets.
struct Asset {
    name: &'static str,
    /// Weak, because both encodings of a file share it (RFC 9110 §8.8.1).
    etag: &'static str,
    gzip: &'static [u8],
}

/// The routes of the page: `GET` and `HEAD` of `/` and of the files below `/assets/`.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/", get(index))
        .route("/assets/{name}", get(asset))
}

async fn index(request: HeaderMap) -> Response {
    match PAGE {
        Ok(assets) => answer(assets, INDEX, &request),
        Err(reason) => (SAFETY, Html(apology(reason))).into_response(),
    }
}

async fn asset(Path(name): Path<String>, request: HeaderMap) -> Response {
    answer(PAGE.unwrap_or_default(), &name, &request)
}

fn answer(assets: &[Asset], name: &str, request: &HeaderMap) -> Response {
    match assets.iter().find(|asset| asset.name == name) {
        Some(asset) => asset.answer(request),
        None => (StatusCode::NOT_FOUND, SAFETY, "no such file\n").into_response(),
    }
}

impl Asset {
    fn answer(&self, request: &HeaderMap) -> Response {
        let common = [
            (header::ETAG, self.etag),
            (header::CACHE_CONTROL, self.cache_control()),
            (header::VARY, "accept-encoding"),
        ];
        if known(self.etag, request).is_some() {
            return (StatusCode::NOT_MODIFIED, SAFETY, common).into_response();
        }
        let content_type = [(header::CONTENT_TYPE, content_type(self.name))];
        if takes_gzip(request) {
            let encoding = [(header::CONTENT_ENCODING, "gzip")];
            let body = Bytes::from_static(self.gzip);
            return (SAFETY, common, content_type, encoding, body).into_response();
        }
        (SAFETY, common, content_type, self.plain()).into_response()
    }

    /// The page is revalidated each time. Assets never change.
    fn cache_control(&self) -> &'static str {
        match self.name {
            INDEX => "no-cache",
            _ => "public, max-age=31536000, immutable",
        }
    }

    fn plain(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(self.gzip)
            .read_to_end(&mut plain)
            .expect("the build writes valid gzip files, and writing to a Vec cannot fail");
        plain
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("ndjson") => "application/x-ndjson",
        Some("txt") => "text/plain; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("woff") => "font/woff",
        Some("ttf") => "font/ttf",
        _ => "application/octet-stream",
    }
}

/// Whether the client accepts gzip (RFC 9110 §12.5.3). Without `Accept-Encoding`, every encoding is
/// acceptable, but such a client, for example `curl`, most likely shows the text as is.
fn takes_gzip(request: &HeaderMap) -> bool {
    let weight_of = |coding: &str| {
        elements(request, &header::ACCEPT_ENCODING)
            .map(coding_and_weight)
            .find(|(name, _)| name.eq_ignore_ascii_case(coding))
            .map(|(_, weight)| weight)
    };
    let weight = weight_of("gzip").or_else(|| weight_of("*"));
    weight.is_some_and(|weight| weight > 0.0)
}

/// Splits `gzip;q=0.5`. An invalid weight counts as 0.
fn coding_and_weight(element: &str) -> (&str, f32) {
    let (coding, parameter) = element.split_once(';').unwrap_or((element, "q=1"));
    let weight = parameter.trim().strip_prefix("q=");
    let weight = weight.and_then(|weight| weight.parse().ok());
    (coding.trim(), weight.unwrap_or(0.0))
}

/// The page of a binary that was built without npm.
fn apology(reason: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Phyllo</title>\n\
         <style>body {{ font: 16px/1.6 system-ui, sans-serif; margin: 3rem auto; \
         max-width: 42rem; padding: 0 1rem }}</style></head>\n<body><h1>Phyllo is running</h1>\n\
         <p>This binary was built without its page, which shows the stored documents and has the \
         GraphQL editor GraphiQL, because <em>{}</em>.</p>\n\
         <p>To include the page, install <a href=\"https://nodejs.org/\">Node.js</a> 20 or newer with \
         npm, make sure that the package registry is reachable, and run \
         <code>touch build.rs &amp;&amp; cargo build</code> in Phyllo's sources \
         (without <code>PHYLLO_WEB=skip</code>).</p>\n\
         <p>The API works without it: send <code>POST</code> requests to \
         <a href=\"graphql\">graphql</a> from any GraphQL client. The schema is at \
         <a href=\"schema.graphql\">schema.graphql</a>.</p>\n\
         </body></html>\n",
        reason.replace('&', "&amp;").replace('<', "&lt;")
    )
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use tower::ServiceExt as _;

    use super::*;

    fn headers(name: &HeaderName, values: &[&'static str]) -> HeaderMap {
        values
            .iter()
            .map(|value| (name.clone(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn gzip_is_sent_only_if_the_client_accepts_it() {
        for (accepted, expected) in [
            (&["gzip, deflate, br"][..], true),
            (&["br", "gzip"], true),
            (&["GZIP;q=0.1"], true),
            (&["*"], true),
            (&["gzip;q=0, *"], false),
            (&["gzip; q=0.000"], false),
            (&["identity"], false),
            (&["gzip;q=x"], false),
            (&[""], false),
            (&[], false),
        ] {
            let request = headers(&header::ACCEPT_ENCODING, accepted);
            assert_eq!(takes_gzip(&request), expected, "{accepted:?}");
        }
    }

    #[test]
    fn every_file_has_a_known_type_and_unpacks() {
        for asset in PAGE.unwrap_or_default() {
            let unknown = content_type("no.type");
            assert_ne!(content_type(asset.name), unknown, "{}", asset.name);
            asset.plain();
        }
    }

    #[test]
    fn a_missing_page_says_how_to_build_it() {
        let html = apology("`npm ci` failed: <offline> & out");
        for part in [
            "&lt;offline> &amp; out",
            "https://nodejs.org/",
            "cargo build",
        ] {
            assert!(html.contains(part), "{html}");
        }
    }

    #[tokio::test]
    async fn get_and_head_send_the_same_headers() {
        for method in ["GET", "HEAD"] {
            let (status, headers) = ask(method, "/").await;
            assert_eq!(status, StatusCode::OK);
            assert_eq!(headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
            assert_eq!(
                headers[header::CONTENT_SECURITY_POLICY],
                CONTENT_SECURITY_POLICY
            );
            assert_ne!(headers[header::CONTENT_LENGTH], "0");
        }
        let (status, _) = ask("GET", "/assets/none.js").await;
        assert_eq!(status, StatusCode::NOT_FOUND);
    }

    async fn ask(method: &str, uri: &str) -> (StatusCode, HeaderMap) {
        let request = Request::builder()
            .method(method)
            .uri(uri)
            .body(Body::empty())
            .expect("valid parts");
        let answer = routes().oneshot(request).await;
        let (parts, _) = answer.expect("a router does not fail").into_parts();
        (parts.status, parts.headers)
    }
}
