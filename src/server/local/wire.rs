//! The byte format of the local socket. A body is a sequence of fields: a length (64 bits,
//! little-endian) and that many bytes. URL paths begin with the protocol version.

use crate::database::{Adopted, Collection, Foreign, Put, Scanned};
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Leaves;
use crate::operations::{NewDocument, Policy};
use crate::store::Pairs;

/// `POST ?collection=…&existing=…&on-error=…`, fields id, document, id, document, …: returns the
/// result of each document, one field each.
pub const PUT_BATCH: &str = "/v1/put-batch";
/// `POST ?collection=…`, with the key to begin at, or an empty body: returns the fields documents
/// adopted, documents already known, next key (empty at the end), and the key of each foreign
/// document.
pub const ADOPT: &str = "/v1/adopt";
/// `GET ?collection=…&id=…&path=…`: returns the JSON at the path, or 204 if nothing is stored
/// there.
pub const GET: &str = "/v1/get";
/// `GET ?collection=…&id=…&path=…`: returns the fields key, value, key, value, …
pub const PAIRS: &str = "/v1/pairs";
/// `GET ?collection=…`: returns [`ExportRecord`]s, one field each.
pub const EXPORT: &str = "/v1/export";
/// `GET`: returns the fields name, count, name, count, …
pub const COLLECTIONS: &str = "/v1/collections";

const LENGTH_BYTES: usize = size_of::<u64>();

/// Appends a field.
pub fn write_field(out: &mut Vec<u8>, field: &[u8]) {
    out.extend_from_slice(&(field.len() as u64).to_le_bytes());
    out.extend_from_slice(field);
}

/// Encodes one field.
pub fn field(bytes: &[u8]) -> Vec<u8> {
    let mut field = Vec::with_capacity(LENGTH_BYTES + bytes.len());
    write_field(&mut field, bytes);
    field
}

/// Splits off the first field. `None` if it is incomplete.
pub fn split_field(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    rest.split_at_checked(length)
}

/// The rest of a sequence of fields.
pub(super) struct FieldReader<'b>(&'b [u8]);

impl<'b> FieldReader<'b> {
    pub(super) fn new(fields: &'b [u8]) -> Self {
        Self(fields)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next field.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the bytes are malformed.
    pub(super) fn next(&mut self) -> Result<&'b [u8]> {
        let (field, rest) = split_field(self.0).ok_or_else(cut_short)?;
        self.0 = rest;
        Ok(field)
    }
}

/// Decodes a sequence of pairs of fields.
fn read_twos(mut bytes: &[u8]) -> Result<Vec<(&[u8], &[u8])>> {
    let mut twos = Vec::new();
    while !bytes.is_empty() {
        let two = split_field(bytes).and_then(|(first, rest)| {
            split_field(rest).map(|(second, rest)| (first, second, rest))
        });
        let (first, second, rest) = two.ok_or_else(cut_short)?;
        twos.push((first, second));
        bytes = rest;
    }
    Ok(twos)
}

/// Appends a document to a batch.
pub fn write_document(out: &mut Vec<u8>, id: &DocumentId, json: &[u8]) {
    write_field(out, id.to_string().as_bytes());
    write_field(out, json);
}

/// Decodes a batch and parses its documents. Unless the policy continues on errors, stops after the
/// first invalid document.
///
/// # Errors
/// `BAD_USER_INPUT`: an id or a field of the batch is invalid.
pub(crate) fn read_documents(bytes: &[u8], policy: Policy) -> Result<Vec<NewDocument>> {
    let mut documents = Vec::new();
    for (id, json) in read_twos(bytes)? {
        let id = DocumentId::parse(text(id)?)?;
        let leaves = text(json).and_then(Leaves::from_json);
        let failed = leaves.is_err();
        documents.push(NewDocument { id, leaves });
        if failed && !policy.go_on {
            break;
        }
    }
    Ok(documents)
}

/// Encodes the result of each document of a batch.
pub fn write_results(results: &[Result<Put>]) -> Vec<u8> {
    let mut out = Vec::new();
    for result in results {
        match result {
            Ok(Put::Created) => write_field(&mut out, b"created"),
            Ok(Put::Replaced) => write_field(&mut out, b"replaced"),
            Ok(Put::Skipped) => write_field(&mut out, b"skipped"),
            Err(error) => write_field(&mut out, error_text(error).as_bytes()),
        }
    }
    out
}

/// Decodes the output of [`write_results`].
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed.
pub fn read_results(mut bytes: &[u8]) -> Result<Vec<Result<Put>>> {
    let mut results = Vec::new();
    while !bytes.is_empty() {
        let (field, rest) = split_field(bytes).ok_or_else(cut_short)?;
        results.push(match field {
            b"created" => Ok(Put::Created),
            b"replaced" => Ok(Put::Replaced),
            b"skipped" => Ok(Put::Skipped),
            error => Err(read_error(text(error)?)),
        });
        bytes = rest;
    }
    Ok(results)
}

/// Encodes the result of one batch of an adoption.
pub fn write_adopted(adopted: &Adopted) -> Vec<u8> {
    let mut out = Vec::new();
    write_field(&mut out, adopted.entered.to_string().as_bytes());
    write_field(&mut out, adopted.known.to_string().as_bytes());
    write_field(&mut out, adopted.next.as_deref().unwrap_or_default());
    for foreign in &adopted.foreign {
        write_field(&mut out, &foreign.key);
    }
    out
}

