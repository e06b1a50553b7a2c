//! `phyllo drop`

use indicatif::HumanCount;

use crate::cli::arguments::removal::Drop;
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::OperationVariables;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::read::names;
use crate::cli::terminal::output::say;

const DROP: &str = "mutation Drop($collection: String!) {
  dropCollection(collection: $collection, everything: true) { documents }
}";

pub(crate) async fn run(source: DataSource<'_>, arguments: Drop) -> Done {
    let client = Client::open(source, StorePurpose::Change).await?;
    names::check(&client, &arguments.collection).await?;
    let variables = OperationVariables::of_collection(&arguments.collection);
    let data = client.execute(DROP, variables).await?;
    let documents = data.parsed("dropCollection")?["documents"].as_u64();
    say(format_args!(
        "the collection {:?} is dropped; it held {} documents",
        arguments.collection,
        HumanCount(documents.unwrap_or(0))
    ));
    Ok(())
}
