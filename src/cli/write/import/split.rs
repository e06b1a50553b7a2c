//! A stream's documents, one after another, found without parsing them.

use std::io::{self, Read};

use super::chunks::{Chunks, TextPosition, trimmed};
use super::detect::detect;
use super::scan::Scanner;
use crate::cli::arguments::ExportFormat;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The text of a document, or what stands in its place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The document's number in the stream, from 1.
    pub(crate) number: u64,
    /// Where it begins in the stream.
    pub(crate) place: TextPosition,
    /// Its text, without the white space around it.
    pub(crate) text: Vec<u8>,
}

/// Why a stream goes no further.
#[derive(Debug)]
pub(crate) enum Broken {
    /// It cannot be read.
    Io(io::Error),
    /// It does not consist of what it should, and what follows cannot be told.
    Shape(String),
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Splits a stream. It holds one document and one chunk at a time.
pub(crate) struct Splitter<R> {
    chunks: Chunks<R>,
    format: ExportFormat,
    number: u64,
    array: Array,
}

#[derive(PartialEq, Eq)]
enum Array {
    Before,
    Inside,
    After,
}

impl<R: Read> Splitter<R> {
    /// A splitter of a stream of this format or, if none is given, of what it looks like.
    pub(crate) fn new(source: R, format: Option<ExportFormat>) -> io::Result<Self> {
        let mut chunks = Chunks::new(source);
        while chunks.ahead().len() < BYTE_ORDER_MARK.len() && chunks.fill()? {}
        if chunks.ahead().starts_with(BYTE_ORDER_MARK) {
            chunks.skip_mark(BYTE_ORDER_MARK.len());
        }
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

    /// What the stream consists of.
    pub(crate) fn format(&self) -> ExportFormat {
        self.format
    }

    /// The next document; none after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Piece>, Broken> {
        match self.format {
            ExportFormat::Document => self.document(),
            ExportFormat::Array => self.element(),
            ExportFormat::Lines | ExportFormat::Export => self.line(),
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
        // Blank lines do not count, so all white space in front may go.
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

    fn element(&mut self) -> Result<Option<Piece>, Broken> {
        if self.array == Array::Before {
            self.begin_array()?;
        }
        if self.array == Array::After {
            self.end_array()?;
            return Ok(None);
        }
        let (end, byte) = self.element_end()?;
        if byte == b']' {
            self.array = Array::After;
            if self.number == 0 && trimmed(&self.chunks.ahead()[..end]).1.is_empty() {
                self.chunks.skip(end + 1);
                self.end_array()?;
                return Ok(None);
            }
        }
        let piece = self.piece(end);
        self.chunks.skip(1);
        Ok(Some(piece))
    }

    fn begin_array(&mut self) -> Result<(), Broken> {
        if !self.chunks.skip_space()? || self.chunks.ahead()[0] != b'[' {
            return Err(self.shape("an array must begin with \"[\""));
        }
        self.chunks.skip(1);
        self.array = Array::Inside;
        Ok(())
    }

    fn end_array(&mut self) -> Result<(), Broken> {
        if self.chunks.skip_space()? {
            return Err(self.shape("something follows the array"));
        }
        Ok(())
    }

    /// Where the comma or bracket is that ends the element.
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

    /// Takes the next document, the one in the next `length` bytes.
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
