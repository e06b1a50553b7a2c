//! `phyllo drop`

use indicatif::HumanCount;

use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::removal::Drop;
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::read::names;
use crate::cli::terminal::output::say;

pub(crate) async fn run(store: &StoreLocation, arguments: Drop) -> Done {
    let access = DatabaseAccess::open(store, StorePurpose::Change).await?;
    names::check(&access, &arguments.collection).await?;
    let documents = access.drop_collection(&arguments.collection).await?;
    say(format_args!(
        "the collection {:?} is dropped; it held {} documents",
        arguments.collection,
        HumanCount(u64::try_from(documents).unwrap_or(0))
    ));
    Ok(())
}
