//! The keys in force, and where they come from: a file that is reloaded when it changes, or a URL that
//! is fetched again.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use arc_swap::ArcSwapOption;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep};

use super::key_set::{KeyOrigin, KeySet};
use super::key_url::KeyUrl;
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
    /// The keys of a file. `changed` is told when others are in force.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the file cannot be read. `BAD_USER_INPUT`: it is not a key set.
    pub(super) fn file(path: PathBuf, changed: &watch::Sender<()>) -> Result<Self> {
        // A file with public keys is no secret.
        let secret = |text: &[u8]| KeySet::read(text, KeyOrigin::File).is_ok_and(|it| it.has_secret());
        let file = ReloadedFile::new(vec![Watch { path, secret }], |files| {
            KeysInForce::in_file(&files.concat())
        })?;
        Ok(Self::File(Arc::new(file.telling(changed))))
    }

    /// The keys at a URL, which are fetched when they are needed first.
    pub(super) fn url(url: KeyUrl, changed: &watch::Sender<()>) -> Self {
        Self::Url(Box::new(RemoteKeys::new(url, changed)))
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
    url: KeyUrl,
    current: ArcSwapOption<KeysInForce>,
    /// Tells when other keys are in force.
    changed: watch::Sender<()>,
    /// Held during a fetch, so that there is one at a time.
    fetching: Mutex<Fetches>,
    /// Whether the last fetch has failed.
    failing: AtomicBool,
}

#[derive(Default)]
struct Fetches {
    /// When a token with an unknown `kid`, or without any key in force, has caused one last.
    for_token: Option<Instant>,
}

impl RemoteKeys {
    fn new(url: KeyUrl, changed: &watch::Sender<()>) -> Self {
        Self {
            url,
            current: ArcSwapOption::empty(),
            changed: changed.clone(),
            fetching: Mutex::default(),
            failing: AtomicBool::new(false),
        }
    }

    async fn watch(&self) {
        loop {
            self.refresh().await;
            let pause = if self.failing.load(Relaxed) {
                KEY_SET_RETRY_TIME
            } else {
                KEY_SET_PERIOD
            };
            sleep(pause).await;
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
        let recent = |last| now.saturating_duration_since(last) < KEY_SET_RETRY_TIME;
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
        tracing::info!("the key set at {url} has {} keys that verify tokens", keys.len());
        self.current.store(Some(Arc::new(KeysInForce::of(keys))));
        self.changed.send_replace(());
    }
}
