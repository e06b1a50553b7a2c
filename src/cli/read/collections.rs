//! `phyllo collections`

use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;

pub(crate) async fn run(store: &StoreLocation) -> Done {
    let access = DatabaseAccess::open(store, StorePurpose::Read).await?;
    let mut output = Output::stdout();
    for collection in access.collections().await? {
        output.write(format!("{}\t{}\n", collection.name, collection.count).as_bytes())?;
    }
    output.finish()
}
