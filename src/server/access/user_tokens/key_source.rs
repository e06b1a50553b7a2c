//! The keys in force, and where they come from: a file that is reloaded when it changes, or a URL that
//! is fetched again.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep};

use super::key_set::{KeyOrigin, KeySet};
use super::verified_tokens::VerifiedTokens;
use crate::error::Result;
use crate::limits::{KEY_SET_PERIOD, KEY_SET_RETRY_TIME};
use crate::server::file_reload::{ReloadedFile, Watch};

/// The keys in force, and the tokens that were verified with them. When the keys change, the tokens
/// are verified again.
#[derive(Default)]
pub(super) struct KeysInForce {
    pub(super) keys: KeySet,
    pub(super) verified: VerifiedTokens,
}

/// Where the keys come from.
pub(super) enum KeySource {
    File(Arc<ReloadedFile<KeysInForce>>),
    Url(Box<RemoteKeys>),
}

/// What key sets are fetched from. Its text is for the log. Tests have their own.
pub(super) trait FetchKeys: fmt::Display + Send + Sync {
    /// Fetches the text of the key set.
    ///
    /// # Errors
    /// `UNAVAILABLE`: there is no response, or not that of a key set.
    fn fetch(&self) -> BoxFuture<'_, Result<Bytes>>;
}

impl KeysInForce {
    fn of(keys: KeySet) -> Self {
        Self {
            keys,
            verified: VerifiedTokens::default(),
        }
    }

    fn in_file(text: &[u8]) -> Result<Self> {
        KeySet::read(text, KeyOrigin::File).map(Self::of)
    }
}

impl KeySource {
    /// The keys of a file. `changed` is notified when others are in force.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the file cannot be read. `BAD_USER_INPUT`: it is not a key set.
    pub(super) fn file(path: PathBuf, changed: &watch::Sender<()>) -> Result<Self> {
        // A file with public keys is no secret.
        let secret =
            |text: &[u8]| KeySet::read(text, KeyOrigin::File).is_ok_and(|it| it.has_secret());
        let file = ReloadedFile::new(vec![Watch { path, secret }], |files| {
            KeysInForce::in_file(&files.concat())
        })?;
        Ok(Self::File(Arc::new(file.telling(changed))))
    }

    /// The keys at a URL, which are fetched when they are needed first.
    pub(super) fn url(url: impl FetchKeys + 'static, changed: &watch::Sender<()>) -> Self {
        let times = FetchTimes {
            period: KEY_SET_PERIOD,
            retry: KEY_SET_RETRY_TIME,
        };
        Self::Url(Box::new(RemoteKeys::new(Box::new(url), changed, times)))
    }

    /// The keys in force. `None` if none were fetched yet.
    pub(super) fn current(&self) -> Option<Arc<KeysInForce>> {
        match self {
            Self::File(file) => Some(file.current()),
            Self::Url(remote) => remote.current.load_full(),
        }
    }

    /// Reads the keys again whenever they may have changed. Never returns.
    pub(super) async fn watch(&self) {
        match self {
            Self::File(file) => file.clone().watch().await,
            Self::Url(remote) => remote.watch().await,
        }
    }

    /// Reads the keys again immediately.
    pub(super) async fn reload(&self) {
        match self {
            Self::File(file) => file.clone().reload().await,
            Self::Url(remote) => remote.refresh().await,
        }
    }

    /// Looks for keys other than `seen`, which lack one that a token names. Does nothing if that is done
    /// too often.
    pub(super) async fn look_for_more(&self, seen: Option<&Arc<KeysInForce>>) {
        if let Self::Url(remote) = self {
            remote.look_for_more(seen).await;
        }
    }
}

/// The keys at a URL.
pub(super) struct RemoteKeys {
    url: Box<dyn FetchKeys>,
    times: FetchTimes,
    current: ArcSwapOption<KeysInForce>,
    /// Tells when other keys are in force.
    changed: watch::Sender<()>,
    /// Held during a fetch, so that there is one at a time.
    fetching: Mutex<Fetches>,
    /// Whether the last fetch has failed.
    failing: AtomicBool,
}

