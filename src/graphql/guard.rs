//! Bounds on a query, checked before anything that could suffer from it: on its text before the
//! parser, and on its expanded size before validation.

use std::collections::HashMap;

use async_graphql::parser::types::{ExecutableDocument, Selection, SelectionSet};
use async_graphql::{Name, Positioned};

use crate::error::{Error, ErrorKind, Result};
use crate::limits::{
    QUERY_ALIASES_MAX, QUERY_BRACKETS_MAX, QUERY_BYTES_MAX, QUERY_DIRECTIVES_MAX, QUERY_FIELDS_MAX,
    QUERY_LEVELS_MAX, QUERY_TOKENS_MAX,
};

/// Bounds the text of a query in one pass over it: its bytes, tokens, directives, and how deep
/// its brackets nest. The parser recurses into brackets, so it must never see too many.
///
/// # Errors
/// `TOO_COMPLEX`: names the limit and where it was passed. `BAD_USER_INPUT`: a block string is not
/// closed; the parser would read it as other strings and what stands behind them.
pub(super) fn check_text(query: &str) -> Result<()> {
    bound(query.len(), QUERY_BYTES_MAX, "bytes of query text")?;
    let mut lexer = Lexer {
        text: query.as_bytes(),
        at: 0,
    };
    let (mut tokens, mut brackets, mut directives) = (0, 0_usize, 0);
    while let Some(token) = lexer.next()? {
        tokens += 1;
        match token {
            b'{' | b'[' | b'(' => brackets += 1,
            b'}' | b']' | b')' => brackets = brackets.saturating_sub(1),
            b'@' => directives += 1,
            _ => {}
        }
        bound(tokens, QUERY_TOKENS_MAX, "tokens in the query text")?;
        bound(
            directives,
            QUERY_DIRECTIVES_MAX,
            "directives in the query text",
        )?;
        bound(
            brackets,
            QUERY_BRACKETS_MAX,
            "brackets open at the same place of the query text",
        )
        .map_err(|error| error.at(format!("at byte {}", lexer.at)))?;
    }
    Ok(())
}

fn bound(found: usize, limit: usize, what: &str) -> Result<()> {
    if found <= limit {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::TooComplex,
        format!("more than {limit} {what}, which is the limit"),
    ))
}

/// Finds tokens only as far as bounds need it: each by its first byte.
struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
}

impl Lexer<'_> {
    fn next(&mut self) -> Result<Option<u8>> {
        self.skip_ignored();
        let Some(first) = self.text.get(self.at).copied() else {
            return Ok(None);
        };
        match first {
            b'"' => self.skip_string()?,
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
            }
            b'-' | b'0'..=b'9' => {
                self.skip_while(|byte| {
                    matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
                });
            }
            _ => self.at += 1,
        }
        Ok(Some(first))
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        self.at += self
            .rest()
            .iter()
            .take_while(|byte| belongs(**byte))
            .count();
    }

    fn skip_ignored(&mut self) {
        loop {
            match self.text.get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | b',') => self.at += 1,
                Some(b'#') => {
                    let line = memchr::memchr2(b'\n', b'\r', self.rest());
                    self.at += line.unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    fn skip_string(&mut self) -> Result<()> {
        if self.rest().starts_with(b"\"\"\"") {
            return self.skip_block_string();
        }
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'"' | b'\n' | b'\r' => return Ok(()),
                b'\\' => self.at += 1,
                _ => {}
            }
        }
        Ok(())
    }

    fn skip_block_string(&mut self) -> Result<()> {
        let begin = self.at;
        self.at += 3;
        while self.at < self.text.len() {
            if self.rest().starts_with(b"\\\"\"\"") {
                self.at += 4;
            } else if self.rest().starts_with(b"\"\"\"") {
                self.at += 3;
                return Ok(());
            } else {
                self.at += 1;
            }
        }
        Err(Error::bad_input(format!(
            "the block string that begins at byte {begin} of the query text is not closed"
        )))
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at.min(self.text.len())..]
    }
}

/// Bounds what a query becomes when its fragments are expanded, those that no operation uses
/// included, since validation walks them too. Each fragment is measured once, so the work is that
/// of the text's size.
///
/// # Errors
/// `TOO_COMPLEX`: names the limit.
pub(super) fn check_expanded(document: &ExecutableDocument) -> Result<()> {
    let mut measuring = Measuring {
        document,
        fragments: HashMap::new(),
    };
    let mut operations = Size::default();
    for (_, operation) in document.operations.iter() {
        let size = measuring.selections(&operation.node.selection_set.node, 0)?;
        bound(
            size.aliases,
            QUERY_ALIASES_MAX,
            "aliases with fragments expanded",
        )?;
        bound(
            size.levels,
            QUERY_LEVELS_MAX,
            "levels of fields with fragments expanded",
        )?;
        operations = operations.beside(size);
    }
    bound(operations.fields, QUERY_FIELDS_MAX, FIELDS)?;
    let mut fragments = Size::default();
    for name in document.fragments.keys() {
        fragments = fragments.beside(measuring.fragment(name, 0)?);
    }
    bound(fragments.fields, QUERY_FIELDS_MAX, FIELDS)
}

