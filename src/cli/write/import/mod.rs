//! `phyllo import`
//!
//! A thread reads the streams ([`read_batches`]): it decompresses them ([`decompress`]), finds the end of
//! each document ([`text::split`]), parses it and determines its id ([`prepare`]), and makes batches. Meanwhile
//! this task sends the previous batch, which becomes one transaction. Memory is bounded by the largest document and
//! three batches.

pub(crate) mod decompress;
pub(crate) mod dry_run;
pub(crate) mod extended_json;
pub(crate) mod id_members;
pub(crate) mod prepare;
pub(crate) mod read_batches;
pub(crate) mod report;
pub(crate) mod seen_ids;
pub(crate) mod sources;
pub(crate) mod table;
pub(crate) mod text;

use std::pin::pin;

use id_members::IdMembers;
use prepare::{ImportFailure, Prepared};
use read_batches::{ImportEvent, ReadOptions};
use report::{Early, ImportReport};
use table::FieldOptions;

use super::upload::{UploadPolicy, UploadedBatch, append_document, upload};
use crate::cli::arguments::{Import, OnError};
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::{Done, Ended, failed};
use crate::cli::read::collection_types::{ReadType, stored_types};
use crate::cli::terminal::interrupt::interrupted;
use crate::database::Existing;
use crate::error::{Error, ErrorKind, Result};
use crate::types::CollectionType;

pub(crate) async fn run(source: DataSource<'_>, import: Import) -> Done {
    let sources = sources::list(&import.files, import.name.as_deref())?;
    let client = open(source, import.dry_run).await?;
    let collection_type = match &client {
        Some(client) => collection_type(client, &import.collection.name).await?,
        None => None,
    };
    let go_on = import.on_error == OnError::Continue;
    let stream = match &sources[..] {
        [only] => only.name.to_string(),
        several => format!("{} files", several.len()),
    };
    let bytes = sources::total_bytes(&sources);
    let mut report = ImportReport::new(stream, bytes, &import.collection.name, import.dry_run);
    if import.id.is_empty() && import.name.is_none() {
        report.set_random_prefix(sources::random_prefix(&sources));
    }
    let reading = ReadOptions {
        format: import.format,
        id: IdMembers::new(import.id),
        extended_json: import.extended_json,
        fields: FieldOptions {
            infer: import.infer,
            collection_type: collection_type.clone(),
        },
        go_on,
    };
    let steps = reading.start(sources, report.counter());
    let steps = steps.map_err(|error| failed(format!("threads cannot be started: {error}")))?;
    let mut importing = Importing {
        target: match client {
            Some(client) if !import.dry_run => Target::Database(BatchUpload::new(client)),
            _ => Target::Nothing(collection_type),
        },
        existing: import.existing.map(Existing::from),
        go_on,
        collection: import.collection.name,
        report,
    };
    let early = importing.run(steps).await;
    importing.report.end(early.as_ref());
    match early {
        Some(Early::Interrupted(interrupt)) => Err(Ended::InterruptedAndTold(interrupt)),
        None if importing.report.is_good() => Ok(()),
        _ => Err(Ended::Told),
    }
}

