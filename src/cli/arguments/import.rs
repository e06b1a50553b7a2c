//! The arguments of `phyllo import`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::collection::CollectionArgument;
use super::location::file_path;
use crate::database::Existing;
use crate::document::path::Path;

/// Import documents from files, directories or standard input
///
/// A file is a JSON document, several of them one after the other, JSON arrays of documents, lines with one document each (NDJSON),
/// the output of `phyllo export`, CSV or TSV. The format is detected unless --format is given; that of CSV
/// and TSV by the extension of the file. Files that are
/// compressed with gzip or zstd are decompressed. A directory means the files below it whose names
/// end with .json, .jsonl, .ndjson, .csv or .tsv, and possibly .gz or .zst after it, in the order of their names; hidden
/// files and directories are left out.
///
/// Documents are committed in batches. Documents that are reported as imported survive a crash. A
/// document that is reported as failed is not stored. Importing the same file again stores no document
/// twice. The ids of the documents of one import must differ.
#[derive(Debug, Args)]
#[command(after_help = "\
Ids: with --id, a document's id is the member that --id names. Otherwise it is the document's
`doc_id`, if that is a string or a 64-bit integer. Without a `doc_id`, it is generated: the file's
name without its extension, followed by the document's number (countries-1, countries-2, …); for a
file that is one document, it has no number (countries). In a directory below the one that is given, the
directory's name comes first (europe/countries-1). For standard input, the name is \"stdin-\" and
random digits, so that two imports do not share ids; --name gives another one.

CSV and TSV: the first record names the columns. A name is a JSON Pointer (/name/common), or member names
between dots (name.common). If the members of a value are 0, 1, …, it is an array. Values are text, unless
the type of the collection says otherwise, or --infer is given.

Examples:
  phyllo import countries.json --id /cca3     with country codes as ids: \"ABW\", \"AFG\", …
  phyllo import compat-data.json              one document, with the id compat-data
  phyllo import users.json --extended-json --id /_id      from mongoexport
  phyllo import people.csv --id /email --infer
  phyllo import logs/ more.ndjson.gz           all files of a directory, and another one
  curl -s https://example.org/log | phyllo import - --name log --collection logs --format lines
  phyllo export --store a | phyllo import - --store b")]
pub(crate) struct Import {
    /// The files and directories to read; - is standard input
    #[arg(value_name = "FILE", required = true, value_parser = file_path())]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
    /// The format of the files, instead of detecting it
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// The member of each document that is its id, as a JSON Pointer such as /code. With several of them,
    /// the id is their values with / between them; in the values, ~ becomes ~0 and / becomes ~1
    #[arg(long, value_name = "POINTER", value_parser = Path::pointer)]
    pub(crate) id: Vec<Path>,
    /// The documents are MongoDB's Extended JSON: store {"$oid": …}, {"$date": …} and the like as plain
    /// values
    #[arg(long)]
    pub(crate) extended_json: bool,
    /// Store numbers, true, false and null in CSV and TSV as such, and leave out empty fields. Places that
    /// the type of the collection describes are converted without it
    #[arg(long)]
    pub(crate) infer: bool,
    /// The prefix of generated ids, instead of the file's name; with several files, their names follow
    /// it
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) name: Option<String>,
    /// What to do if a document with the same id is already stored: by default, replace it if the id
    /// comes from the new document, and report an error if the id is generated and the stored document
    /// is not equal
    #[arg(long, value_enum)]
    pub(crate) existing: Option<IfStored>,
    /// Store nothing: read and validate all documents, and print their number and the first error, or all
    /// errors with --on-error continue. Stored documents are not read, so neither --existing nor unique
    /// indexes are checked
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// What to do if a document cannot be stored; in both cases it is reported and the exit code is
    /// 1
    #[arg(long, value_enum, default_value_t = OnError::Stop)]
    pub(crate) on_error: OnError,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON document
    Document,
    /// A JSON array of documents
    Array,
    /// One document per line (NDJSON); blank lines are ignored
    Lines,
    /// JSON documents one after the other, on any number of lines
    Concatenated,
    /// Lines of exactly {"id": …, "document": …}, as written by `phyllo export`
    Export,
    /// Values between commas, with a header that names their places
    Csv,
    /// Values between tabs, with a header that names their places
    Tsv,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IfStored {
    /// Report an error for the new document
    Fail,
    /// Keep the stored document
    Skip,
    /// Replace the stored document
    Replace,
}

impl From<IfStored> for Existing {
    fn from(existing: IfStored) -> Self {
        match existing {
            IfStored::Fail => Self::Fail,
            IfStored::Skip => Self::Skip,
            IfStored::Replace => Self::Replace,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnError {
    /// Stop, and keep the documents that were stored before
    Stop,
    /// Continue with the other documents
    Continue,
}
