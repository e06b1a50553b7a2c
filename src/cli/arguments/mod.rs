//! The command line arguments and their help texts.

#![expect(
    clippy::doc_link_with_quotes,
    reason = "the comments are read in a terminal"
)]

pub(crate) mod collection;
pub(crate) mod documents;
pub(crate) mod find;
pub(crate) mod import;
pub(crate) mod index;
pub(crate) mod location;
pub(crate) mod parse;
pub(crate) mod removal;
pub(crate) mod rules;
pub(crate) mod serve;
pub(crate) mod server;
pub(crate) mod types;
pub(crate) mod update;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use collection::CollectionArgument;
use documents::{Insert, Merge, Patch, Put};
use find::{Find, QueryArguments};
pub(crate) use import::{ExportFormat, Import, OnError};
use index::IndexArguments;
use location::StoreLocation;
use parse::{WrittenPath, parse_collection, parse_path};
pub(crate) use removal::{Delete, Drop};
use rules::RulesArguments;
pub(crate) use serve::Serve;
use server::OnServer;
use types::TypesArguments;
use update::UpdateCommand;

use crate::document::id::DocumentId;

/// A GraphQL server for JSON documents that are read and written by path.
///
/// A store is a directory. `import` and `serve` create it. Every command selects it with --store
/// and, while a server runs on it, works through that server. A store can also be a FoundationDB
/// cluster, which any number of servers and commands can use at the same time. Commands about
/// documents also work on the server at a --url, with the rights of its token.
#[derive(Debug, Parser)]
#[command(
    name = "phyllo",
    version,
    after_help = "\
Getting started:
  phyllo sample                  store the sample data: `countries` and `guides`
  phyllo import people.json      import a document, an array of documents, or NDJSON
  phyllo get people-1 /name      print a part of the first document
  phyllo serve                   serve all documents over GraphQL, with an editor at /

Exit codes: 0 success, 1 failure, 2 invalid command line or unknown collection, 130 Ctrl-C, 143 SIGTERM."
)]
pub(crate) struct CommandArguments {
    /// The directory of the store, or a FoundationDB cluster: fdb:FILE with a cluster file, fdb:
    /// with the default cluster file
    #[arg(
        long,
        global = true,
        value_name = "STORE",
        env = "PHYLLO_STORE",
        default_value = "./phyllo-data",
        value_parser = location::store()
    )]
    pub(crate) store: StoreLocation,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Box<Serve>),
    Sample(OnServer<SampleArguments>),
    Import(OnServer<Import>),
    Export(OnServer<Export>),
    Get(OnServer<Get>),
    Put(OnServer<Put>),
    Insert(OnServer<Insert>),
    Merge(OnServer<Merge>),
    Patch(OnServer<Patch>),
    Update(Box<OnServer<UpdateCommand>>),
    Delete(OnServer<Delete>),
    Find(OnServer<Find>),
    Query(OnServer<QueryArguments>),
    Changes(OnServer<ChangesArguments>),
    Collections(OnServer<CollectionsArguments>),
    Stats(OnServer<StatsArguments>),
    Drop(OnServer<Drop>),
    Index(OnServer<IndexArguments>),
    Types(OnServer<TypesArguments>),
    Schema(OnServer<Schema>),
    Pairs(PairsArguments),
    Check(CheckArguments),
    Adopt(Adopt),
    Copy(Copy),
    Backup(BackupArguments),
    Salvage(SalvageArguments),
    /// Make the file of a store as small as its data
    ///
    /// The space of deleted documents is used again for new ones, but a file does not become smaller
    /// by itself. No server or other command may have the store open meanwhile.
    Compact,
    Rules(Box<RulesArguments>),
}

/// Store the sample data: the collections `countries` and `guides`, with their types
///
/// Documents that are already stored are not changed. A collection that has documents already does not get
/// a type.
#[derive(Debug, Args)]
pub(crate) struct SampleArguments {}

/// List the collections that have documents, with their counts
#[derive(Debug, Args)]
pub(crate) struct CollectionsArguments {
    /// Print a JSON object for each collection
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a table of the collections: their documents, indexes and types
#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the GraphQL schema
///
/// For the schema of a server that runs with --read-only or --no-admin, pass the same flags. Without --types it
/// is the part that all stores have in common, and no store is opened.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Schema {
    /// Print the schema for composition by a gateway, as `_service { sdl }` returns it
    #[arg(long)]
    pub(crate) subgraph: bool,
    /// Include the types of the collections of the store
    #[arg(long)]
    pub(crate) types: bool,
    /// Omit mutations
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Omit the mutations that define indexes and types, and drop collections
    #[arg(long)]
    pub(crate) no_admin: bool,
}

