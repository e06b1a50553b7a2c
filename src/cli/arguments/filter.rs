//! The arguments that select documents by a filter.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct FilterArguments {
    /// The filter, in the JSON form of GraphQL's `where`
    #[arg(
        id = "where",
        long = "where",
        value_name = "FILTER",
        default_value = "{}",
        hide_default_value = true
    )]
    pub(crate) filter: String,
    /// Allow a filter that matches every document, such as an empty one
    #[arg(long)]
    pub(crate) everything: bool,
}
