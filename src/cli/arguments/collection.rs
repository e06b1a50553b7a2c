//! The argument `--collection`, which several commands share.

use clap::Args;

use super::parse::parse_collection;

#[derive(Debug, Args)]
pub(crate) struct CollectionArgument {
    /// The collection
    #[arg(id = "collection", long = "collection", value_name = "NAME", default_value = "D", value_parser = parse_collection)]
    pub(crate) name: String,
}
