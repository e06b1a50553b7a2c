//! The arguments of the commands that write one document.

use clap::Args;

use super::collection::CollectionArgument;
use super::parse::{WrittenPath, parse_path};
use crate::document::id::DocumentId;
use crate::error::Result;

/// Store a JSON value as a document, or at a path of a document
///
/// Replaces what is stored there. Prints the version of the document.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo put tea '{\"price\": 3}' --collection shop
  phyllo put tea /price 4 --collection shop
  phyllo put tea /stock/berlin 7 --collection shop --create-parents
  phyllo put tea tea.json --collection shop --if-absent")]
pub(crate) struct Put {
    #[command(flatten)]
    pub(crate) target: WriteTarget,
    /// Create the missing objects on the path, and the document
    #[arg(long)]
    pub(crate) create_parents: bool,
    /// Store the value only if nothing is stored there; otherwise change nothing, and exit with 1
    #[arg(long)]
    pub(crate) if_absent: bool,
}

/// Store a new document
///
/// Fails if a document with its id exists. Prints the id and the version, between tabs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo insert '{\"doc_id\": \"tea\", \"price\": 3}' --collection shop
  phyllo insert tea.json --id tea --collection shop
  phyllo insert '{\"at\": \"2024-05-01\"}' --append --collection log")]
pub(crate) struct Insert {
    /// The document: JSON, a file, or - for standard input
    #[arg(value_name = "JSON|FILE")]
    pub(crate) input: String,
    /// The id of the document; by default its member `doc_id`
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = DocumentId::parse)]
    pub(crate) id: Option<DocumentId>,
    /// Generate an id that is greater than those of all documents stored in this way before
    #[arg(long, conflicts_with = "id")]
    pub(crate) append: bool,
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
}

/// Apply a JSON Merge Patch (RFC 7396) to a document, or to a path of it
///
/// Creates the document and missing objects on the path. Prints the version of the document.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo merge tea '{\"price\": 4, \"old\": null}' --collection shop
  phyllo merge tea /stock '{\"berlin\": 7}' --collection shop")]
pub(crate) struct Merge {
    #[command(flatten)]
    pub(crate) target: WriteTarget,
}

/// Apply a JSON Patch (RFC 6902) to a document, or to a path of it
///
/// Prints the version of the document.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo patch tea '[{\"op\": \"add\", \"path\": \"/tags/-\", \"value\": \"new\"}]' --collection shop
  phyllo changes --collection shop | jq -c .patch | tail -1 | phyllo patch copy - --collection shop")]
pub(crate) struct Patch {
    #[command(flatten)]
    pub(crate) target: WriteTarget,
    /// Create the missing objects on the paths of the operations
    #[arg(long)]
    pub(crate) create_parents: bool,
}

/// Where one value is written, and the value.
#[derive(Debug, Args)]
pub(crate) struct WriteTarget {
    /// The document's id, as for `phyllo get`
    #[arg(allow_negative_numbers = true, value_parser = DocumentId::parse)]
    pub(crate) id: DocumentId,
    /// The path in the document, if it is not the whole document, and the JSON: a text, a file, or - for standard
    /// input
    #[arg(value_name = "[PATH] JSON|FILE", num_args = 1..=2, required = true, allow_negative_numbers = true)]
    rest: Vec<String>,
    /// The version that the document must have
    #[arg(long, value_name = "VERSION")]
    pub(crate) if_version: Option<String>,
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
}

impl WriteTarget {
    /// The path.
    ///
    /// # Errors
    /// `INVALID_PATH`: it is malformed.
    pub(crate) fn path(&self) -> Result<WrittenPath> {
        match &self.rest[..] {
            [path, _] => parse_path(path),
            _ => parse_path(""),
        }
    }

    /// The JSON: a text, a file, or `-`.
    pub(crate) fn input(&self) -> &str {
        self.rest.last().map_or("-", String::as_str)
    }
}
