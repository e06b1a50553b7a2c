//! `phyllo changes` and `phyllo get --watch`

use crate::cli::arguments::ChangesArguments;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::parse::WrittenPath;
use crate::cli::connect::access::{DatabaseAccess, FollowedLines};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;
use crate::database::DocumentKey;
use crate::operations::ChangeRequest;

pub(crate) async fn changes(store: &StoreLocation, arguments: ChangesArguments) -> Done {
    let access = DatabaseAccess::open(store, StorePurpose::Read).await?;
    let request = ChangeRequest {
        collection: arguments.collection.name,
        id: arguments.id,
        path: arguments.path.path.clone(),
        after: arguments.after,
        follow: arguments.follow,
    };
    print(access.changes(request, &arguments.path.text).await?).await
}

pub(super) async fn watch(
    access: &DatabaseAccess,
    document: DocumentKey,
    path: WrittenPath,
) -> Done {
    print(access.watch(document, path).await?).await
}

/// Prints each line at once.
async fn print(mut lines: FollowedLines) -> Done {
    let mut output = Output::stdout();
    while let Some(line) = lines.next().await? {
        output.write(&line)?;
        output.flush()?;
    }
    output.finish()
}
