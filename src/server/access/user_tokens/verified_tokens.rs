//! The cache of verified tokens, so that the signature of a token is verified once and not for each
//! request.

use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use serde_json::{Map, Value};

use super::key_set::KeyDigest;
use crate::limits::{VERIFIED_TOKENS_CACHED_BYTES_MAX, VERIFIED_TOKENS_CACHED_MAX};
use crate::server::access::tokens::TokenDigest;

/// What a verified token says.
#[derive(Clone)]
pub(crate) struct VerifiedToken {
    pub(crate) claims: Arc<Map<String, Value>>,
    /// The key that signed it.
    pub(crate) key: KeyDigest,
    /// The time from which on it is refused, in seconds since 1970.
    pub(crate) end: u64,
}

/// The tokens that were verified with the keys in force, by the digests of their texts. Only tokens
/// whose signature matched are in it, so callers without a token of the identity provider cannot fill
/// it.
pub(super) struct VerifiedTokens(Mutex<CachedTokens>);

struct CachedTokens {
    tokens: LruCache<TokenDigest, CachedToken>,
    /// Bytes of their texts.
    bytes: usize,
}

struct CachedToken {
    token: VerifiedToken,
    bytes: usize,
}

impl Default for VerifiedTokens {
    fn default() -> Self {
        Self(Mutex::new(CachedTokens {
            // Its size is bounded below, so that no memory is reserved.
            tokens: LruCache::unbounded(),
            bytes: 0,
        }))
    }
}

impl VerifiedTokens {
    /// Returns a token if it was verified before. It may have ended meanwhile.
    pub(super) fn get(&self, digest: TokenDigest) -> Option<VerifiedToken> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = cached.tokens.get(&digest);
        found.map(|cached| cached.token.clone())
    }

    /// Adds a token of `bytes` bytes, and drops those that were not used for the longest time if there
    /// are too many.
    pub(super) fn put(&self, digest: TokenDigest, token: VerifiedToken, bytes: usize) {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let cached = &mut *cached;
        if let Some(same) = cached.tokens.put(digest, CachedToken { token, bytes }) {
            cached.bytes -= same.bytes;
        }
        cached.bytes += bytes;
        while cached.tokens.len() > VERIFIED_TOKENS_CACHED_MAX
            || cached.bytes > VERIFIED_TOKENS_CACHED_BYTES_MAX
        {
            let Some((_, oldest)) = cached.tokens.pop_lru() else {
                return;
            };
            cached.bytes -= oldest.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verified(end: u64) -> VerifiedToken {
        VerifiedToken {
            claims: Arc::default(),
            key: [0; 32],
            end,
        }
    }

    fn cached(tokens: &VerifiedTokens) -> (usize, usize) {
        let cached = tokens.0.lock().expect("no panic");
        (cached.tokens.len(), cached.bytes)
    }

    #[test]
    fn tokens_are_found_by_their_digest_until_others_take_their_place() {
        let tokens = VerifiedTokens::default();
        let digest = |number: usize| TokenDigest::of(&number.to_le_bytes());
        for number in 0..VERIFIED_TOKENS_CACHED_MAX + 10 {
            tokens.put(digest(number), verified(number as u64), 100);
            assert!(tokens.get(digest(0)).is_some(), "it was just used");
        }
        let kept = VERIFIED_TOKENS_CACHED_MAX;
        assert_eq!(cached(&tokens), (kept, kept * 100));
        assert!(tokens.get(digest(1)).is_none());
        let last = tokens.get(digest(kept + 9)).expect("it is the last one");
        assert_eq!(last.end, kept as u64 + 9);
        tokens.put(digest(kept + 9), verified(7), 50);
        assert_eq!(cached(&tokens), (kept, kept * 100 - 50));
    }

    #[test]
    fn the_bytes_of_cached_tokens_are_bounded() {
        let tokens = VerifiedTokens::default();
        let bytes = VERIFIED_TOKENS_CACHED_BYTES_MAX / 4;
        for number in 0..10_u8 {
            tokens.put(TokenDigest::of(&[number]), verified(1), bytes);
        }
        assert_eq!(cached(&tokens), (4, VERIFIED_TOKENS_CACHED_BYTES_MAX));
        assert!(tokens.get(TokenDigest::of(&[9])).is_some());
        tokens.put(TokenDigest::of(b"x"), verified(1), usize::MAX / 2);
        assert_eq!(cached(&tokens), (0, 0));
    }
}
