//! Changes to the documents that match a filter, in one operation after another.

use std::pin::pin;
use std::time::Instant;

use indicatif::{HumanCount, ProgressBar};
use serde_json::Value;

use crate::cli::connect::client::Client;
use crate::cli::connect::data::{OperationData, OperationVariables};
use crate::cli::outcome::{Done, Ended};
use crate::cli::read::names;
use crate::cli::terminal::interrupt::interrupted;
use crate::cli::terminal::output::{say, spinner};
use crate::document::id::DocumentId;
use crate::document::json::write_string;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{SWEEP_DOCUMENTS_MAX, SWEEP_DOCUMENTS_MIN, SWEEP_TIME};
use crate::operations::{Sweep, SweepChange, UpdateArgument};

const DELETE: &str = "mutation Delete(
  $collection: String!, $where: DocumentFilter!, $everything: Boolean!, $first: Int!, $after: ID
) {
  swept: deleteDocuments(
    collection: $collection, where: $where, everything: $everything, first: $first, after: $after
  ) { matched changed examined next updates { places } }
}";

const UPDATE: &str = "mutation Update(
  $collection: String!, $where: DocumentFilter!, $everything: Boolean!, $first: Int!, $after: ID,
  $set: [DocumentValueUpdate!], $unset: [JSONPath!], $increment: [DocumentIncrementUpdate!],
  $min: [DocumentBoundUpdate!], $max: [DocumentBoundUpdate!], $remove: [DocumentRemoveUpdate!],
  $append: [DocumentAppendUpdate!], $add: [DocumentAppendUpdate!], $merge: [DocumentMergeUpdate!]
) {
  swept: updateDocuments(
    collection: $collection, where: $where, everything: $everything, first: $first, after: $after,
    set: $set, unset: $unset, increment: $increment, min: $min, max: $max, remove: $remove,
    append: $append, add: $add, merge: $merge
  ) { matched changed examined next updates { places } }
}";

/// What operations have done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SweptDocuments {
    /// Documents examined.
    pub(crate) examined: u64,
    /// Documents that matched and were changed or removed.
    changed: u64,
    /// For each update, the number of places to which it was applied.
    pub(crate) places: Vec<u64>,
    /// The last examined document. `None` if no documents follow it.
    next: Option<DocumentId>,
}

/// The progress of a sweep.
pub(crate) struct SweepReport {
    /// The changed documents, as in "12 documents VERB of 100 examined".
    verb: &'static str,
    bar: ProgressBar,
    pub(crate) total: SweptDocuments,
    /// The last document of the committed portions, unless the sweep is complete.
    pub(crate) reached: Option<DocumentId>,
}

impl SweepReport {
    pub(crate) fn new(verb: &'static str, after: Option<DocumentId>) -> Self {
        Self {
            verb,
            bar: spinner("{spinner} {msg}{elapsed}"),
            total: SweptDocuments::default(),
            reached: after,
        }
    }

    fn add(&mut self, swept: SweptDocuments) {
        self.total.examined += swept.examined;
        self.total.changed += swept.changed;
        self.total.places.resize(swept.places.len(), 0);
        for (total, places) in self.total.places.iter_mut().zip(swept.places) {
            *total += places;
        }
        self.reached = swept.next;
        self.bar.set_message(format!("{}, ", self.counts()));
    }

    fn counts(&self) -> String {
        format!(
            "{} documents {} of {} examined",
            HumanCount(self.total.changed),
            self.verb,
            HumanCount(self.total.examined)
        )
    }

    /// Reports the changed documents. They stay changed after a failure, so it reports them then,
    /// too.
    fn end(&self, collection: &str, complete: bool) {
        self.bar.finish_and_clear();
        if complete || self.total.examined > 0 {
            say(format_args!(
                "the collection {collection:?}: {}",
                self.counts()
            ));
        }
    }
}

/// Changes the documents after the one that the report has reached, and reports them.
pub(crate) async fn run(client: &Client, sweep: &Sweep, report: &mut SweepReport) -> Done {
    sweep.parse().await.map_err(Ended::Misused)?;
    names::check(client, &sweep.collection).await?;
    let swept = sweep_all(client, sweep, report).await;
    report.end(&sweep.collection, swept.is_ok());
    swept
}

