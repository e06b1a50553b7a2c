//! Standard output and standard error. Either may be closed at any time.

use std::fmt;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::outcome::{Done, Ended, failed};

/// A progress line on standard error for a command of unknown length, with this template.
pub(crate) fn spinner(template: &str) -> ProgressBar {
    let bar = ProgressBar::no_length();
    let style = ProgressStyle::with_template(template);
    bar.set_style(style.expect("a valid template"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The destination of a command's result.
pub(crate) struct Output<W: Write> {
    out: BufWriter<W>,
    name: String,
}

impl Output<io::StdoutLock<'static>> {
    /// Standard output.
    pub(crate) fn stdout() -> Self {
        Self::new(io::stdout().lock(), "standard output")
    }
}

impl<W: Write> Output<W> {
    /// An output that error messages call `name`.
    pub(crate) fn new(out: W, name: impl Into<String>) -> Self {
        Self {
            out: BufWriter::with_capacity(64 << 10, out),
            name: name.into(),
        }
    }

    /// Writes bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Done {
        let written = self.out.write_all(bytes);
        written.map_err(|error| ended(&error, &self.name))
    }

    /// Flushes the buffer. Further bytes can be written.
    pub(crate) fn flush(&mut self) -> Done {
        let flushed = self.out.flush();
        flushed.map_err(|error| ended(&error, &self.name))
    }

    /// Flushes the buffer. Nothing more is written.
    pub(crate) fn finish(mut self) -> Done {
        self.flush()
    }
}

fn ended(error: &io::Error, name: &str) -> Ended {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return Ended::Unread;
    }
    failed(format!("{name} cannot be written: {error}")).into()
}

/// Text with its control characters escaped as in JSON, so that it stays in its line and column.
pub(crate) fn on_one_line(text: &str) -> String {
    escaped(text, false)
}

/// Text with its control characters escaped as in JSON, except line feeds and tabs if `lines`.
fn escaped(text: &str, lines: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' if lines => out.push(character),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                // Writing to a string cannot fail.
                let _ = std::fmt::Write::write_fmt(
                    &mut out,
                    format_args!("\\u{:04x}", u32::from(control)),
                );
            }
            other => out.push(other),
        }
    }
    out
}

/// Prints a message to standard error. Ignores errors. Names in it, and the messages of servers, cannot control the
/// terminal.
pub(crate) fn say(message: fmt::Arguments<'_>) {
    let _said = writeln!(io::stderr(), "{}", escaped(&message.to_string(), true));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_control_the_terminal() {
        let text = "a\u{1b}[31m\u{9b}2J\r\n\té\u{7f}";
        assert_eq!(on_one_line(text), r"a\u001b[31m\u009b2J\u000d\n\té\u007f");
        let message = escaped(text, true);
        assert_eq!(message, "a\\u001b[31m\\u009b2J\\u000d\n\té\\u007f");
    }
}