/// Decodes the output of [`write_adopted`].
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed.
pub fn read_adopted(bytes: &[u8]) -> Result<Adopted> {
    let mut rest = bytes;
    let mut field = || {
        let (field, behind) = split_field(rest)?;
        rest = behind;
        Some(field)
    };
    let mut next_field = || field().ok_or_else(cut_short);
    let number = |field: &[u8]| text(field)?.parse().map_err(|_| cut_short());
    let mut adopted = Adopted {
        entered: number(next_field()?)?,
        known: number(next_field()?)?,
        ..Adopted::default()
    };
    let next = next_field()?;
    adopted.next = (!next.is_empty()).then(|| next.to_vec());
    while !rest.is_empty() {
        let (key, behind) = split_field(rest).ok_or_else(cut_short)?;
        adopted.foreign.push(Foreign { key: key.to_vec() });
        rest = behind;
    }
    Ok(adopted)
}

/// Encodes pairs as they are stored.
pub fn write_pairs<'p>(pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    for (key, value) in pairs {
        write_field(&mut out, key);
        write_field(&mut out, value);
    }
    out
}

/// Decodes the output of [`write_pairs`].
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed.
pub fn read_pairs(bytes: &[u8]) -> Result<Pairs> {
    let mut pairs = Pairs::default();
    for (key, value) in read_twos(bytes)? {
        pairs.push(key, value);
    }
    Ok(pairs)
}

/// Encodes collections, with their counts in decimal.
pub fn write_collections(collections: &[Collection]) -> Vec<u8> {
    let mut out = Vec::new();
    for Collection { name, count } in collections {
        write_field(&mut out, name.as_bytes());
        write_field(&mut out, count.to_string().as_bytes());
    }
    out
}

/// Decodes the output of [`write_collections`].
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed.
pub fn read_collections(bytes: &[u8]) -> Result<Vec<Collection>> {
    let collections = read_twos(bytes)?.into_iter().map(|(name, count)| {
        Ok(Collection {
            name: text(name)?.to_owned(),
            count: text(count)?.parse().map_err(|_| cut_short())?,
        })
    });
    collections.collect()
}

/// A record of an export.
#[derive(Debug)]
pub enum ExportRecord {
    /// A document.
    Document(Scanned),
    /// A document that cannot be exported.
    Foreign(Foreign),
    /// The export is complete.
    End,
    /// A document is damaged, or the export failed and ends here ([`is_about_one`]).
    Failed(Error),
}

impl ExportRecord {
    /// Whether this is the last record.
    pub fn is_last(&self) -> bool {
        match self {
            Self::Document(_) | Self::Foreign(_) => false,
            Self::End => true,
            Self::Failed(error) => !is_about_one(error),
        }
    }

    /// Appends the record as a field.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut field = Vec::new();
        match self {
            Self::Document(document) => {
                field.push(b'd');
                write_field(&mut field, document.id.to_string().as_bytes());
                field.extend_from_slice(&document.json);
            }
            Self::Foreign(foreign) => {
                field.push(b'f');
                field.extend_from_slice(&foreign.key);
            }
            Self::End => field.push(b'.'),
            Self::Failed(error) => {
                field.push(b'e');
                field.extend_from_slice(error_text(error).as_bytes());
            }
        }
        write_field(out, &field);
    }

    /// Decodes a record.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the record is malformed.
    pub fn read(field: &[u8]) -> Result<Self> {
        match field.split_first().ok_or_else(cut_short)? {
            (b'd', rest) => {
                let (id, json) = split_field(rest).ok_or_else(cut_short)?;
                Ok(Self::Document(Scanned {
                    id: DocumentId::parse(text(id)?)?,
                    json: json.to_vec(),
                }))
            }
            (b'f', key) => Ok(Self::Foreign(Foreign { key: key.to_vec() })),
            (b'.', []) => Ok(Self::End),
            (b'e', error) => Ok(Self::Failed(read_error(text(error)?))),
            _ => Err(cut_short()),
        }
    }
}

/// Encodes an error: its code, a line feed and its message. Its detail is only logged by the
/// server.
pub fn error_text(error: &Error) -> String {
    format!("{}\n{}", error.kind().code(), error.message())
}

/// Decodes the output of [`error_text`].
pub fn read_error(text: &str) -> Error {
    let known = text
        .split_once('\n')
        .and_then(|(code, message)| Some((ErrorKind::from_code(code)?, message)));
    match known {
        Some((kind, message)) => Error::new(kind, message),
        None => cut_short(),
    }
}

/// The error for a response that this program cannot parse.
pub fn cut_short() -> Error {
    Error::unavailable(
        "the server that holds the store closed the connection, or uses another version of \
         Phyllo's local protocol",
        "",
    )
}

/// Converts bytes to text.
///
/// # Errors
/// `BAD_USER_INPUT`: the bytes are not UTF-8.
pub(crate) fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::bad_input("not valid UTF-8"))
}

/// Parses a decimal number.
///
/// # Errors
/// `UNAVAILABLE`: the bytes are not a number.
pub fn number<T: std::str::FromStr>(bytes: &[u8]) -> Result<T> {
    text(bytes)?.parse().map_err(|_| cut_short())
}

/// Whether an export error concerns one damaged document, so that the export continues after it.
pub fn is_about_one(error: &Error) -> bool {
    error.kind() == ErrorKind::Internal
}
