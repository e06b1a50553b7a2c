//! Authenticates callers and decides what they may execute. No other module makes access decisions.

pub(crate) mod cors;
pub(crate) mod host;
pub(crate) mod operation_files;
pub(crate) mod tokens;

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::Response;
use tokens::{AccessTokens, TokenDigest};
use tokio::sync::watch;
use tower_http::validate_request::{ValidateRequest, ValidateRequestHeaderLayer};

use super::connection::caller_slot::{CallerKey, CallerSlot, Rights};
use super::file_reload::{ReloadedFile, Watch};
use super::response::json::response;
use super::response::media::Media;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::{GraphQl, Methods};

/// The access rules of a server. Without a token file, every caller is admitted.
#[derive(Clone, Debug, Default)]
pub struct Access {
    tokens: Option<Arc<ReloadedFile<AccessTokens>>>,
    read_only: bool,
}

/// The sender of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Whether the caller was identified by a token.
    pub(crate) known: bool,
    /// What the caller may execute over POST.
    pub(crate) methods: Methods,
    /// The token that identified the caller.
    token: Option<TokenDigest>,
}

impl Access {
    /// Creates rules from a token file, if there is one. A `read_only` server rejects all
    /// mutations.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the file cannot be read. `BAD_USER_INPUT`: it is not a valid token file.
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

    /// Whether requests must carry a token.
    pub fn asks_for_token(&self) -> bool {
        self.tokens.is_some()
    }

    /// Whether the server rejects all mutations.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Reloads the token file whenever it changes. Never returns.
    pub(crate) async fn watch(self) {
        match self.tokens {
            Some(tokens) => tokens.watch().await,
            None => std::future::pending().await,
        }
    }

    /// Reloads the token file immediately, if there is one.
    pub(crate) async fn reload(&self) {
        if let Some(tokens) = &self.tokens {
            tokens.clone().reload().await;
        }
    }

    /// Identifies the sender of a request by its headers. Access rules by path belong here.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: the token is missing or unknown.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller> {
        match &self.tokens {
            None => Ok(self.admitted(None, true)),
            Some(_) => self.caller_with(bearer(headers)?),
        }
    }

    /// Identifies the sender of a request by its token, if this server requires tokens.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: the token is unknown.
    pub(crate) fn caller_with(&self, token: &[u8]) -> Result<Caller> {
        let Some(tokens) = &self.tokens else {
            return Ok(self.admitted(None, true));
        };
        let digest = TokenDigest::of(token);
        let tokens = tokens.current();
        let found = tokens.find(digest).ok_or_else(|| {
            unauthenticated("the token that was sent is not known to this server")
        })?;
        tracing::Span::current().record("caller", &*found.name);
        Ok(self.admitted(Some(digest), found.writes))
    }

    /// The sender of a request without a token.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: this server requires tokens.
    pub(crate) fn anonymous(&self) -> Result<Caller> {
        if self.asks_for_token() {
            return Err(unauthenticated("this server requires a token"));
        }
        Ok(self.admitted(None, true))
    }

    /// The caller with the rights that its token has now. A stream outlives the check at
    /// its start, and the token file can change meanwhile.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: the token is no longer in the token file.
    pub(crate) fn renewed(&self, caller: &Caller) -> Result<Caller> {
        let (Some(tokens), Some(digest)) = (&self.tokens, caller.token) else {
            return Ok(caller.clone());
        };
        match tokens.current().find(digest) {
            Some(found) => Ok(self.admitted(Some(digest), found.writes)),
            None => Err(unauthenticated(
                "the token is no longer known to this server",
            )),
        }
    }

    /// Who may read responses now. `None` without a token file: then everybody may.
    pub(crate) fn rights(&self) -> Option<Arc<dyn Rights>> {
        let tokens = self.tokens.clone()?;
        Some(tokens)
    }

    /// Waits until the token of a caller is no longer in the token file. Returns the error for it.
    /// This does not depend on how much a client reads or sends.
    pub(crate) async fn revoked(self, caller: Caller) -> Error {
        let changes = self.tokens.as_ref().map(|tokens| tokens.changes());
        let (Some(mut changes), Some(_)) = (changes, caller.token) else {
            return std::future::pending().await;
        };
        loop {
            // Also at first: the file may have changed since the caller was admitted.
            if let Err(error) = self.renewed(&caller) {
                return error;
            }
            if changes.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    fn admitted(&self, token: Option<TokenDigest>, writes: bool) -> Caller {
        let methods = match (writes, self.read_only) {
            (_, true) => Methods::ReadOnly("this server is read-only"),
            (false, _) => Methods::ReadOnly("the token is read-only"),
            (true, false) => Methods::All,
        };
        Caller {
            known: self.tokens.is_some(),
            methods,
            token,
        }
    }
}

impl Rights for ReloadedFile<AccessTokens> {
    fn changes(&self) -> watch::Receiver<()> {
        Self::changes(self)
    }

    fn may_read(&self, caller: &CallerKey) -> bool {
        self.current().find(TokenDigest::from(*caller)).is_some()
    }
}

/// Middleware that rejects unauthenticated requests and passes the [`Caller`] to the handlers.
#[derive(Clone, Debug)]
pub(crate) struct Admission(Access);

impl Admission {
    /// Middleware for handlers that need a [`Caller`].
    pub(crate) fn layer(access: &Access) -> ValidateRequestHeaderLayer<Self> {
        ValidateRequestHeaderLayer::custom(Self(access.clone()))
    }
}

impl ValidateRequest<Body> for Admission {
    type ResponseBody = Body;

    /// OPTIONS needs no token: browsers send none with it, and the response only contains documented
    /// facts.
    fn validate(&mut self, request: &mut Request) -> Result<(), Response> {
        if request.method() == Method::OPTIONS {
            return Ok(());
        }
        let caller = self.0.caller(request.headers());
        let caller = caller.map_err(|error| refused(request.headers(), &error))?;
        if let Some(slot) = request.extensions().get::<CallerSlot>() {
            slot.set(caller.token.map(TokenDigest::bytes));
        }
        request.extensions_mut().insert(caller);
        Ok(())
    }
}

/// The token in the `Authorization` header (RFC 6750 §2.1).
fn bearer(headers: &HeaderMap) -> Result<&[u8]> {
    let mut sent = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = sent.next() else {
        return Err(unauthenticated(
            "this server requires a token in the header `Authorization: Bearer …`",
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
            "there must be exactly one Authorization header, of the form `Bearer …`, with a token",
        ));
    }
    Ok(token)
}

fn unauthenticated(message: &str) -> Error {
    Error::new(ErrorKind::Unauthenticated, message)
}

/// Builds a 401 response. The challenge has no error code if no token was sent (RFC 6750 §3.1).
pub(crate) fn refused(headers: &HeaderMap, error: &Error) -> Response {
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

/// Builds a 403 response for a caller without the required permission.
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
