//! Reads CSV and TSV with a header. Each record becomes the JSON text of a document.

mod cell;
mod columns;

use std::io::{self, Read};

use columns::Columns;
pub(crate) use columns::FieldOptions;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::text::chunks::{Chunks, TextPosition, too_large};
use super::text::split::{Broken, skip_byte_order_mark};
use crate::cli::arguments::ExportFormat;
use crate::limits::IMPORT_COLUMNS_MAX;

/// A record after the header.
pub(crate) struct Row {
    /// Its number, from 1.
    pub(crate) number: u64,
    /// Where it begins.
    pub(crate) place: TextPosition,
    /// The document, or why the record is malformed.
    pub(crate) json: Result<Vec<u8>, String>,
}

/// Reads the records of a table. It buffers one record and one chunk.
pub(crate) struct TableReader<R> {
    chunks: Chunks<R>,
    records: Reader,
    /// The fields of the current record, one after the other, and their ends.
    fields: Vec<u8>,
    ends: Vec<usize>,
    columns: Columns,
    number: u64,
}

/// The size of the current record.
struct RecordSize {
    bytes: usize,
    fields: usize,
}

impl<R: Read> TableReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// The stream cannot be read, or its columns name no members.
    pub(crate) fn new(
        mut chunks: Chunks<R>,
        format: ExportFormat,
        options: &FieldOptions,
    ) -> Result<Self, Broken> {
        skip_byte_order_mark(&mut chunks)?;
        let delimiter = match format {
            ExportFormat::Tsv => b'\t',
            _ => b',',
        };
        let mut reader = Self {
            chunks,
            records: begun(ReaderBuilder::new().delimiter(delimiter).build()),
            fields: vec![0; 1024],
            ends: vec![0; 16],
            columns: Columns::default(),
            number: 0,
        };
        let begin = reader.begin()?;
        if let Some(size) = reader.record(begin)? {
            let names: Option<Vec<&str>> = reader.texts(&size).collect();
            let columns = names
                .ok_or_else(|| "the header is not valid UTF-8".to_owned())
                .and_then(|names| match names.len() {
                    ..=IMPORT_COLUMNS_MAX => Columns::parse(&names, options),
                    _ => Err(too_many_columns()),
                });
            reader.columns = columns.map_err(|reason| shape(begin, &reason))?;
        }
        Ok(reader)
    }

    /// The next record, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, Broken> {
        let place = self.begin()?;
        let Some(size) = self.record(place)? else {
            return Ok(None);
        };
        self.number += 1;
        Ok(Some(Row {
            number: self.number,
            place,
            json: self.json(&size),
        }))
    }

    fn json(&self, size: &RecordSize) -> Result<Vec<u8>, String> {
        let columns = self.columns.count();
        if size.fields != columns {
            return Err(format!(
                "the number of fields is {}, but the header has {columns}",
                size.fields
            ));
        }
        let mut fields = Vec::with_capacity(columns);
        for (number, text) in (1..).zip(self.texts(size)) {
            fields.push(text.ok_or_else(|| format!("field {number} is not valid UTF-8"))?);
        }
        Ok(self.columns.document(&fields))
    }

    /// The fields of the current record. `None` is a field that is not valid UTF-8.
    fn texts(&self, size: &RecordSize) -> impl Iterator<Item = Option<&str>> {
        let mut begin = 0;
        self.ends[..size.fields].iter().map(move |end| {
            let field = &self.fields[begin..*end];
            begin = *end;
            std::str::from_utf8(field).ok()
        })
    }

    /// Skips empty lines, and returns the position where the next record begins.
    fn begin(&mut self) -> io::Result<TextPosition> {
        loop {
            let ahead = self.chunks.ahead();
            let line_ends = |byte: &&u8| matches!(**byte, b'\r' | b'\n');
            let skipped = ahead.iter().take_while(line_ends).count();
            let found = skipped < ahead.len();
            self.chunks.skip(skipped);
            if found || !self.chunks.fill()? {
                return Ok(self.chunks.place());
            }
        }
    }

    /// Reads the next record, which begins at `place`.
    fn record(&mut self, place: TextPosition) -> Result<Option<RecordSize>, Broken> {
        let mut size = RecordSize {
            bytes: 0,
            fields: 0,
        };
        let mut ended = false;
        loop {
            // A line feed ends the last record, unless a quotation mark is open.
            let input = if ended {
                &b"\n"[..]
            } else {
                self.chunks.ahead()
            };
            let (result, read, bytes, fields) = self.records.read_record(
                input,
                &mut self.fields[size.bytes..],
                &mut self.ends[size.fields..],
            );
            size.bytes += bytes;
            size.fields += fields;
            if !ended {
                self.chunks.skip(read);
            }
            match result {
                ReadRecordResult::Record => return Ok(Some(size)),
                ReadRecordResult::End => return Ok(None),
                ReadRecordResult::OutputFull if size.bytes > self.chunks.piece_bytes_max() => {
                    return Err(too_large().into());
                }
                ReadRecordResult::OutputFull => self.fields.resize(2 * self.fields.len(), 0),
                ReadRecordResult::OutputEndsFull if size.fields > IMPORT_COLUMNS_MAX => {
                    return Err(shape(place, &too_many_columns()));
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::InputEmpty if ended && bytes > 0 => {
                    return Err(shape(
                        place,
                        "a quotation mark in this record is not closed",
                    ));
                }
                ReadRecordResult::InputEmpty if ended => return Ok(None),
                ReadRecordResult::InputEmpty => ended = !self.chunks.fill()?,
            }
        }
    }
}

/// A reader that is past the beginning of its text, where it would skip a byte order mark, if one chunk contains all
/// of it. The mark of the stream is skipped already, and a second one belongs to the first field.
fn begun(mut reader: Reader) -> Reader {
    let (result, ..) = reader.read_record(b"\n", &mut [0], &mut [0]);
    debug_assert_eq!(result, ReadRecordResult::InputEmpty, "an empty line");
    reader
}

/// The documents of a table, of which each is JSON or the reason why its record is malformed, and why the table
/// cannot be read further. Columns are text unless `infer`.
pub fn table_documents(
    source: impl Read,
    has_tabs: bool,
    infer: bool,
) -> (Vec<Result<Vec<u8>, String>>, Option<String>) {
    let format = if has_tabs {
        ExportFormat::Tsv
    } else {
        ExportFormat::Csv
    };
    let options = FieldOptions {
        infer,
        collection_type: None,
    };
    let mut documents = Vec::new();
    let read = || {
        let mut table = TableReader::new(Chunks::new(source), format, &options)?;
        while let Some(row) = table.next()? {
            documents.push(row.json);
        }
        Ok(())
    };
    let end: Result<(), Broken> = read();
    (documents, end.err().map(|broken| broken.to_string()))
}

fn too_many_columns() -> String {
    format!("the record has more than {IMPORT_COLUMNS_MAX} fields, which is the limit")
}

fn shape(place: TextPosition, reason: &str) -> Broken {
    let TextPosition { line, column } = place;
    Broken::Shape(format!("line {line}, column {column}: {reason}"))
}
