//! What can be said on the command line, and what `--help` tells about it.

#![expect(
    clippy::doc_link_with_quotes,
    reason = "the comments are read in a terminal"
)]

pub(crate) mod bounds;
pub(crate) mod location;
pub(crate) mod parse;
pub(crate) mod removal;
pub(crate) mod serve;
pub(crate) mod units;

use parse::WrittenPath;
use parse::parse_collection;
use parse::parse_path;
use std::path::PathBuf;

use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::database::Existing;
use crate::document::id::DocumentId;
use crate::document::path::Path;
use location::StoreLocation;

pub(crate) use removal::{Delete, Drop};
pub(crate) use serve::Serve;

/// A GraphQL server for JSON documents that are read and written by path.
///
/// A store is a directory. `import` and `serve` make it; every command finds it by --store, and
/// works while a server runs on it, through that server. A store can also be a FoundationDB
/// cluster: any number of servers and commands work on it at the same time.
#[derive(Debug, Parser)]
#[command(
    name = "phyllo",
    version,
    after_help = "\
To begin:
  phyllo import people.json      store a document, an array of documents, or lines of them
  phyllo get people-1 /name      read a part of the first one
  phyllo serve                   serve them all over GraphQL, with a page to explore them

Exit codes: 0 done, 1 failed, 2 the command line means nothing or names a collection that is
not there."
)]
pub(crate) struct CommandArguments {
    /// The directory of the store; or a FoundationDB cluster: fdb:FILE is that of a cluster file,
    /// fdb: that of the default one
    #[arg(
        long,
        global = true,
        value_name = "STORE",
        env = "PHYLLO_STORE",
        default_value = "./phyllo-data",
        value_parser = clap::builder::OsStringValueParser::new().map(StoreLocation::from)
    )]
    pub(crate) store: StoreLocation,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Box<Serve>),
    Import(Import),
    Export(Export),
    Get(Get),
    Pairs(PairsArguments),
    Check(CheckArguments),
    Adopt(Adopt),
    Copy(Copy),
    Backup(BackupArguments),
    Delete(Delete),
    Drop(Drop),
    /// Print the collections that hold a document, and how many
    Collections,
    Schema(Schema),
}

/// Print the GraphQL schema
///
/// Of a server that is started with --read-only or --no-admin, give the same flag here.
#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// As a gateway composes it into its own: what `_service { sdl }` tells
    #[arg(long)]
    pub(crate) subgraph: bool,
    /// Without mutations
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Without the mutations that make and drop indexes and drop collections
    #[arg(long)]
    pub(crate) no_admin: bool,
}

/// Store documents from a file or from standard input
///
/// The file is one JSON document, a JSON array of documents, lines with a document each (NDJSON),
/// or what `phyllo export` wrote; which of them is told by looking, or by --format.
///
/// Documents are committed in batches, each whole or not at all, and what was said to be imported
/// survives a crash. Importing the same file again replaces the documents by themselves.
#[derive(Debug, Args)]
#[command(after_help = "\
Ids: a document's id is the member that --id names; without --id, the document's own `doc_id` if
that is a string or a 64-bit integer; and without that, the file's name without its ending and
the document's number in it (countries-1, countries-2, …; countries, if the file is one document).

Examples:
  phyllo import countries.json --id /cca3     each country under its code: \"ABW\", \"AFG\", …
  phyllo import compat-data.json              one document, under the id compat-data
  curl -s https://example.org/log | phyllo import - --name log --collection logs --format lines
  phyllo export --store a | phyllo import - --store b")]
pub(crate) struct Import {
    /// The file to read; - is standard input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
    /// What the file consists of, instead of looking
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// The member of each document that is its id, as a JSON Pointer such as /code
    #[arg(long, value_name = "POINTER", value_parser = Path::pointer)]
    pub(crate) id: Option<Path>,
    /// What ids that are made up begin with, instead of the file's name
    #[arg(long, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) name: Option<String>,
    /// What to do where a document is stored already
    #[arg(long, value_enum, default_value_t = IfStored::Replace)]
    pub(crate) existing: IfStored,
    /// What to do about a document that cannot be stored; either way it is reported, and the
    /// exit code is 1
    #[arg(long, value_enum, default_value_t = OnError::Stop)]
    pub(crate) on_error: OnError,
}

/// Print all documents of a collection
///
/// A line {"id": …, "document": …} each, in the order of their ids, all as they were at one
/// moment. `phyllo import` reads it back under the same ids.
///
/// FoundationDB keeps no moment for longer than five seconds. An export of a cluster that takes
/// longer goes on, between two documents, with a later moment: each document is whole, but
/// changes made meanwhile may be in one of them and not in another.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo export > backup.ndjson
  phyllo export --collection logs --output logs.ndjson
  phyllo export | head -3")]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
    /// Write to this file, which appears once it is complete
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// Verify everything that is stored, as it is at one moment
///
/// Each leaf can be read, arrays have no holes, nothing stands below a leaf, documents are entered
/// and counted, versions are of documents, and every key is one that this program knows. A line
/// tells of each fault, with its key as a tuple and in hexadecimal; what other programs have left
/// there, which is no fault, is told too. A check changes nothing and works while a server runs.
///
/// If there are faults the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo check
  phyllo check --collection logs
  phyllo check --json | tail -1      the summary, for machines")]
