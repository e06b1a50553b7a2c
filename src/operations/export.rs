//! An export of a collection in lines, for a caller with rights of its own.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::export_line::{append_damaged, append_foreign, append_line};
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
    /// Whether documents that cannot be exported have a line that says why.
    go_on: bool,
    /// Whether the sender may read only some of the documents.
    is_filtered: bool,
}

impl Export {
    /// Begins an export of the documents that the sender may find and read, after the id `after`. If it continues after
    /// documents that cannot be exported, each of them has a line that says why, for a sender that may read all.
    ///
    /// # Errors
    /// `FORBIDDEN`: no rule allows to find and read documents of the collection. `TOO_LARGE`: the key of
    /// `after` exceeds the limit. Errors of the store.
    pub async fn begin(
        database: &Database,
        collection: &str,
        (after, go_on): (Option<DocumentId>, bool),
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
            go_on,
            is_filtered: false,
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
            match self.scan.next().await {
                Ok(None) => return Ok(true),
                Ok(Some(Ok(document))) => append_line(text, &document),
                Ok(Some(Err(foreign))) if self.tells_of_omitted() => {
                    append_foreign(text, &foreign);
                }
                // Another program stored it under an id that cannot be written.
                Ok(Some(Err(_))) => {}
                Err(error) if error.kind() == ErrorKind::Internal && self.tells_of_omitted() => {
                    append_damaged(text, &error);
                }
                Err(error) => return Err(error),
            }
            // An engine may complete every read without waiting, so yield explicitly.
            pause().await;
        }
        Ok(false)
    }

    /// Whether documents that are left out have a line.
    fn tells_of_omitted(&self) -> bool {
        self.go_on && !self.is_filtered
    }

    fn set_filter(&mut self, filter: Option<Filter>) {
        self.is_filtered = filter.is_some();
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
