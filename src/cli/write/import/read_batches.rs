//! Reads the streams on their own thread and makes batches, while the previous batch is committed.

use std::io::{self, Read};
use std::sync::Arc;

use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::decompress::decompress;
use super::id_members::IdMembers;
use super::prepare::{ImportFailure, Naming, Prepared};
use super::report::ReadCounter;
use super::seen_ids::SeenIds;
use super::sources::ImportSource;
use super::table::{FieldOptions, Row, TableReader};
use super::text::chunks::Chunks;
use super::text::split::{Broken, Piece, Splitter};
use crate::cli::arguments::ExportFormat;
use crate::limits::{
    IMPORT_BATCH_BYTES_MAX, IMPORT_BATCH_DOCUMENTS_MAX, IMPORT_BATCH_LEAVES_BYTES_MAX,
    IMPORT_STREAMED_DOCUMENT_BYTES_MAX,
};

/// Complete batches that wait to be committed, besides the one that is being filled.
const BATCHES_WAITING_MAX: usize = 1;

/// An event of reading the streams.
pub(crate) enum ImportEvent {
    /// Documents to store in one transaction.
    Batch(Vec<Prepared>),
    /// Ids are generated, and these options take them from the documents.
    Proposed(&'static str),
    /// A document that cannot be stored.
    Bad(ImportFailure),
    /// A stream cannot be read further, and why.
    Broken {
        /// The stream.
        file: Arc<str>,
        reason: String,
    },
}

/// Options for reading.
pub(crate) struct ReadOptions {
    pub(crate) format: Option<ExportFormat>,
    /// The members that are the id.
    pub(crate) id: Option<IdMembers>,
    /// Whether the JSON is MongoDB's Extended JSON.
    pub(crate) extended_json: bool,
    /// How the fields of tables become values.
    pub(crate) fields: FieldOptions,
    /// Whether to continue after a document that cannot be stored.
    pub(crate) go_on: bool,
}

impl ReadOptions {
    /// Starts the thread. It ends at the end of the last stream, or when the receiver is dropped.
    ///
    /// # Errors
    /// The thread cannot be created.
    pub(crate) fn start(
        self,
        sources: Vec<ImportSource>,
        counter: ReadCounter,
    ) -> io::Result<Receiver<ImportEvent>> {
        let (steps, taken) = channel(BATCHES_WAITING_MAX);
        std::thread::Builder::new()
            .name("phyllo-import".to_owned())
            .spawn(move || {
                let mut reading = Reading {
                    several: sources.len() > 1,
                    examined: false,
                    options: self,
                    counter,
                    seen: SeenIds::default(),
                    batch: ImportBatch::default(),
                    steps,
                };
                reading.read(sources);
            })?;
        Ok(taken)
    }
}

struct Reading {
    options: ReadOptions,
    counter: ReadCounter,
    seen: SeenIds,
    batch: ImportBatch,
    /// Whether there are several streams.
    several: bool,
    /// Whether the first generated id was examined.
    examined: bool,
    steps: Sender<ImportEvent>,
}

impl Reading {
    fn read(&mut self, sources: Vec<ImportSource>) {
        for source in sources {
            let file = Arc::clone(&source.name);
            self.seen.begin(&file);
            let go_on = match self.stream(source) {
                Ok(go_on) => go_on,
                Err(broken) => {
                    self.send_batch();
                    let reason = broken.to_string();
                    self.send(ImportEvent::Broken { file, reason }) && self.options.go_on
                }
            };
            if !go_on {
                return;
            }
        }
        self.send_batch();
    }

    /// Reads a stream. Returns false if no other is read.
    fn stream(&mut self, mut source: ImportSource) -> Result<bool, Broken> {
        let decompressed = decompress(self.counter.counting(source.open()?))?;
        let chunks = Chunks::new(decompressed.source);
        let chunks = if decompressed.compressed || source.is_stream() {
            chunks.with_piece_bytes_max(IMPORT_STREAMED_DOCUMENT_BYTES_MAX)
        } else {
            chunks
        };
        let format = self.options.format.or(source.format);
        let naming = Naming {
            id: self.options.id.clone(),
            extended_json: self.options.extended_json,
            prefix: source.prefix,
            file: source.name,
        };
        match format {
            Some(format @ (ExportFormat::Csv | ExportFormat::Tsv)) => {
                self.rows(&naming, chunks, format)
            }
            _ => self.pieces(&naming, chunks, format),
        }
    }

    /// Reads JSON.
    fn pieces(
        &mut self,
        naming: &Naming,
        chunks: Chunks<impl Read>,
        given: Option<ExportFormat>,
    ) -> Result<bool, Broken> {
        let mut splitter = Splitter::new(chunks, given)?;
        while let Some(piece) = splitter.next()? {
            let format = match splitter.format() {
                // If the user names the id member, lines that look like an export are plain documents.
                ExportFormat::Export if given.is_none() && naming.id.is_some() => {
                    ExportFormat::Lines
                }
                format => format,
            };
            if !self.document(naming, piece, format) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads a table.
    fn rows(
        &mut self,
        naming: &Naming,
        chunks: Chunks<impl Read>,
        format: ExportFormat,
    ) -> Result<bool, Broken> {
        let mut table = TableReader::new(chunks, format, &self.options.fields)?;
        while let Some(Row {
            number,
            place,
            json,
        }) = table.next()?
        {
            let go_on = match json {
                Ok(text) => {
                    let piece = Piece {
                        number,
                        place,
                        text,
                    };
                    self.document(naming, piece, format)
                }
                Err(reason) => self.failed(ImportFailure {
                    place: naming.place(number, place),
                    reason,
                }),
            };
            if !go_on {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds a document. Returns false if no other is read.
    fn document(&mut self, naming: &Naming, piece: Piece, format: ExportFormat) -> bool {
        let prepared = naming.prepare(piece, format, !self.examined);
        if let Ok(prepared) = &prepared
            && prepared.generated
            && !std::mem::replace(&mut self.examined, true)
            && let Some(options) = prepared.proposed
        {
            self.send(ImportEvent::Proposed(options));
        }
        match prepared.and_then(|prepared| self.seen.check(prepared, self.several)) {
            Ok(prepared) => {
                if !self.batch.takes(&prepared) && !self.send_batch() {
                    return false;
                }
                self.batch.add(prepared);
                !self.batch.is_full() || self.send_batch()
            }
            Err(failure) => self.failed(failure),
        }
    }

    /// Reports a document that cannot be stored. Returns false if no other is read.
    fn failed(&mut self, failure: ImportFailure) -> bool {
        if !self.options.go_on {
            // Sends the documents before the failure first, so that they are stored.
            self.send_batch();
        }
        self.send(ImportEvent::Bad(failure)) && self.options.go_on
    }

    fn send_batch(&mut self) -> bool {
        let ImportBatch { documents, .. } = std::mem::take(&mut self.batch);
        documents.is_empty() || self.send(ImportEvent::Batch(documents))
    }

    fn send(&self, step: ImportEvent) -> bool {
        self.steps.blocking_send(step).is_ok()
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
        self.leaves_bytes += prepared.leaves_bytes;
        self.documents.push(prepared);
    }

    fn is_full(&self) -> bool {
        self.documents.len() >= IMPORT_BATCH_DOCUMENTS_MAX
            || self.bytes >= IMPORT_BATCH_BYTES_MAX
            || self.leaves_bytes >= IMPORT_BATCH_LEAVES_BYTES_MAX
    }
}
