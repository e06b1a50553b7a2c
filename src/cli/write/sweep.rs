//! Changes to the documents that match a filter, in one transaction after another.

use std::pin::pin;

use indicatif::{HumanCount, ProgressBar};

use crate::cli::connect::access::DatabaseAccess;
use crate::cli::outcome::{Done, Ended};
use crate::cli::read::names;
use crate::cli::terminal::interrupt::interrupted;
use crate::cli::terminal::output::{say, spinner};
use crate::database::Swept;
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind};
use crate::limits::SWEEP_DOCUMENTS_MAX;
use crate::operations::Sweep;

/// The progress of a sweep.
pub(crate) struct SweepReport {
    /// The changed documents, as in "12 documents VERB of 100 examined".
    verb: &'static str,
    bar: ProgressBar,
    pub(crate) total: Swept,
    /// The last document of the committed portions, unless the sweep is complete.
    pub(crate) reached: Option<DocumentId>,
}

impl SweepReport {
    pub(crate) fn new(verb: &'static str, after: Option<DocumentId>) -> Self {
        Self {
            verb,
            bar: spinner("{spinner} {msg}{elapsed}"),
            total: Swept::default(),
            reached: after,
        }
    }

    fn add(&mut self, swept: Swept) {
        self.total.examined += swept.examined;
        self.total.matched += swept.matched;
        self.total.changed += swept.changed;
        self.total.places.resize(swept.places.len(), 0);
        for (total, places) in self.total.places.iter_mut().zip(swept.places) {
            *total += places;
        }
        self.reached = swept.next;
        self.bar.set_message(format!("{}, ", self.counts()));
    }

    fn counts(&self) -> String {
        format!(
            "{} documents {} of {} examined",
            HumanCount(self.total.changed),
            self.verb,
            HumanCount(self.total.examined)
        )
    }

    /// Reports the changed documents. They stay changed after a failure, so it reports them then,
    /// too.
    fn end(&self, collection: &str, complete: bool) {
        self.bar.finish_and_clear();
        if complete || self.total.examined > 0 {
            say(format_args!(
                "the collection {collection:?}: {}",
                self.counts()
            ));
        }
    }
}

/// Changes the documents after the one that the report has reached, and reports them.
pub(crate) async fn run(access: &DatabaseAccess, sweep: &Sweep, report: &mut SweepReport) -> Done {
    sweep.parse().await.map_err(Ended::Misused)?;
    names::check(access, &sweep.collection).await?;
    let swept = sweep_all(access, sweep, report).await;
    report.end(&sweep.collection, swept.is_ok());
    swept
}

/// Commits one portion after another. If a portion fails because of its size, the next one examines
/// fewer documents. An interrupt ends the sweep between two portions, so that the report is exact.
async fn sweep_all(access: &DatabaseAccess, sweep: &Sweep, report: &mut SweepReport) -> Done {
    let mut interrupted = pin!(interrupted());
    let mut documents_max = SWEEP_DOCUMENTS_MAX;
    loop {
        tokio::select! {
            biased;
            interrupt = &mut interrupted => return Err(Ended::Interrupted(interrupt)),
            () = tokio::task::yield_now() => {}
        }
        let portion = access.sweep_portion(sweep, report.reached.as_ref(), documents_max);
        match portion.await {
            Err(error) if documents_max > 1 && is_about_size(&error) => documents_max /= 2,
            Err(error) => return Err(error.into()),
            Ok(swept) => {
                documents_max = (documents_max * 2).min(SWEEP_DOCUMENTS_MAX);
                report.add(swept);
                if report.reached.is_none() {
                    return Ok(());
                }
            }
        }
    }
}

/// Whether a smaller portion may succeed. A portion that may have been committed is never repeated.
fn is_about_size(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TooLarge | ErrorKind::Timeout | ErrorKind::Conflict
    )
}
