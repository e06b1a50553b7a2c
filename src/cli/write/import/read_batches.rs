//! Reads a stream on its own thread and makes batches, while the previous batch is committed.

use std::io::Read;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::prepare::{ImportFailure, Naming, Prepared};
use super::seen_ids::SeenIds;
use super::split::{Broken, Splitter};
use crate::cli::arguments::ExportFormat;
use crate::error::Result;
use crate::limits::{
    IMPORT_BATCH_BYTES_MAX, IMPORT_BATCH_DOCUMENTS_MAX, IMPORT_BATCH_LEAVES_BYTES_MAX,
};

/// Complete batches that wait to be committed, besides the one that is being filled.
const BATCHES_WAITING_MAX: usize = 1;

/// An event of reading a stream.
pub(crate) enum ImportEvent {
    /// Documents to store in one transaction.
    Batch(Vec<Prepared>),
    /// A document that cannot be stored.
    Bad(ImportFailure),
    /// The stream cannot be read further, and why.
    Broken(String),
}

/// Options for reading.
pub(crate) struct ReadOptions {
    pub(crate) format: Option<ExportFormat>,
    pub(crate) naming: Naming,
    /// Whether to continue after a document that cannot be stored.
    pub(crate) go_on: bool,
}

impl ReadOptions {
    /// Starts the thread. It ends at the end of the stream, or when the receiver is dropped.
    ///
    /// # Errors
    /// The thread cannot be created.
    pub(crate) fn start(
        self,
        source: impl Read + Send + 'static,
    ) -> std::io::Result<Receiver<ImportEvent>> {
        let (steps, taken) = channel(BATCHES_WAITING_MAX);
        std::thread::Builder::new()
            .name("phyllo-import".to_owned())
            .spawn(move || self.read(source, &steps))?;
        Ok(taken)
    }

    fn read(&self, source: impl Read, steps: &Sender<ImportEvent>) {
        let mut batch = ImportBatch::default();
        let mut seen = SeenIds::default();
        let ended = match Splitter::new(source, self.format) {
            Ok(mut splitter) => loop {
                match self.one(&mut splitter, &mut seen, &mut batch, steps) {
                    Ok(true) => {}
                    Ok(false) => break None,
                    Err(broken) => break Some(broken),
                }
            },
            Err(error) => Some(error.into()),
        };
        send_batch(&mut batch, steps);
        if let Some(broken) = ended {
            send(steps, ImportEvent::Broken(reason(broken)));
        }
    }

    /// Reads one document. Returns false at the end.
    fn one(
        &self,
        splitter: &mut Splitter<impl Read>,
        seen: &mut SeenIds,
        batch: &mut ImportBatch,
        steps: &Sender<ImportEvent>,
    ) -> Result<bool, Broken> {
        let Some(piece) = splitter.next()? else {
            return Ok(false);
        };
        let format = match splitter.format() {
            // If the user names the id member, lines that look like an export are plain documents.
            ExportFormat::Export if self.format.is_none() && self.naming.id.is_some() => {
                ExportFormat::Lines
            }
            format => format,
        };
        let prepared = self.naming.prepare(piece, format);
        match prepared.and_then(|prepared| seen.check(prepared)) {
            Ok(prepared) => {
                if !batch.takes(&prepared) && !send_batch(batch, steps) {
                    return Ok(false);
                }
                batch.add(prepared);
                Ok(!batch.is_full() || send_batch(batch, steps))
            }
            Err(failure) if self.go_on => Ok(send(steps, ImportEvent::Bad(failure))),
            Err(failure) => {
                // Sends the documents before the failure first, so that they are stored.
                send_batch(batch, steps);
                send(steps, ImportEvent::Bad(failure));
                Ok(false)
            }
        }
    }
}

#[derive(Default)]
struct ImportBatch {
    documents: Vec<Prepared>,
    bytes: usize,
    leaves_bytes: usize,
}

impl ImportBatch {
    /// Whether a document can join the batch: generated ids are treated in another way.
    fn takes(&self, prepared: &Prepared) -> bool {
        let last = self.documents.last();
        last.is_none_or(|last| last.generated == prepared.generated)
    }

    fn add(&mut self, prepared: Prepared) {
        self.bytes += prepared.text.len();
        let leaves = prepared.document.leaves.as_ref();
        self.leaves_bytes += leaves.map_or(0, crate::key::Leaves::bytes);
        self.documents.push(prepared);
    }

    fn is_full(&self) -> bool {
        self.documents.len() >= IMPORT_BATCH_DOCUMENTS_MAX
            || self.bytes >= IMPORT_BATCH_BYTES_MAX
            || self.leaves_bytes >= IMPORT_BATCH_LEAVES_BYTES_MAX
    }
}

fn send_batch(batch: &mut ImportBatch, steps: &Sender<ImportEvent>) -> bool {
    let ImportBatch { documents, .. } = std::mem::take(batch);
    documents.is_empty() || send(steps, ImportEvent::Batch(documents))
}

fn send(steps: &Sender<ImportEvent>, step: ImportEvent) -> bool {
    steps.blocking_send(step).is_ok()
}

fn reason(broken: Broken) -> String {
    match broken {
        Broken::Io(error) => format!("it cannot be read: {error}"),
        Broken::Shape(reason) => reason,
    }
}
