//! `phyllo collections`

use std::path::Path;

use super::Done;
use super::access::{Access, Missing};
use super::output::Output;

pub(super) async fn run(store: &Path) -> Done {
    let access = Access::open(store, Missing::Fail).await?;
    let mut output = Output::stdout();
    for collection in access.collections().await? {
        output.write(format!("{}\t{}\n", collection.name, collection.count).as_bytes())?;
    }
    output.finish()
}
