//! The one place that authenticates callers.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use tokio::sync::watch;
use tokio::time::sleep;

use super::bearer::{bearer, unauthenticated};
use super::caller::Caller;
use super::rules_file::RulesFile;
use super::tokens::{AccessTokens, TokenDigest};
use super::user_tokens::{NotAccepted, RefusedToken, UserTokenOptions, UserTokens, time_until};
use crate::error::{Error, Result};
use crate::limits::CLOCK_CHECK_TIME;
use crate::rights::Rules;
use crate::server::connection::caller_slot::{Credential, Rights};
use crate::server::file_reload::{ReloadedFile, Watch};
use crate::server::observe::refusal_log::RefusalLog;

/// What says who may send requests, and which.
#[derive(Clone, Debug, Default)]
pub struct AccessOptions {
    /// The token file. `None` if there is none.
    pub token_file: Option<PathBuf>,
    /// Which users' tokens are accepted. `None` if none are.
    pub user_tokens: Option<UserTokenOptions>,
    /// The file of access rules. `None` if there are none.
    pub rules: Option<PathBuf>,
    /// Whether all mutations are rejected.
    pub read_only: bool,
}

/// Who may send requests to a server, and which. Without tokens, every caller is admitted. Clones share
/// the state.
#[derive(Clone, Default)]
pub struct Access(Arc<Authentication>);

/// The one place that authenticates callers.
#[derive(Default)]
struct Authentication {
    tokens: Option<Arc<ReloadedFile<AccessTokens>>>,
    users: Option<UserTokens>,
    rules: Option<RulesFile>,
    read_only: bool,
    /// Tells when other tokens or keys are in effect.
    changed: watch::Sender<()>,
    refusals: RefusalLog,
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

impl Access {
    /// Reads the files that say who may send requests.
    ///
    /// # Errors
    /// `UNAVAILABLE`: a file cannot be read. `BAD_USER_INPUT`: a file or an option is invalid.
    pub fn new(options: AccessOptions) -> Result<Self> {
        if options.user_tokens.is_some() && options.rules.is_none() {
            let message = "users' tokens need --rules, which say what users may do";
            return Err(Error::bad_input(message));
        }
        let changed = watch::Sender::new(());
        let tokens = options.token_file.map(|path| {
            let secret = |_: &[u8]| true;
            let file = Watch { path, secret };
            let file = ReloadedFile::new(vec![file], |files| AccessTokens::read(&files.concat()));
            file.map(|file| Arc::new(file.telling(&changed)))
        });
        let users = options
            .user_tokens
            .map(|options| UserTokens::new(options, &changed));
        Ok(Self(Arc::new(Authentication {
            tokens: tokens.transpose()?,
            users: users.transpose()?,
            rules: options.rules.map(RulesFile::new).transpose()?,
            read_only: options.read_only,
            changed,
            refusals: RefusalLog::default(),
        })))
    }

    /// Whether requests can carry a token that says who sends them.
    pub fn asks_for_token(&self) -> bool {
        self.0.tokens.is_some() || self.0.users.is_some()
    }

    /// The access rules in force, now and after each change. `None` if everything is allowed.
    pub(crate) fn rules(&self) -> Option<watch::Receiver<Arc<Rules>>> {
        self.0.rules.as_ref().map(RulesFile::in_force)
    }

    /// Whether tokens or rules limit what callers may do.
    pub fn is_limited(&self) -> bool {
        self.asks_for_token() || self.0.rules.is_some()
    }

    /// Whether the server rejects all mutations.
    pub(crate) fn is_read_only(&self) -> bool {
        self.0.read_only
    }

    /// Reloads the tokens, keys and rules whenever they change. Never returns.
    pub(crate) async fn watch(&self) {
        let tokens = async {
            if let Some(tokens) = &self.0.tokens {
                tokens.clone().watch().await;
            }
        };
        let users = async {
            if let Some(users) = &self.0.users {
                users.watch().await;
            }
        };
        let rules = async {
            if let Some(rules) = &self.0.rules {
                rules.watch().await;
            }
        };
        tokio::join!(tokens, users, rules);
        std::future::pending::<()>().await;
    }

    /// Reloads the tokens, keys and rules immediately, if there are any.
    pub(crate) async fn reload(&self) {
        if let Some(tokens) = &self.0.tokens {
            tokens.clone().reload().await;
        }
        if let Some(users) = &self.0.users {
            users.reload().await;
        }
        if let Some(rules) = &self.0.rules {
            rules.reload().await;
        }
    }

    /// Identifies the sender of a request by its headers.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: the token is missing or refused. `UNAVAILABLE`: there are no keys to verify it
    /// with.
    pub(crate) async fn caller(&self, headers: &HeaderMap) -> Result<Caller> {
        if self.asks_for_token() && headers.contains_key(AUTHORIZATION) {
            return self.caller_with(bearer(headers)?).await;
        }
        self.anonymous()
    }

    /// Identifies the sender of a request by its headers, which must have a token.
    ///
    /// # Errors
    /// As [`Self::caller`]. Also if there are rules for callers without a token.
    pub(super) async fn caller_with_token(&self, headers: &HeaderMap) -> Result<Caller> {
        self.caller_with(bearer(headers)?).await
    }

