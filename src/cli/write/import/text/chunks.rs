//! Reads a stream in chunks and splits off pieces.

use std::io::{self, ErrorKind, Read};

use crate::limits::{IMPORT_CHUNK_BYTES, IMPORT_STREAMED_DOCUMENT_BYTES_MAX};

/// A position in a stream's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TextPosition {
    /// From 1.
    pub(crate) line: usize,
    /// In bytes, from 1.
    pub(crate) column: usize,
}

impl TextPosition {
    /// The position after `text`, which begins here.
    pub(crate) fn after(self, text: &[u8]) -> Self {
        match memchr::memrchr(b'\n', text) {
            Some(last) => Self {
                line: self.line + memchr::memchr_iter(b'\n', text).count(),
                column: text.len() - last,
            },
            None => Self {
                line: self.line,
                column: self.column + text.len(),
            },
        }
    }
}

/// Buffers bytes until they are taken. It holds at most the largest piece and two chunks.
pub(crate) struct Chunks<R> {
    source: R,
    /// What a read fills.
    chunk: Vec<u8>,
    bytes: Vec<u8>,
    begin: usize,
    ended: bool,
    place: TextPosition,
    /// The bytes that one piece can have.
    piece_bytes_max: usize,
}

impl<R: Read> Chunks<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            chunk: Vec::new(),
            bytes: Vec::new(),
            begin: 0,
            ended: false,
            place: TextPosition { line: 1, column: 1 },
            piece_bytes_max: usize::MAX,
        }
    }

    /// Limits the bytes of a piece. Reading more of it fails.
    pub(crate) fn with_piece_bytes_max(self, piece_bytes_max: usize) -> Self {
        Self {
            piece_bytes_max,
            ..self
        }
    }

    /// The bytes that one piece can have.
    pub(crate) fn piece_bytes_max(&self) -> usize {
        self.piece_bytes_max
    }

    /// The buffered bytes.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.bytes[self.begin..]
    }

    /// The position of [`Chunks::ahead`].
    pub(crate) fn place(&self) -> TextPosition {
        self.place
    }

    /// Reads more bytes. Returns false at the end of the stream.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        self.bytes.drain(..self.begin);
        self.begin = 0;
        let held = self.bytes.len();
        if held >= self.piece_bytes_max {
            return Err(too_large());
        }
        self.chunk.resize(IMPORT_CHUNK_BYTES, 0);
        let read = loop {
            match self.source.read(&mut self.chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let bytes = read.as_ref().map_or(0, |bytes| *bytes);
        self.bytes.extend_from_slice(&self.chunk[..bytes]);
        self.ended = !matches!(read, Ok(1..));
        read.map(|read| read > 0)
    }

    /// Takes the next `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Vec<u8> {
        let whole = self.begin == 0 && length == self.bytes.len();
        let end = self.begin + length;
        self.place = self.place.after(&self.bytes[self.begin..end]);
        if whole {
            return std::mem::take(&mut self.bytes);
        }
        let taken = self.bytes[self.begin..end].to_vec();
        self.begin = end;
        taken
    }

    /// Skips the next `length` bytes.
    pub(crate) fn skip(&mut self, length: usize) {
        let end = self.begin + length;
        self.place = self.place.after(&self.bytes[self.begin..end]);
        self.begin = end;
    }

    /// Skips the next `length` bytes without counting them in the column.
    pub(crate) fn skip_mark(&mut self, length: usize) {
        self.begin += length;
    }

    /// Skips white space. Returns false at the end of the stream.
    pub(crate) fn skip_space(&mut self) -> io::Result<bool> {
        loop {
            let ahead = self.ahead();
            let space = ahead.iter().take_while(|byte| is_space(**byte)).count();
            let found = space < ahead.len();
            self.skip(space);
            if found {
                return Ok(true);
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
    }
}

/// A document of a stream exceeds the limit.
pub(crate) fn too_large() -> io::Error {
    io::Error::other(format!(
        "a document of more than {} MiB in a compressed file or a pipe: import it from a file that is not \
         compressed",
        IMPORT_STREAMED_DOCUMENT_BYTES_MAX >> 20
    ))
}

/// The white space of JSON (RFC 8259 §2).
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Trims white space and returns the number of bytes removed at the start.
pub(crate) fn trimmed(bytes: &[u8]) -> (usize, &[u8]) {
    let text = |byte: &u8| !is_space(*byte);
    let begin = bytes.iter().position(text).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(text).map_or(begin, |last| last + 1);
    (begin, &bytes[begin..end])
}
