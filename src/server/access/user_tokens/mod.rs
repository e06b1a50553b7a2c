//! Users' tokens: JSON Web Tokens (RFC 7519) that an identity provider signs.
//!
//! A token is verified in this order, so that a caller without a valid one causes little work:
//! its size, its header, the key that the header names, the signature, the claims. A token that was
//! verified is in a cache until it ends or the keys change.
//!
//! A token whose `kid` is not known may be signed with a new key. Then the key set is fetched, at most
//! once a minute, and the request waits for it.

pub(crate) mod claims;
mod key_set;
mod key_source;
mod key_url;
mod refused_token;
mod ring_verifier;
mod verified_tokens;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jsonwebtoken::errors::ErrorKind as TokenError;
use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
pub(crate) use key_set::KeyDigest;
use key_source::{KeySource, KeysInForce};
use key_url::KeyUrl;
pub(crate) use refused_token::RefusedToken;
use serde::de::IgnoredAny;
use serde_json::Value;
use tokio::sync::watch;
pub(crate) use verified_tokens::VerifiedToken;

use super::tokens::TokenDigest;
use crate::error::{Error, Result};
use crate::limits::{KEYS_TRIED_MAX, USER_TOKEN_BYTES_MAX, USER_TOKEN_LEEWAY};

/// The algorithms of signatures that are accepted.
const ALGORITHMS: [Algorithm; 5] = [
    Algorithm::RS256,
    Algorithm::PS256,
    Algorithm::ES256,
    Algorithm::EdDSA,
    Algorithm::HS256,
];

/// Which users' tokens a server accepts.
#[derive(Clone, Debug)]
pub struct UserTokenOptions {
    /// The file or the URL of the key set.
    pub keys: String,
    /// The `iss` that a token must have.
    pub issuer: String,
    /// A token must have one of these in its `aud`.
    pub audiences: Vec<String>,
    /// The authorities that may sign the certificate of the URL's server, as a PEM file. `None` for
    /// those of the system.
    pub authority: Option<PathBuf>,
}

/// Verifies users' tokens.
pub(crate) struct UserTokens {
    keys: KeySource,
    /// What the claims must be.
    validation: Validation,
}

/// Why a token is not accepted now.
enum Unverified {
    /// No key in force has its `kid`, or there are no keys yet.
    Keyless(Option<Arc<KeysInForce>>),
    Refused(RefusedToken),
}

impl From<RefusedToken> for Unverified {
    fn from(refused: RefusedToken) -> Self {
        Self::Refused(refused)
    }
}

/// Why a user's token is not accepted.
#[derive(Debug)]
pub(crate) enum NotAccepted {
    Refused(RefusedToken),
    /// The server has not been able to fetch any keys.
    NoKeys,
}

