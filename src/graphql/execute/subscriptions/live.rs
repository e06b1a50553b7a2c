//! Live queries: operations that are executed again when their result may have changed. Subscribers
//! with the same operation and variables share the executions.
//!
//! There can be very many live queries, of which nearly all wait for a change. So what a waiting one
//! keeps is small: its task has no state of an execution, and its response is dropped when all
//! subscribers have it (`live_response.rs`).

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::live_response::LiveResponse;
use crate::budget::{Pool, Sliced};
use crate::database::ChangeFollower;
use crate::error::{Error, Result};
use crate::graphql::context::rules_in_force::{RulesInForce, are_replaced, replaced};
use crate::graphql::execute::streaming::{EventResponse, ResponseStream};
use crate::limits::{LIVE_EXECUTIONS_AT_ONCE, LIVE_FAST_TIME_MAX, LIVE_TIME_SHARE};

/// The live queries of a server. However many there are, few are executed at the same time, and each
/// of them most of the time is not.
pub(crate) struct LiveQueries {
    queries: Mutex<QueryMap>,
    /// Limits how many are executed at the same time: those that were fast the last time, and the
    /// others. So slow queries do not hold fast ones back.
    executing: [Semaphore; 2],
    /// The memory that all requests hold. Responses count towards it until they are sent.
    pool: Pool,
}

type QueryMap = HashMap<Arc<LiveKey>, Weak<LiveResponse>>;

/// What subscribers must have in common to share executions.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct LiveKey {
    /// The number of the prepared document.
    pub(crate) document: u64,
    pub(crate) operation: Option<Box<str>>,
    /// The JSON text of the variables.
    pub(crate) variables: Box<[u8]>,
    /// The digest of the caller, if access rules limit its requests.
    pub(crate) caller: Option<[u8; 32]>,
}

impl LiveQueries {
    /// No live queries. Their responses count towards the memory of `pool`.
    pub(crate) fn new(pool: Pool) -> Self {
        Self {
            queries: Mutex::default(),
            executing: [(); 2].map(|()| Semaphore::new(LIVE_EXECUTIONS_AT_ONCE)),
            pool,
        }
    }

    /// The responses of a live query. `follow` begins to follow its changes, `execute` executes it,
    /// `refuse` writes the response for an error. After an execution, the next one begins no sooner
    /// than `pause` later. It is executed again when the access `rules` are replaced.
    ///
    /// # Errors
    /// As `follow`.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        key: LiveKey,
        pause: Duration,
        follow: impl Future<Output = Result<ChangeFollower>>,
        rules: Option<RulesInForce>,
        execute: impl Fn() -> BoxFuture<'static, EventResponse> + Send + Sync + 'static,
        refuse: fn(&Error) -> Vec<u8>,
    ) -> Result<ResponseStream> {
        if let Some(responses) = join(&self.queries(), &key) {
            return Ok(responses);
        }
        let follower = follow.await?;
        let mut queries = self.queries();
        // Another subscriber may have been faster.
        if let Some(responses) = join(&queries, &key) {
            return Ok(responses);
        }
        let key = Arc::new(key);
        let response = Arc::new(LiveResponse::default());
        let responses = ResponseStream::new(response.subscribe());
        queries.insert(key.clone(), Arc::downgrade(&response));
        drop(queries);
        let running = Running {
            queries: self.clone(),
            key,
            response,
            pause,
            is_slow: false,
            follower,
            rules,
            execute,
            refuse,
        };
        tokio::spawn(Sliced::new(Box::new(running).run()));
        Ok(responses)
    }

    fn queries(&self) -> MutexGuard<'_, QueryMap> {
        self.queries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Subscribes to a live query that is already executed for others. The caller holds the lock, so the
/// query does not end meanwhile.
fn join(queries: &QueryMap, key: &LiveKey) -> Option<ResponseStream> {
    let response = queries.get(key)?.upgrade()?;
    Some(ResponseStream::new(response.subscribe()))
}

/// A live query that is executed.
struct Running<F> {
    queries: Arc<LiveQueries>,
    key: Arc<LiveKey>,
    response: Arc<LiveResponse>,
    pause: Duration,
    /// Whether the last execution took long.
    is_slow: bool,
    follower: ChangeFollower,
    /// Followed since the last execution began.
    rules: Option<RulesInForce>,
    execute: F,
    refuse: fn(&Error) -> Vec<u8>,
}

/// Why a live query does not wait any more.
enum LiveWake {
    /// Its result may have changed.
    Changed,
    /// A subscriber needs a response that is not kept any more.
    Missed,
    /// It had no subscribers and was removed.
    Ended,
}