/// Print all documents of a collection
///
/// Prints one line {"id": …, "document": …} per document, ordered by id, all from one snapshot.
/// `phyllo import` restores them under the same ids.
///
/// FoundationDB keeps a snapshot for five seconds. An export of a cluster that takes longer
/// continues with a later snapshot after a document. Each document is consistent, but concurrent
/// changes may be in some documents and missing in others.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo export > backup.ndjson
  phyllo export --collection logs --output logs.ndjson
  phyllo export | head -3")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
    /// Write to this file; it is created only when the export is complete
    #[arg(long, short, value_name = "FILE", value_parser = location::file_path())]
    pub(crate) output: Option<PathBuf>,
}

/// Verify everything that is stored, at one snapshot
///
/// The check verifies that each leaf can be read, arrays have no holes, nothing is stored below a
/// leaf, documents are in the catalog and counted, versions belong to documents, and every key is
/// known. It prints a line for each fault, with the key as a tuple and in hexadecimal. It also
/// reports data of other programs, which is not a fault. A check changes nothing and can run while
/// a server runs.
///
/// If there are faults, or data that could not be verified, the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo check
  phyllo check --collection logs
  phyllo check --json | tail -1      the summary as JSON")]
pub(crate) struct CheckArguments {
    /// Check only the data of this collection
    #[arg(long, value_name = "NAME", value_parser = parse_collection)]
    pub(crate) collection: Option<String>,
    /// Print a JSON object for each finding, and a last one with the summary
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a document, or the part of it at a path, as JSON
///
/// Numbers are printed exactly as stored, and members of objects are ordered by name. If nothing is
/// stored there, the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo get ABW
  phyllo get ABW /languages/nld
  phyllo get ABW '[\"latlng\", 0]'
  phyllo get '\"42\"'                the document whose id is the string \"42\", not the integer 42")]
pub(crate) struct Get {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    /// Indent the JSON even if the output is not a terminal
    #[arg(long)]
    pub(crate) pretty: bool,
    /// Print the value now and after each change, one line each; a line is empty while nothing is
    /// stored there. The store must have a change log
    #[arg(long, conflicts_with = "pretty")]
    pub(crate) watch: bool,
}

/// Print the changes of documents, one JSON object per line
///
/// The store must have a change log. New stores have one; `phyllo serve --change-retention 24h`
/// switches it on in an older one. The time is in milliseconds since 1970, and `patch` is a JSON
/// Patch, or null.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo changes                                    all changes that the log has
  phyllo changes --collection orders --follow       from now on, until Ctrl-C
  phyllo changes --after CURSOR --follow            from a cursor on
  phyllo changes --id FRA --path /name | jq .patch")]
pub(crate) struct ChangesArguments {
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
    /// Only changes of this document
    #[arg(long, allow_negative_numbers = true, value_parser = DocumentId::parse)]
    pub(crate) id: Option<DocumentId>,
    /// Only changes at, below or above this path in the document
    #[arg(long, value_parser = parse_path, default_value = "", hide_default_value = true, requires = "id")]
    pub(crate) path: WrittenPath,
    /// Begin after the change with this `cursor`
    #[arg(long, value_name = "CURSOR")]
    pub(crate) after: Option<String>,
    /// Wait for further changes; without --after, begin now
    #[arg(long)]
    pub(crate) follow: bool,
}

/// Print how a document is stored: its keys and values
///
/// Prints one pair per line. Keys and values are tuples of FoundationDB's tuple layer:
///   ("D", "ABW", "latlng", 0) → (12.5,)
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  phyllo pairs ABW
  phyllo pairs ABW /name --hex"
)]
pub(crate) struct PairsArguments {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    /// Print bytes in hexadecimal: the key, a space, and the value
    #[arg(long)]
    pub(crate) hex: bool,
}

/// Adopt documents that another program stored
///
/// Programs that follow FoundationDB's "Hierarchical Documents" recipe store the same keys and
/// values as Phyllo, but no catalog. Their documents can be read at once. Adopting them adds them
/// to the catalog, so that they are also counted and listed. Their version stays null until Phyllo
/// writes them.
///
/// The command works in small transactions while other clients read and write. It can be repeated
/// at any time: documents in the catalog stay unchanged. Documents whose ids Phyllo does not
/// support (bytes, UUIDs, integers beyond 64 bits) stay unchanged and are printed, one per line.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo adopt D --store fdb:/etc/foundationdb/fdb.cluster")]
pub(crate) struct Adopt {
    /// The collection: the string with which the other program's keys begin
    #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
    pub(crate) collection: String,
}

