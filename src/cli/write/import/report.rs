//! What an import says while it runs and at its end, on standard error.

use std::io::Read;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use super::prepare::ImportFailure;
use crate::cli::terminal::output::say;
use crate::database::Put;

/// Counts what became of the documents, and shows how far the import is.
pub(crate) struct ImportReport {
    bar: ProgressBar,
    begun: Instant,
    stream: String,
    collection: String,
    created: u64,
    replaced: u64,
    skipped: u64,
    failed: u64,
}

impl ImportReport {
    /// A report on a stream of so many bytes, if that is known.
    pub(crate) fn new(stream: &str, bytes: Option<u64>, collection: &str) -> Self {
        let (bar, template) = match bytes {
            Some(bytes) => (
                ProgressBar::new(bytes),
                "{bar:30} {bytes} of {total_bytes}, {msg}{eta} left",
            ),
            None => (
                ProgressBar::no_length(),
                "{spinner} {bytes}, {msg}{elapsed}",
            ),
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            begun: Instant::now(),
            stream: stream.to_owned(),
            collection: collection.to_owned(),
            created: 0,
            replaced: 0,
            skipped: 0,
            failed: 0,
        }
    }

    /// The same stream, whose bytes are counted as they are read.
    pub(crate) fn counting<R: Read>(&self, source: R) -> impl Read + use<R> {
        self.bar.wrap_read(source)
    }

    /// A document is stored.
    pub(crate) fn put(&mut self, put: Put) {
        match put {
            Put::Created => self.created += 1,
            Put::Replaced => self.replaced += 1,
            Put::Skipped => self.skipped += 1,
        }
    }

    /// A document is not.
    pub(crate) fn bad(&mut self, failure: &ImportFailure) {
        self.failed += 1;
        let ImportFailure {
            number,
            place,
            reason,
        } = failure;
        self.say(&format!(
            "{}: line {}, column {} (document {number}): {reason}",
            self.stream, place.line, place.column
        ));
    }

    /// The stream, or the store, goes no further.
    pub(crate) fn broken(&mut self, reason: &str) {
        self.failed += 1;
        self.say(&format!("{}: {reason}", self.stream));
    }

    /// Shows what was put so far.
    pub(crate) fn show(&self) {
        let documents = self.documents();
        self.bar.set_message(format!(
            "{} documents, {}/s, ",
            HumanCount(documents),
            HumanCount(self.per_second(documents))
        ));
    }

    /// Whether all went well.
    pub(crate) fn is_good(&self) -> bool {
        self.failed == 0
    }

    /// The summary; `early` says why the import ended before the stream did, if so.
    pub(crate) fn end(&self, early: Option<&str>) {
        self.bar.finish_and_clear();
        let documents = self.documents();
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = match self.per_second(documents) {
            0 | 1 => String::new(),
            rate => format!(" ({}/s)", HumanCount(rate)),
        };
        say(format_args!(
            "{}: {documents} {} imported into the collection {:?} in {seconds:.2} \
             s{rate}: {} created, {} replaced; {} skipped, {} failed{}",
            self.stream,
            if documents == 1 {
                "document"
            } else {
                "documents"
            },
            self.collection,
            self.created,
            self.replaced,
            self.skipped,
            self.failed,
            early.map(|why| format!("; {why}")).unwrap_or_default(),
        ));
    }

    fn documents(&self) -> u64 {
        self.created + self.replaced
    }

    fn per_second(&self, documents: u64) -> u64 {
        let millis = self.begun.elapsed().as_millis().max(1);
        u64::try_from(u128::from(documents) * 1000 / millis).unwrap_or(u64::MAX)
    }

    fn say(&self, message: &str) {
        self.bar.suspend(|| say(format_args!("{message}")));
    }
}
