//! The arguments of `phyllo rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::location::file_path;

/// Check a file of access rules, or explain what it allows
#[derive(Debug, Args)]
pub(crate) struct RulesArguments {
    #[command(subcommand)]
    pub(crate) command: RulesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// Check a file of access rules, as `phyllo serve --rules` reads it
    ///
    /// If the file is invalid, the error has the line and the column, and the exit code is 1.
    Check {
        /// The file
        #[arg(value_parser = file_path())]
        file: PathBuf,
    },
    Explain(ExplainArguments),
}

/// Print which rule allows each place that an operation uses, or what was missing
///
/// The operation runs on an empty store in memory. No server and no store is used. The fields of a mutation
/// are decided in their order, up to the first one that is refused. If a place is refused, the exit code
/// is 1.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo rules explain --rules rules.toml '{ documents(collection: \"articles\") { nodes { key } } }'
  phyllo rules explain --rules rules.toml --as claims.json --variables '{\"id\": \"tea\"}' \\
    'query ($id: ID!) { document(id: $id, collection: \"products\") { value(path: \"/name\") } }'")]
pub(crate) struct ExplainArguments {
    /// The file of access rules
    #[arg(long, value_name = "FILE", env = "PHYLLO_RULES", value_parser = file_path())]
    pub(crate) rules: PathBuf,
    /// The claims of a user's token, a JSON object; without it and --as-token, the caller has no token
    #[arg(long = "as", value_name = "CLAIMS", value_parser = file_path())]
    pub(crate) claims: Option<PathBuf>,
    /// The caller whose token has this name in the token file
    #[arg(long, value_name = "NAME", conflicts_with = "claims")]
    pub(crate) as_token: Option<String>,
    /// The variables of the operation, a JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) variables: Option<String>,
    /// The operation to explain, if the text has several
    #[arg(long, value_name = "NAME")]
    pub(crate) operation_name: Option<String>,
    /// Explain the operation as one of `phyllo serve --operations` that a client sends by its id
    #[arg(long)]
    pub(crate) listed: bool,
    /// The text of the operation
    pub(crate) query: String,
}
