//! Whether a filter's logical expression holds (RFC 9535 §2.3.5).

use std::borrow::Cow;
use std::cmp::Ordering;

use super::super::leaf::{Kind, Leaf};
use super::super::tree::{Tree, compare, equal_within, text_work};
use super::ast::{Comparable, ComparisonOp, FunctionExpr, LogicalExpression, Pattern};
use super::evaluate::Evaluation;
use crate::document::regexp::{Regexp, check_steps};
use crate::error::Result;
use crate::limits::REGEXPS_MAX;

/// A value, or nothing.
type Operand<'v> = Option<Cow<'v, Tree>>;

impl<'t> Evaluation<'t, '_> {
    /// Whether an expression holds for the node that `@` is.
    pub(super) fn holds(&self, expression: &LogicalExpression, current: &'t Tree) -> Result<bool> {
        self.spend(1)?;
        match expression {
            LogicalExpression::Or(operands) => {
                for operand in operands {
                    if self.holds(operand, current)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            LogicalExpression::And(operands) => {
                for operand in operands {
                    if !self.holds(operand, current)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            LogicalExpression::Not(operand) => Ok(!self.holds(operand, current)?),
            LogicalExpression::Exists(query) => Ok(!self.nodes(query, current, 1)?.is_empty()),
            LogicalExpression::Comparison(a, operator, b) => {
                let a = self.value(a, current)?;
                let b = self.value(b, current)?;
                self.compare(a.as_deref(), *operator, b.as_deref())
            }
            LogicalExpression::Match(text, pattern) => self.matches(text, pattern, current),
        }
    }

    fn value<'v>(&self, value: &'v Comparable, current: &'t Tree) -> Result<Operand<'v>>
    where
        't: 'v,
    {
        match value {
            Comparable::Literal(literal) => Ok(Some(Cow::Borrowed(literal))),
            Comparable::Query(query) => Ok(self.node(query, current)?.map(Cow::Borrowed)),
            Comparable::Function(function) => self.function(function, current),
        }
    }

    fn function<'v>(&self, function: &'v FunctionExpr, current: &'t Tree) -> Result<Operand<'v>>
    where
        't: 'v,
    {
        Ok(match function {
            FunctionExpr::Count(query) => {
                Some(number(self.nodes(query, current, usize::MAX)?.len()))
            }
            FunctionExpr::Value(query) => match self.nodes(query, current, 2)?[..] {
                [node] => Some(Cow::Borrowed(node.value)),
                _ => None,
            },
            FunctionExpr::Length(value) => match self.value(value, current)?.as_deref() {
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

    fn compare(&self, a: Option<&Tree>, operator: ComparisonOp, b: Option<&Tree>) -> Result<bool> {
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
        Ok(match operator {
            ComparisonOp::Equal => equal()?,
            ComparisonOp::NotEqual => !equal()?,
            ComparisonOp::Less => ordered(Ordering::Less),
            ComparisonOp::LessOrEqual => ordered(Ordering::Less) || equal()?,
            ComparisonOp::Greater => ordered(Ordering::Greater),
            ComparisonOp::GreaterOrEqual => ordered(Ordering::Greater) || equal()?,
        })
    }

    fn matches(&self, text: &Comparable, pattern: &Pattern, current: &'t Tree) -> Result<bool> {
        let text = self.value(text, current)?;
        let Some(Tree::Leaf(Leaf::String(text))) = text.as_deref() else {
            return Ok(false);
        };
        let (value, whole) = match pattern {
            Pattern::Fixed(regexp) => return regexp.matches(text, self.steps),
            Pattern::Dynamic { value, whole } => (self.value(value, current)?, *whole),
        };
        match value.as_deref() {
            Some(Tree::Leaf(Leaf::String(pattern))) => {
                self.regexp(pattern, whole)?.matches(text, self.steps)
            }
            _ => Ok(false),
        }
    }

    /// A regular expression that the document determines, compiled once.
    fn regexp(&self, pattern: &str, whole: bool) -> Result<Regexp> {
        let mut regexps = self.regexps.borrow_mut();
        let key = (pattern.to_owned(), whole);
        if let Some(regexp) = regexps.get(&key) {
            return Ok(regexp.clone());
        }
        self.spend(check_steps(pattern))?;
        let regexp = Regexp::parse(pattern, whole)?;
        if regexps.len() >= REGEXPS_MAX {
            regexps.clear();
        }
        regexps.insert(key, regexp.clone());
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