/// Opens the database. A dry run needs no store, and creates none.
async fn open(source: DataSource<'_>, dry_run: bool) -> Result<Option<Client>> {
    if !dry_run {
        return Client::open(source, StorePurpose::Create).await.map(Some);
    }
    match Client::open(source, StorePurpose::Read).await {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// The type of the collection, if it has one that the caller may read.
async fn collection_type(client: &Client, collection: &str) -> Result<Option<CollectionType>> {
    match stored_types(client, Some(collection)).await {
        Ok(types) => types.first().map(ReadType::parsed).transpose(),
        Err(error) if error.kind() == ErrorKind::Forbidden => Ok(None),
        Err(error) => Err(error),
    }
}

/// Where documents go.
enum Target {
    Database(BatchUpload),
    /// They are validated only, also by the type of the collection.
    Nothing(Option<CollectionType>),
}

/// Sends batches, one after another.
struct BatchUpload {
    client: Client,
    /// What the keys of the batches begin with. A server that other processes reach over a network gets keys, so that
    /// a batch can be sent again. `None` for others.
    keys: Option<String>,
    sent: u64,
}

impl BatchUpload {
    fn new(client: Client) -> Self {
        let is_remote = !client.is_of_operator();
        Self {
            client,
            keys: is_remote.then(|| format!("import-{:032x}", rand::random::<u128>())),
            sent: 0,
        }
    }

    async fn send(
        &mut self,
        collection: &str,
        policy: UploadPolicy,
        batch: &[Prepared],
    ) -> Result<UploadedBatch> {
        let bytes = batch.iter().map(|prepared| prepared.text.len() + 64);
        let mut lines = Vec::with_capacity(bytes.sum());
        for prepared in batch {
            append_document(&mut lines, &prepared.id, &prepared.text);
        }
        self.sent += 1;
        let key = self
            .keys
            .as_ref()
            .map(|keys| format!("{keys}-{}", self.sent));
        let sent = upload(
            &self.client,
            collection,
            policy,
            lines.into(),
            key.as_deref(),
        );
        sent.await
    }
}

struct Importing {
    target: Target,
    /// What happens to documents that already exist, if the user says it.
    existing: Option<Existing>,
    go_on: bool,
    collection: String,
    report: ImportReport,
}

impl Importing {
    /// Commits the batches. Returns the reason if it ended early.
    async fn run(&mut self, mut steps: tokio::sync::mpsc::Receiver<ImportEvent>) -> Option<Early> {
        let mut interrupted = pin!(interrupted());
        loop {
            let step = tokio::select! {
                biased;
                interrupt = &mut interrupted => return Some(Early::Interrupted(interrupt)),
                step = steps.recv() => step?,
            };
            let go_on = match step {
                ImportEvent::Batch(batch) => match self.commit(batch).await {
                    Ok(go_on) => go_on,
                    Err(error) => {
                        self.report.store_failed(&error.to_string());
                        return Some(Early::StoreFailed);
                    }
                },
                ImportEvent::Proposed(options) => {
                    self.report.propose(options);
                    true
                }
                ImportEvent::Bad(failure) => {
                    self.report.bad(&failure);
                    self.go_on
                }
                ImportEvent::Broken { file, reason } => {
                    self.report.broken(&file, &reason);
                    if !self.go_on {
                        return Some(Early::Broken);
                    }
                    true
                }
            };
            self.report.show();
            if !go_on {
                return Some(Early::Bad);
            }
        }
    }

    /// Commits a batch. Returns false if the import stops after it.
    async fn commit(&mut self, batch: Vec<Prepared>) -> Result<bool> {
        // A generated id can be that of another import, so it must not replace what is stored there.
        let by_default = if batch.iter().any(|prepared| prepared.generated) {
            Existing::MustEqual
        } else {
            Existing::Replace
        };
        let existing = self.existing.unwrap_or(by_default);
        let uploaded = match &mut self.target {
            Target::Database(upload) => {
                let policy = UploadPolicy {
                    mode: mode(existing),
                    go_on: self.go_on,
                };
                upload.send(&self.collection, policy, &batch).await?
            }
            Target::Nothing(collection_type) => {
                let target = (self.collection.as_str(), collection_type.as_ref());
                dry_run::validate_batch(target, &batch, self.go_on)
            }
        };
        self.report.put(&uploaded);
        let mut rejected = uploaded.rejected.into_iter().peekable();
        let is_good = rejected.peek().is_none();
        for (number, prepared) in (1..=uploaded.lines).zip(batch) {
            match rejected.next_if(|(rejected, _)| *rejected == number) {
                None => self.report.reached(prepared.place),
                Some((_, error)) => {
                    let advice = self.advice(existing, &error);
                    self.report.bad(&ImportFailure {
                        place: prepared.place,
                        reason: format!("{error}{advice}"),
                    });
                }
            }
        }
        Ok(is_good || self.go_on)
    }

    fn advice(&self, existing: Existing, error: &Error) -> String {
        if error.kind() != ErrorKind::AlreadyExists || existing != Existing::MustEqual {
            return String::new();
        }
        let id = self.report.proposed().unwrap_or("--id");
        format!(
            "; the id is generated: give --name or {id} for other ids, or --existing \
             replace to replace the stored document"
        )
    }
}

/// The mode of an upload in which documents that exist are handled like this.
fn mode(existing: Existing) -> &'static str {
    match existing {
        Existing::Fail => "insert",
        Existing::Skip => "skip",
        Existing::Replace => "replace",
        Existing::MustEqual => "compare",
    }
}
