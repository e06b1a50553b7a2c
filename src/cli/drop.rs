//! `phyllo drop`

use indicatif::HumanCount;

use super::access::{DatabaseAccess, Missing};
use super::arguments::Drop;
use super::location::StoreLocation;
use super::output::say;
use super::{Done, names};

pub(super) async fn run(store: &StoreLocation, asked: Drop) -> Done {
    let access = DatabaseAccess::open(store, Missing::Fail).await?;
    names::check(&access, &asked.collection).await?;
    let documents = access.drop_collection(&asked.collection).await?;
    say(format_args!(
        "the collection {:?} is dropped; it held {} documents",
        asked.collection,
        HumanCount(u64::try_from(documents).unwrap_or(0))
    ));
    Ok(())
}
