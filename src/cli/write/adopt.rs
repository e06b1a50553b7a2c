//! `phyllo adopt`

use indicatif::{HumanCount, ProgressBar};

use crate::cli::arguments::Adopt;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::{Output, say, spinner};
use crate::database::Adopted;
use crate::key::tuple_text;

pub(crate) async fn run(store: &StoreLocation, arguments: Adopt) -> Done {
    // A cluster in which only other programs have stored data is not a Phyllo store yet.
    let missing = match store {
        StoreLocation::Directory(_) => StorePurpose::Change,
        StoreLocation::Cluster(_) => StorePurpose::Create,
    };
    let access = DatabaseAccess::open(store, missing).await?;
    let mut report = AdoptReport::new();
    let mut begin = None;
    loop {
        let batch = access.adopt(&arguments.collection, begin.take()).await;
        let batch = batch.inspect_err(|_| report.end(&arguments.collection))?;
        begin.clone_from(&batch.next);
        report.add(&batch)?;
        if begin.is_none() {
            break;
        }
    }
    report.end(&arguments.collection);
    Ok(())
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

    fn add(&mut self, batch: &Adopted) -> Done {
        self.entered += batch.entered;
        self.known += batch.known;
        self.foreign += batch.foreign.len() as u64;
        self.bar.set_message(format!(
            "{} documents adopted, {} already known, ",
            HumanCount(self.entered),
            HumanCount(self.known)
        ));
        if batch.foreign.is_empty() {
            return Ok(());
        }
        self.bar.suspend(|| {
            let mut output = Output::stdout();
            for foreign in &batch.foreign {
                output.write(format!("{}\n", tuple_text(&foreign.key)).as_bytes())?;
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
