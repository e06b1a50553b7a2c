//! The work of an upload: reads batches of lines and writes each in one transaction, while the next one
//! is read.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use tokio::join;

use super::line_reader::{LineBatch, LineReader};
use super::upload_batch::{RejectedLine, UploadBatch, digest};
use super::upload_options::UploadOptions;
use super::{StreamReport, StreamRights};
use crate::budget::offload_if_large;
use crate::database::{Database, IdempotencyKey, Put};
use crate::error::{Error, Result};
use crate::operations::{BatchSender, change_batch};
use crate::server::documents::problem::Problem;
use crate::server::http::endpoint::Endpoint;

/// An upload.
pub(crate) struct Upload {
    database: Database,
    collection: String,
    options: Arc<UploadOptions>,
    lines: LineReader,
    rights: StreamRights,
    endpoint: Arc<Endpoint>,
    report: StreamReport,
    /// The beginning of the idempotency keys of the batches, if the client sent one.
    once_only: Option<String>,
    batch_number: u64,
    /// The next batch, if it was read while the one before was written.
    ahead: Option<Result<LineBatch>>,
    done: UploadCount,
}

/// How much of an upload is done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UploadCount {
    /// The number of the last line, blank ones included.
    lines: u64,
    written: u64,
    rejected: u64,
    /// Of those that were written, by what happened. None if the report does not contain it.
    puts: Option<PutCount>,
}

/// How many documents were created, replaced and left unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PutCount {
    created: u64,
    replaced: u64,
    unchanged: u64,
}

impl PutCount {
    fn add(&mut self, put: Put) {
        match put {
            Put::Created => self.created += 1,
            Put::Replaced => self.replaced += 1,
            Put::Skipped => self.unchanged += 1,
        }
    }
}

/// What a step of an upload did.
pub(crate) struct UploadStep {
    /// The lines of the report.
    pub(crate) report: Vec<Value>,
    /// Whether it was the last step.
    pub(crate) is_last: bool,
}

impl UploadCount {
    /// The line of the report.
    fn report(self) -> Value {
        let Self {
            lines,
            written,
            rejected,
            puts,
        } = self;
        let mut report = json!({ "lines": lines, "written": written, "rejected": rejected });
        if let Some(puts) = puts {
            report["created"] = json!(puts.created);
            report["replaced"] = json!(puts.replaced);
            report["unchanged"] = json!(puts.unchanged);
        }
        report
    }

    /// The last line of the report.
    pub(crate) fn last(self, done: bool, error: Option<&Error>) -> Value {
        let mut last = self.report();
        last["done"] = json!(done);
        if let Some(error) = error {
            last["error"] = Problem::of(error).members();
        }
        last
    }
}

impl Upload {
    /// An upload of which nothing is read yet. `once_only` is the idempotency key, with the sender.
    pub(crate) fn new(
        endpoint: &Arc<Endpoint>,
        database: &Database,
        collection: &str,
        options: UploadOptions,
        (lines, rights): (LineReader, StreamRights),
        once_only: Option<String>,
    ) -> Self {
        let report = StreamReport::new(endpoint, "upload");
        Self {
            database: database.observed(report.stats.store.clone()),
            collection: collection.to_owned(),
            done: UploadCount {
                puts: options.counts.then(PutCount::default),
                ..UploadCount::default()
            },
            options: Arc::new(options),
            lines,
            rights,
            endpoint: endpoint.clone(),
            report,
            once_only,
            batch_number: 0,
            ahead: None,
        }
    }

    /// How much is done.
    pub(crate) fn done(&self) -> UploadCount {
        self.done
    }

    /// Records why the upload ended early.
    pub(crate) fn failed(&mut self, error: &Error) {
        self.report.stats.error = Some(error.kind());
    }

