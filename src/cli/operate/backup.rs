//! `phyllo backup`

use bytes::BytesMut;
use indicatif::{HumanBytes, HumanCount};
use tokio::task::yield_now;

use crate::cli::arguments::BackupArguments;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::client::Client;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::connect::reply::{Reply, other_version};
use crate::cli::outcome::{Done, failed};
use crate::cli::terminal::output::{say, spinner};
use crate::error::Result;
use crate::server::local::backup_records::{BACKUP, BackupRecord, split_field};
use crate::store::BackupDirectory;

pub(crate) async fn run(store: &StoreLocation, arguments: BackupArguments) -> Done {
    let client = Client::open_store(store, StorePurpose::Read).await?;
    let mut records = BackupRecords {
        reply: client.get(BACKUP).await?,
        bytes: BytesMut::new(),
    };
    let BackupRecord::Begin(last_commit) = records.next().await? else {
        return Err(other_version("the backup has no beginning").into());
    };
    let mut target = BackupDirectory::begin(&arguments.directory)?;
    let bar = spinner("{spinner} {bytes}, {elapsed}");
    let (mut pairs, mut bytes) = (0, 0);
    loop {
        let batch = match records.next().await? {
            BackupRecord::Pairs(batch) => batch,
            BackupRecord::End => break,
            BackupRecord::Failed(message) => return Err(failed(message).into()),
            BackupRecord::Begin(_) => {
                return Err(other_version("the backup begins twice").into());
            }
        };
        target.write(&batch)?;
        pairs += batch.len() as u64;
        bytes += batch.bytes() as u64;
        bar.set_position(bytes);
        // Allows an interrupt here.
        yield_now().await;
    }
    target.finish(last_commit)?;
    bar.finish_and_clear();
    say(format_args!(
        "backed up {} pairs ({}) to {}",
        HumanCount(pairs),
        HumanBytes(bytes),
        arguments.directory.display()
    ));
    Ok(())
}

/// The records of a backup, decoded as they arrive.
struct BackupRecords {
    reply: Reply,
    bytes: BytesMut,
}

impl BackupRecords {
    async fn next(&mut self) -> Result<BackupRecord> {
        loop {
            if let Some((field, rest)) = split_field(&self.bytes) {
                let record = BackupRecord::read(field);
                let end = self.bytes.len() - rest.len();
                let _read = self.bytes.split_to(end);
                return record;
            }
            match self.reply.chunk().await? {
                Some(data) => self.bytes.extend_from_slice(&data),
                None => {
                    return Err(failed(
                        "the connection was closed before the end of the backup",
                    ));
                }
            }
        }
    }
}