/// Copy all documents of a store to another, for example from a directory to a cluster
///
/// The target must be empty and not in use yet: a document of many megabytes is written in several
/// transactions, and is incomplete until the last one. Nothing may write to the source during the
/// copy. No server may hold a directory. For a cluster, which keeps snapshots for five seconds
/// only, this program cannot detect other users.
///
/// If a copy is interrupted, run the command again to resume it. A document is added to the
/// target's catalog in the transaction that writes its last leaf. Documents in the catalog are
/// skipped; only the others are written again. Before anything is written, the contents of the
/// target are compared with the source. A target with other contents is rejected.
///
/// Leaves, catalog entries and counts are copied, including documents of other programs that were
/// not adopted. Documents get new versions, because the versions of one cluster are not valid in
/// another. Responses that are stored for retries with an idempotency key are not copied.
///
/// At the end both stores are read completely. For both, the command prints the number of documents
/// and leaves and the SHA-256 of the leaves and of the catalog. If they differ, the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo copy --from ./phyllo-data --to fdb:/etc/foundationdb/fdb.cluster
  phyllo copy --from fdb: --to ./copy")]
pub(crate) struct Copy {
    /// The store to copy from, a directory or fdb:FILE; --store is ignored
    #[arg(long, value_name = "STORE", value_parser = location::store())]
    pub(crate) from: StoreLocation,
    /// The store to copy to
    #[arg(long, value_name = "STORE", value_parser = location::store())]
    pub(crate) to: StoreLocation,
}

/// Write a snapshot of the whole store to a new directory
///
/// The command can run while a server runs and does not block it. The backup has all writes that
/// were acknowledged before it began, and none that are made meanwhile. The directory is a store
/// like any other: check it, serve it or copy it. To restore a backup, serve it or a copy of it.
///
/// Documents keep their versions. A restored store never assigns a version that the original has
/// assigned. For a FoundationDB cluster, use its own backup tools.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo backup /backup/monday
  phyllo check --store /backup/monday")]
pub(crate) struct BackupArguments {
    /// The directory to write to; it is created if needed and must not contain a store
    #[arg(value_name = "DIR", value_parser = location::file_path())]
    pub(crate) directory: PathBuf,
}

/// Export what is whole of a damaged store
///
/// The store's files are only read. No server or other command may have the store open meanwhile. Pages of
/// `phyllo.redb` whose checksum is wrong are left out. The commits of the log are applied up to the first
/// one that is damaged or missing. The command says what is damaged, and which documents are lost, and
/// writes all documents that are whole, in the state after the last intact commit.
///
/// The directory then has a file for each collection, which `phyllo import` takes, and the file
/// indexes.ndjson if there are indexes: each line is a GraphQL request that creates one. types.ndjson has
/// such requests for the types of collections. While the command
/// runs, the directory also needs space for a copy of the store.
///
/// If anything is damaged, the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo salvage --store ./damaged --to ./salvaged
  phyllo import --store ./new --collection orders ./salvaged/1-orders.ndjson")]
pub(crate) struct SalvageArguments {
    /// The directory to write to; it is created if needed and must be empty
    #[arg(long, value_name = "DIR", value_parser = location::file_path())]
    pub(crate) to: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArguments {
    /// The document's id: an integer such as 42, a JSON string such as '"42"', or any other text,
    /// which is taken as a string
    #[arg(allow_negative_numbers = true, value_parser = DocumentId::parse)]
    pub(crate) id: DocumentId,
    /// The path in the document: a JSON Pointer such as /name/common or a JSON list such as
    /// ["name", "common"]; the whole document if omitted
    #[arg(value_parser = parse_path, default_value = "", hide_default_value = true)]
    pub(crate) path: WrittenPath,
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn each_command_says_what_it_does() {
        let commands = CommandArguments::command();
        let mut said = HashSet::new();
        for command in commands.get_subcommands() {
            let about = command.get_about().expect("a sentence").to_string();
            assert!(!about.is_empty(), "{}", command.get_name());
            assert!(said.insert(about), "{}", command.get_name());
        }
    }
}