    /// Identifies the sender of a request by its token, if this server has tokens.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: the token is refused. `UNAVAILABLE`: there are no keys to verify it with.
    pub(crate) async fn caller_with(&self, token: &[u8]) -> Result<Caller> {
        if !self.asks_for_token() {
            return self.anonymous();
        }
        let digest = TokenDigest::of(token);
        let caller = match self.known_token(digest) {
            Some(caller) => Ok(caller),
            None => self.user(token, digest).await,
        };
        match &caller {
            Ok(caller) => caller.name_in_log(),
            Err(error) => {
                let why = error.message();
                self.0.refusals.warn(format!("a token was refused: {why}"));
            }
        }
        caller
    }

    /// The sender of a request with a token of the token file.
    fn known_token(&self, digest: TokenDigest) -> Option<Caller> {
        let tokens = self.0.tokens.as_ref()?.current();
        let found = tokens.find(digest)?;
        Some(Caller::with_token(found, digest, self.is_read_only()))
    }

    /// The sender of a request with a user's token.
    async fn user(&self, token: &[u8], digest: TokenDigest) -> Result<Caller> {
        let is_signed = || token.split(|byte| *byte == b'.').count() == 3;
        let Some(users) = self.0.users.as_ref().filter(|_| is_signed()) else {
            return Err(unauthenticated(
                "the token that was sent is not known to this server",
            ));
        };
        match users.verify(token, digest).await {
            Ok(verified) => Ok(Caller::user(verified, self.is_read_only())),
            Err(NotAccepted::Refused(why)) => Err(not_accepted(why)),
            Err(NotAccepted::NoKeys) => Err(Error::unavailable(
                "the token cannot be verified, because the server has not received the keys of the \
                 identity provider yet: try later",
                "",
            )),
        }
    }

    /// The sender of a request without a token. If there are rules, they say what it may do.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: this server requires tokens.
    pub(crate) fn anonymous(&self) -> Result<Caller> {
        if self.0.rules.is_some() {
            return Ok(Caller::anonymous(self.is_read_only()));
        }
        if self.asks_for_token() {
            return Err(unauthenticated(
                "this server requires a token in the header `Authorization: Bearer …`, or in \
                 `connection_init` of a WebSocket",
            ));
        }
        Ok(Caller::operator(self.is_read_only()))
    }

    /// Returns the caller with the rights that its token has now. A stream outlives the check at
    /// its start, and tokens and keys can change meanwhile.
    ///
    /// # Errors
    /// `UNAUTHENTICATED`: the token is no longer in the token file, has expired, or its key was removed.
    pub(crate) fn renewed(&self, caller: &Caller) -> Result<Caller> {
        match (caller.credential, &self.0.tokens, &self.0.users) {
            (Some(Credential::Token(digest)), Some(_), _) => {
                let found = self.known_token(digest.into());
                found.ok_or_else(|| unauthenticated("the token is no longer known to this server"))
            }
            (Some(Credential::SigningKey(key)), _, Some(users)) => {
                if caller.end.is_some_and(|end| time_until(end).is_zero()) {
                    return Err(not_accepted(RefusedToken::Expired));
                }
                if !users.has_key(&key) {
                    return Err(not_accepted(RefusedToken::KeyRemoved));
                }
                Ok(caller.clone())
            }
            _ => Ok(caller.clone()),
        }
    }

    /// Who may read responses now. `None` without tokens: then everybody may.
    pub(crate) fn rights(&self) -> Option<Arc<dyn Rights>> {
        self.asks_for_token()
            .then(|| self.0.clone() as Arc<dyn Rights>)
    }

    /// Waits until the token of a caller is no longer valid. Returns the error for it. This does not
    /// depend on how much a client reads or sends.
    pub(crate) async fn revoked(self, caller: Caller) -> Error {
        if caller.credential.is_none() {
            return std::future::pending().await;
        }
        let mut changes = self.0.changed.subscribe();
        loop {
            // Also at first: something may have changed since the caller was admitted.
            if let Err(error) = self.renewed(&caller) {
                return error;
            }
            // Clocks are set, so the time is looked at again before the end.
            let left = caller.end.map_or(Duration::MAX, time_until);
            tokio::select! {
                changed = changes.changed() => if changed.is_err() {
                    return std::future::pending().await;
                },
                () = sleep(left.min(CLOCK_CHECK_TIME)), if caller.end.is_some() => {}
            }
        }
    }
}

impl Rights for Authentication {
    fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn may_read(&self, caller: Credential) -> bool {
        match caller {
            Credential::Token(digest) => {
                let tokens = self.tokens.as_ref();
                tokens.is_some_and(|tokens| tokens.current().find(digest.into()).is_some())
            }
            Credential::SigningKey(key) => {
                let users = self.users.as_ref();
                users.is_some_and(|users| users.has_key(&key))
            }
        }
    }
}

fn not_accepted(why: RefusedToken) -> Error {
    unauthenticated(format!("the token is not accepted: {why}"))
}
