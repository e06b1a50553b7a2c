//! The operations on a page, with their documented responses.

use std::fmt::{self, Display, Formatter};
use std::fs;

use serde_json::Value;

/// An operation on a page: a `graphql` block followed by one or two `json` blocks. The last one is
/// the whole response. The one before it, if any, has the variables.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// The page, the line before the query, and the heading above it.
    pub(crate) place: Place,
    pub(crate) query: String,
    /// An object.
    pub(crate) variables: Value,
    pub(crate) response: Value,
}

/// A position on a page.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    page: String,
    line: usize,
    /// The text of the second-level heading.
    pub(crate) section: String,
}

impl Display for Place {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            page,
            line,
            section,
        } = self;
        write!(formatter, "{page}:{line}, {section:?}")
    }
}

/// A fenced block.
struct Block {
    place: Place,
    language: String,
    text: String,
}

impl Exchange {
    /// All operations of a page, or of what is below one of its second-level headings, in order. Blocks in
    /// `js` are not executed.
    ///
    /// # Panics
    /// The page does not exist, or has an operation without a response, JSON without an operation,
    /// or a block in any other language.
    pub(crate) fn of_page(page: &str, section: Option<&str>) -> Vec<Self> {
        let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{page}: {error}"));
        let mut blocks = blocks(page, &text);
        blocks.retain(|block| section.is_none_or(|section| block.place.section == section));
        let mut blocks = blocks.into_iter().peekable();
        let mut exchanges = Vec::new();
        while let Some(block) = blocks.next() {
            let place = block.place;
            match block.language.as_str() {
                "graphql" => {}
                "js" => continue,
                other => panic!("{place}: a block of {other:?} that belongs to no operation"),
            }
            let mut json = Vec::new();
            while let Some(block) = blocks.next_if(|block| block.language == "json") {
                let parsed = serde_json::from_str(&block.text);
                json.push(parsed.unwrap_or_else(|error| panic!("{}: {error}", block.place)));
            }
            let response = json.pop();
            let response = response.unwrap_or_else(|| panic!("{place}: no response"));
            let variables = json
                .pop()
                .unwrap_or_else(|| Value::Object(serde_json::Map::new()));
            assert!(json.is_empty(), "{place}: too many JSON blocks");
            exchanges.push(Self {
                place,
                query: block.text,
                variables,
                response,
            });
        }
        exchanges
    }
}

fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut section = String::new();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block {
                    place: Place {
                        page: page.to_owned(),
                        line: number + 1,
                        section: section.clone(),
                    },
                    language: language.trim().to_owned(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {
                if let Some(heading) = line.strip_prefix("## ") {
                    heading.clone_into(&mut section);
                }
            }
        }
    }
    assert!(open.is_none(), "a block does not end");
    blocks
}
