//! An export of a collection in lines, for a caller with rights of its own.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::export_line::append_line;
use crate::budget::{Budget, Pool, pause};
use crate::database::query::passing;
use crate::database::{Database, DocumentKey, Scan, ScanTest, check_collection};
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Version;
use crate::limits::Bounds;
use crate::rights::{Action, Decision, PlaceUsed, RequestRights};
use crate::store::Read;

/// The documents of a collection that are still to be exported.
pub struct Export {
    collection: String,
    scan: Scan,
    budget: Budget,
}

impl Export {
    /// Begins an export of the documents that the sender may find and read, after the id `after`.
    ///
    /// # Errors
    /// `FORBIDDEN`: no rule allows to find and read documents of the collection. `TOO_LARGE`: the key of
    /// `after` exceeds the limit. Errors of the store.
    pub async fn begin(
        database: &Database,
        collection: &str,
        after: Option<DocumentId>,
        rights: &RequestRights,
        (bounds, pool): (&Bounds, &Pool),
    ) -> Result<Self> {
        check_collection(collection)?;
        let filter = readable(rights, collection)?;
        let budget = Budget::of_lines_read(bounds, pool);
        let mut scan = Scan::metered(database, collection, &budget).await?;
        if let Some(after) = after {
            scan = scan.after(&DocumentKey::new(collection, after)?)?;
        }
        let mut export = Self {
            collection: collection.to_owned(),
            scan,
            budget,
        };
        export.set_filter(filter);
        Ok(export)
    }

    /// Continues with other rights, because the rules have changed.
    ///
    /// # Errors
    /// `FORBIDDEN`, as [`Export::begin`].
    pub fn renew_rights(&mut self, rights: &RequestRights) -> Result<()> {
        let filter = readable(rights, &self.collection)?;
        self.set_filter(filter);
        Ok(())
    }

    /// The version of the store that is read now. It changes only if the engine does not keep it long enough.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn version(&self) -> Result<Version> {
        self.scan.version().await
    }

    /// Appends lines to `text` until it has so many bytes. Returns whether there are no more.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the memory is needed for others. `INTERNAL`: damaged data. Errors of the store.
    pub async fn fill(&mut self, text: &mut Vec<u8>, bytes: usize) -> Result<bool> {
        while text.len() < bytes {
            match self.scan.next().await? {
                None => return Ok(true),
                Some(Ok(document)) => append_line(text, &document),
                // Another program stored it under an id that cannot be written.
                Some(Err(_)) => {}
            }
            // An engine may complete every read without waiting, so yield explicitly.
            pause().await;
        }
        Ok(false)
    }

    fn set_filter(&mut self, filter: Option<Filter>) {
        let test = filter.map(|filter| {
            let filter = Arc::new(filter);
            let (collection, budget) = (self.collection.clone(), self.budget.clone());
            let test = move |read: Arc<dyn Read>, id: DocumentId| -> BoxFuture<'static, _> {
                let (filter, budget) = (filter.clone(), budget.clone());
                let collection = collection.clone();
                Box::pin(async move {
                    let ids = std::slice::from_ref(&id);
                    let passed = passing(&*read, &budget, &collection, &filter, ids).await?;
                    Ok(passed == [true])
                })
            };
            Box::new(test) as ScanTest
        });
        self.scan.set_test(test);
    }
}

/// What documents must pass so that they may be found and read. `None` if all may be.
fn readable(rights: &RequestRights, collection: &str) -> Result<Option<Filter>> {
    let used = [Action::List, Action::Read]
        .map(|action| PlaceUsed::in_collection(action, collection, Path::root()));
    match rights.decide(&used) {
        Decision::Allowed => Ok(None),
        Decision::Depends(conditions) => Ok(Some(conditions.filter(|_| true))),
        Decision::Refused(place) => Err(Error::new(
            ErrorKind::Forbidden,
            format!("no rule allows this request to {place}"),
        )),
    }
}
