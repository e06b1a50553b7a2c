//! `phyllo import`
//!
//! A thread reads the streams ([`read_batches`]): it decompresses them ([`decompress`]), finds the end of
//! each document ([`text::split`]), parses it and determines its id ([`prepare`]), and makes batches. Meanwhile
//! this task commits the previous batch in one transaction. Memory is bounded by the largest document and
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

use crate::budget::{Budget, Steps};
use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::{Import, OnError};
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::{Done, Ended, failed};
use crate::cli::terminal::interrupt::interrupted;
use crate::database::{Existing, Put};
use crate::error::{ErrorKind, Result};
use crate::operations::Policy;
use crate::types::CollectionType;

pub(crate) async fn run(store: &StoreLocation, import: Import) -> Done {
    let sources = sources::list(&import.files, import.name.as_deref())?;
    let access = open(store, import.dry_run).await?;
    let collection_type = match &access {
        Some(access) => collection_type(access, &import.collection.name).await?,
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
        target: match access {
            Some(access) if !import.dry_run => Target::Store(access),
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

/// Opens the store. A dry run needs none, and creates none.
async fn open(store: &StoreLocation, dry_run: bool) -> Result<Option<DatabaseAccess>> {
    if !dry_run {
        return DatabaseAccess::open(store, StorePurpose::Create)
            .await
            .map(Some);
    }
    match DatabaseAccess::open(store, StorePurpose::Read).await {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// The type of the collection, if it has one.
async fn collection_type(
    access: &DatabaseAccess,
    collection: &str,
) -> Result<Option<CollectionType>> {
    let types = access.types(Some(collection)).await?;
    let Some(schema) = types.into_iter().find_map(|stored| stored.schema) else {
        return Ok(None);
    };
    let parse = |steps: &Steps<'_>| CollectionType::parse(collection, &schema, steps);
    let parsed = Budget::of_background().compute(parse).await?;
    Ok(Some(parsed))
}

/// Where documents go.
enum Target {
    Store(DatabaseAccess),
    /// They are validated only, also by the type of the collection.
    Nothing(Option<CollectionType>),
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
        let mut documents = Vec::with_capacity(batch.len());
        let mut texts = Vec::with_capacity(batch.len());
        let mut places = Vec::with_capacity(batch.len());
        let mut generated = false;
        for prepared in batch {
            generated |= prepared.generated;
            documents.push(prepared.document);
            texts.push(prepared.text);
            places.push(prepared.place);
        }
        // A generated id can be that of another import, so it must not replace what is stored there.
        let by_default = if generated {
            Existing::MustEqual
        } else {
            Existing::Replace
        };
        let policy = Policy {
            existing: self.existing.unwrap_or(by_default),
            go_on: self.go_on,
        };
        let results = match &self.target {
            Target::Store(access) => {
                let put = access.put_batch(&self.collection, documents, &texts, policy);
                put.await?
            }
            Target::Nothing(collection_type) => {
                let mut results = Vec::with_capacity(documents.len());
                for document in documents {
                    let valid =
                        dry_run::validate(&self.collection, collection_type.as_ref(), document);
                    let go_on = valid.is_ok() || self.go_on;
                    results.push(valid.map(|()| Put::Created));
                    if !go_on {
                        break;
                    }
                }
                results
            }
        };
        let mut good = true;
        for (result, place) in results.into_iter().zip(places) {
            match result {
                Ok(put) => self.report.put(put, place),
                Err(error) => {
                    good = false;
                    let advice = match error.kind() {
                        ErrorKind::AlreadyExists if policy.existing == Existing::MustEqual => {
                            let id = self.report.proposed().unwrap_or("--id");
                            format!(
                                "; the id is generated: give --name or {id} for other ids, or --existing \
                                 replace to replace the stored document"
                            )
                        }
                        _ => String::new(),
                    };
                    self.report.bad(&ImportFailure {
                        place,
                        reason: format!("{error}{advice}"),
                    });
                }
            }
        }
        Ok(good || self.go_on)
    }
}
