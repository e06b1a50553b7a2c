//! The newest response of a live query, which its subscribers take at their own speed.
//!
//! A large response counts towards the memory of all requests until all subscribers have it and have
//! sent it. Then only its digest is kept, to compare the next one. A subscriber that joins later
//! makes the query execute again.
//!
//! A response belongs to the access rules under which it was computed. Once they are replaced, no subscriber
//! gets it any more: those that do not have it wait for the next execution.

use std::hash::{BuildHasher as _, RandomState};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures::Stream;
use tokio::sync::Notify;

use crate::budget::{Pool, Share, turn};
use crate::error::Result;
use crate::graphql::context::rules_in_force::{RulesInForce, are_replaced};
use crate::graphql::execute::streaming::StreamedResponse;
use crate::limits::{HELD_SMALL_BYTES, LIVE_KEPT_BYTES_MAX};

/// The most subscribers that are looked at while they are locked, and woken then.
const WOKEN_AT_ONCE: usize = 64;

/// The newest response of a live query.
#[derive(Default)]
pub(super) struct LiveResponse {
    state: Mutex<ResponseState>,
    /// Notified when a subscriber comes that needs an execution, and when the last one has gone.
    subscribers: Notify,
}

#[derive(Default)]
struct ResponseState {
    newest: Newest,
    /// The access rules that it belongs to. None if there are none, and for the last response, which nobody
    /// can join any more.
    rules: Option<RulesInForce>,
    /// The digest of the newest response.
    digest: u64,
    /// The number of different responses so far.
    number: u64,
    /// Whether no further response comes.
    is_last: bool,
    /// In the order of their ids.
    subscribers: Vec<LiveSubscriber>,
    /// The id of the next subscriber.
    next_id: u64,
    /// The number of subscribers that do not have the newest response.
    behind: usize,
}

/// The newest response.
#[derive(Default)]
enum Newest {
    /// The first execution is not done.
    #[default]
    Pending,
    Response(Bytes),
    /// All subscribers have it.
    Taken,
}

struct LiveSubscriber {
    id: u64,
    /// The number of the response that was taken last. 0 before the first one.
    taken: u64,
    waker: Option<Waker>,
}

/// A response whose memory is counted.
struct HeldResponse {
    json: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for HeldResponse {
    fn as_ref(&self) -> &[u8] {
        &self.json
    }
}

/// Counts the memory of a response, unless it is kept anyway.
///
/// # Errors
/// `UNAVAILABLE`: there is no memory for it. Small responses have no error.
fn held(mut json: Vec<u8>, pool: &Pool) -> Result<Bytes> {
    json.shrink_to_fit();
    if json.len() <= LIVE_KEPT_BYTES_MAX {
        return Ok(json.into());
    }
    let share = pool.counted_share();
    if json.len() <= HELD_SMALL_BYTES {
        share.add(json.len());
    } else {
        share.take(json.len())?;
    }
    let held = HeldResponse {
        json,
        _share: share,
    };
    Ok(Bytes::from_owner(held))
}

/// The digest of a response, which nobody outside of this process can predict.
fn digest(json: &[u8]) -> u64 {
    static KEY: std::sync::LazyLock<RandomState> = std::sync::LazyLock::new(RandomState::new);
    KEY.hash_one(json)
}

impl LiveResponse {
    /// Publishes the response of an execution, unless its `rules`, followed since it began, were replaced.
    /// Those who have the same response do not get it again. Only one task publishes.
    ///
    /// # Errors
    /// `UNAVAILABLE`: there is no memory for it.
    pub(super) async fn publish(
        &self,
        json: Vec<u8>,
        rules: Option<RulesInForce>,
        pool: &Pool,
    ) -> Result<()> {
        if are_replaced(rules.as_ref()) {
            return Ok(());
        }
        let digest = digest(&json);
        let (is_same, replaced) = {
            let mut state = self.state();
            let can_be_taken = state.can_be_taken();
            state.rules = rules;
            let is_same = state.number > 0 && state.digest == digest;
            if is_same && (state.behind == 0 || can_be_taken) {
                return Ok(());
            }
            (is_same, std::mem::take(&mut state.newest))
        };
        // A response that was not taken need not be in memory beside the new one. It is freed, and
        // the new one is moved, while subscribers can poll.
        drop(replaced);
        let json = held(json, pool)?;
        let taken = {
            let mut state = self.state();
            if is_same {
                state.newest = Newest::Response(json);
            } else {
                state.digest = digest;
                // Nobody has published meanwhile.
                let _pending = state.replace(json);
            }
            state.drop_taken()
        };
        drop(taken);
        self.wake_all().await;
        Ok(())
    }

