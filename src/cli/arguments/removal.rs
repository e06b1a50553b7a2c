//! The arguments of `phyllo delete` and `phyllo drop`.

use clap::Args;

use super::filter::FilterArguments;
use super::parse::parse_collection;

/// Delete the documents of a collection that match a filter
///
/// The command reads the collection in id order, in many small transactions, while other clients
/// read and write. So it can delete any number of documents. If it is interrupted, it ends after the
/// current transaction, and the documents deleted so far stay deleted. A document that is stored
/// meanwhile may or may not be deleted. A document is deleted only if it matches the filter in the
/// transaction that deletes it.
///
/// An index that supports the filter is used, as by `documents` in GraphQL.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo delete logs --where '{\"at\": \"$.time\", \"lt\": \"2024\"}'
  phyllo delete logs --where '{\"not\": {\"at\": \"$.tags[*]\", \"eq\": \"keep\"}}'
  phyllo delete logs --everything        delete all documents, keep indexes")]
pub(crate) struct Delete {
    /// The collection
    #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
    pub(crate) collection: String,
    #[command(flatten)]
    pub(crate) matching: FilterArguments,
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
