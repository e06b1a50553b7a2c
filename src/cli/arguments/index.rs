//! The arguments of `phyllo index`.

use clap::{Args, Subcommand};

use super::parse::parse_collection;

/// Create, list and drop indexes
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo index create countries by_region '$.region'
  phyllo index create users by_email '$.email' --unique
  phyllo index list
  phyllo index drop countries by_region")]
pub(crate) struct IndexArguments {
    #[command(subcommand)]
    pub(crate) command: IndexCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// List the indexes: of each its collection, name, paths, whether it is unique, and its state
    List {
        /// Only those of this collection
        #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
        collection: Option<String>,
        /// Print a JSON object for each index
        #[arg(long)]
        json: bool,
    },
    Create(CreateIndex),
    /// Drop an index
    Drop {
        /// The collection
        #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
        collection: String,
        /// The name of the index
        name: String,
    },
}

/// Create an index on one or more JSONPaths
///
/// Waits until it is built. If it cannot be, the exit code is 1, and the message says why.
#[derive(Debug, Args)]
pub(crate) struct CreateIndex {
    /// The collection
    #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
    pub(crate) collection: String,
    /// The name of the index
    pub(crate) name: String,
    /// The indexed JSONPaths, from left to right
    #[arg(value_name = "JSONPATH", required = true)]
    pub(crate) on: Vec<String>,
    /// Reject writes after which two documents would have the same values
    #[arg(long)]
    pub(crate) unique: bool,
    /// The documents that are in the index, in the JSON form of GraphQL's `where`; by default all
    #[arg(long = "where", value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// Do not wait: a server builds the index in the background
    #[arg(long)]
    pub(crate) no_wait: bool,
}