    /// Publishes the last response.
    pub(super) async fn end(&self, json: Vec<u8>) {
        let json = Bytes::from(json);
        let replaced = {
            let mut state = self.state();
            state.is_last = true;
            state.rules = None;
            state.replace(json)
        };
        drop(replaced);
        self.wake_all().await;
    }

    /// Ends the streams of all subscribers that have the newest response.
    pub(super) fn close(&self) {
        self.state().is_last = true;
        let mut rest = Some(0);
        while let Some(from) = rest {
            rest = self.wake(from);
        }
    }

    /// The responses for one more subscriber: the current one, and later ones, of which it may miss
    /// those that a newer one has replaced.
    pub(super) fn subscribe(
        self: &Arc<Self>,
    ) -> impl Stream<Item = StreamedResponse> + Send + 'static {
        let mut state = self.state();
        let id = state.next_id;
        state.next_id += 1;
        if state.subscribers.is_empty() {
            state.subscribers.reserve_exact(1);
        }
        state.subscribers.push(LiveSubscriber {
            id,
            taken: 0,
            waker: None,
        });
        if state.number > 0 {
            state.behind += 1;
        }
        if matches!(state.newest, Newest::Taken) {
            self.subscribers.notify_one();
        }
        LiveResponses {
            response: self.clone(),
            id,
        }
    }

    /// Whether there is any subscriber.
    pub(super) fn has_subscribers(&self) -> bool {
        !self.state().subscribers.is_empty()
    }

    /// Whether a subscriber waits for a response that is not kept any more.
    pub(super) fn is_missed(&self) -> bool {
        let state = self.state();
        state.behind > 0 && matches!(state.newest, Newest::Taken)
    }

    /// Waits until [`has_subscribers`](Self::has_subscribers) or [`is_missed`](Self::is_missed) may
    /// have changed.
    pub(super) async fn subscribers_changed(&self) {
        self.subscribers.notified().await;
    }

    /// Waits until there is no subscriber any more.
    pub(super) async fn abandoned(&self) {
        while self.has_subscribers() {
            self.subscribers_changed().await;
        }
    }

    /// Wakes the subscribers that can take a response, or have ended.
    async fn wake_all(&self) {
        let mut rest = Some(0);
        while let Some(from) = rest {
            turn().await;
            rest = self.wake(from);
        }
    }

    /// Wakes some of the subscribers from an id on. Returns the id of the next one.
    fn wake(&self, from: u64) -> Option<u64> {
        let (wakers, rest) = self.state().wakers(from);
        wakers.into_iter().for_each(Waker::wake);
        rest
    }

    fn state(&self) -> MutexGuard<'_, ResponseState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ResponseState {
    /// Whether there is a response, and its rules were not replaced.
    fn can_be_taken(&self) -> bool {
        matches!(self.newest, Newest::Response(_)) && !are_replaced(self.rules.as_ref())
    }

    /// The replaced response, which the caller drops without the lock.
    fn replace(&mut self, json: Bytes) -> Newest {
        self.number += 1;
        self.behind = self.subscribers.len();
        std::mem::replace(&mut self.newest, Newest::Response(json))
    }

    /// A large response once all subscribers have it. The caller drops it without the lock.
    fn drop_taken(&mut self) -> Option<Newest> {
        if let Newest::Response(json) = &self.newest
            && self.behind == 0
            && json.len() > LIVE_KEPT_BYTES_MAX
            && !self.is_last
        {
            return Some(std::mem::replace(&mut self.newest, Newest::Taken));
        }
        None
    }

    /// The wakers of the first subscribers from an id on that can take a response, or have ended. And
    /// the id of the next subscriber.
    fn wakers(&mut self, from: u64) -> (Vec<Waker>, Option<u64>) {
        let begin = self.subscribers.partition_point(|own| own.id < from);
        let rest = self
            .subscribers
            .get(begin + WOKEN_AT_ONCE)
            .map(|own| own.id);
        let woken = self.subscribers[begin..]
            .iter_mut()
            .take(WOKEN_AT_ONCE)
            .filter(|own| self.is_last || own.taken != self.number);
        (woken.filter_map(|own| own.waker.take()).collect(), rest)
    }

    fn position(&self, id: u64) -> Option<usize> {
        let found = self.subscribers.binary_search_by_key(&id, |own| own.id);
        found.ok()
    }
}

/// The responses for one subscriber.
struct LiveResponses {
    response: Arc<LiveResponse>,
    id: u64,
}

