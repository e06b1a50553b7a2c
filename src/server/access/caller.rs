//! The sender of a request.

use super::tokens::{AccessToken, TokenDigest};
use super::user_tokens::VerifiedToken;
use crate::graphql::Methods;
use crate::rights::Principal;
use crate::server::connection::caller_slot::Credential;

/// The sender of a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Whom the rules know.
    pub(crate) principal: Principal,
    /// Whether the caller was identified by a token.
    pub(crate) known: bool,
    /// What the caller may execute over POST.
    pub(crate) methods: Methods,
    /// What identified the caller.
    pub(super) credential: Option<Credential>,
    /// When its token ends, in seconds since 1970. `None` if it does not end by itself.
    pub(super) end: Option<u64>,
}

impl Caller {
    fn new(principal: Principal, writes: bool, read_only: bool) -> Self {
        let methods = match (writes, read_only) {
            (_, true) => Methods::ReadOnly("this server is read-only"),
            (false, _) => Methods::ReadOnly("the token is read-only"),
            (true, false) => Methods::All,
        };
        Self {
            principal,
            known: false,
            methods,
            credential: None,
            end: None,
        }
    }

    /// Everybody, if there are no rules and no tokens.
    pub(super) fn operator(read_only: bool) -> Self {
        Self::new(Principal::Operator, true, read_only)
    }

    /// A caller without a token, if there are rules.
    pub(super) fn anonymous(read_only: bool) -> Self {
        Self::new(Principal::Anonymous, true, read_only)
    }

    /// A caller with a token of the token file.
    pub(super) fn with_token(token: &AccessToken, digest: TokenDigest, read_only: bool) -> Self {
        let name = token.name.clone();
        Self {
            known: true,
            credential: Some(Credential::Token(digest.bytes())),
            ..Self::new(Principal::Token { name }, token.writes, read_only)
        }
    }

    /// A user with a verified token. Rules say what the user may do.
    pub(super) fn user(token: VerifiedToken, read_only: bool) -> Self {
        let claims = token.claims;
        Self {
            known: true,
            credential: Some(Credential::SigningKey(token.key)),
            end: Some(token.end),
            ..Self::new(Principal::User { claims }, true, read_only)
        }
    }

    /// Names the caller in the log lines of the request. A user has no name there, because claims are
    /// never logged.
    pub(super) fn name_in_log(&self) {
        let name = match &self.principal {
            Principal::Token { name } => name,
            Principal::User { .. } => "user",
            Principal::Operator | Principal::Anonymous => return,
        };
        tracing::Span::current().record("caller", name);
    }
}
