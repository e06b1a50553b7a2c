//! Batching of loads: all loads that resolvers request in one poll run as one batch.
//!
//! A data loader must decide when its batch is complete. `async_graphql`'s loader leaves this to two
//! traits: it spawns the load of a batch with a [`Spawn`], after a delay of a [`Timer`]. Here
//! neither does what its name says:
//!
//! 1. A resolver requests a load. The loader calls [`LoadQueue::spawn_obj`], which only stores the
//!    future of the load. No task is spawned.
//! 2. The resolver waits, so the executor polls the next one, which may request more loads. They
//!    join the same batch, because its future has not run yet.
//! 3. When the execution returns `Pending`, every resolver has been polled. [`Batcher::poll`] takes
//!    the stored futures and polls them. [`NoDelay`] ends their delay at once, so they read now.
//! 4. A load that completes wakes its resolvers. The batcher polls the execution again.
//!
//! So a batch has all loads of one level of the query, without a timer and without a second task
//! (docs/decisions/0004).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_graphql::runtime::Timer;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, Stream};
use futures::task::{FutureObj, Spawn, SpawnError};

/// Queues the loads that the data loader spawns. [`Batcher`] runs them.
#[derive(Clone, Default)]
pub(crate) struct LoadQueue(Arc<Mutex<Vec<FutureObj<'static, ()>>>>);

impl LoadQueue {
    fn take(&self) -> Vec<FutureObj<'static, ()>> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Spawn for LoadQueue {
    fn spawn_obj(&self, load: FutureObj<'static, ()>) -> Result<(), SpawnError> {
        let mut loads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        loads.push(load);
        Ok(())
    }
}

/// A timer without delay: [`Batcher`] starts a load once every resolver has been polled.
pub(crate) struct NoDelay;

impl Timer for NoDelay {
    fn delay(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Polls an execution and its loads alternately on one task. Loads run only while the execution
/// waits for them, so all loads of one level of the query are always in one batch. No task is
/// spawned.
pub(crate) struct Batcher<F> {
    execution: Pin<Box<F>>,
    loads: LoadQueue,
    running: FuturesUnordered<FutureObj<'static, ()>>,
}

impl<F> Batcher<F> {
    pub(crate) fn new(execution: F, loads: LoadQueue) -> Self {
        Self {
            execution: Box::pin(execution),
            loads,
            running: FuturesUnordered::new(),
        }
    }
}

impl<F: Future> Future for Batcher<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        loop {
            if let Poll::Ready(output) = self.execution.as_mut().poll(context) {
                return Poll::Ready(output);
            }
            for load in self.loads.take() {
                self.running.push(load);
            }
            match Pin::new(&mut self.running).poll_next(context) {
                // A load has finished: the execution can continue.
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }
}
