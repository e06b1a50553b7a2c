//! Progress and summary of an import, on standard error.

use std::io::Read;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, ProgressBar, ProgressStyle};

use super::prepare::{ImportFailure, ImportPlace};
use crate::cli::outcome::Interrupt;
use crate::cli::terminal::output::say;
use crate::cli::write::upload::UploadedBatch;

/// Counts the bytes that are read.
pub(crate) struct ReadCounter(ProgressBar);

impl ReadCounter {
    /// Wraps a stream.
    pub(crate) fn counting<R: Read>(&self, source: R) -> impl Read + use<R> {
        self.0.wrap_read(source)
    }
}

/// Why an import ends before its streams do.
pub(crate) enum Early {
    /// By a signal.
    Interrupted(Interrupt),
    /// A batch was not committed.
    StoreFailed,
    /// A stream cannot be read further.
    Broken,
    /// A document cannot be stored.
    Bad,
}

impl Early {
    fn describe(&self) -> &'static str {
        match self {
            Self::Interrupted(_) => "; interrupted; the batches before are stored",
            Self::StoreFailed => "; stopped; the batches before are stored",
            Self::Broken => "; stopped there; the documents before it are stored",
            Self::Bad => {
                "; stopped there; the documents before it are stored (use --on-error continue to continue)"
            }
        }
    }
}

/// Counts the results of an import and shows its progress.
pub(crate) struct ImportReport {
    bar: ProgressBar,
    begun: Instant,
    stream: String,
    /// The prefix of generated ids, if another run would have another one.
    random_prefix: Option<String>,
    /// Whether nothing is stored.
    dry_run: bool,
    collection: String,
    created: u64,
    replaced: u64,
    skipped: u64,
    failed: u64,
    /// The last document that was stored.
    last: Option<ImportPlace>,
    /// The options that take the ids from the documents.
    proposed: Option<&'static str>,
}

impl ImportReport {
    /// Creates a report. `stream` names what is imported. `bytes` is its size, if it is known.
    pub(crate) fn new(stream: String, bytes: Option<u64>, collection: &str, dry_run: bool) -> Self {
        let (bar, template) = match bytes {
            Some(bytes) => (
                ProgressBar::new(bytes),
                "{prefix} {wide_bar} {bytes}/{total_bytes}, {msg}{eta} left",
            ),
            None => (
                ProgressBar::no_length(),
                "{spinner} {prefix} {bytes}, {msg}{elapsed}",
            ),
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        bar.set_prefix(if dry_run { "validating" } else { "importing" });
        bar.enable_steady_tick(Duration::from_millis(200));
        Self {
            bar,
            begun: Instant::now(),
            stream,
            random_prefix: None,
            dry_run,
            collection: collection.to_owned(),
            created: 0,
            replaced: 0,
            skipped: 0,
            failed: 0,
            last: None,
            proposed: None,
        }
    }

    /// Sets the prefix of generated ids that another run has to be given.
    pub(crate) fn set_random_prefix(&mut self, prefix: Option<String>) {
        self.random_prefix = prefix;
    }

    /// Counts the bytes that are read.
    pub(crate) fn counter(&self) -> ReadCounter {
        ReadCounter(self.bar.clone())
    }

    /// Notes that ids are generated, and which options take them from the documents.
    pub(crate) fn propose(&mut self, options: &'static str) {
        self.proposed = Some(options);
    }

    /// The options that take the ids from the documents, if ids are generated.
    pub(crate) fn proposed(&self) -> Option<&'static str> {
        self.proposed
    }

    /// Counts the stored documents of a batch.
    pub(crate) fn put(&mut self, batch: &UploadedBatch) {
        self.created += batch.created;
        self.replaced += batch.replaced;
        self.skipped += batch.unchanged;
    }

    /// Notes that a document is stored.
    pub(crate) fn reached(&mut self, place: ImportPlace) {
        self.last = Some(place);
    }

