//! `phyllo index`

use std::time::Duration;

use indicatif::HumanCount;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cli::arguments::index::{CreateIndex, IndexArguments, IndexCommand};
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::{OperationVariables, check_json};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::{Done, Ended, failed};
use crate::cli::read::names;
use crate::cli::terminal::output::{Output, on_one_line, say, spinner};
use crate::database::{BuildStep, Builder};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::INDEX_POLL_TIME;

const LIST: &str = "query Indexes($collection: String) {
  collections(name: $collection) { name count indexes { name on unique where state indexed error } }
}";

const CREATE: &str = "mutation CreateIndex(
  $collection: String!, $name: String!, $on: [JSONPath!]!, $unique: Boolean!, $where: DocumentFilter
) {
  createIndex(collection: $collection, name: $name, on: $on, unique: $unique, where: $where) { state error }
}";

const DROP: &str = "mutation DropIndex($collection: String!, $name: String!) {
  dropIndex(collection: $collection, name: $name)
}";

pub(crate) async fn run(source: DataSource<'_>, arguments: IndexArguments) -> Done {
    let purpose = match &arguments.command {
        IndexCommand::List { .. } => StorePurpose::Read,
        IndexCommand::Create(_) | IndexCommand::Drop { .. } => StorePurpose::Change,
    };
    let client = Client::open(source, purpose).await?;
    match arguments.command {
        IndexCommand::List { collection, json } => list(&client, collection.as_deref(), json).await,
        IndexCommand::Create(index) => create(&client, index).await,
        IndexCommand::Drop { collection, name } => drop_index(&client, &collection, &name).await,
    }
}

async fn list(client: &Client, collection: Option<&str>, is_json: bool) -> Done {
    if let Some(collection) = collection {
        names::check(client, collection).await?;
    }
    let mut output = Output::stdout();
    for index in indexes(client, collection).await? {
        output.write(index_line(index, is_json).as_bytes())?;
    }
    output.finish()
}

/// An index of a collection.
struct ListedIndex {
    collection: String,
    /// The documents of the collection.
    count: u64,
    index: Value,
}

impl ListedIndex {
    /// The documents that the build has processed, of those of the collection. None if the index is not being
    /// built, or if an older version has processed some.
    fn progress(&self) -> Option<(u64, u64)> {
        let indexed = self.index["indexed"].as_u64()?;
        // The build has also processed documents that were deleted since.
        Some((indexed.min(self.count), self.count))
    }
}

/// The indexes of a collection, or of all.
async fn indexes(client: &Client, collection: Option<&str>) -> Result<Vec<ListedIndex>> {
    let mut variables = OperationVariables::default();
    if let Some(collection) = collection {
        variables = variables.string("collection", collection);
    }
    let data = client.execute(LIST, variables).await?;
    let mut found = Vec::new();
    let collections = data.parsed("collections")?;
    for collection in collections.as_array().into_iter().flatten() {
        let name = collection["name"].as_str().unwrap_or_default();
        let indexes = collection["indexes"].as_array().into_iter().flatten();
        found.extend(indexes.map(|index| ListedIndex {
            collection: name.to_owned(),
            count: collection["count"].as_u64().unwrap_or_default(),
            index: index.clone(),
        }));
    }
    Ok(found)
}

fn index_line(listed: ListedIndex, is_json: bool) -> String {
    let progress = listed.progress();
    let ListedIndex {
        collection,
        mut index,
        ..
    } = listed;
    if is_json {
        index["collection"] = json!(collection);
        return format!("{index}\n");
    }
    let text = |name: &str| on_one_line(index[name].as_str().unwrap_or_default());
    let unique = if index["unique"] == true {
        "unique"
    } else {
        ""
    };
    let mut line = format!(
        "{}\t{}\t{}\t{unique}\t{}",
        on_one_line(&collection),
        text("name"),
        index["on"],
        text("state")
    );
    if !index["where"].is_null() {
        line.push_str("\twhere ");
        line.push_str(&index["where"].to_string());
    }
    if let Some((indexed, count)) = progress {
        let progress = format!("\t{indexed} of {count} documents");
        line.push_str(&progress);
    }
    if !index["error"].is_null() {
        line.push('\t');
        line.push_str(&text("error"));
    }
    line.push('\n');
    line
}

async fn create(client: &Client, index: CreateIndex) -> Done {
    let CreateIndex {
        collection,
        name,
        on,
        unique,
        filter,
        no_wait,
    } = index;
    let mut variables = OperationVariables::of_collection(&collection)
        .string("name", &name)
        .json("on", &json!(on).to_string())
        .json("unique", if unique { "true" } else { "false" });
    if let Some(filter) = &filter {
        check_json(filter).map_err(|error| Ended::Misused(error.at("the filter")))?;
        variables = variables.json("where", filter);
    }
    let data = client.execute(CREATE, variables).await?;
    let created = data.parsed("createIndex")?;
    let is_building = created["state"] == "BUILDING";
    if no_wait && is_building {
        say(format_args!("the index {name:?} is being built"));
        return Ok(());
    }
    let index = if is_building {
        built(client, &collection, &name).await?
    } else {
        created
    };
    if let Some(error) = index["error"].as_str() {
        return Err(failed(format!("the index {name:?} cannot be built: {error}")).into());
    }
    say(format_args!("the index {name:?} is ready"));
    Ok(())
}

/// Waits until an index is built, or has failed.
async fn built(client: &Client, collection: &str, name: &str) -> Result<Value> {
    let bar = spinner("{spinner} building the index{msg}, {elapsed}");
    // No server builds it, unless it is one of a cluster.
    let mut builder = client.database().cloned().map(Builder::new);
    loop {
        let found = indexes(client, Some(collection)).await?;
        let found = found.into_iter().find(|found| found.index["name"] == name);
        let Some(found) = found else {
            let message = format!("the index {name:?} was dropped while it was built");
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        if found.index["state"] != "BUILDING" {
            bar.finish_and_clear();
            return Ok(found.index);
        }
        if let Some((indexed, count)) = found.progress() {
            let (indexed, count) = (HumanCount(indexed), HumanCount(count));
            bar.set_message(format!(", {indexed} of {count} documents"));
        }
        let waits = match &mut builder {
            None => true,
            Some(builder) => build_for(builder, INDEX_POLL_TIME).await?,
        };
        if waits {
            sleep(INDEX_POLL_TIME).await;
        }
    }
}

/// Builds indexes for this time. Returns whether there is nothing to do before others have built.
async fn build_for(builder: &mut Builder, time: Duration) -> Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if builder.step().await? == BuildStep::Nothing {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn drop_index(client: &Client, collection: &str, name: &str) -> Done {
    let variables = OperationVariables::of_collection(collection).string("name", name);
    let data = client.execute(DROP, variables).await?;
    if data.parsed("dropIndex")? == true {
        say(format_args!("the index {name:?} is dropped"));
        return Ok(());
    }
    names::check(client, collection).await?;
    let message = format!("the collection {collection:?} has no index {name:?}");
    Err(Error::new(ErrorKind::NotFound, message).into())
}
