//! Text of a rule that claims can fill.

use std::fmt;

use serde_json::{Map, Value};

use super::claim::ClaimName;
use crate::document::id::is_canonical_integer;

/// Text with at most one claim: `orders`, `{sub}` or `orders-{tenant}`. `{{` and `}}` are braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Template {
    /// Text without a claim.
    Literal(Box<str>),
    /// A claim, with the text around it.
    Claim {
        before: Box<str>,
        claim: ClaimName,
        after: Box<str>,
    },
}

/// Text that is a claim's value, with the text around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FilledTemplate<'t> {
    /// A value alone. It keeps its type.
    Alone(&'t Value),
    /// Text in three parts, of which the value is the second.
    Text(&'t str, &'t str, &'t str),
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// A brace is not closed or not opened, a claim's name is invalid, or there are two claims. With
    /// two claims, different pairs of values could give the same text.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (before, rest) = literal(text)?;
        let Some(rest) = rest else {
            return Ok(Self::Literal(before.into()));
        };
        let Some((name, rest)) = rest.split_once('}') else {
            return Err(
                "a `{` begins the name of a claim and has no `}`. Write `{{` for a brace"
                    .to_owned(),
            );
        };
        let claim = ClaimName::parse(name)?;
        let (after, second) = literal(rest)?;
        if second.is_some() {
            return Err(
                "there are two claims in one name, and different values of them could give the \
                 same name"
                    .to_owned(),
            );
        }
        Ok(Self::Claim {
            before: before.into(),
            claim,
            after: after.into(),
        })
    }

    /// The claim with the text around it. None if the template has no claim, the principal has no
    /// such claim, or text is around a value that is neither a string nor an integer.
    pub(super) fn filled<'t>(
        &'t self,
        claims: Option<&'t Map<String, Value>>,
    ) -> Option<FilledTemplate<'t>> {
        let Self::Claim {
            before,
            claim,
            after,
        } = self
        else {
            return None;
        };
        let value = claim.of(claims?)?;
        if before.is_empty() && after.is_empty() {
            return Some(FilledTemplate::Alone(value));
        }
        Some(FilledTemplate::Text(before, name_of(value)?, after))
    }

    /// Whether the template is this name. A claim must be a string or an integer.
    pub(super) fn names(&self, name: &str, claims: Option<&Map<String, Value>>) -> bool {
        match self {
            Self::Literal(text) => **text == *name,
            Self::Claim { .. } => self.filled(claims).is_some_and(|filled| filled.is(name)),
        }
    }
}

impl FilledTemplate<'_> {
    /// Whether the text is this one. A value alone must be a string or an integer.
    pub(super) fn is(self, text: &str) -> bool {
        let rest = |before: &str, value: &str| text.strip_prefix(before)?.strip_prefix(value);
        match self {
            Self::Alone(value) => name_of(value).is_some_and(|name| name == text),
            Self::Text(before, value, after) => rest(before, value) == Some(after),
        }
    }

    /// Whether what is displayed is the text.
    pub(super) fn is_display_of(self, shown: &impl fmt::Display) -> bool {
        let parts = match self {
            Self::Alone(value) => match name_of(value) {
                Some(name) => ["", name, ""],
                None => return false,
            },
            Self::Text(before, value, after) => [before, value, after],
        };
        let mut expected = ExpectedText(parts);
        fmt::write(&mut expected, format_args!("{shown}")).is_ok()
            && expected.0.iter().all(|part| part.is_empty())
    }
}

/// The name that a claim gives: a string, or the digits of an integer.
fn name_of(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.as_str()).filter(|text| is_canonical_integer(text)),
        _ => None,
    }
}

/// Text up to the `{` that begins a claim, and what follows it. `{{` and `}}` are braces.
fn literal(text: &str) -> Result<(String, Option<&str>), String> {
    let mut unescaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        unescaped.push_str(before);
        match from.as_bytes() {
            [brace, next, ..] if brace == next => {
                unescaped.push_str(&from[..1]);
                rest = &from[2..];
            }
            [b'{', ..] => return Ok((unescaped, Some(&from[1..]))),
            _ => return Err("a `}` ends no claim. Write `}}` for a brace".to_owned()),
        }
    }
    unescaped.push_str(rest);
    Ok((unescaped, None))
}

/// The rest of a text that is compared with what is written.
struct ExpectedText<'t>([&'t str; 3]);

impl fmt::Write for ExpectedText<'_> {
    /// Fails at the first difference.
    fn write_str(&mut self, mut written: &str) -> fmt::Result {
        for part in &mut self.0 {
            let length = part.len().min(written.len());
            if part.as_bytes()[..length] != written.as_bytes()[..length] {
                return Err(fmt::Error);
            }
            // The bytes are equal, so both are split between characters or neither is.
            *part = part.get(length..).ok_or(fmt::Error)?;
            written = written.get(length..).ok_or(fmt::Error)?;
        }
        if written.is_empty() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}