impl<F: Fn() -> BoxFuture<'static, EventResponse>> Running<F> {
    /// Executes the query now and after changes, until it has no subscribers or fails.
    async fn run(mut self: Box<Self>) {
        loop {
            // Boxed, so that the task is small while it waits for a change.
            let next = match Box::pin(self.execute_for_subscribers()).await {
                Some(Ok(Some(next))) => next,
                Some(Ok(None)) => return,
                Some(Err(error)) => return self.end(&error).await,
                None if self.ends() => return,
                None => continue,
            };
            match self.wait().await {
                Ok(LiveWake::Changed) => Box::pin(sleep_until(next)).await,
                Ok(LiveWake::Missed) => {}
                Ok(LiveWake::Ended) => return,
                Err(error) => return self.end(&error).await,
            }
        }
    }

    /// As [`execute`](Self::execute). `None` if the execution was cancelled, because all subscribers
    /// had gone.
    async fn execute_for_subscribers(&mut self) -> Option<Result<Option<Instant>>> {
        let response = self.response.clone();
        tokio::select! {
            executed = self.execute() => Some(executed),
            () = response.abandoned() => None,
        }
    }

    /// Executes the query once. Returns when the next execution may begin; none if the response is the
    /// last one.
    ///
    /// # Errors
    /// `UNAVAILABLE`: there is no memory for the response.
    async fn execute(&mut self) -> Result<Option<Instant>> {
        let executing = &self.queries.executing[usize::from(self.is_slow)];
        let executing = executing.acquire().await;
        let begun = Instant::now();
        self.rules = self.rules.as_ref().map(RulesInForce::followed);
        let EventResponse { json, is_last } = (self.execute)().await;
        drop(executing);
        if is_last && self.ends_under_its_rules() {
            self.response.end(json).await;
            return Ok(None);
        }
        let took = begun.elapsed();
        self.is_slow = took > LIVE_FAST_TIME_MAX;
        let rules = self.rules.clone();
        let published = self.response.publish(json, rules, &self.queries.pool);
        published.await?;
        Ok(Some(begun + self.pause.max(took * LIVE_TIME_SHARE)))
    }

    /// Waits until there is something to do.
    ///
    /// # Errors
    /// As [`ChangeFollower::changed`].
    async fn wait(&mut self) -> Result<LiveWake> {
        loop {
            tokio::select! {
                () = replaced(&mut self.rules) => return Ok(LiveWake::Changed),
                changed = self.follower.changed() => return changed.map(|()| LiveWake::Changed),
                () = self.response.subscribers_changed() => {
                    if self.ends() {
                        return Ok(LiveWake::Ended);
                    }
                    if self.response.is_missed() {
                        return Ok(LiveWake::Missed);
                    }
                }
            }
        }
    }

    /// Removes the query if it has no subscribers. Returns whether it was removed.
    fn ends(&self) -> bool {
        let mut queries = self.queries.queries();
        let ends = !self.response.has_subscribers();
        if ends {
            queries.remove(&self.key);
        }
        ends
    }

    /// Removes the query, unless the rules were replaced since the execution began: whoever joined since then
    /// waits for another one. Returns whether it was removed.
    fn ends_under_its_rules(&self) -> bool {
        let mut queries = self.queries.queries();
        let ends = !are_replaced(self.rules.as_ref());
        if ends {
            queries.remove(&self.key);
        }
        ends
    }

    /// Ends the query with an error.
    async fn end(&self, error: &Error) {
        self.queries.queries().remove(&self.key);
        self.response.end((self.refuse)(error)).await;
    }
}

impl<F> Drop for Running<F> {
    /// Ends the streams of the subscribers, if the server stops or an execution panics.
    fn drop(&mut self) {
        self.response.close();
        let mut queries = self.queries.queries();
        let own = queries.get(&self.key);
        if own.is_some_and(|own| std::ptr::eq(own.as_ptr(), Arc::as_ptr(&self.response))) {
            queries.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    use futures::StreamExt as _;
    use tokio::sync::watch;

    use super::*;
    use crate::database::{Database, FollowFrom, Interest};
    use crate::rights::Rules;
    use crate::store::Embedded;

    #[tokio::test]
    async fn a_refusal_by_replaced_rules_does_not_end_a_live_query() {
        let rules = || Arc::new(Rules::parse("").expect("rules"));
        let (replaced, in_force) = watch::channel(rules());
        let executions = Arc::<AtomicUsize>::default();
        // The rules are replaced during the first execution, which they refuse.
        let execute = {
            let executions = executions.clone();
            move || -> BoxFuture<'static, EventResponse> {
                let number = executions.fetch_add(1, Relaxed);
                if number == 0 {
                    replaced.send_replace(rules());
                }
                let json = number.to_string().into_bytes();
                let is_last = number != 1;
                Box::pin(std::future::ready(EventResponse { json, is_last }))
            }
        };
        let store = Arc::new(Embedded::in_memory().expect("a store"));
        let hour = Duration::from_secs(3600);
        let database = Database::open_or_create(store, hour, Instant::now() + hour);
        let database = database.await.expect("a database");
        let interest = Interest::in_collection("D".to_owned());
        let follow = database.changes().follow(interest, FollowFrom::Now);
        let key = LiveKey {
            document: 0,
            operation: None,
            variables: Box::default(),
            caller: None,
        };
        let live = Arc::new(LiveQueries::new(Pool::new(usize::MAX)));
        let rules = Some(RulesInForce::new(in_force));
        let refuse = |_: &Error| Vec::new();
        let mut responses = live
            .subscribe(key, Duration::ZERO, follow, rules, execute, refuse)
            .await
            .expect("a live query");
        let first = responses.next().await.expect("a response");
        assert_eq!(&first.json[..], b"1");
        assert_eq!(executions.load(Relaxed), 2);
    }
}