    /// Writes the next batch.
    ///
    /// # Errors
    /// Errors of [`LineReader::batch`] and of [`change_batch`]. Nothing more is written.
    pub(crate) async fn step(&mut self) -> Result<UploadStep> {
        let batch = match self.ahead.take() {
            Some(batch) => batch?,
            None => self.lines.batch().await?,
        };
        let (bytes, is_end) = (batch.bytes, batch.is_last);
        let last_line = batch.lines.last().map(|line| line.number);
        let line_bytes_max = self.lines.line_bytes_max();
        let number = self.batch_number;
        self.batch_number += 1;
        let graphql = &self.endpoint.graphql;
        let target = BatchTarget {
            database: &self.database,
            sender: BatchSender {
                rights: self.rights.now(),
                bounds: *graphql.bounds(),
                pool: graphql.pool().clone(),
            },
            collection: &self.collection,
            options: &self.options,
            once_only: self.once_only.as_ref().map(|key| format!("{key}:{number}")),
            line_bytes_max,
        };
        let reader = &mut self.lines;
        let read = async {
            if is_end {
                return None;
            }
            Some(reader.batch().await)
        };
        let begun = Instant::now();
        let write = async {
            let written = target.write(batch).await;
            (written, begun.elapsed())
        };
        let ((written, took), ahead) = join!(write, read);
        self.report.took += took;
        self.ahead = ahead;
        self.lines.release(bytes);
        let WrittenBatch { written, rejected } = written?;
        self.done.written += written.len() as u64;
        if let Some(puts) = &mut self.done.puts {
            for put in written {
                puts.add(put);
            }
        }
        self.done.rejected += rejected.len() as u64;
        let mut report: Vec<Value> = rejected.iter().map(RejectedLine::report).collect();
        let stops = !self.options.go_on && !rejected.is_empty();
        let last_line = match rejected.last() {
            Some(last) if stops => Some(last.source.number),
            _ => last_line,
        };
        self.done.lines = last_line.unwrap_or(self.done.lines);
        let is_last = is_end || stops;
        report.push(if is_last {
            self.done.last(!stops, None)
        } else {
            self.done.report()
        });
        Ok(UploadStep { report, is_last })
    }
}

/// Where and how a batch is written.
struct BatchTarget<'t> {
    database: &'t Database,
    sender: BatchSender,
    collection: &'t str,
    options: &'t Arc<UploadOptions>,
    once_only: Option<String>,
    line_bytes_max: usize,
}

/// What became of a batch.
struct WrittenBatch {
    written: Vec<Put>,
    /// In the order of the lines.
    rejected: Vec<RejectedLine>,
}

impl BatchTarget<'_> {
    async fn write(self, batch: LineBatch) -> Result<WrittenBatch> {
        let Self {
            database,
            sender,
            collection,
            options,
            once_only,
            line_bytes_max,
        } = self;
        let (named, parsing) = (collection.to_owned(), options.clone());
        let (parsed, once_only) = offload_if_large(batch.bytes, move || {
            let once_only = once_only.map(|key| IdempotencyKey {
                key,
                digest: digest(&batch, &named, &parsing),
            });
            let parsed = UploadBatch::parse(&batch, &parsing, line_bytes_max);
            Ok((parsed, once_only))
        })
        .await?;
        let UploadBatch {
            changes,
            sources,
            mut rejected,
            bytes,
        } = parsed;
        let held = sender.pool.counted_share();
        held.take(bytes)?;
        let go_on = options.go_on;
        let sender = Some(sender);
        let results = change_batch(database, collection, changes, go_on, once_only, sender).await?;
        let stopped = results.last().is_some_and(Result::is_err) && !options.go_on;
        if stopped {
            // What could not be parsed comes after the line at which the batch ended.
            rejected.clear();
        }
        let mut written = Vec::with_capacity(results.len());
        for (source, result) in sources.into_iter().zip(results) {
            match result {
                Ok(put) => written.push(put),
                Err(error) => rejected.push(RejectedLine { source, error }),
            }
        }
        rejected.sort_by_key(|rejected| rejected.source.number);
        Ok(WrittenBatch { written, rejected })
    }
}
