//! `phyllo schema`

use super::Done;
use super::arguments::Schema;
use super::output::Output;
use crate::graphql::{SchemaScope, schema_text, subgraph_text};

pub(super) fn run(asked: &Schema) -> Done {
    let scope = SchemaScope::of(asked.read_only, !asked.no_admin);
    let text = if asked.subgraph {
        subgraph_text(scope)
    } else {
        schema_text(scope)
    };
    let mut output = Output::stdout();
    output.write(text.as_bytes())?;
    output.finish()
}