/// Executes one operation after another. If one fails because of its size, or takes long, the next one examines
/// fewer documents, so that other writers do not wait. An interrupt ends the sweep between two operations, so that the
/// report is exact.
async fn sweep_all(client: &Client, sweep: &Sweep, report: &mut SweepReport) -> Done {
    let mut interrupted = pin!(interrupted());
    let mut documents_max = SWEEP_DOCUMENTS_MAX;
    loop {
        tokio::select! {
            biased;
            interrupt = &mut interrupted => return Err(Ended::Interrupted(interrupt)),
            () = tokio::task::yield_now() => {}
        }
        let begun = Instant::now();
        match portion(client, sweep, report.reached.as_ref(), documents_max).await {
            Err(error) if documents_max > 1 && is_about_size(&error) => documents_max /= 2,
            Err(error) => return Err(error.into()),
            Ok(swept) => {
                documents_max = if begun.elapsed() > SWEEP_TIME {
                    (documents_max / 2).max(SWEEP_DOCUMENTS_MIN.min(documents_max))
                } else {
                    (documents_max * 2).min(SWEEP_DOCUMENTS_MAX)
                };
                report.add(swept);
                if report.reached.is_none() {
                    return Ok(());
                }
            }
        }
    }
}

async fn portion(
    client: &Client,
    sweep: &Sweep,
    after: Option<&DocumentId>,
    documents_max: usize,
) -> Result<SweptDocuments> {
    let everything = if sweep.everything { "true" } else { "false" };
    let mut variables = OperationVariables::of_collection(&sweep.collection)
        .json("where", &sweep.filter)
        .json("everything", everything)
        .json("first", &documents_max.to_string());
    if let Some(after) = after {
        variables = variables.string("after", &after.to_string());
    }
    let data = match &sweep.change {
        SweepChange::Delete => client.execute(DELETE, variables).await?,
        SweepChange::Update(updates) => {
            let variables = with_updates(variables, updates);
            client.execute(UPDATE, variables).await?
        }
    };
    swept_documents(&data)
}

/// Adds the lists of operators.
fn with_updates(
    mut variables: OperationVariables,
    updates: &[UpdateArgument],
) -> OperationVariables {
    let mut rest = updates;
    while let Some(first) = rest.first() {
        let operator = first.operator;
        let same = rest.iter().take_while(|it| it.operator == operator).count();
        let (list, others) = rest.split_at(same);
        let elements: Vec<String> = list.iter().map(update_input).collect();
        let elements = format!("[{}]", elements.join(","));
        variables = variables.json(operator.name(), &elements);
        rest = others;
    }
    variables
}

/// The element of the list of an operator.
fn update_input(update: &UpdateArgument) -> String {
    let mut at = Vec::new();
    write_string(&mut at, &update.at);
    let at = String::from_utf8_lossy(&at);
    let operand = &update.operand;
    match update.operator.name() {
        "unset" => at.into_owned(),
        "increment" => format!("{{\"at\":{at},\"by\":{operand}}}"),
        "remove" => format!("{{\"at\":{at},\"values\":[{operand}]}}"),
        "merge" => format!("{{\"at\":{at},\"patch\":{operand}}}"),
        _ => format!("{{\"at\":{at},\"value\":{operand}}}"),
    }
}

fn swept_documents(data: &OperationData) -> Result<SweptDocuments> {
    let swept = data.parsed("swept")?;
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let updates = swept["updates"].as_array();
    let updates = updates.map(Vec::as_slice).unwrap_or_default();
    let next = swept["next"].as_str().map(DocumentId::parse).transpose()?;
    Ok(SweptDocuments {
        examined: number(&swept["examined"]),
        changed: number(&swept["changed"]),
        places: updates.iter().map(|it| number(&it["places"])).collect(),
        next,
    })
}

/// Whether a smaller portion may succeed. A portion that may have been committed is never repeated.
fn is_about_size(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TooLarge | ErrorKind::TooComplex | ErrorKind::Timeout | ErrorKind::Conflict
    )
}