pub(crate) struct CheckArguments {
    /// Only what belongs to this collection
    #[arg(long, value_name = "NAME", value_parser = parse_collection)]
    pub(crate) collection: Option<String>,
    /// Print an object for each finding, and at last one with the summary
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a document, or the part of it at a path, as JSON
///
/// Numbers come out exactly as they are stored, members of objects in the order of their names.
/// If nothing is stored there the exit code is 1.
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
    /// Indent it, also if the output is no terminal
    #[arg(long)]
    pub(crate) pretty: bool,
}

/// Print how a document is stored: its keys and values
///
/// A pair a line. Keys and values are tuples of FoundationDB's tuple layer:
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
    /// Print the bytes, in hexadecimal: the key, a space, and the value
    #[arg(long)]
    pub(crate) hex: bool,
}

/// Enter documents that another program stored
///
/// Programs that follow FoundationDB's "Hierarchical Documents" recipe store the same keys and
/// values as Phyllo, but no catalog. Their documents can be read at once; entered into the catalog
/// they are also counted and listed. Their version stays null until Phyllo writes them.
///
/// It works in small transactions while others read and write, and can be run again at any time:
/// what the catalog knows stays as it is. Documents under ids that Phyllo has no name for (bytes,
/// UUIDs, integers past 64 bits) are left as they are and printed, a line each.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo adopt D --store fdb:/etc/foundationdb/fdb.cluster")]
pub(crate) struct Adopt {
    /// The collection: the string that the other program's keys begin with
    #[arg(value_name = "COLLECTION", value_parser = parse_collection)]
    pub(crate) collection: String,
}

/// Copy all documents of a store to another, such as from a directory to a cluster
///
/// The target is to be empty, and to serve nobody yet: a document of many megabytes is written in
/// several transactions, and can be read by half until its last one. The source is to be written
/// to by nobody meanwhile. A directory must be held by no server; of a cluster, which keeps no
/// moment for longer than five seconds, this program cannot tell who uses it.
///
/// An interrupted copy is taken up by running it again. A document is entered into the target's
/// catalog in one transaction with its last leaf; those that are entered are passed over, and only
/// those that the catalog does not know are written again. Before
/// anything is written, all that the target holds is compared with the source, and a target that
/// holds anything else is refused.
///
/// Leaves, entries and counts are copied, documents that other programs stored and that were not
/// adopted among them. Versions are stamped anew, because those of one cluster mean nothing in
/// another; answers that are kept for clients that retry are not copied.
///
/// In the end both stores are read through. The numbers of documents and leaves and the SHA-256 of
/// leaves and catalog are printed for both, and if they differ the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo copy --from ./phyllo-data --to fdb:/etc/foundationdb/fdb.cluster
  phyllo copy --from fdb: --to ./copy")]
pub(crate) struct Copy {
    /// The store to copy, a directory or fdb:FILE; --store has no meaning here
    #[arg(long, value_name = "STORE", value_parser = clap::builder::OsStringValueParser::new().map(StoreLocation::from))]
    pub(crate) from: StoreLocation,
    /// The store to copy to
    #[arg(long, value_name = "STORE", value_parser = clap::builder::OsStringValueParser::new().map(StoreLocation::from))]
    pub(crate) to: StoreLocation,
}

/// Write the whole store, as it is at one moment, to a new directory
///
/// It works while a server runs, and holds nobody up: what was answered before it began is in it,
/// and of what is written meanwhile nothing. The directory is then a store like any other: check
/// it, serve it, copy it. To restore a backup is to serve it, or a copy of it.
///
/// Documents keep their versions; those that a restored store gives from then on are none that
/// the original has given. A FoundationDB cluster is backed up by its own tools.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo backup /backup/monday
  phyllo check --store /backup/monday")]
pub(crate) struct BackupArguments {
    /// The directory to write to; it is made if need be, and must hold no store
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct PlaceArguments {
    /// The document's id: an integer such as 42; a JSON string such as '"42"'; any other text
    /// is that text
    #[arg(allow_negative_numbers = true, value_parser = DocumentId::parse)]
    pub(crate) id: DocumentId,
    /// The place in the document: a JSON Pointer such as /name/common, or a list in JSON such as
    /// ["name", "common"]; all of it, if left out
    #[arg(value_parser = parse_path, default_value = "", hide_default_value = true)]
    pub(crate) path: WrittenPath,
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
}

#[derive(Debug, Args)]
pub(crate) struct CollectionArgument {
    /// The collection
    #[arg(id = "collection", long = "collection", value_name = "NAME", default_value = "D", value_parser = parse_collection)]
    pub(crate) name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON document
    Document,
    /// A JSON array of documents
    Array,
    /// Lines of one document each (NDJSON); blank lines do not count
    Lines,
    /// Lines of exactly {"id": …, "document": …}, as `phyllo export` writes them
    Export,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum IfStored {
    /// Report the new one as an error
    Fail,
    /// Leave the stored one as it is
    Skip,
    /// Put the new one in its place
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
    /// Store what comes before it, and stop
    Stop,
    /// Store all others
    Continue,
}
