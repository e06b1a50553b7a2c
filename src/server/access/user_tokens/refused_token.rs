//! Why a user's token is refused.

use std::fmt;

use jsonwebtoken::errors::ErrorKind;

use crate::limits::{CLAIM_LEVELS_MAX, KEYS_TRIED_MAX, USER_TOKEN_BYTES_MAX};

/// Why a user's token is refused. It has nothing that the token contains, because it is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusedToken {
    /// It has too many bytes.
    TooLong,
    /// It is not a signed JSON Web Token.
    Malformed,
    /// Its header is invalid, or names an algorithm that is never accepted, such as `none`.
    Header,
    /// Its header has `crit`, so it must not be accepted by those who do not know what is listed there.
    Critical,
    /// No key has its `kid`.
    UnknownKey,
    /// The key with its `kid` is not for its algorithm.
    OtherAlgorithm,
    /// It has no `kid`, and too many keys may have signed it.
    NoKeyId,
    /// Its signature is not that of the key.
    Signature,
    /// Its claims nest too deep.
    TooDeep,
    /// Its claims have a member twice.
    NamedTwice,
    /// It has no `exp`, or one that is not a whole number.
    NoExpiry,
    /// Its `nbf` is not a whole number.
    NoBegin,
    /// Its `exp` has passed.
    Expired,
    /// Its `nbf` has not come yet.
    NotYetValid,
    /// Its `iss` is missing, or another one.
    Issuer,
    /// Its `aud` is missing, or has none of those that are accepted.
    Audience,
    /// The key that signed it is no longer in the key set.
    KeyRemoved,
}

impl RefusedToken {
    /// The reason that an error of jsonwebtoken names.
    pub(super) fn of(error: &ErrorKind) -> Self {
        match error {
            ErrorKind::ExpiredSignature => Self::Expired,
            ErrorKind::ImmatureSignature => Self::NotYetValid,
            ErrorKind::InvalidIssuer => Self::Issuer,
            ErrorKind::InvalidAudience => Self::Audience,
            ErrorKind::InvalidSignature => Self::Signature,
            ErrorKind::InvalidAlgorithm | ErrorKind::InvalidKeyFormat => Self::OtherAlgorithm,
            ErrorKind::MissingRequiredClaim(claim) | ErrorKind::InvalidClaimFormat(claim) => {
                match claim.as_str() {
                    "iss" => Self::Issuer,
                    "aud" => Self::Audience,
                    "nbf" => Self::NoBegin,
                    _ => Self::NoExpiry,
                }
            }
            _ => Self::Malformed,
        }
    }
}

impl fmt::Display for RefusedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(
                f,
                "it has more than {USER_TOKEN_BYTES_MAX} bytes, which is the limit"
            ),
            Self::Malformed => f.write_str("it is not a signed JSON Web Token (RFC 7519)"),
            Self::Header => f.write_str(
                "its header is invalid, or its `alg` is not RS256, PS256, ES256, EdDSA or HS256",
            ),
            Self::Critical => f.write_str("its header has `crit`, which is not supported"),
            Self::UnknownKey => f.write_str("the key set has no key with its `kid`"),
            Self::OtherAlgorithm => f.write_str("its `alg` is not that of the key"),
            Self::NoKeyId => write!(
                f,
                "it has no `kid`, and more than {KEYS_TRIED_MAX} keys may have signed it"
            ),
            Self::Signature => f.write_str("its signature does not match"),
            Self::TooDeep => write!(
                f,
                "its claims have more than {CLAIM_LEVELS_MAX} levels, which is the limit"
            ),
            Self::NamedTwice => f.write_str("its claims have a member twice"),
            Self::NoExpiry => f.write_str("it has no `exp` that is a whole number of seconds"),
            Self::NoBegin => f.write_str("its `nbf` is not a whole number of seconds"),
            Self::Expired => f.write_str("it has expired"),
            Self::NotYetValid => f.write_str("it is not valid yet: its `nbf` is in the future"),
            Self::Issuer => f.write_str("its `iss` is not the issuer that this server accepts"),
            Self::Audience => {
                f.write_str("its `aud` has none of the audiences that this server accepts")
            }
            Self::KeyRemoved => f.write_str("the key that signed it was removed from the key set"),
        }
    }
}
