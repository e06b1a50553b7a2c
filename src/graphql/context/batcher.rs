//! The turn-taking that makes batches: what resolvers ask for in one turn is loaded in one round.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use async_graphql::runtime::Timer;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, Stream};
use futures::task::{FutureObj, Spawn, SpawnError};

/// Takes the loads that the data loader starts; [`Batcher`] runs them.
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

/// No delay: a load begins when every resolver has had its turn.
pub(crate) struct NoDelay;

impl Timer for NoDelay {
    fn delay(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// An execution and the loads that it starts, by turns on one task: loads run when the execution
/// can go no further without them. So all that is asked for at the same level is in one batch,
/// always, and no task is spawned.
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
                // A load is over: the execution can go on.
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }
}