/// Refuses a query that asks for the schema. To be called behind [`check_expanded`], which bounds
/// how deep this goes.
///
/// # Errors
/// `BAD_USER_INPUT`: it has a field `__schema` or `__type`.
pub(super) fn check_introspection(document: &ExecutableDocument) -> Result<()> {
    let operations = document.operations.iter();
    let operations = operations.map(|(_, operation)| &operation.node.selection_set.node);
    let fragments = document.fragments.values();
    let fragments = fragments.map(|fragment| &fragment.node.selection_set.node);
    if operations.chain(fragments).any(introspects) {
        return Err(Error::bad_input(
            "introspection is turned off on this server",
        ));
    }
    Ok(())
}

fn introspects(selections: &SelectionSet) -> bool {
    selections
        .items
        .iter()
        .any(|selection| match &selection.node {
            Selection::Field(field) => {
                matches!(field.node.name.node.as_str(), "__schema" | "__type")
                    || introspects(&field.node.selection_set.node)
            }
            Selection::InlineFragment(inline) => introspects(&inline.node.selection_set.node),
            Selection::FragmentSpread(_) => false,
        })
}

const FIELDS: &str = "fields with fragments expanded";

/// Levels of selections, those of fragments included: what the parser and validation recurse into.
const SELECTION_LEVELS_MAX: usize = 2 * QUERY_LEVELS_MAX;

#[derive(Clone, Copy, Default)]
struct Size {
    /// Fields and fragments, since these cost as much where they stand.
    fields: usize,
    aliases: usize,
    /// Levels of fields.
    levels: usize,
    /// Levels of selections.
    selections: usize,
}

impl Size {
    fn beside(self, other: Self) -> Self {
        Self {
            fields: self.fields.saturating_add(other.fields),
            aliases: self.aliases.saturating_add(other.aliases),
            levels: self.levels.max(other.levels),
            selections: self.selections.max(other.selections),
        }
    }
}

struct Measuring<'d> {
    document: &'d ExecutableDocument,
    /// What each fragment comes to; nothing while it is being measured, since a fragment inside
    /// itself is an error that validation reports.
    fragments: HashMap<&'d Name, Size>,
}

impl<'d> Measuring<'d> {
    /// The size of selections that stand `above` levels deep; recurses no deeper than allowed.
    fn selections(&mut self, selections: &'d SelectionSet, above: usize) -> Result<Size> {
        check_levels(above)?;
        let mut sum = Size::default();
        for selection in &selections.items {
            sum = sum.beside(self.selection(selection, above + 1)?);
        }
        sum.selections += 1;
        check_levels(above + sum.selections)?;
        Ok(sum)
    }

    fn selection(&mut self, selection: &'d Positioned<Selection>, above: usize) -> Result<Size> {
        let mut size = match &selection.node {
            Selection::Field(field) => {
                let mut size = match &field.node.selection_set.node {
                    none if none.items.is_empty() => Size::default(),
                    below => self.selections(below, above)?,
                };
                size.aliases = size
                    .aliases
                    .saturating_add(usize::from(field.node.alias.is_some()));
                size.levels += 1;
                size
            }
            Selection::InlineFragment(inline) => {
                self.selections(&inline.node.selection_set.node, above)?
            }
            Selection::FragmentSpread(spread) => {
                self.fragment(&spread.node.fragment_name.node, above)?
            }
        };
        size.fields = size.fields.saturating_add(1);
        Ok(size)
    }

    fn fragment(&mut self, name: &'d Name, above: usize) -> Result<Size> {
        if let Some(size) = self.fragments.get(name).copied() {
            check_levels(above + size.selections)?;
            return Ok(size);
        }
        let Some(fragment) = self.document.fragments.get(name) else {
            return Ok(Size::default());
        };
        self.fragments.insert(name, Size::default());
        let size = self.selections(&fragment.node.selection_set.node, above)?;
        self.fragments.insert(name, size);
        Ok(size)
    }
}

fn check_levels(levels: usize) -> Result<()> {
    bound(
        levels,
        SELECTION_LEVELS_MAX,
        "levels of fields and fragments",
    )
}
