//! `phyllo update`

use indicatif::HumanCount;

use super::sweep;
use super::sweep::SweepReport;
use crate::cli::arguments::update::UpdateCommand;
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::say;
use crate::operations::{Sweep, SweepChange};

pub(crate) async fn run(source: DataSource<'_>, arguments: UpdateCommand) -> Done {
    let client = Client::open(source, StorePurpose::Change).await?;
    let updates = arguments.updates.in_order();
    let update = Sweep {
        collection: arguments.collection.name,
        filter: arguments.matching.filter(),
        everything: arguments.matching.everything,
        change: SweepChange::Update(updates.clone()),
    };
    let mut report = SweepReport::new("changed", arguments.after);
    let done = sweep::run(&client, &update, &mut report).await;
    for (update, places) in updates.iter().zip(&report.total.places) {
        let (operator, at) = (update.operator.name(), &update.at);
        say(format_args!(
            "--{operator} {at}: {} places",
            HumanCount(*places)
        ));
    }
    if done.is_err()
        && report.total.examined > 0
        && let Some(reached) = report.reached
    {
        say(format_args!(
            "the documents up to the id {reached} are done; to continue after it, run the command \
             again with --after"
        ));
    }
    done
}
