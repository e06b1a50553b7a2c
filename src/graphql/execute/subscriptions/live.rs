//! Live queries: operations that are executed again when their result may have changed. Subscribers
//! with the same operation and variables share the executions.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_graphql::parser::types::ExecutableDocument;
use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, sleep_until};

use crate::database::ChangeFollower;
use crate::error::{Error, Result};
use crate::graphql::execute::streaming::{ResponseStream, StreamedResponse};
use crate::limits::{LIVE_EXECUTIONS_AT_ONCE, LIVE_FAST_TIME_MAX, LIVE_TIME_SHARE};

/// The live queries of a server. However many there are, few are executed at the same time, and each
/// of them most of the time is not.
pub(crate) struct LiveQueries {
    queries: Mutex<QueryMap>,
    /// Limits how many are executed at the same time: those that were fast the last time, and the
    /// others. So slow queries do not hold fast ones back.
    executing: [Semaphore; 2],
}

type QueryMap = HashMap<LiveKey, Weak<watch::Sender<LiveState>>>;

impl Default for LiveQueries {
    fn default() -> Self {
        Self {
            queries: Mutex::default(),
            executing: [(); 2].map(|()| Semaphore::new(LIVE_EXECUTIONS_AT_ONCE)),
        }
    }
}

/// What subscribers must have in common to share executions.
#[derive(Clone)]
pub(crate) struct LiveKey {
    pub(crate) document: Arc<ExecutableDocument>,
    pub(crate) operation: Option<String>,
    /// The JSON text of the variables.
    pub(crate) variables: Bytes,
}

/// The result of a live query.
#[derive(Clone)]
enum LiveState {
    /// The first execution is not done.
    Pending,
    /// The newest response.
    Response(Arc<[u8]>),
    /// The last response. The query is not executed any more.
    Ended(Arc<[u8]>),
}

impl LiveKey {
    fn parts(&self) -> (*const ExecutableDocument, Option<&str>, &[u8]) {
        // The key owns the document, so no other document has its address.
        let document = Arc::as_ptr(&self.document);
        (document, self.operation.as_deref(), &self.variables)
    }
}

impl PartialEq for LiveKey {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for LiveKey {}

impl std::hash::Hash for LiveKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl LiveQueries {
    /// The responses of a live query. `follow` begins to follow its changes, `execute` executes it,
    /// `refuse` writes the response for an error. After an execution, the next one begins no sooner
    /// than `pause` later.
    ///
    /// # Errors
    /// As `follow`.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        key: LiveKey,
        pause: Duration,
        follow: impl Future<Output = Result<ChangeFollower>>,
        execute: impl Fn() -> BoxFuture<'static, Vec<u8>> + Send + Sync + 'static,
        refuse: fn(&Error) -> Vec<u8>,
    ) -> Result<ResponseStream> {
        if let Some(shared) = self.join(&key) {
            return Ok(responses(shared));
        }
        let follower = follow.await?;
        let (sender, receiver) = {
            let mut queries = self.queries();
            // Another subscriber may have been faster.
            if let Some(sender) = queries.get(&key).and_then(Weak::upgrade) {
                return Ok(responses(sender.subscribe()));
            }
            let (sender, receiver) = watch::channel(LiveState::Pending);
            let sender = Arc::new(sender);
            queries.insert(key.clone(), Arc::downgrade(&sender));
            (sender, receiver)
        };
        let running = Running {
            queries: self.clone(),
            key,
            sender,
        };
        tokio::spawn(running.run(pause, follower, execute, refuse));
        Ok(responses(receiver))
    }

    fn join(&self, key: &LiveKey) -> Option<watch::Receiver<LiveState>> {
        let sender = self.queries().get(key).and_then(Weak::upgrade)?;
        Some(sender.subscribe())
    }

    fn queries(&self) -> MutexGuard<'_, QueryMap> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A live query that is executed.
struct Running {
    queries: Arc<LiveQueries>,
    key: LiveKey,
    sender: Arc<watch::Sender<LiveState>>,
}

impl Running {
    async fn run(
        self,
        pause: Duration,
        follower: ChangeFollower,
        execute: impl Fn() -> BoxFuture<'static, Vec<u8>>,
        refuse: fn(&Error) -> Vec<u8>,
    ) {
        let mut last: Option<Arc<[u8]>> = None;
        let mut is_slow = false;
        loop {
            let executing = &self.queries.executing[usize::from(is_slow)];
            let executing = executing.acquire().await;
            let begun = Instant::now();
            let json: Arc<[u8]> = execute().await.into();
            drop(executing);
            let took = begun.elapsed();
            is_slow = took > LIVE_FAST_TIME_MAX;
            let next = begun + pause.max(took * LIVE_TIME_SHARE);
            if last.as_ref() != Some(&json) {
                self.sender.send_replace(LiveState::Response(json.clone()));
                last = Some(json);
            }
            let changed = tokio::select! {
                changed = follower.changed() => changed,
                () = self.sender.closed() => {
                    if self.ends() {
                        return;
                    }
                    // A subscriber has joined meanwhile. The next execution is early, and its
                    // response is sent only if it differs.
                    Ok(())
                }
            };
            if let Err(error) = changed {
                self.sender
                    .send_replace(LiveState::Ended(refuse(&error).into()));
                self.queries.queries().remove(&self.key);
                return;
            }
            sleep_until(next).await;
        }
    }

    /// Removes the query if it has no subscribers. Returns whether it was removed.
    fn ends(&self) -> bool {
        let mut queries = self.queries.queries();
        let ends = self.sender.receiver_count() == 0;
        if ends {
            queries.remove(&self.key);
        }
        ends
    }
}

/// The responses for one subscriber: the current one, and later ones, of which it may miss those
/// that a newer one has replaced.
fn responses(mut states: watch::Receiver<LiveState>) -> ResponseStream {
    states.mark_changed();
    ResponseStream::new(futures::stream::unfold(Some(states), |states| async {
        let mut states = states?;
        loop {
            // An error means that the server stops.
            states.changed().await.ok()?;
            let state = states.borrow_and_update().clone();
            let response = |json| StreamedResponse { json, cursor: None };
            match state {
                LiveState::Pending => {}
                LiveState::Response(json) => return Some((response(json), Some(states))),
                LiveState::Ended(json) => return Some((response(json), None)),
            }
        }
    }))
}
