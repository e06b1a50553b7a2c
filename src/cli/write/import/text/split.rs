//! Splits a stream into documents without parsing them.

use std::fmt;
use std::io::{self, Read};

use super::chunks::{Chunks, TextPosition, trimmed};
use super::detect::detect;
use super::scan::Scanner;
use crate::cli::arguments::ExportFormat;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The text of a document, or the malformed text in its position.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The document's number in the stream, from 1.
    pub(crate) number: u64,
    /// The position where it begins in the stream.
    pub(crate) place: TextPosition,
    /// The text, without surrounding white space.
    pub(crate) text: Vec<u8>,
}

/// Why a stream cannot be read further.
#[derive(Debug)]
pub(crate) enum Broken {
    /// Reading failed.
    Io(io::Error),
    /// The stream does not have the expected structure, so further documents cannot be found.
    Shape(String),
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "it cannot be read: {error}"),
            Self::Shape(reason) => f.write_str(reason),
        }
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Skips a byte order mark at the beginning of a stream.
pub(crate) fn skip_byte_order_mark<R: Read>(chunks: &mut Chunks<R>) -> io::Result<()> {
    while chunks.ahead().len() < BYTE_ORDER_MARK.len() && chunks.fill()? {}
    if chunks.ahead().starts_with(BYTE_ORDER_MARK) {
        chunks.skip_mark(BYTE_ORDER_MARK.len());
    }
    Ok(())
}

/// Splits a stream. It buffers one document and one chunk at a time.
pub(crate) struct Splitter<R> {
    chunks: Chunks<R>,
    format: ExportFormat,
    number: u64,
    array: Array,
}

#[derive(PartialEq, Eq)]
enum Array {
    Before,
    /// Before the first element.
    Begun,
    Inside,
    After,
}

impl<R: Read> Splitter<R> {
    /// Creates a splitter for a stream in this format. If none is given, the format is detected.
    pub(crate) fn new(mut chunks: Chunks<R>, format: Option<ExportFormat>) -> io::Result<Self> {
        skip_byte_order_mark(&mut chunks)?;
        let format = match format {
            Some(format) => format,
            None => detect(&mut chunks)?,
        };
        Ok(Self {
            chunks,
            format,
            number: 0,
            array: Array::Before,
        })
    }

    /// The format of the stream.
    pub(crate) fn format(&self) -> ExportFormat {
        self.format
    }

    /// The next document, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Piece>, Broken> {
        match self.format {
            ExportFormat::Document => self.document(),
            ExportFormat::Array => self.element(),
            ExportFormat::Lines | ExportFormat::Export => self.line(),
            ExportFormat::Concatenated => self.value(),
            // A `TableReader` reads tables.
            ExportFormat::Csv | ExportFormat::Tsv => Ok(None),
        }
    }

    fn document(&mut self) -> Result<Option<Piece>, Broken> {
        if self.number > 0 {
            return Ok(None);
        }
        while self.chunks.fill()? {}
        Ok(Some(self.piece(self.chunks.ahead().len())))
    }

    fn line(&mut self) -> Result<Option<Piece>, Broken> {
        // Blank lines are ignored, so all leading white space is skipped.
        if !self.chunks.skip_space()? {
            return Ok(None);
        }
        let mut scanned = 0;
        loop {
            let ahead = self.chunks.ahead();
            if let Some(end) = memchr::memchr(b'\n', &ahead[scanned..]) {
                return Ok(Some(self.piece(scanned + end)));
            }
            scanned = ahead.len();
            if !self.chunks.fill()? {
                return Ok(Some(self.piece(scanned)));
            }
        }
    }

    /// A value that ends with its last bracket, or with its line if it has no brackets.
    fn value(&mut self) -> Result<Option<Piece>, Broken> {
        if !self.chunks.skip_space()? {
            return Ok(None);
        }
        let mut scanner = Scanner::default();
        let (mut at, mut depth) = (0, 0_usize);
        loop {
            while let Some((found, byte)) = scanner.next(self.chunks.ahead(), &mut at) {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth <= 1 => return Ok(Some(self.piece(at))),
                    b'}' | b']' => depth -= 1,
                    b'\n' if depth == 0 => return Ok(Some(self.piece(found))),
                    _ => {}
                }
            }
            if !self.chunks.fill()? {
                return Ok(Some(self.piece(self.chunks.ahead().len())));
            }
        }
    }

    fn element(&mut self) -> Result<Option<Piece>, Broken> {
        loop {
            if self.array == Array::Before {
                self.begin_array()?;
            }
            if self.array == Array::After && !self.next_array()? {
                return Ok(None);
            }
            let is_first = self.array == Array::Begun;
            let (end, byte) = self.element_end()?;
            let is_last = byte == b']';
            self.array = if is_last { Array::After } else { Array::Inside };
            if is_first && is_last && trimmed(&self.chunks.ahead()[..end]).1.is_empty() {
                self.chunks.skip(end + 1);
                continue;
            }
            let piece = self.piece(end);
            self.chunks.skip(1);
            return Ok(Some(piece));
        }
    }

    fn begin_array(&mut self) -> Result<(), Broken> {
        if !self.chunks.skip_space()? || self.chunks.ahead()[0] != b'[' {
            return Err(self.shape("an array must begin with \"[\""));
        }
        self.chunks.skip(1);
        self.array = Array::Begun;
        Ok(())
    }

    /// Begins the array that follows another. Returns false at the end of the stream.
    fn next_array(&mut self) -> Result<bool, Broken> {
        if !self.chunks.skip_space()? {
            return Ok(false);
        }
        if self.chunks.ahead()[0] != b'[' {
            return Err(self.shape("unexpected text after the array"));
        }
        self.begin_array()?;
        Ok(true)
    }

    /// Finds the comma or bracket that ends the element.
    fn element_end(&mut self) -> Result<(usize, u8), Broken> {
        let mut scanner = Scanner::default();
        let (mut at, mut depth) = (0, 0_usize);
        loop {
            while let Some((found, byte)) = scanner.next(self.chunks.ahead(), &mut at) {
                match byte {
                    b',' | b']' if depth == 0 => return Ok((found, byte)),
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
            }
            if !self.chunks.fill()? {
                self.chunks.skip_space()?;
                let number = self.number + 1;
                return Err(self.shape(&format!(
                    "the array is not closed: the stream ends in document {number}, which begins \
                     here"
                )));
            }
        }
    }

    /// Takes the next document, which is in the next `length` bytes.
    fn piece(&mut self, length: usize) -> Piece {
        self.number += 1;
        let (space, _) = trimmed(&self.chunks.ahead()[..length]);
        self.chunks.skip(space);
        let place = self.chunks.place();
        let mut text = self.chunks.take(length - space);
        text.truncate(trimmed(&text).1.len());
        Piece {
            number: self.number,
            place,
            text,
        }
    }

    fn shape(&self, what: &str) -> Broken {
        let TextPosition { line, column } = self.chunks.place();
        Broken::Shape(format!("line {line}, column {column}: {what}"))
    }
}
