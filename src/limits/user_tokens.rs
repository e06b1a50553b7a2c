//! Limits of users' tokens and of the keys that verify them.

use std::time::Duration;

/// Bytes of a user's token.
pub const USER_TOKEN_BYTES_MAX: usize = 16 << 10;
/// Levels of objects and arrays in the claims of a token, counted from its root.
pub const CLAIM_LEVELS_MAX: usize = 16;
/// Time by which the clocks of the identity provider and of the server may differ. A token is accepted
/// for this time before its `nbf` and after its `exp`.
pub const USER_TOKEN_LEEWAY: Duration = Duration::from_secs(60);
/// Verified tokens in the cache.
pub const VERIFIED_TOKENS_CACHED_MAX: usize = 10_000;
/// Bytes of the texts of these tokens. In memory, the claims take several times as many.
pub const VERIFIED_TOKENS_CACHED_BYTES_MAX: usize = 8 << 20;
/// Keys in a key set.
pub const KEY_SET_KEYS_MAX: usize = 100;
/// Keys with which the signature of one token is compared. A token whose header has a `kid` needs one.
pub const KEYS_TRIED_MAX: usize = 4;
/// Bytes of a secret of HS256 (RFC 7518 §3.2).
pub const HMAC_SECRET_BYTES_MIN: usize = 32;
/// Bytes of the modulus of an RSA key: 2,048 bits (RFC 7518 §3.3).
pub const RSA_MODULUS_BYTES_MIN: usize = 256;
/// The same: 8,192 bits, because larger keys take long to verify with.
pub const RSA_MODULUS_BYTES_MAX: usize = 1_024;
/// Bytes of a key set that is fetched from a URL.
pub const KEY_SET_BYTES_MAX: usize = 256 << 10;
/// Bytes of the head of the response with the key set.
pub const KEY_SET_HEAD_BYTES_MAX: usize = 32 << 10;
/// Time to fetch a key set, from the lookup of the host's name to the last byte.
pub const KEY_SET_TIME_MAX: Duration = Duration::from_secs(5);
/// Interval at which the server fetches a key set again.
pub const KEY_SET_PERIOD: Duration = Duration::from_secs(5 * 60);
/// The same while the last try has failed. Also the shortest time between two fetches because of a token
/// with an unknown `kid`.
pub const KEY_SET_RETRY_TIME: Duration = Duration::from_secs(60);
/// Time after which a stream reads the clock again for the end of its token, because clocks are
/// set.
pub const CLOCK_CHECK_TIME: Duration = Duration::from_secs(30);
