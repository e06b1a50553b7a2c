//! The arguments of `phyllo update`.

use clap::Args;

use super::collection::CollectionArgument;
use super::find::FilterArguments;
use crate::database::UpdateOperator;
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::operations::UpdateArgument;

/// Change the documents of a collection that match a filter
///
/// The options say what to change, at paths that are JSONPaths, as in GraphQL's `updateDocuments`.
/// First come all values of --set, then of --unset, --increment, --min, --max, --remove, --append, --add
/// and --merge, each in the given order. Each one applies to the result of the ones before it. Except for --unset and
/// --remove, a path of names and indexes creates a missing member of an existing object, or the next
/// element of an existing array.
///
/// The command reads the collection in id order, in many small transactions, while other clients
/// read and write. So it can change any number of documents. A document is changed only if it
/// matches the filter in the transaction that changes it, and at most once, even if it still matches
/// afterwards. A document that is stored meanwhile may or may not be changed.
///
/// If the command is interrupted or fails, the documents changed so far stay changed, and it prints
/// the id after which to continue with --after.
///
/// An index that supports the filter is used, as by `documents` in GraphQL.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  phyllo update --collection shop --where '{\"at\": \"$.price\", \"lt\": 10}' --set '$.cheap=true'
  phyllo update --collection shop --everything --unset '$.parts[?@.old]' --increment '$.revision=1'
  phyllo update --collection shop --everything --remove '$.tags=\"new\"' --append '$.tags=\"sale\"'
  phyllo update --collection shop --everything --merge '$={\"a\": null}'")]
pub(crate) struct UpdateCommand {
    #[command(flatten)]
    pub(crate) collection: CollectionArgument,
    #[command(flatten)]
    pub(crate) matching: FilterArguments,
    #[command(flatten)]
    pub(crate) updates: UpdateOptions,
    /// Begin after the document with this id
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = DocumentId::parse)]
    pub(crate) after: Option<DocumentId>,
}

/// What to change. Each option can be given several times.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct UpdateOptions {
    /// Store a JSON value at each place that the path selects
    #[arg(long, value_name = "PATH=JSON", value_parser = parse_assignment)]
    set: Vec<Assignment>,
    /// Remove each value that the path selects
    #[arg(long, value_name = "PATH")]
    unset: Vec<String>,
    /// Add a number to each number that the path selects
    #[arg(long, value_name = "PATH=NUMBER", value_parser = parse_assignment)]
    increment: Vec<Assignment>,
    /// Store a JSON value where the path selects a greater one of the same type
    #[arg(long, value_name = "PATH=JSON", value_parser = parse_assignment)]
    min: Vec<Assignment>,
    /// Store a JSON value where the path selects a lesser one of the same type
    #[arg(long, value_name = "PATH=JSON", value_parser = parse_assignment)]
    max: Vec<Assignment>,
    /// Remove the elements that are equal to a JSON value from each array that the path selects
    #[arg(long, value_name = "PATH=JSON", value_parser = parse_assignment)]
    remove: Vec<Assignment>,
    /// Add a JSON value at the end of each array that the path selects
    #[arg(long, value_name = "PATH=JSON", value_parser = parse_assignment)]
    append: Vec<Assignment>,
    /// Add a JSON value at the end of each array that the path selects and that does not have it
    #[arg(long, value_name = "PATH=JSON", value_parser = parse_assignment)]
    add: Vec<Assignment>,
    /// Apply a JSON Merge Patch to each value that the path selects
    #[arg(long, value_name = "PATH=JSON", value_parser = parse_assignment)]
    merge: Vec<Assignment>,
}

/// A path and an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    path: String,
    operand: String,
}

impl UpdateOptions {
    /// The updates in the order in which they are applied.
    pub(crate) fn in_order(self) -> Vec<UpdateArgument> {
        let unset = self.unset.into_iter().map(|path| Assignment {
            path,
            operand: String::new(),
        });
        let lists = [
            (UpdateOperator::Set, self.set),
            (UpdateOperator::Unset, unset.collect()),
            (UpdateOperator::Increment, self.increment),
            (UpdateOperator::Min, self.min),
            (UpdateOperator::Max, self.max),
            (UpdateOperator::Remove, self.remove),
            (UpdateOperator::Append, self.append),
            (UpdateOperator::Add, self.add),
            (UpdateOperator::Merge, self.merge),
        ];
        let updates = lists.into_iter().flat_map(|(operator, list)| {
            list.into_iter().map(move |assignment| UpdateArgument {
                operator,
                at: assignment.path,
                operand: assignment.operand,
            })
        });
        updates.collect()
    }
}

/// Splits `PATH=JSON` at the first `=` outside the brackets and quotes of the path.
fn parse_assignment(text: &str) -> Result<Assignment> {
    let mut brackets = 0_usize;
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (Some(_), '\\') => {
                characters.next();
            }
            (Some(open), close) if open == close => quote = None,
            (None, '\'' | '"') => quote = Some(character),
            (None, '[') => brackets += 1,
            (None, ']') => brackets = brackets.saturating_sub(1),
            (None, '=') if brackets == 0 => {
                return Ok(Assignment {
                    path: text[..at].to_owned(),
                    operand: text[at + 1..].to_owned(),
                });
            }
            _ => {}
        }
    }
    Err(Error::bad_input(
        "a JSONPath, `=` and a JSON value are expected, such as `$.name=\"Frankfurt\"`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_split_behind_the_path() {
        for (text, expected) in [
            ("$.a=1", Some(("$.a", "1"))),
            ("$=", Some(("$", ""))),
            ("$.a=\"b=c\"", Some(("$.a", "\"b=c\""))),
            (
                "$.a[?@.b == 'x]=' && @['c\\'='] != \"=\"].d={\"e\": 1}",
                Some(("$.a[?@.b == 'x]=' && @['c\\'='] != \"=\"].d", "{\"e\": 1}")),
            ),
            ("$['=']=[1]", Some(("$['=']", "[1]"))),
            ("$.a", None),
            ("$[?@ == 1]", None),
            ("", None),
        ] {
            let split = parse_assignment(text).ok();
            let split = split.as_ref().map(|it| (&*it.path, &*it.operand));
            assert_eq!(split, expected, "{text}");
        }
    }
}
