//! Stored responses, for operations that a client may send again with the same idempotency key.

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use foundationdb_tuple::{Bytes, Versionstamp, pack, unpack};

use crate::error::{Error, Limit, Result};
use crate::key::{Family, Version, hex};
use crate::limits::{
    KEPT_ANSWER_BYTES_MAX, KEPT_ANSWER_SHARDS, KEPT_ANSWER_TIME, KEPT_ANSWERS_CLEARED_AT_ONCE,
    PIECE_BYTES,
};
use crate::store::{Batches, RangeRead, Transaction, key_after};

/// An operation that takes effect only once, even if it is sent several times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The key that the client sent.
    pub key: String,
    /// A digest that distinguishes the operation from every other operation.
    pub digest: [u8; 32],
}

/// The response to an operation that took effect earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    /// The commit of the operation.
    pub version: Version,
    /// The response.
    pub bytes: Vec<u8>,
}

/// Versionstamp, digest, expiry in seconds since 1970, length of the response in bytes.
type ResponseHead<'h> = (Versionstamp, Bytes<'h>, i64, i64);

/// The stored response of an operation that took effect within [`KEPT_ANSWER_TIME`].
///
/// # Errors
/// `BAD_USER_INPUT`: a different operation was sent with this key. Errors of the store.
pub async fn kept_answer(
    transaction: &dyn Transaction,
    operation: &IdempotencyKey,
    now: SystemTime,
) -> Result<Option<StoredResponse>> {
    let head_key = Family::Answer(&operation.key, 0).key()?;
    let Some(head) = transaction.get(&head_key).await? else {
        return Ok(None);
    };
    let damaged = || Error::internal(format!("damaged response: the key {}", hex(&head_key)));
    let (stamp, Bytes(digest), expiry, length): ResponseHead<'_> =
        unpack(&head).map_err(|_| damaged())?;
    if expiry <= seconds(now) {
        return Ok(None);
    }
    if *digest != operation.digest[..] {
        return Err(Error::bad_input(
            "a different operation was sent with this Idempotency-Key: send the same key only \
             with the same query, operation name and variables",
        ));
    }
    let stamp: &[u8; 12] = stamp.as_bytes();
    let version = stamp[..10].try_into().map_err(|_| damaged())?;
    let (_, end) = Family::answer(&operation.key);
    let mut batches = Batches::new(transaction, key_after(&head_key), end);
    let mut bytes = Vec::new();
    while let Some(pieces) = batches.next().await? {
        for (_, value) in pieces.iter() {
            let (Bytes(piece),) = unpack(value).map_err(|_| damaged())?;
            bytes.extend_from_slice(&piece);
        }
    }
    if i64::try_from(bytes.len()) != Ok(length) {
        return Err(damaged());
    }
    Ok(Some(StoredResponse {
        version: Version(version),
        bytes,
    }))
}

/// Stores the response of an operation that takes effect with this transaction. Clears a few
/// expired responses.
///
/// # Errors
/// `TOO_LARGE`: the response exceeds [`KEPT_ANSWER_BYTES_MAX`]. Errors of the store.
pub async fn keep_answer(
    transaction: &dyn Transaction,
    operation: &IdempotencyKey,
    answer: &[u8],
    now: SystemTime,
) -> Result<()> {
    let IdempotencyKey { key, digest } = operation;
    if answer.len() > KEPT_ANSWER_BYTES_MAX {
        return Err(Error::too_large(
            Limit::new("keptAnswerBytes", KEPT_ANSWER_BYTES_MAX),
            format!(
                "the response takes {} bytes; with an Idempotency-Key it is stored, and the limit \
                 is {KEPT_ANSWER_BYTES_MAX} bytes: select fewer fields",
                answer.len()
            ),
        ));
    }
    clear_expired(transaction, now).await?;
    // An expired response may still be stored here.
    let (begin, end) = Family::answer(key);
    transaction.clear_range(&begin, &end);
    let expiry = seconds(now + KEPT_ANSWER_TIME);
    let rest: (Bytes<'_>, i64, i64) = (
        Bytes(Cow::Borrowed(digest)),
        expiry,
        i64::try_from(answer.len()).unwrap_or(i64::MAX),
    );
    let head = [
        &Version::VALUE_PREFIX[..],
        &Version::PLACEHOLDER,
        &pack(&rest),
    ];
    let head = head.concat();
    let head_key = Family::Answer(key, 0).key()?;
    transaction.set_versionstamped_value(&head_key, &head, Version::VALUE_PREFIX.len());
    for (number, piece) in (1..).zip(answer.chunks(PIECE_BYTES)) {
        let piece = pack(&(Bytes(Cow::Borrowed(piece)),));
        transaction.set(&Family::Answer(key, number).key()?, &piece);
    }
    let expiry = u64::try_from(expiry).unwrap_or_default();
    transaction.set(
        &Family::AnswerExpiry(shard(digest), expiry, key).key()?,
        &[],
    );
    Ok(())
}

async fn clear_expired(transaction: &dyn Transaction, now: SystemTime) -> Result<()> {
    let shard = rand::random_range(0..KEPT_ANSWER_SHARDS);
    let now = seconds(now);
    let (begin, end) = Family::expired_answers(shard, u64::try_from(now).unwrap_or_default());
    let range = RangeRead::new(&begin, &end).at_most(KEPT_ANSWERS_CLEARED_AT_ONCE);
    let expired = transaction.without_conflict().range(range).await?;
    for (expiry_key, _) in expired.pairs.iter() {
        transaction.clear(expiry_key);
        let Some(key) = Family::expiring_answer(expiry_key) else {
            continue;
        };
        // If the idempotency key was used again, its response has a later expiry and stays.
        let head_key = Family::Answer(&key, 0).key()?;
        let head = transaction.get(&head_key).await?;
        let still_expired = head.is_some_and(|head| {
            unpack::<ResponseHead<'_>>(&head).is_ok_and(|(_, _, expiry, _)| expiry <= now)
        });
        if still_expired {
            let (begin, end) = Family::answer(&key);
            transaction.clear_range(&begin, &end);
        }
    }
    Ok(())
}

fn shard(digest: &[u8; 32]) -> u64 {
    u64::from(digest[0]) % KEPT_ANSWER_SHARDS
}

fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
