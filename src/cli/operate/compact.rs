//! `phyllo compact`

use indicatif::HumanBytes;

use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::opening::compact;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::say;
use crate::error::Error;

pub(crate) async fn run(store: &StoreLocation) -> Done {
    let StoreLocation::Directory(directory) = store else {
        let message = "a FoundationDB cluster gives the space of deleted data back on its own";
        return Err(Error::bad_input(message).into());
    };
    let (before, after) = compact(directory).await?;
    say(format_args!(
        "the store has {} now; it had {}",
        HumanBytes(after),
        HumanBytes(before)
    ));
    Ok(())
}
