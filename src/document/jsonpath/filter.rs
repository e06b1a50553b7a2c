//! Whether a filter's logical expression holds (RFC 9535 §2.3.5).

use std::borrow::Cow;
use std::cmp::Ordering;

use super::super::leaf::{Kind, Leaf};
use super::super::tree::{Tree, compare, equal_within, text_work};
use super::ast::{Comparison, LogicalExpression, Value};
use super::evaluate::Evaluation;
use super::pattern::{Pattern, Regexp};
use crate::error::Result;
use crate::limits::REGEXPS_MAX;

/// A value, or nothing.
type Operand<'v> = Option<Cow<'v, Tree>>;

impl<'t> Evaluation<'t, '_> {
    /// Whether a test holds for the node that `@` is.
    pub(super) fn holds(&self, test: &LogicalExpression, current: &'t Tree) -> Result<bool> {
        self.spend(1)?;
        match test {
            LogicalExpression::Any(tests) => {
                for test in tests {
                    if self.holds(test, current)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            LogicalExpression::All(tests) => {
                for test in tests {
                    if !self.holds(test, current)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            LogicalExpression::Not(test) => Ok(!self.holds(test, current)?),
            LogicalExpression::Exists(nodes) => Ok(!self.nodes(nodes, current, 1)?.is_empty()),
            LogicalExpression::Compare(a, comparison, b) => {
                let a = self.value(a, current)?;
                let b = self.value(b, current)?;
                self.compare(a.as_deref(), *comparison, b.as_deref())
            }
            LogicalExpression::Matches(text, pattern) => self.matches(text, pattern, current),
        }
    }

    fn value<'v>(&self, value: &'v Value, current: &'t Tree) -> Result<Operand<'v>>
    where
        't: 'v,
    {
        Ok(match value {
            Value::Literal(literal) => Some(Cow::Borrowed(literal)),
            Value::Node(nodes) => self.node(nodes, current)?.map(Cow::Borrowed),
            Value::Count(nodes) => Some(number(self.nodes(nodes, current, usize::MAX)?.len())),
            Value::Only(nodes) => match self.nodes(nodes, current, 2)?[..] {
                [node] => Some(Cow::Borrowed(node.value)),
                _ => None,
            },
            Value::Length(value) => match self.value(value, current)?.as_deref() {
                Some(Tree::Leaf(Leaf::String(text))) => {
                    self.spend(1 + text.len() as u64 / 64)?;
                    Some(number(text.chars().count()))
                }
                Some(Tree::Array(elements)) => Some(number(elements.len())),
                Some(Tree::Object(members)) => Some(number(members.len())),
                _ => None,
            },
        })
    }

    fn compare(&self, a: Option<&Tree>, comparison: Comparison, b: Option<&Tree>) -> Result<bool> {
        let equal = || match (a, b) {
            (Some(a), Some(b)) => equal_within(a, b, &mut |work| self.spend(work)),
            (a, b) => Ok(a.is_none() && b.is_none()),
        };
        let texts = [a, b].map(|side| side.map_or(0, text_work));
        self.spend(texts[0].min(texts[1]))?;
        let ordered = |order: Ordering| match (a, b) {
            (Some(a), Some(b)) => has_order(a) && compare(a, b) == Some(order),
            _ => false,
        };
        Ok(match comparison {
            Comparison::Equal => equal()?,
            Comparison::NotEqual => !equal()?,
            Comparison::Less => ordered(Ordering::Less),
            Comparison::LessOrEqual => ordered(Ordering::Less) || equal()?,
            Comparison::Greater => ordered(Ordering::Greater),
            Comparison::GreaterOrEqual => ordered(Ordering::Greater) || equal()?,
        })
    }

    fn matches(&self, text: &Value, pattern: &Pattern, current: &'t Tree) -> Result<bool> {
        let text = self.value(text, current)?;
        let Some(Tree::Leaf(Leaf::String(text))) = text.as_deref() else {
            return Ok(false);
        };
        let (value, whole) = match pattern {
            Pattern::Fixed(regexp) => return regexp.matches(text, |work| self.spend(work)),
            Pattern::Told { value, whole } => (self.value(value, current)?, *whole),
        };
        match value.as_deref() {
            Some(Tree::Leaf(Leaf::String(pattern))) => {
                let regexp = self.compiled(pattern, whole)?;
                regexp.matches(text, |work| self.spend(work))
            }
            _ => Ok(false),
        }
    }

    /// An expression that the document tells, compiled once.
    fn compiled(&self, pattern: &str, whole: bool) -> Result<Regexp> {
        let mut compiled = self.regexps.borrow_mut();
        let key = (pattern.to_owned(), whole);
        if let Some(regexp) = compiled.get(&key) {
            return Ok(regexp.clone());
        }
        let regexp = Regexp::compile(pattern, whole)?;
        self.spend(regexp.compile_steps())?;
        if compiled.len() >= REGEXPS_MAX {
            compiled.clear();
        }
        compiled.insert(key, regexp.clone());
        Ok(regexp)
    }
}

/// Whether RFC 9535 gives the values of this kind an order.
fn has_order(value: &Tree) -> bool {
    matches!(value.kind(), Kind::Number | Kind::String)
}

fn number(count: usize) -> Cow<'static, Tree> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    Cow::Owned(Tree::Leaf(Leaf::Integer(count)))
}
