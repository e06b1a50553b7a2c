//! The keys of an identity provider, generated for each run, and the tokens that it signs.

use std::sync::LazyLock;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use num_bigint::BigUint;
use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::rsa::{KeyPairComponents, PublicKeyComponents};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

pub(crate) const ISSUER: &str = "https://login.example";
pub(crate) const AUDIENCE: &str = "phyllo";
/// The public exponent of RSA keys.
const EXPONENT: u32 = 65_537;

/// A key that signs tokens.
pub(crate) struct SignerKey {
    pub(crate) id: &'static str,
    /// The `alg` of the tokens.
    pub(crate) algorithm: &'static str,
    secret: SignerSecret,
}

enum SignerSecret {
    Rsa(RsaKeyPair),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
    Hmac(Vec<u8>),
}

/// One RSA key for all tests, because it takes a second to find its primes.
static RSA: LazyLock<KeyPairComponents<Vec<u8>>> = LazyLock::new(rsa_components);

impl SignerKey {
    /// A new key for this algorithm. RSA keys are the same.
    pub(crate) fn new(id: &'static str, algorithm: &'static str) -> Self {
        let random = SystemRandom::new();
        let secret = match algorithm {
            "RS256" | "PS256" => {
                let key = RsaKeyPair::from_components(&*RSA);
                SignerSecret::Rsa(key.expect("consistent components"))
            }
            "ES256" => {
                let parameters = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let key = EcdsaKeyPair::generate_pkcs8(parameters, &random).expect("a key");
                let key = EcdsaKeyPair::from_pkcs8(parameters, key.as_ref(), &random);
                SignerSecret::Ec(key.expect("a key"))
            }
            "EdDSA" => {
                let key = Ed25519KeyPair::generate_pkcs8(&random).expect("a key");
                SignerSecret::Ed(Ed25519KeyPair::from_pkcs8(key.as_ref()).expect("a key"))
            }
            "HS256" => {
                let mut secret = vec![0; 32];
                random.fill(&mut secret).expect("random bytes");
                SignerSecret::Hmac(secret)
            }
            _ => panic!("{algorithm}"),
        };
        Self {
            id,
            algorithm,
            secret,
        }
    }

    /// A secret of HS256 with these bytes.
    pub(crate) fn with_secret(id: &'static str, secret: Vec<u8>) -> Self {
        Self {
            id,
            algorithm: "HS256",
            secret: SignerSecret::Hmac(secret),
        }
    }

    /// The key as in a key set: a public key, or the secret of HS256.
    pub(crate) fn jwk(&self) -> Value {
        let mut jwk = match &self.secret {
            SignerSecret::Rsa(key) => {
                let public: PublicKeyComponents<Vec<u8>> = key.public().into();
                json!({"kty": "RSA", "n": encoded(public.n), "e": encoded(public.e)})
            }
            SignerSecret::Ec(key) => {
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                json!({"kty": "EC", "crv": "P-256", "x": encoded(x), "y": encoded(y)})
            }
            SignerSecret::Ed(key) => {
                let x = encoded(key.public_key().as_ref());
                json!({"kty": "OKP", "crv": "Ed25519", "x": x})
            }
            SignerSecret::Hmac(secret) => json!({"kty": "oct", "k": encoded(secret)}),
        };
        jwk["kid"] = json!(self.id);
        jwk["alg"] = json!(self.algorithm);
        jwk["use"] = json!("sig");
        jwk
    }

    /// The header of its tokens.
    pub(crate) fn header(&self) -> Value {
        json!({"alg": self.algorithm, "kid": self.id, "typ": "JWT"})
    }

    /// A token with these claims.
    pub(crate) fn token(&self, claims: &Value) -> String {
        self.signed(&self.header(), claims.to_string())
    }