/// When keys are fetched again.
#[derive(Clone, Copy)]
struct FetchTimes {
    /// After a fetch that has not failed.
    period: Duration,
    /// After one that has, and the shortest time between two because of tokens.
    retry: Duration,
}

#[derive(Default)]
struct Fetches {
    /// When a token with an unknown `kid`, or without any key in force, has caused one last.
    for_token: Option<Instant>,
}

impl RemoteKeys {
    fn new(url: Box<dyn FetchKeys>, changed: &watch::Sender<()>, times: FetchTimes) -> Self {
        Self {
            url,
            times,
            current: ArcSwapOption::empty(),
            changed: changed.clone(),
            fetching: Mutex::default(),
            failing: AtomicBool::new(false),
        }
    }

    async fn watch(&self) {
        loop {
            self.refresh().await;
            sleep(self.pause()).await;
        }
    }

    /// The time until the next fetch.
    fn pause(&self) -> Duration {
        if self.failing.load(Relaxed) {
            self.times.retry
        } else {
            self.times.period
        }
    }

    async fn refresh(&self) {
        let _fetching = self.fetching.lock().await;
        self.fetch().await;
    }

    async fn look_for_more(&self, seen: Option<&Arc<KeysInForce>>) {
        let mut fetches = self.fetching.lock().await;
        let now = Instant::now();
        let current = self.current.load_full();
        let is_same = match (&current, seen) {
            (Some(current), Some(seen)) => Arc::ptr_eq(current, seen),
            (current, seen) => current.is_none() && seen.is_none(),
        };
        let recent = |last| now.saturating_duration_since(last) < self.times.retry;
        // Another fetch may have ended while this one waited.
        if !is_same || fetches.for_token.is_some_and(recent) {
            return;
        }
        fetches.for_token = Some(now);
        self.fetch().await;
    }

    /// Fetches the keys. If that fails, the old ones stay in force. Of several failures in succession,
    /// the first one is logged.
    async fn fetch(&self) {
        let fetched = self.url.fetch().await;
        let keys = fetched.and_then(|text| KeySet::read(&text, KeyOrigin::Url));
        let url = &self.url;
        let failed_before = self.failing.swap(keys.is_err(), Relaxed);
        let keys = match keys {
            Ok(keys) => keys,
            Err(error) => {
                if !failed_before {
                    let current = self.current.load();
                    let kept = current.as_ref().map_or(0, |current| current.keys.len());
                    tracing::error!(
                        "the key set at {url} cannot be used; the {kept} keys from before stay in \
                         effect: {error}"
                    );
                }
                return;
            }
        };
        if failed_before {
            tracing::info!("the key set at {url} can be used again");
        }
        let current = self.current.load();
        if current.as_ref().is_some_and(|current| current.keys == keys) {
            return;
        }
        tracing::info!(
            "the key set at {url} has {} keys that verify tokens",
            keys.len()
        );
        self.current.store(Some(Arc::new(KeysInForce::of(keys))));
        self.changed.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::time::Duration;

    use futures::future::{FutureExt as _, ready};

    use super::*;
    use crate::error::Error;

    /// Serves a key set whose key has the current number, or fails.
    #[derive(Clone, Default)]
    struct FakeEndpoint {
        fetches: Arc<AtomicUsize>,
        number: Arc<AtomicUsize>,
        fails: Arc<AtomicBool>,
    }

    impl fmt::Display for FakeEndpoint {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a fake endpoint")
        }
    }

