//! The arguments of `phyllo delete` and `phyllo drop`.

use clap::Args;

use super::collection::CollectionArgument;
use super::find::FilterArguments;
use super::parse::{WrittenPath, parse_collection, parse_path};
use crate::error::Result;

/// Delete a document, a part of it, or all documents that match a filter
///
/// Without --where and --everything, deletes the document with this id, or the part of it at the path. If nothing is
/// stored there, the exit code is 1.
///
/// With --where or --everything, the first argument is a collection. The command then reads the collection in id order,
/// in many small transactions, while other clients read and write. So it can delete any number of documents. If it is
/// interrupted, it ends after the current transaction, and the documents deleted so far stay deleted. A document that
/// is stored meanwhile may or may not be deleted. A document is deleted only if it matches the filter in the
/// transaction that deletes it.
///
/// An index that supports the filter is used, as by `documents` in GraphQL.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo delete FRA --collection countries
  phyllo delete FRA /languages/nld --collection countries
  phyllo delete logs --where '{\"at\": \"$.time\", \"lt\": \"2024\"}'
  phyllo delete logs --where '{\"not\": {\"at\": \"$.tags[*]\", \"eq\": \"keep\"}}'
  phyllo delete logs --everything        delete all documents, keep indexes")]
pub(crate) struct Delete {
    /// The id of the document, as for `phyllo get`; with --where or --everything, the collection
    #[arg(value_name = "ID|COLLECTION", allow_negative_numbers = true)]
    pub(crate) target: String,
    /// The path of the part to delete; the whole document if omitted
    #[arg(value_parser = parse_path, default_value = "", hide_default_value = true, conflicts_with_all = ["where", "everything"])]
    pub(crate) path: WrittenPath,
    #[command(flatten)]
    pub(crate) in_collection: CollectionArgument,
    /// The version that the document must have
    #[arg(long, value_name = "VERSION", conflicts_with_all = ["where", "everything"])]
    pub(crate) if_version: Option<String>,
    #[command(flatten)]
    pub(crate) matching: FilterArguments,
}

impl Delete {
    /// The collection of which documents are deleted by a filter.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: its name is invalid.
    pub(crate) fn collection(&self) -> Result<String> {
        parse_collection(&self.target)
    }
}

/// Remove a collection: its documents, indexes and count
///
/// The collection is removed in one transaction, however large it is. Documents that other programs
/// stored in it are removed too. In a directory, the space is reclaimed in the background, also by
/// the next command or server that opens the store, and is reused. The file does not shrink.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo drop logs --everything")]
pub(crate) struct Drop {
    /// The collection
    #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
    pub(crate) collection: String,
    /// Confirm that the whole collection is removed; required
    #[arg(long, required = true)]
    pub(crate) everything: bool,
}
