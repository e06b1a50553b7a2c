//! `phyllo collections`

use super::Done;
use super::access::{Access, Missing};
use super::location::Location;
use super::output::Output;

pub(super) async fn run(store: &Location) -> Done {
    let access = Access::open(store, Missing::Fail).await?;
    let mut output = Output::stdout();
    for collection in access.collections().await? {
        output.write(format!("{}\t{}\n", collection.name, collection.count).as_bytes())?;
    }
    output.finish()
}