    impl FetchKeys for FakeEndpoint {
        fn fetch(&self) -> BoxFuture<'_, Result<Bytes>> {
            self.fetches.fetch_add(1, Relaxed);
            let number = self.number.load(Relaxed);
            // 43 characters are 32 bytes, if the last one has no bits of a 33rd.
            let x = format!("{number:0<43}");
            let keys = format!(
                r#"{{"keys":[{{"kty":"OKP","crv":"Ed25519","kid":"{number}","x":"{x}"}}]}}"#
            );
            ready(if self.fails.load(Relaxed) {
                Err(Error::unavailable("it is down", ""))
            } else {
                Ok(keys.into())
            })
            .boxed()
        }
    }

    const SHORT: Duration = Duration::from_millis(10);
    const LONG: Duration = Duration::from_secs(3_600);

    fn keys(endpoint: &FakeEndpoint, period: Duration, retry: Duration) -> RemoteKeys {
        let times = FetchTimes { period, retry };
        RemoteKeys::new(Box::new(endpoint.clone()), &watch::Sender::new(()), times)
    }

    fn number_in_force(keys: &RemoteKeys) -> Option<usize> {
        let current = keys.current.load_full()?;
        (0..10).find(|number| current.keys.may_have(&number.to_string()))
    }

    async fn wait_until(is_so: impl Fn() -> bool) {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < Duration::from_secs(60));
            sleep(SHORT).await;
        }
    }

    #[tokio::test]
    async fn keys_are_fetched_again_and_the_old_ones_stay_in_force_after_a_failure() {
        let endpoint = FakeEndpoint::default();
        let keys = Arc::new(keys(&endpoint, SHORT, SHORT));
        assert_eq!(number_in_force(&keys), None);
        let watched = keys.clone();
        let watching = tokio::spawn(async move { watched.watch().await });
        let fetches = || endpoint.fetches.load(Relaxed);
        wait_until(|| number_in_force(&keys) == Some(0)).await;
        let first = keys.current.load_full().expect("keys");
        let changes = keys.changed.subscribe();
        let before = fetches();
        wait_until(|| fetches() > before + 2).await;
        // The same keys are not put in force again, so that verified tokens stay in the cache.
        assert!(Arc::ptr_eq(
            &first,
            &keys.current.load_full().expect("keys")
        ));
        assert!(!changes.has_changed().expect("it is open"));
        endpoint.fails.store(true, Relaxed);
        endpoint.number.store(1, Relaxed);
        let before = fetches();
        wait_until(|| fetches() > before + 2).await;
        assert_eq!(number_in_force(&keys), Some(0));
        endpoint.fails.store(false, Relaxed);
        wait_until(|| number_in_force(&keys) == Some(1)).await;
        assert!(changes.has_changed().expect("it is open"));
        watching.abort();
    }

    #[tokio::test]
    async fn the_time_to_the_next_fetch_depends_on_the_last_one() {
        let endpoint = FakeEndpoint::default();
        let keys = keys(&endpoint, LONG, SHORT);
        for (fails, expected) in [(true, SHORT), (false, LONG), (true, SHORT)] {
            endpoint.fails.store(fails, Relaxed);
            keys.refresh().await;
            assert_eq!(keys.pause(), expected);
        }
    }

    #[tokio::test]
    async fn tokens_with_unknown_keys_cause_a_fetch_at_most_once_in_a_time() {
        let endpoint = FakeEndpoint::default();
        let often = keys(&endpoint, LONG, Duration::ZERO);
        // Without keys, the first token fetches them.
        often.look_for_more(None).await;
        assert_eq!(number_in_force(&often), Some(0));
        endpoint.number.store(1, Relaxed);
        // Of many requests at the same time, one fetches and all see the result.
        let seen = often.current.load_full();
        let looking = (0..100).map(|_| often.look_for_more(seen.as_ref()));
        futures::future::join_all(looking).await;
        assert_eq!(endpoint.fetches.load(Relaxed), 2);
        assert_eq!(number_in_force(&often), Some(1));
        let seldom = keys(&endpoint, LONG, LONG);
        seldom.refresh().await;
        endpoint.number.store(2, Relaxed);
        let seen = seldom.current.load_full();
        seldom.look_for_more(seen.as_ref()).await;
        assert_eq!(number_in_force(&seldom), Some(2));
        let before = endpoint.fetches.load(Relaxed);
        let seen = seldom.current.load_full();
        for _ in 0..100 {
            seldom.look_for_more(seen.as_ref()).await;
        }
        assert_eq!(endpoint.fetches.load(Relaxed), before);
    }
}
