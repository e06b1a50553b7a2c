//! `phyllo backup`

use indicatif::{HumanBytes, HumanCount};
use tokio::task::yield_now;

use crate::cli::arguments::BackupArguments;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::{say, spinner};
use crate::store::BackupDirectory;

pub(crate) async fn run(store: &StoreLocation, arguments: BackupArguments) -> Done {
    let access = DatabaseAccess::open(store, StorePurpose::Read).await?;
    let mut backup = access.backup().await?;
    let mut target = BackupDirectory::begin(&arguments.directory)?;
    let bar = spinner("{spinner} {bytes}, {elapsed}");
    let (mut pairs, mut bytes) = (0, 0);
    while let Some(batch) = backup.next().await? {
        target.write(&batch)?;
        pairs += batch.len() as u64;
        bytes += batch.bytes() as u64;
        bar.set_position(bytes);
        // Allows an interrupt here.
        yield_now().await;
    }
    target.finish(backup.last_commit())?;
    bar.finish_and_clear();
    say(format_args!(
        "backed up {} pairs ({}) to {}",
        HumanCount(pairs),
        HumanBytes(bytes),
        arguments.directory.display()
    ));
    Ok(())
}
