//! A key set (RFC 7517 §5): the keys of an identity provider.
//!
//! ```json
//! {"keys": [{"kty": "EC", "crv": "P-256", "kid": "2026-11", "use": "sig", "alg": "ES256",
//!            "x": "…", "y": "…"}]}
//! ```

use jsonwebtoken::jwk::{
    AlgorithmParameters, CommonParameters, EllipticCurve, Jwk, KeyAlgorithm, KeyOperations,
    PublicKeyUse,
};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use sha2::{Digest as _, Sha256};

use crate::document::json::{Event, JsonError, Reader, utf8};
use crate::error::{Error, Result};
use crate::limits::{
    HMAC_SECRET_BYTES_MIN, KEY_SET_KEYS_MAX, RSA_MODULUS_BYTES_MAX, RSA_MODULUS_BYTES_MIN,
    TREE_LEVELS_MAX,
};

/// The digest of a key, which identifies it whatever its `kid` is.
pub(crate) type KeyDigest = [u8; 32];

/// Where a key set comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyOrigin {
    File,
    /// Secrets of HS256 are not accepted: whoever can verify with one can sign.
    Url,
}

/// The keys of a key set that can verify tokens.
#[derive(Debug, Default)]
pub(super) struct KeySet(Vec<VerificationKey>);

/// A key, and what it may verify.
#[derive(Debug)]
pub(super) struct VerificationKey {
    /// The `kid`.
    id: Option<String>,
    algorithms: &'static [Algorithm],
    pub(super) key: DecodingKey,
    pub(super) digest: KeyDigest,
}

impl PartialEq for KeySet {
    fn eq(&self, other: &Self) -> bool {
        let parts = |key: &VerificationKey| (key.id.clone(), key.algorithms, key.digest);
        self.0.iter().map(parts).eq(other.0.iter().map(parts))
    }
}

impl KeySet {
    /// Reads a key set. Keys that cannot verify tokens are left out (RFC 7517 §5).
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is not a key set, has too many keys, or none that can verify tokens.
    pub(super) fn read(text: &[u8], origin: KeyOrigin) -> Result<Self> {
        let text = utf8(text).map_err(|_| not_a_key_set("it is not UTF-8"))?;
        let elements = elements(text)
            .map_err(|error| not_a_key_set(&error.describe(text)))?
            .ok_or_else(|| not_a_key_set("it has no list `keys`"))?;
        if elements.len() > KEY_SET_KEYS_MAX {
            return Err(not_a_key_set(&format!(
                "it has more than {KEY_SET_KEYS_MAX} keys, which is the limit"
            )));
        }
        let mut keys = Vec::new();
        let mut unusable = Vec::new();
        for (number, element) in (1..).zip(elements) {
            match VerificationKey::read(element, origin) {
                Ok(key) => keys.push(key),
                Err(why) => unusable.push(format!("key {number}: {why}")),
            }
        }
        if keys.is_empty() {
            let why = unusable.first().map_or("it is empty", String::as_str);
            let message = format!("the key set has no key that can verify tokens ({why})");
            return Err(Error::bad_input(message));
        }
        for why in unusable {
            tracing::debug!("a key of the key set is not used: {why}");
        }
        Ok(Self(keys))
    }

    /// The keys that may have signed a token with this algorithm and `kid`.
    pub(super) fn candidates<'k>(
        &'k self,
        algorithm: Algorithm,
        id: Option<&'k str>,
    ) -> impl Iterator<Item = &'k VerificationKey> {
        self.0.iter().filter(move |key| {
            let is_named = match (id, key.id.as_deref()) {
                (Some(id), Some(known)) => id == known,
                _ => true,
            };
            is_named && key.algorithms.contains(&algorithm)
        })
    }

    /// Whether a key has this `kid`, or any token may be of a key because it has none.
    pub(super) fn may_have(&self, id: &str) -> bool {
        let named = |key: &VerificationKey| key.id.as_deref().is_none_or(|known| known == id);
        self.0.iter().any(named)
    }

    pub(super) fn has(&self, key: &KeyDigest) -> bool {
        self.0.iter().any(|known| known.digest == *key)
    }

    /// Whether a key is a secret.
    pub(super) fn has_secret(&self) -> bool {
        let secret = |key: &VerificationKey| key.algorithms.contains(&Algorithm::HS256);
        self.0.iter().any(secret)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The texts of the elements of `keys`. `None` if there is no such list.
fn elements(text: &str) -> Result<Option<Vec<&str>>, JsonError> {
    let mut reader = Reader::new(text, TREE_LEVELS_MAX);
    if reader.next()? != Event::BeginObject {
        return Ok(None);
    }
    let mut keys = None;
    while let Some((name, value)) = reader.next_member()? {
        if name == "keys" && value.starts_with('[') {
            let mut list = Reader::new(value, TREE_LEVELS_MAX);
            list.next()?;
            let mut elements = Vec::new();
            while let Some(element) = list.next_element()? {
                elements.push(element);
            }
            keys = Some(elements);
        }
    }
    // Nothing may follow.
    reader.next()?;
    Ok(keys)
}

fn not_a_key_set(why: &str) -> Error {
    Error::bad_input(format!("this is not a key set (RFC 7517): {why}"))
}

impl VerificationKey {
    fn read(text: &str, origin: KeyOrigin) -> Result<Self, &'static str> {
        let jwk: Jwk = serde_json::from_str(text).map_err(|_| "it is not a key (RFC 7517 §4)")?;
        let key = DecodingKey::from_jwk(&jwk).map_err(|_| "its type is not supported")?;
        let algorithms = algorithms(&jwk, &key, origin)?;
        let key = match key.kind() {
            // ring accepts no leading zeros.
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                DecodingKey::from_rsa_raw_components(significant(n), significant(e))
            }
            DecodingKeyKind::SecretOrDer(_) => key,
        };
        Ok(Self {
            id: jwk.common.key_id,
            algorithms,
            digest: digest(&key),
            key,
        })
    }
}

