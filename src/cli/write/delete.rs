//! `phyllo delete`

use indicatif::{HumanCount, ProgressBar};

use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::removal::Delete;
use crate::cli::connect::access::{DatabaseAccess, Missing};
use crate::cli::outcome::{Done, Ended};
use crate::cli::read::names;
use crate::cli::terminal::output::{say, spinner};
use crate::database::Swept;
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::SWEEP_DOCUMENTS_MAX;
use crate::operations::Deletion;

pub(crate) async fn run(store: &StoreLocation, arguments: Delete) -> Done {
    let access = DatabaseAccess::open(store, Missing::Fail).await?;
    names::check(&access, &arguments.collection).await?;
    let deletion = Deletion {
        collection: arguments.collection,
        filter: arguments.filter,
        everything: arguments.everything,
    };
    let mut report = DeleteReport::new();
    let deleted = delete_all(&access, &deletion, &mut report).await;
    report.end(&deletion.collection, deleted.is_ok());
    deleted.map_err(|error| match error.kind() {
        ErrorKind::BadUserInput => Ended::Misused(error),
        _ => Ended::Failed(error),
    })
}

/// Deletes in one transaction after another. If a transaction fails because of its size, the next
/// one reads fewer documents.
async fn delete_all(
    access: &DatabaseAccess,
    deletion: &Deletion,
    report: &mut DeleteReport,
) -> Result<()> {
    let mut after: Option<DocumentId> = None;
    let mut documents_max = SWEEP_DOCUMENTS_MAX;
    loop {
        let swept = access.delete_portion(deletion, after.as_ref(), documents_max);
        let swept = match swept.await {
            Err(error) if documents_max > 1 && is_about_size(&error) => {
                documents_max /= 2;
                continue;
            }
            swept => swept?,
        };
        documents_max = (documents_max * 2).min(SWEEP_DOCUMENTS_MAX);
        report.add(&swept);
        after = swept.next;
        if after.is_none() {
            return Ok(());
        }
        // Allows an interrupt here.
        tokio::task::yield_now().await;
    }
}

fn is_about_size(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TooLarge | ErrorKind::Timeout | ErrorKind::Conflict
    )
}

struct DeleteReport {
    bar: ProgressBar,
    examined: u64,
    deleted: u64,
}

impl DeleteReport {
    fn new() -> Self {
        Self {
            bar: spinner("{spinner} {msg}{elapsed}"),
            examined: 0,
            deleted: 0,
        }
    }

    fn add(&mut self, swept: &Swept) {
        self.examined += swept.examined;
        self.deleted += swept.deleted;
        self.bar.set_message(format!(
            "{} documents deleted of {} examined, ",
            HumanCount(self.deleted),
            HumanCount(self.examined)
        ));
    }

    /// Reports the deleted documents. They stay deleted after a failure, so it reports them then,
    /// too.
    fn end(&self, collection: &str, complete: bool) {
        self.bar.finish_and_clear();
        if complete || self.examined > 0 {
            say(format_args!(
                "the collection {collection:?}: {} documents deleted of {} examined",
                HumanCount(self.deleted),
                HumanCount(self.examined)
            ));
        }
    }
}
