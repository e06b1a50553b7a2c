//! Who may come in, and what they may do: decided here and nowhere else.

pub(crate) mod cors;
pub(crate) mod host;
pub(crate) mod tokens;

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::connection::file_reload::{ReloadedFile, Watch};
use super::response::json::response;
use super::response::media::Media;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::{GraphQl, Methods};
use tokens::AccessTokens;

/// The rules of a server. Without a file of tokens everybody may come in.
#[derive(Clone, Debug, Default)]
pub struct Access {
    tokens: Option<Arc<ReloadedFile<AccessTokens>>>,
    read_only: bool,
}

/// Who sends a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Whether it was told from others by its token.
    pub(crate) known: bool,
    /// What it may have executed, by a method that is for all operations.
    pub(crate) methods: Methods,
}

impl Access {
    /// Rules by a file of tokens, if there is one. On a server that is `read_only` nobody may
    /// change data.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the file cannot be read. `BAD_USER_INPUT`: it is no file of tokens.
    pub fn new(token_file: Option<PathBuf>, read_only: bool) -> Result<Self> {
        let tokens = token_file.map(|path| {
            let file = Watch { path, secret: true };
            ReloadedFile::new(vec![file], |files| AccessTokens::read(&files.concat()))
        });
        Ok(Self {
            tokens: tokens.transpose()?.map(Arc::new),
            read_only,
        })
    }

    /// Whether only those come in who have a token.
    pub fn asks_for_token(&self) -> bool {
        self.tokens.is_some()
    }

    /// Whether nobody may change data.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Sees to it that a file of tokens that has changed is read anew; never ends.
    pub(crate) async fn watch(self) {
        match self.tokens {
            Some(tokens) => tokens.watch().await,
            None => std::future::pending().await,
        }
    }

    /// Reads the file of tokens at once, if there is one.
    pub(crate) async fn reload(&self) {
        if let Some(tokens) = &self.tokens {
            tokens.clone().reload().await;
        }
    }

    /// Who sends a request with these headers, and what they may do. Rules by path, once there are
    /// any, are found here too.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: no token was sent, or none that is known.
    fn caller(&self, headers: &HeaderMap) -> Result<Caller> {
        let mut writes = true;
        if let Some(tokens) = &self.tokens {
            let sent = bearer(headers)?;
            let tokens = tokens.current();
            let token = tokens.find(sent).ok_or_else(|| {
                unauthenticated("the token that was sent is none that this server knows")
            })?;
            tracing::Span::current().record("caller", &*token.name);
            writes = token.writes;
        }
        let methods = match (writes, self.read_only) {
            (_, true) => Methods::ReadOnly("this server is read-only"),
            (false, _) => Methods::ReadOnly("the token that was sent is read-only"),
            (true, false) => Methods::All,
        };
        Ok(Caller {
            known: self.tokens.is_some(),
            methods,
        })
    }
}

/// Lets in those who may, and says to what is behind it who they are. OPTIONS tells nothing that
/// is not in the documentation, and browsers send no token with it.
pub(crate) async fn admit(
    State(access): State<Access>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::OPTIONS {
        match access.caller(request.headers()) {
            Ok(caller) => request.extensions_mut().insert(caller),
            Err(error) => return refused(request.headers(), &error),
        };
    }
    next.run(request).await
}

/// The token in the header `Authorization` (RFC 6750 §2.1).
fn bearer(headers: &HeaderMap) -> Result<&[u8]> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = sent.next() else {
        return Err(unauthenticated(
            "this server asks for a token, in the header `Authorization: Bearer …`",
        ));
    };
    let value = value.as_bytes();
    let (scheme, token) = value
        .iter()
        .position(|byte| *byte == b' ')
        .map_or((value, &[][..]), |at| value.split_at(at));
    let token = token.trim_ascii();
    if !scheme.eq_ignore_ascii_case(b"bearer") || token.is_empty() || sent.next().is_some() {
        return Err(unauthenticated(
            "the header Authorization must be one, of the form `Bearer …`, with a token",
        ));
    }
    Ok(token)
}

fn unauthenticated(message: &str) -> Error {
    Error::new(ErrorKind::Unauthenticated, message)
}

/// 401. Which error it is for RFC 6750 §3.1: none where no token was sent.
fn refused(headers: &HeaderMap, error: &Error) -> Response {
    let media = Media::accepted(headers).unwrap_or(Media::Json);
    let body = GraphQl::refuse(error);
    let mut response = response(media, StatusCode::UNAUTHORIZED, body);
    let challenge = if headers.contains_key(AUTHORIZATION) {
        "Bearer realm=\"phyllo\", error=\"invalid_token\""
    } else {
        "Bearer realm=\"phyllo\""
    };
    challenge_with(&mut response, challenge);
    response
}

/// 403, to a request that asks for more than its sender may do.
pub(crate) fn forbidden(caller: &Caller, media: Media, body: Vec<u8>) -> Response {
    let mut response = response(media, StatusCode::FORBIDDEN, body);
    if caller.known {
        challenge_with(
            &mut response,
            "Bearer realm=\"phyllo\", error=\"insufficient_scope\"",
        );
    }
    response
}

fn challenge_with(response: &mut Response<Body>, challenge: &'static str) {
    let challenge = HeaderValue::from_static(challenge);
    response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
}
