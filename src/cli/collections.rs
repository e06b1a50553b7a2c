//! `phyllo collections`

use super::Done;
use super::access::{DatabaseAccess, Missing};
use super::location::StoreLocation;
use super::output::Output;

pub(super) async fn run(store: &StoreLocation) -> Done {
    let access = DatabaseAccess::open(store, Missing::Fail).await?;
    let mut output = Output::stdout();
    for collection in access.collections().await? {
        output.write(format!("{}\t{}\n", collection.name, collection.count).as_bytes())?;
    }
    output.finish()
}
