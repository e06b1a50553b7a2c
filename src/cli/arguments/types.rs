//! The arguments of `phyllo types`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::location::file_path;
use super::parse::parse_collection;

/// Define what the documents of a collection look like
///
/// The type of a collection is a JSON Schema. Every write is validated against it, by GraphQL and by
/// commands. Documents that are already stored are checked in the background.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo types infer countries > countries.schema.json
  phyllo types set countries countries.schema.json --dry-run
  phyllo types set countries countries.schema.json
  phyllo types list")]
pub(crate) struct TypesArguments {
    #[command(subcommand)]
    pub(crate) command: TypesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TypesCommand {
    /// Print a JSON Schema that the documents of a collection fit
    ///
    /// Reads all documents. Read the schema before you set it: it only knows what is stored now.
    Infer(TypedCollection),
    Set(SetType),
    /// Print the JSON Schema of a collection, as it was set
    Show(TypedCollection),
    /// List the types: of each its collection, its state, and the number of places that do not fit
    List,
    /// Check whether the stored documents of a collection fit its type
    ///
    /// Reads all documents, also those that other programs have changed. Prints each place that does not
    /// fit, at most 100. If there is one, the exit code is 1.
    Check(TypedCollection),
    /// Drop the type of a collection; its documents stay
    Drop(TypedCollection),
}

#[derive(Debug, Args)]
pub(crate) struct TypedCollection {
    /// The collection
    #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
    pub(crate) collection: String,
}

/// Give a collection a type
///
/// From now on every write is validated. The command then waits until the stored documents are
/// checked. It prints each place that does not fit, at most 100. If there is one, the type stays set,
/// and the exit code is 1: correct the documents, and run `phyllo types check`.
#[derive(Debug, Args)]
pub(crate) struct SetType {
    #[command(flatten)]
    pub(crate) of: TypedCollection,
    /// The file of the JSON Schema; - is standard input
    #[arg(value_parser = file_path())]
    pub(crate) file: PathBuf,
    /// Change nothing, and only print which places of the first 10,000 documents, or 16 MiB, would not
    /// fit, at most 100; if there is one, the exit code is 1
    #[arg(long)]
    pub(crate) dry_run: bool,
}