/// What a key may verify: its `alg`, or all that suit its type.
fn algorithms(
    jwk: &Jwk,
    key: &DecodingKey,
    origin: KeyOrigin,
) -> Result<&'static [Algorithm], &'static str> {
    if !is_for_signatures(&jwk.common) {
        return Err("it is not for signatures");
    }
    let bytes = key.try_get_as_bytes().map_or(0, <[u8]>::len);
    let suitable: &'static [Algorithm] = match (&jwk.algorithm, key.kind()) {
        (AlgorithmParameters::RSA(_), DecodingKeyKind::RsaModulusExponent { n, .. }) => {
            match significant(n).len() {
                RSA_MODULUS_BYTES_MIN..=RSA_MODULUS_BYTES_MAX => {
                    &[Algorithm::RS256, Algorithm::PS256]
                }
                _ => return Err("its modulus does not have 2,048 to 8,192 bits"),
            }
        }
        (AlgorithmParameters::EllipticCurve(key), _) => match (&key.curve, bytes) {
            (EllipticCurve::P256, 65) => &[Algorithm::ES256],
            (EllipticCurve::P256, _) => return Err("its coordinates do not have 32 bytes"),
            _ => return Err("its curve is not P-256"),
        },
        (AlgorithmParameters::OctetKeyPair(key), _) => match (&key.curve, bytes) {
            (EllipticCurve::Ed25519, 32) => &[Algorithm::EdDSA],
            (EllipticCurve::Ed25519, _) => return Err("its public key does not have 32 bytes"),
            _ => return Err("its curve is not Ed25519"),
        },
        (AlgorithmParameters::OctetKey(_), _) => match (origin, bytes) {
            (KeyOrigin::Url, _) => return Err("a secret (`oct`) is accepted only from a file"),
            (_, HMAC_SECRET_BYTES_MIN..) => &[Algorithm::HS256],
            _ => return Err("its secret has less than 32 bytes"),
        },
        _ => return Err("its type is not supported"),
    };
    match jwk.common.key_algorithm {
        None => Ok(suitable),
        Some(named) => suitable
            .iter()
            .position(|algorithm| KeyAlgorithm::from(*algorithm) == named)
            .map(|at| &suitable[at..=at])
            .ok_or("its `alg` is not RS256, PS256, ES256, EdDSA or HS256, or not that of its type"),
    }
}

fn is_for_signatures(common: &CommonParameters) -> bool {
    let used = common.public_key_use.as_ref();
    let operations = common.key_operations.as_ref();
    used.is_none_or(|used| *used == PublicKeyUse::Signature)
        && operations.is_none_or(|operations| operations.contains(&KeyOperations::Verify))
}

fn significant(number: &[u8]) -> &[u8] {
    let begin = number.iter().position(|byte| *byte != 0);
    &number[begin.unwrap_or(number.len())..]
}

fn digest(key: &DecodingKey) -> KeyDigest {
    let mut digest = Sha256::new();
    match key.kind() {
        DecodingKeyKind::RsaModulusExponent { n, e } => {
            digest.update((n.len() as u64).to_le_bytes());
            digest.update(n);
            digest.update(e);
        }
        DecodingKeyKind::SecretOrDer(bytes) => digest.update(bytes),
    }
    digest.finalize().into()
}
