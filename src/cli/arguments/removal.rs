//! What `phyllo delete` and `phyllo drop` are told.

use clap::Args;

use super::parse::parse_collection;

/// Delete the documents of a collection that pass a filter
///
/// It goes through the collection in the order of ids, in many small transactions, while others read
/// and write: so it deletes any number of documents, and what is deleted stays deleted if it is
/// interrupted. A document that is stored meanwhile may be deleted or not. Each document is deleted
/// only if it passes the filter in the transaction that deletes it.
///
/// An index that serves the filter is used, as by `documents` in GraphQL.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo delete logs --where '{\"at\": \"$.time\", \"lt\": \"2024\"}'
  phyllo delete logs --where '{\"not\": {\"at\": \"$.tags[*]\", \"eq\": \"keep\"}}'
  phyllo delete logs --everything        every document; indexes stay")]
pub(crate) struct Delete {
    /// The collection
    #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
    pub(crate) collection: String,
    /// What documents have to pass: the JSON of a filter as GraphQL's `where` has it
    #[arg(
        id = "where",
        long = "where",
        value_name = "FILTER",
        default_value = "{}",
        hide_default_value = true
    )]
    pub(crate) filter: String,
    /// Whether the filter may be empty, so that every document passes
    #[arg(long)]
    pub(crate) everything: bool,
}

/// Remove a collection: its documents, indexes and count
///
/// It is one transaction, however large the collection is: whoever reads later sees nothing of it.
/// Documents that other programs stored there are removed too. In a directory the space is given
/// back in the background, also by the next command or server that opens the store, and is used
/// again; the file does not shrink.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo drop logs --everything")]
pub(crate) struct Drop {
    /// The collection
    #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
    pub(crate) collection: String,
    /// That everything in it is to be removed; required
    #[arg(long, required = true)]
    pub(crate) everything: bool,
}