impl Stream for LiveResponses {
    type Item = StreamedResponse;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut state = self.response.state();
        let state = &mut *state;
        let Some(at) = state.position(self.id) else {
            return Poll::Ready(None);
        };
        let can_be_taken = state.can_be_taken();
        let own = &mut state.subscribers[at];
        match &state.newest {
            Newest::Response(json) if can_be_taken && own.taken != state.number => {
                own.taken = state.number;
                let json = json.clone();
                state.behind -= 1;
                // Another reference to the response that is returned.
                let _taken = state.drop_taken();
                Poll::Ready(Some(StreamedResponse { json, cursor: None }))
            }
            _ if state.is_last => Poll::Ready(None),
            _ => {
                if !matches!(&own.waker, Some(own) if own.will_wake(context.waker())) {
                    own.waker = Some(context.waker().clone());
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for LiveResponses {
    fn drop(&mut self) {
        let mut taken = None;
        let mut state = self.response.state();
        let Some(at) = state.position(self.id) else {
            return;
        };
        let own = state.subscribers.remove(at);
        if state.number > 0 && own.taken != state.number {
            state.behind -= 1;
            taken = state.drop_taken();
        }
        if state.subscribers.is_empty() {
            self.response.subscribers.notify_one();
        }
        drop(state);
        drop(taken);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;
    use std::task::Wake;

    use futures::{FutureExt as _, StreamExt as _};

    use tokio::sync::watch;

    use super::*;
    use crate::error::ErrorKind;
    use crate::error::Resource::Memory;
    use crate::rights::Rules;

    type Responses = Pin<Box<dyn Stream<Item = StreamedResponse>>>;

    const LARGE: usize = 2 * HELD_SMALL_BYTES;

    fn subscribe(response: &Arc<LiveResponse>) -> Responses {
        Box::pin(response.subscribe())
    }

    /// The next response, if there is one now.
    fn next(responses: &mut Responses) -> Option<Bytes> {
        let next = responses.next().now_or_never()?;
        Some(next.expect("the stream is open").json)
    }

    fn ends(responses: &mut Responses) -> bool {
        matches!(responses.next().now_or_never(), Some(None))
    }

    fn large(letter: u8) -> Vec<u8> {
        vec![letter; LARGE]
    }

    #[tokio::test]
    async fn each_subscriber_gets_the_newest_response_once() {
        let (pool, response) = (Pool::new(10 * LARGE), Arc::default());
        let (mut fast, mut slow) = (subscribe(&response), subscribe(&response));
        assert_eq!(next(&mut fast), None);
        for (json, is_new) in [(&b"1"[..], true), (b"2", true), (b"2", false)] {
            response
                .publish(json.to_vec(), None, &pool)
                .await
                .expect("memory");
            let expected = is_new.then(|| Bytes::from_static(json));
            assert_eq!(next(&mut fast), expected);
            assert_eq!(next(&mut fast), None);
        }
        assert_eq!(next(&mut slow).as_deref(), Some(&b"2"[..]));
        assert_eq!(next(&mut slow), None);
        let mut late = subscribe(&response);
        assert_eq!(next(&mut late).as_deref(), Some(&b"2"[..]));
        assert!(!response.is_missed());
        response.end(b"end".to_vec()).await;
        for responses in [&mut fast, &mut slow, &mut late] {
            assert_eq!(next(responses).as_deref(), Some(&b"end"[..]));
            assert!(ends(responses));
        }
        drop((fast, slow));
        assert!(response.has_subscribers());
        drop(late);
        assert!(!response.has_subscribers());
    }

    #[tokio::test]
    async fn a_large_response_is_held_until_all_subscribers_have_sent_it() {
        let (pool, response) = (Pool::new(10 * LARGE), Arc::default());
        let mut both = [subscribe(&response), subscribe(&response)];
        response
            .publish(large(b'a'), None, &pool)
            .await
            .expect("memory");
        assert_eq!(pool.held(), LARGE);
        let sent = both
            .each_mut()
            .map(|responses| next(responses).expect("it is new"));
        assert_eq!(pool.held(), LARGE);
        drop(sent);
        assert_eq!(pool.held(), 0);
        // The same response is not sent again, but to those who join.
        response
            .publish(large(b'a'), None, &pool)
            .await
            .expect("memory");
        assert_eq!((pool.held(), next(&mut both[0])), (0, None));
        let mut late = subscribe(&response);
        assert_eq!(next(&mut late), None);
        assert!(response.is_missed());
        response
            .publish(large(b'a'), None, &pool)
            .await
            .expect("memory");
        assert!(!response.is_missed());
        assert_eq!((pool.held(), next(&mut both[0])), (LARGE, None));
        assert_eq!(next(&mut late), Some(large(b'a').into()));
        assert_eq!(pool.held(), 0);
        // Those who leave do not need it.
        response
            .publish(large(b'b'), None, &pool)
            .await
            .expect("memory");
        drop((both, late));
        assert_eq!(pool.held(), 0);
    }

    #[tokio::test]
    async fn a_response_without_memory_replaces_the_last_one_and_fails() {
        let (pool, response) = (Pool::new(LARGE), Arc::default());
        let mut responses = subscribe(&response);
        response
            .publish(large(b'a'), None, &pool)
            .await
            .expect("memory");
        // It was not taken, so it makes room for the next one.
        response
            .publish(large(b'b'), None, &pool)
            .await
            .expect("memory");
        let sending = next(&mut responses);
        let small = vec![b'c'; HELD_SMALL_BYTES];
        response
            .publish(small, None, &pool)
            .await
            .expect("small ones need no room");
        let error = response
            .publish(large(b'd'), None, &pool)
            .await
            .expect_err("no room");
        assert_eq!(error.kind(), ErrorKind::Exhausted(Memory));
        drop(sending);
        assert_eq!((pool.held(), next(&mut responses)), (0, None));
        response.close();
        assert!(ends(&mut responses));
    }

    #[tokio::test]
    async fn a_response_under_replaced_rules_is_not_given() {
        let rules = || Arc::new(Rules::parse("").expect("rules"));
        let (replaced, receiver) = watch::channel(rules());
        let in_force = RulesInForce::new(receiver);
        let followed = || Some(in_force.followed());
        let (pool, response) = (Pool::new(LARGE), Arc::default());
        let (mut first, mut waiting) = (subscribe(&response), subscribe(&response));
        let publish = async |json: &[u8], rules| {
            let published = response.publish(json.to_vec(), rules, &pool);
            published.await.expect("memory");
        };
        publish(b"1", followed()).await;
        assert_eq!(next(&mut first).as_deref(), Some(&b"1"[..]));
        let before = followed();
        replaced.send_replace(rules());
        let mut late = subscribe(&response);
        for responses in [&mut waiting, &mut late] {
            assert_eq!(next(responses), None);
        }
        // The execution began before.
        publish(b"2", before).await;
        for responses in [&mut first, &mut waiting, &mut late] {
            assert_eq!(next(responses), None);
        }
        // The new rules give the same response.
        publish(b"1", followed()).await;
        assert_eq!(next(&mut first), None);
        for responses in [&mut waiting, &mut late] {
            assert_eq!(next(responses).as_deref(), Some(&b"1"[..]));
        }
        // The last response has no successor.
        response.end(b"end".to_vec()).await;
        replaced.send_replace(rules());
        for responses in [&mut first, &mut waiting, &mut late] {
            assert_eq!(next(responses).as_deref(), Some(&b"end"[..]));
            assert!(ends(responses));
        }
    }

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    #[tokio::test]
    async fn subscribers_are_woken_a_few_at_a_time() {
        const SUBSCRIBERS: usize = 3 * WOKEN_AT_ONCE + 5;
        let (pool, response, wakes) = (Pool::new(LARGE), Arc::default(), Arc::<Wakes>::default());
        let waker = Waker::from(wakes.clone());
        let mut subscribers: Vec<_> = (0..SUBSCRIBERS).map(|_| subscribe(&response)).collect();
        let wait = |subscribers: &mut [Responses]| {
            for responses in subscribers {
                let polled = responses.poll_next_unpin(&mut Context::from_waker(&waker));
                assert!(polled.is_pending());
            }
        };
        wait(&mut subscribers);
        // One in the middle has gone.
        drop(subscribers.remove(WOKEN_AT_ONCE));
        let (mut rest, mut pieces) = (Some(0), Vec::new());
        while let Some(from) = rest {
            let (wakers, next) = response.state().wakers(from);
            pieces.push(wakers.len());
            rest = next;
        }
        assert_eq!(pieces, [0; 4], "nothing is new");
        response
            .publish(b"1".to_vec(), None, &pool)
            .await
            .expect("memory");
        assert_eq!(wakes.0.load(Relaxed), SUBSCRIBERS - 1);
        for responses in &mut subscribers {
            assert!(next(responses).is_some());
        }
        wait(&mut subscribers);
        let _replaced = response.state().replace(Bytes::from_static(b"2"));
        let first = response.wake(0);
        assert_eq!(wakes.0.swap(0, Relaxed), SUBSCRIBERS - 1 + WOKEN_AT_ONCE);
        assert_eq!(first, Some(WOKEN_AT_ONCE as u64 + 1));
        response.close();
        assert_eq!(wakes.0.load(Relaxed), SUBSCRIBERS - 1 - WOKEN_AT_ONCE);
    }
}
