//! The arguments of `phyllo find` and `phyllo query`, and those that select documents by a filter.

use clap::Args;

use super::collection::CollectionArgument;
use super::parse::{WrittenPath, parse_path};

/// Print the documents of a collection that match a filter
///
/// Prints one line {"id": …, "document": …} for each document, as `phyllo export` does. With --column, prints the
/// document's id and the values at the paths, between tabs: text as it is, with its control characters escaped, other
/// values as JSON, and nothing where nothing is stored.
///
/// An index that supports the filter or the order is used.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo find --collection countries --where '{\"at\": \"$.region\", \"eq\": \"Europe\"}'
  phyllo find --collection countries --order '$.population desc' --limit 10 --column /name/common --column /population")]
pub(crate) struct Find {
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
    /// The filter, in the JSON form of GraphQL's `where`
    #[arg(
        id = "where",
        long = "where",
        value_name = "FILTER",
        default_value = "{}",
        hide_default_value = true
    )]
    pub(crate) filter: String,
    /// A JSONPath whose values order the documents, and possibly " desc"; repeatable. By default they are in the order
    /// of their ids
    #[arg(long, value_name = "JSONPATH")]
    pub(crate) order: Vec<String>,
    /// Print the value at this path instead of the document; repeatable
    #[arg(long, value_name = "PATH", value_parser = parse_path)]
    pub(crate) column: Vec<WrittenPath>,
    /// Print at most so many documents
    #[arg(long, value_name = "COUNT")]
    pub(crate) limit: Option<usize>,
    /// The number of documents that may be examined for a page if no index serves; without --url there is no limit
    #[arg(long, value_name = "COUNT")]
    pub(crate) scan_limit: Option<u32>,
}

/// Execute an operation of GraphQL
///
/// Prints the response as JSON: on one line, or indented on a terminal. A subscription prints a line for each response,
/// until Ctrl-C. If a response has errors, the exit code is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo query '{ collections { name count } }'
  phyllo query report.graphql --variables '{\"region\": \"Europe\"}'
  echo '{ document(id: \"FRA\", collection: \"countries\") { value } }' | phyllo query -")]
pub(crate) struct QueryArguments {
    /// The operation: its text, a file, or - for standard input
    #[arg(value_name = "OPERATION")]
    pub(crate) operation: String,
    /// The variables: a JSON object, a file, or - for standard input
    #[arg(long, value_name = "JSON|FILE")]
    pub(crate) variables: Option<String>,
    /// The name of the operation to execute, if the text has several
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Indent the JSON even if the output is not a terminal
    #[arg(long)]
    pub(crate) pretty: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    /// The filter, in the JSON form of GraphQL's `where`
    #[arg(id = "where", long = "where", value_name = "FILTER")]
    pub(crate) filter: Option<String>,
    /// Allow a filter that matches every document, such as an empty one
    #[arg(long)]
    pub(crate) everything: bool,
}

impl FilterArguments {
    /// The filter. Without one, an empty filter.
    pub(crate) fn filter(&self) -> String {
        self.filter.clone().unwrap_or_else(|| "{}".to_owned())
    }
}
