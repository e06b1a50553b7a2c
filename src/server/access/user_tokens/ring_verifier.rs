//! The cryptography of users' tokens: ring, which TLS uses too. jsonwebtoken has none of its own here.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error as SignatureError, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::hmac;
use ring::signature::{self, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey};

/// Makes jsonwebtoken verify with ring. Further calls have no effect.
pub(super) fn install() {
    static RING: CryptoProvider = CryptoProvider {
        signer_factory: no_signer,
        verifier_factory: verifier,
        // Only for the creation of keys.
        key_utils: KeyUtils::new_unimplemented(),
    };
    let _installed = RING.install_default();
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the type of the library")]
fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn jsonwebtoken::crypto::JwtSigner>> {
    Err(ErrorKind::UnsupportedAlgorithm.into())
}

/// Verifies signatures of one algorithm with one key.
struct RingVerifier {
    algorithm: Algorithm,
    key: DecodingKey,
}

/// The key must be of the family of the algorithm: the bytes of a public key are not a secret of HS256.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the type of the library")]
fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>> {
    if key.family() != algorithm.family() {
        return Err(ErrorKind::InvalidKeyFormat.into());
    }
    Ok(Box::new(RingVerifier {
        algorithm: *algorithm,
        key: key.clone(),
    }))
}

impl JwtVerifier for RingVerifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for RingVerifier {
    fn verify(&self, message: &[u8], signed: &Vec<u8>) -> std::result::Result<(), SignatureError> {
        let verified = match (self.algorithm, self.key.kind()) {
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => rsa(
                &signature::RSA_PKCS1_2048_8192_SHA256,
                n,
                e,
                message,
                signed,
            ),
            (Algorithm::PS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                rsa(&signature::RSA_PSS_2048_8192_SHA256, n, e, message, signed)
            }
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, key)
                    .verify(message, signed)
            }
            (Algorithm::EdDSA, DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signed)
            }
            (Algorithm::HS256, DecodingKeyKind::SecretOrDer(secret)) => {
                hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, secret), message, signed)
            }
            _ => return Err(SignatureError::new()),
        };
        verified.map_err(|_| SignatureError::new())
    }
}

fn rsa(
    parameters: &'static RsaParameters,
    n: &[u8],
    e: &[u8],
    message: &[u8],
    signed: &[u8],
) -> std::result::Result<(), ring::error::Unspecified> {
    RsaPublicKeyComponents { n, e }.verify(parameters, message, signed)
}