impl UserTokens {
    /// Reads the keys of a file. The keys of a URL are fetched later. `changed` is notified when other keys
    /// are in force.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: an option or the file is invalid. `UNAVAILABLE`: the file cannot be read.
    pub(crate) fn new(options: UserTokenOptions, changed: &watch::Sender<()>) -> Result<Self> {
        let UserTokenOptions {
            keys,
            issuer,
            audiences,
            authority,
        } = options;
        if issuer.is_empty() || audiences.is_empty() || audiences.iter().any(String::is_empty) {
            let message = "users' tokens need --jwt-issuer and --jwt-audience, which are not empty";
            return Err(Error::bad_input(message));
        }
        ring_verifier::install();
        let keys = if keys.contains("://") {
            KeySource::url(KeyUrl::new(&keys, authority.as_deref())?, changed)
        } else if authority.is_some() {
            let message = "--jwt-ca is for a URL, and --jwt-keys is a file";
            return Err(Error::bad_input(message));
        } else {
            KeySource::file(keys.into(), changed)?
        };
        let mut validation = Validation::new(Algorithm::RS256);
        validation.leeway = USER_TOKEN_LEEWAY.as_secs();
        validation.validate_nbf = true;
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[issuer]);
        validation.set_audience(&audiences);
        Ok(Self { keys, validation })
    }

    /// Verifies a token. If no key has its `kid`, waits for the key set to be fetched again, unless that
    /// was done a short time ago.
    ///
    /// # Errors
    /// Why it is not accepted.
    pub(crate) async fn verify(
        &self,
        token: &[u8],
        digest: TokenDigest,
    ) -> Result<VerifiedToken, NotAccepted> {
        let seen = match self.verify_now(token, digest) {
            Ok(verified) => return Ok(verified),
            Err(Unverified::Refused(refused)) => return Err(NotAccepted::Refused(refused)),
            Err(Unverified::Keyless(seen)) => seen,
        };
        self.keys.look_for_more(seen.as_ref()).await;
        self.verify_now(token, digest).map_err(|error| match error {
            Unverified::Refused(refused) => NotAccepted::Refused(refused),
            Unverified::Keyless(Some(_)) => NotAccepted::Refused(RefusedToken::UnknownKey),
            Unverified::Keyless(None) => NotAccepted::NoKeys,
        })
    }

    fn verify_now(&self, token: &[u8], digest: TokenDigest) -> Result<VerifiedToken, Unverified> {
        if token.len() > USER_TOKEN_BYTES_MAX {
            return Err(RefusedToken::TooLong.into());
        }
        let Some(keys) = self.keys.current() else {
            return Err(Unverified::Keyless(None));
        };
        let verified = if let Some(verified) = keys.verified.get(digest) {
            verified
        } else {
            let verified = self.verify_with(&keys, token)?;
            keys.verified.put(digest, verified.clone(), token.len());
            verified
        };
        if time_until(verified.end).is_zero() {
            return Err(RefusedToken::Expired.into());
        }
        Ok(verified)
    }

    /// Verifies a token that is not in the cache.
    fn verify_with(
        &self,
        in_force: &Arc<KeysInForce>,
        token: &[u8],
    ) -> Result<VerifiedToken, Unverified> {
        let keys = &in_force.keys;
        let header = decode_header(token).map_err(|error| match error.kind() {
            TokenError::InvalidToken | TokenError::Base64(_) => RefusedToken::Malformed,
            _ => RefusedToken::Header,
        })?;
        if !ALGORITHMS.contains(&header.alg) {
            return Err(RefusedToken::Header.into());
        }
        if header.crit.is_some() {
            return Err(RefusedToken::Critical.into());
        }
        let id = header.kid.as_deref();
        let mut candidates = keys.candidates(header.alg, id);
        let first: Vec<_> = candidates.by_ref().take(KEYS_TRIED_MAX).collect();
        if candidates.next().is_some() {
            return Err(RefusedToken::NoKeyId.into());
        }
        if first.is_empty() {
            return Err(match id {
                Some(id) if !keys.may_have(id) => Unverified::Keyless(Some(in_force.clone())),
                _ => RefusedToken::OtherAlgorithm.into(),
            });
        }
        let validation = Validation {
            algorithms: vec![header.alg],
            ..self.validation.clone()
        };
        for candidate in first {
            match decode::<IgnoredAny>(token, &candidate.key, &validation) {
                Ok(_) => return verified(token, candidate.digest),
                Err(error) if matches!(error.kind(), TokenError::InvalidSignature) => {}
                Err(error) => return Err(RefusedToken::of(error.kind()).into()),
            }
        }
        Err(RefusedToken::Signature.into())
    }

    /// Whether a key is in force.
    pub(crate) fn has_key(&self, key: &KeyDigest) -> bool {
        self.keys
            .current()
            .is_some_and(|current| current.keys.has(key))
    }

    /// Reads the keys again whenever they may have changed. Never returns.
    pub(crate) async fn watch(&self) {
        self.keys.watch().await;
    }

    /// Reads the keys again immediately.
    pub(crate) async fn reload(&self) {
        self.keys.reload().await;
    }
}

/// The contents of a token whose signature and standard claims are valid.
fn verified(token: &[u8], key: KeyDigest) -> Result<VerifiedToken, Unverified> {
    let mut parts = token.split(|byte| *byte == b'.').skip(1);
    let claims = claims::decode(parts.next().unwrap_or_default())?;
    // The crate also accepts a list of issuers, which the standard does not have.
    if !claims.get("iss").is_some_and(Value::is_string) {
        return Err(RefusedToken::Issuer.into());
    }
    let end = claims::end(&claims).ok_or(RefusedToken::NoExpiry)?;
    Ok(VerifiedToken {
        claims: Arc::new(claims),
        key,
        end,
    })
}

/// The time until a point in time, in seconds since 1970. Zero if it has passed.
pub(crate) fn time_until(end: u64) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    // A clock before 1970 is wrong, so no token is accepted.
    now.map_or(Duration::ZERO, |now| {
        Duration::from_secs(end).saturating_sub(now)
    })
}
