//! `phyllo schema`

use crate::cli::arguments::Schema;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;
use crate::graphql::{SchemaScope, schema_text, subgraph_text};

pub(crate) fn run(arguments: &Schema) -> Done {
    let scope = SchemaScope::of(arguments.read_only, !arguments.no_admin);
    let text = if arguments.subgraph {
        subgraph_text(scope)
    } else {
        schema_text(scope)
    };
    let mut output = Output::stdout();
    output.write(text.as_bytes())?;
    output.finish()
}