    /// A token with this header and this text of claims.
    pub(crate) fn signed(&self, header: &Value, claims: impl AsRef<[u8]>) -> String {
        let message = format!("{}.{}", encoded(header.to_string()), encoded(claims));
        let signature = self.sign(message.as_bytes());
        format!("{message}.{}", encoded(signature))
    }

    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.secret {
            SignerSecret::Rsa(key) => {
                let encoding: &'static dyn ring::signature::RsaEncoding = match self.algorithm {
                    "PS256" => &RSA_PSS_SHA256,
                    _ => &RSA_PKCS1_SHA256,
                };
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(encoding, &random, message, &mut signature)
                    .expect("it signs");
                signature
            }
            SignerSecret::Ec(key) => {
                let signature = key.sign(&random, message).expect("it signs");
                signature.as_ref().to_vec()
            }
            SignerSecret::Ed(key) => key.sign(message).as_ref().to_vec(),
            SignerSecret::Hmac(secret) => {
                let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
                hmac::sign(&key, message).as_ref().to_vec()
            }
        }
    }
}

/// A key set with these keys.
pub(crate) fn key_set<'k>(keys: impl IntoIterator<Item = &'k SignerKey>) -> String {
    let keys: Vec<Value> = keys.into_iter().map(SignerKey::jwk).collect();
    json!({ "keys": keys }).to_string()
}

/// The claims of a token that ends in an hour, with some of them replaced. Null removes one.
pub(crate) fn claims(others: &Value) -> Value {
    let mut claims = json!({
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "SECRET-subject",
        "exp": from_now(3_600),
        "iat": from_now(0),
    });
    for (name, value) in others.as_object().expect("an object") {
        claims[name] = value.clone();
    }
    let members = claims.as_object_mut().expect("an object");
    members.retain(|_, value| !value.is_null());
    claims
}

/// A time in seconds since 1970.
pub(crate) fn from_now(seconds: i64) -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    i64::try_from(now.as_secs()).expect("a few") + seconds
}

pub(crate) fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn rsa_components() -> KeyPairComponents<Vec<u8>> {
    let exponent = BigUint::from(EXPONENT);
    let one = BigUint::from(1_u8);
    loop {
        let (p, q) = (prime(), prime());
        if p == q {
            continue;
        }
        // The larger one is first.
        let (p, q) = if p > q { (p, q) } else { (q, p) };
        let (below_p, below_q) = (&p - &one, &q - &one);
        // Twice a common multiple of both is enough: d is any inverse.
        let Some(d) = exponent.modinv(&(&below_p * &below_q)) else {
            continue;
        };
        let inverse = q.modinv(&p).expect("both are primes");
        return KeyPairComponents {
            public_key: PublicKeyComponents {
                n: (&p * &q).to_bytes_be(),
                e: exponent.to_bytes_be(),
            },
            dP: (&d % &below_p).to_bytes_be(),
            dQ: (&d % &below_q).to_bytes_be(),
            qInv: inverse.to_bytes_be(),
            p: p.to_bytes_be(),
            q: q.to_bytes_be(),
            d: d.to_bytes_be(),
        };
    }
}

/// A prime of 1,024 bits, of which the first two are set. It is enough that it passes a test of Fermat
/// with two bases: a random number that passes is hardly ever composite.
fn prime() -> BigUint {
    let random = SystemRandom::new();
    let small: Vec<u32> = (3..2_000).step_by(2).collect();
    loop {
        let mut bytes = [0; 128];
        random.fill(&mut bytes).expect("random bytes");
        bytes[0] |= 0xC0;
        bytes[127] |= 1;
        let number = BigUint::from_bytes_be(&bytes);
        let zero = BigUint::ZERO;
        if small.iter().any(|small| &number % small == zero) {
            continue;
        }
        let below = &number - 1_u8;
        let passes = |base: u8| BigUint::from(base).modpow(&below, &number) == BigUint::from(1_u8);
        if passes(2) && passes(3) {
            return number;
        }
    }
}
