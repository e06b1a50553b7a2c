//! `phyllo adopt`

use bytes::Bytes;
use form_urlencoded::Serializer;
use indicatif::{HumanCount, ProgressBar};
use serde_json::Value;

use crate::cli::arguments::Adopt;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::client::Client;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::connect::reply::other_version;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::{Output, say, spinner};
use crate::error::Result;
use crate::server::local::operator_routes::ADOPT;

pub(crate) async fn run(store: &StoreLocation, arguments: Adopt) -> Done {
    // A cluster in which only other programs have stored data is not a Phyllo store yet.
    let missing = match store {
        StoreLocation::Directory(_) => StorePurpose::Change,
        StoreLocation::Cluster(_) => StorePurpose::Create,
    };
    let client = Client::open_store(store, missing).await?;
    let mut report = AdoptReport::new();
    let mut begin = None;
    loop {
        let batch = adopt(&client, &arguments.collection, begin.as_deref()).await;
        let batch = batch.inspect_err(|_| report.end(&arguments.collection))?;
        report.add(&batch)?;
        begin = batch["next"].as_str().map(str::to_owned);
        if begin.is_none() {
            break;
        }
    }
    report.end(&arguments.collection);
    Ok(())
}

/// Adopts a batch of documents.
async fn adopt(client: &Client, collection: &str, begin: Option<&str>) -> Result<Value> {
    let mut query = Serializer::new(String::new());
    query.append_pair("collection", collection);
    query.extend_pairs(begin.map(|begin| ("begin", begin)));
    let path = format!("{ADOPT}?{}", query.finish());
    let reply = client.post(&path, [], Bytes::new()).await?;
    let reply = reply.whole().await?;
    serde_json::from_slice(&reply).map_err(|error| other_version(&error.to_string()))
}

struct AdoptReport {
    bar: ProgressBar,
    entered: u64,
    known: u64,
    foreign: u64,
}

impl AdoptReport {
    fn new() -> Self {
        Self {
            bar: spinner("{spinner} {msg}{elapsed}"),
            entered: 0,
            known: 0,
            foreign: 0,
        }
    }

    fn add(&mut self, batch: &Value) -> Done {
        let unsupported = batch["unsupported"].as_array();
        let unsupported = unsupported.map(Vec::as_slice).unwrap_or_default();
        self.entered += batch["adopted"].as_u64().unwrap_or_default();
        self.known += batch["known"].as_u64().unwrap_or_default();
        self.foreign += unsupported.len() as u64;
        self.bar.set_message(format!(
            "{} documents adopted, {} already known, ",
            HumanCount(self.entered),
            HumanCount(self.known)
        ));
        if unsupported.is_empty() {
            return Ok(());
        }
        self.bar.suspend(|| {
            let mut output = Output::stdout();
            for key in unsupported.iter().filter_map(Value::as_str) {
                output.write(format!("{key}\n").as_bytes())?;
            }
            output.finish()
        })
    }

    fn end(&self, collection: &str) {
        self.bar.finish_and_clear();
        say(format_args!(
            "the collection {collection:?}: {} documents adopted, {} already known; {} with ids \
             that Phyllo does not support, left unchanged",
            self.entered, self.known, self.foreign
        ));
    }
}
