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
/// `TOO_COMPLEX`: names the limit and where it was passed.
pub(super) fn check_text(query: &str) -> Result<()> {
    bound(query.len(), QUERY_BYTES_MAX, "bytes of query text")?;
    let mut lexer = Lexer {
        text: query.as_bytes(),
        at: 0,
    };
    let (mut tokens, mut brackets, mut directives) = (0, 0_usize, 0);
    while let Some(token) = lexer.next() {
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
    fn next(&mut self) -> Option<u8> {
        self.skip_ignored();
        let first = *self.text.get(self.at)?;
        match first {
            b'"' => self.skip_string(),
            b'_' | b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {
                let word = |byte: &u8| {
                    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+')
                };
                self.at += self
                    .rest()
                    .iter()
                    .take_while(|byte| word(byte))
                    .count()
                    .max(1);
            }
            _ => self.at += 1,
        }
        Some(first)
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

    fn skip_string(&mut self) {
        if self.rest().starts_with(b"\"\"\"") {
            self.at += 3;
            self.skip_block_string();
            return;
        }
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'"' | b'\n' | b'\r' => return,
                b'\\' => self.at += 1,
                _ => {}
            }
        }
    }

    fn skip_block_string(&mut self) {
        while self.at < self.text.len() {
            if self.rest().starts_with(b"\\\"\"\"") {
                self.at += 4;
            } else if self.rest().starts_with(b"\"\"\"") {
                self.at += 3;
                return;
            } else {
                self.at += 1;
            }
        }
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at.min(self.text.len())..]
    }
}

/// Bounds what a query becomes when its fragments are expanded: fields, aliases and levels. Each
/// fragment is measured once, so the work is that of the text's size.
///
/// # Errors
/// `TOO_COMPLEX`: names the limit.
pub(super) fn check_expanded(document: &ExecutableDocument) -> Result<()> {
    let mut measuring = Measuring {
        document,
        fragments: HashMap::new(),
    };
    for (_, operation) in document.operations.iter() {
        let size = measuring.selections(&operation.node.selection_set.node);
        bound(
            size.fields,
            QUERY_FIELDS_MAX,
            "fields with fragments expanded",
        )?;
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
    }
    Ok(())
}

#[derive(Clone, Copy, Default)]
struct Size {
    fields: usize,
    aliases: usize,
    levels: usize,
}

struct Measuring<'d> {
    document: &'d ExecutableDocument,
    /// What each fragment comes to; nothing while it is being measured, since a fragment inside
    /// itself is an error that validation reports.
    fragments: HashMap<&'d Name, Size>,
}

impl<'d> Measuring<'d> {
    fn selections(&mut self, selections: &'d SelectionSet) -> Size {
        let mut sum = Size::default();
        for selection in &selections.items {
            let size = self.selection(selection);
            sum.fields = sum.fields.saturating_add(size.fields);
            sum.aliases = sum.aliases.saturating_add(size.aliases);
            sum.levels = sum.levels.max(size.levels);
        }
        sum
    }

    fn selection(&mut self, selection: &'d Positioned<Selection>) -> Size {
        match &selection.node {
            Selection::Field(field) => {
                let below = self.selections(&field.node.selection_set.node);
                Size {
                    fields: below.fields.saturating_add(1),
                    aliases: below
                        .aliases
                        .saturating_add(usize::from(field.node.alias.is_some())),
                    levels: below.levels.saturating_add(1),
                }
            }
            Selection::InlineFragment(inline) => self.selections(&inline.node.selection_set.node),
            Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node),
        }
    }

    fn fragment(&mut self, name: &'d Name) -> Size {
        if let Some(size) = self.fragments.get(name) {
            return *size;
        }
        let Some(fragment) = self.document.fragments.get(name) else {
            return Size::default();
        };
        self.fragments.insert(name, Size::default());
        let size = self.selections(&fragment.node.selection_set.node);
        self.fragments.insert(name, size);
        size
    }
}