    /// Counts and reports a failed document.
    pub(crate) fn bad(&mut self, failure: &ImportFailure) {
        self.failed += 1;
        let ImportFailure { place, reason } = failure;
        self.say(&format!("{place}: {reason}"));
    }

    /// Reports that a stream cannot be read further.
    pub(crate) fn broken(&mut self, file: &str, reason: &str) {
        self.failed += 1;
        self.say(&format!("{file}: {reason}"));
    }

    /// Reports that the store failed.
    pub(crate) fn store_failed(&mut self, reason: &str) {
        self.failed += 1;
        self.say(&format!("{}: {reason}", self.stream));
    }

    /// Updates the progress line.
    pub(crate) fn show(&self) {
        let documents = self.documents();
        self.bar.set_message(format!(
            "{} documents, {}/s, ",
            HumanCount(documents),
            HumanCount(self.per_second(documents))
        ));
    }

    /// Whether nothing failed.
    pub(crate) fn is_good(&self) -> bool {
        self.failed == 0
    }

    /// Prints the summary. `early` is the reason if the import ended before the stream did.
    pub(crate) fn end(&self, early: Option<&Early>) {
        self.bar.finish_and_clear();
        let documents = self.documents();
        let seconds = self.begun.elapsed().as_secs_f64();
        if self.dry_run {
            say(format_args!(
                "{}: {documents} {} can be imported into the collection {:?}, {} failed; this was a dry run, \
                 nothing is stored",
                self.stream,
                if documents == 1 {
                    "document"
                } else {
                    "documents"
                },
                self.collection,
                self.failed,
            ));
            return self.end_proposal();
        }
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
            early.map(Early::describe).unwrap_or_default(),
        ));
        if let Some(Early::Interrupted(_)) = early {
            self.say_how_to_resume();
        }
        self.end_proposal();
    }

    fn say_how_to_resume(&self) {
        let last = match &self.last {
            Some(ImportPlace { file, number, .. }) => {
                format!("the last stored document is document {number} of {file}; ")
            }
            None => String::new(),
        };
        let name = self.random_prefix.as_ref();
        let name = name.map_or(String::new(), |name| format!(" and --name {name}"));
        say(format_args!(
            "{last}to resume, run the same command with --existing skip{name}"
        ));
    }

    fn end_proposal(&self) {
        if let Some(options) = self.proposed {
            say(format_args!(
                "the ids are generated; {options} takes them from the documents"
            ));
        }
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    const COLUMNS: u16 = 80;

    /// A terminal that keeps what is written to it.
    #[derive(Clone, Debug, Default)]
    struct Terminal(Arc<Mutex<Vec<String>>>);

    impl TermLike for Terminal {
        fn width(&self) -> u16 {
            COLUMNS
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().expect("nobody panics").push(text.to_owned());
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_progress_line_names_the_phase_and_fits_80_columns() {
        for (bytes, dry_run, phase) in [
            (Some(99_999_999_999), false, "importing"),
            (Some(1_000), true, "validating"),
            (None, false, "importing"),
        ] {
            let mut report = ImportReport::new("x.json".to_owned(), bytes, "c", dry_run);
            report.begun -= Duration::from_secs(60);
            report.created = 123_456_789;
            let terminal = Terminal::default();
            let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));
            report.bar.set_draw_target(target);
            report.bar.set_position(bytes.unwrap_or(9_999_999_999) / 3);
            report.show();
            report.bar.abandon();
            let written = terminal.0.lock().expect("nobody panics");
            let lines: Vec<&String> = written.iter().filter(|text| text.contains(phase)).collect();
            assert!(!lines.is_empty(), "{written:?}");
            for line in lines {
                assert!(line.contains("123,456,789 documents, 2,057,"), "{line}");
                let columns = line.trim_end().chars().count();
                assert!(columns <= usize::from(COLUMNS), "{columns}: {line}");
            }
        }
    }
}
