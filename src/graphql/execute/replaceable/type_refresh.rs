//! Follows the types of collections: reads them, and replaces the schema by one that has them.

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::shown_schema::on_blocking_thread;
use crate::database::CollectionTypes;
use crate::error::{Error, Result};
use crate::graphql::execute::service::GraphQl;
use crate::limits::{SCHEMA_BUILDS_INTERVAL, SCHEMAS_REPLACED_MAX, TYPES_POLL_TIME};
use crate::types::CollectionType;

impl GraphQl {
    /// Reads the types of the collections. If they have changed, builds a schema that has them, on a
    /// blocking thread, and replaces the current one. Changes within [`SCHEMA_BUILDS_INTERVAL`] are in one
    /// schema.
    ///
    /// # Errors
    /// Errors of the store. `INTERNAL`: the types form no schema.
    pub fn refresh_types(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let graphql = self.clone();
            // A caller that stops waiting does not interrupt what others wait for.
            let refreshed = tokio::spawn(async move { graphql.refresh().await }).await;
            refreshed.map_err(|error| Error::internal(error.to_string()))?
        })
    }

    /// As [`GraphQl::refresh_types`], but waits at most until the deadline; the work continues. Errors are
    /// logged.
    pub fn refresh_types_until(&self, deadline: Instant) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            match timeout_at(deadline, self.refresh_types()).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => {
                    tracing::warn!("the types of collections cannot be read: {error}");
                }
                Err(_) => tracing::warn!(
                    "the types of collections are not in the schema at the deadline of a request; they follow"
                ),
            }
        })
    }

    /// Follows the types that other servers and commands change. Never returns.
    pub fn follow_types(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut last_warning = String::new();
            loop {
                sleep(TYPES_POLL_TIME).await;
                if let Err(error) = self.refresh_types().await {
                    // The same error is logged once.
                    let warning = error.to_string();
                    if warning != last_warning {
                        tracing::warn!("the types of collections cannot be followed: {warning}");
                        last_warning = warning;
                    }
                }
            }
        })
    }

    async fn refresh(&self) -> Result<()> {
        let mut built = self.0.served_types.refreshing().await;
        // Whoever waited here may find that there is nothing left to do.
        let served = self.0.served_types.current();
        let found = self
            .0
            .database
            .collection_types(served.version.as_ref())
            .await?;
        self.drop_replaced().await?;
        let Some(mut found) = found else {
            return Ok(());
        };
        if self.0.operations.replaced_count() >= SCHEMAS_REPLACED_MAX {
            // The requests that use them have a deadline. The next refresh finds the same change.
            return Ok(());
        }
        if !are_same(&served.types, &found.types) {
            let next = built.map(|built| built + SCHEMA_BUILDS_INTERVAL);
            if let Some(next) = next.filter(|next| *next > Instant::now()) {
                sleep_until(next).await;
                let later = self.0.database.collection_types(found.version.as_ref());
                found = later.await?.unwrap_or(found);
            }
        }
        log_damaged(&found);
        if !are_same(&served.types, &found.types) {
            let (graphql, types) = (self.clone(), found.types.clone());
            let replaced = on_blocking_thread(move || graphql.serve_types(&types)).await;
            *built = Some(Instant::now());
            replaced??;
        }
        self.0.served_types.replace(found);
        Ok(())
    }

    async fn drop_replaced(&self) -> Result<()> {
        if self.0.operations.replaced_count() == 0 {
            return Ok(());
        }
        let graphql = self.clone();
        on_blocking_thread(move || graphql.0.operations.drop_replaced()).await
    }
}

fn log_damaged(found: &CollectionTypes) {
    for (collection, error) in &found.damaged {
        tracing::error!(
            collection,
            "a type is damaged, and not in the schema: {error}"
        );
    }
}

/// Whether both have the same schemas. The state of a check changes the version, too.
fn are_same(before: &[CollectionType], now: &[CollectionType]) -> bool {
    let is_same = |(before, now): (&CollectionType, &CollectionType)| {
        before.collection() == now.collection() && before.text() == now.text()
    };
    before.len() == now.len() && before.iter().zip(now).all(is_same)
}
