//! `phyllo delete`

use super::sweep;
use super::sweep::SweepReport;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::removal::Delete;
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::operations::{Sweep, SweepChange};

pub(crate) async fn run(store: &StoreLocation, arguments: Delete) -> Done {
    let access = DatabaseAccess::open(store, StorePurpose::Change).await?;
    let deletion = Sweep {
        collection: arguments.collection,
        filter: arguments.matching.filter,
        everything: arguments.matching.everything,
        change: SweepChange::Delete,
    };
    sweep::run(&access, &deletion, &mut SweepReport::new("deleted", None)).await
}
