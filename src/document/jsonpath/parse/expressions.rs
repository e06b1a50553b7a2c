//! Logical expressions and comparisons (RFC 9535 §2.3.5).

use std::borrow::Cow;

use super::super::ast::{Comparable, ComparisonOp, FilterQuery, LogicalExpression, SingularQuery};
use super::QueryParser;
use super::functions::is_function;
use super::primary::{FunctionCall, PrimaryExpr};
use super::scan::name_bytes;
use crate::document::leaf::{Leaf, abridged};
use crate::document::tree::Tree;
use crate::error::{Error, Result};

/// The longer of two operators with the same beginning comes first.
const COMPARISON_OPS: [(&str, ComparisonOp); 6] = [
    ("==", ComparisonOp::Equal),
    ("!=", ComparisonOp::NotEqual),
    ("<=", ComparisonOp::LessOrEqual),
    (">=", ComparisonOp::GreaterOrEqual),
    ("<", ComparisonOp::Less),
    (">", ComparisonOp::Greater),
];

impl<'q> QueryParser<'q> {
    /// `logical-expr`, and the blanks after it.
    pub(super) fn logical_expression(&mut self) -> Result<LogicalExpression> {
        self.operands("||", Self::logical_and, LogicalExpression::Or)
    }

    fn logical_and(&mut self) -> Result<LogicalExpression> {
        self.operands("&&", Self::basic_expression, LogicalExpression::And)
    }

    /// One operand, which is returned as it is, or several with `operator` between them.
    fn operands(
        &mut self,
        operator: &str,
        operand: impl Fn(&mut Self) -> Result<LogicalExpression>,
        join: impl Fn(Vec<LogicalExpression>) -> LogicalExpression,
    ) -> Result<LogicalExpression> {
        let first = operand(self)?;
        self.skip_blanks();
        if !self.rest().starts_with(operator) {
            return Ok(first);
        }
        let mut operands = vec![first];
        while self.take(operator) {
            self.skip_blanks();
            operands.push(operand(self)?);
            self.skip_blanks();
        }
        Ok(join(operands))
    }

    /// `basic-expr`.
    fn basic_expression(&mut self) -> Result<LogicalExpression> {
        let negated = self.take("!");
        self.skip_blanks();
        if !negated && !self.rest().starts_with('(') {
            return self.comparison_or_test();
        }
        let expression = if self.take("(") {
            self.parenthesized_expression()?
        } else {
            self.negated_test()?
        };
        Ok(if negated {
            LogicalExpression::Not(Box::new(expression))
        } else {
            expression
        })
    }

    /// `paren-expr`, behind its `(`.
    fn parenthesized_expression(&mut self) -> Result<LogicalExpression> {
        self.skip_blanks();
        let expression = self.logical_expression()?;
        if !self.take(")") {
            return Err(self.expected_operator("`)`"));
        }
        Ok(expression)
    }

    /// `test-expr`, behind its `!`. A comparison is not one.
    fn negated_test(&mut self) -> Result<LogicalExpression> {
        let at = self.at;
        let test = self.primary("a query, a function or `(…)` behind `!`")?;
        self.skip_blanks();
        if self.at_comparison_op() {
            let what = "the negation of a comparison needs parentheses: `!(…)`";
            return Err(self.error(at, what));
        }
        self.test(at, test)
    }

    /// `comparison-expr` or `test-expr` without `!`.
    fn comparison_or_test(&mut self) -> Result<LogicalExpression> {
        let at = self.at;
        let left = self.primary("a test (a query, a comparison, a function or `(…)`)")?;
        self.skip_blanks();
        let operator_at = self.at;
        let Some(operator) = self.comparison_op() else {
            return self.test(at, left);
        };
        let left = self.comparable(left, operator_at)?;
        self.skip_blanks();
        let at = self.at;
        let right = self.primary(
            "a value to compare with (a literal, a query of names and indexes, or a function)",
        )?;
        let right = self.comparable(right, at)?;
        Ok(LogicalExpression::Comparison(left, operator, right))
    }

    /// A literal, a query or a call of a function.
    pub(super) fn primary(&mut self, expected: &str) -> Result<PrimaryExpr<'q>> {
        let literal = match self.next_char() {
            Some('$' | '@') => return self.filter_query().map(PrimaryExpr::Query),
            Some('\'' | '"') => Leaf::String(Cow::Owned(self.string()?)),
            _ => {
                let at = self.at;
                let Some(number) = self.number()? else {
                    return self.word(expected);
                };
                Leaf::number(number).map_err(|error| self.error(at, error.message()))?
            }
        };
        Ok(PrimaryExpr::Literal(Tree::Leaf(literal)))
    }

    /// `filter-query`, which begins here.
    pub(super) fn filter_query(&mut self) -> Result<FilterQuery> {
        let from_root = self.take("$");
        if !from_root {
            self.expect("@")?;
        }
        let segments = self.segments()?;
        Ok(FilterQuery {
            from_root,
            segments,
        })
    }

    /// `true`, `false`, `null` or a call of a function.
    fn word(&mut self, expected: &str) -> Result<PrimaryExpr<'q>> {
        let at = self.at;
        let bytes = name_bytes(self.rest()).ok_or_else(|| self.expected(expected))?;
        let name = &self.rest()[..bytes];
        self.at += bytes;
        if self.next_char() == Some('(') {
            return self.call(FunctionCall { name, at });
        }
        let literal = match name {
            "true" => Leaf::Bool(true),
            "false" => Leaf::Bool(false),
            "null" => Leaf::Null,
            _ => {
                let name = abridged(name);
                return Err(if is_function(&name) {
                    self.error(at, &format!("expected `(` directly behind `{name}`"))
                } else {
                    let what = format!("`{name}` is not valid here: strings need quotes");
                    self.error(at, &what)
                });
            }
        };
        Ok(PrimaryExpr::Literal(Tree::Leaf(literal)))
    }

    /// The expression at `at` as `test-expr`: no comparison operator follows it.
    fn test(&self, at: usize, test: PrimaryExpr<'_>) -> Result<LogicalExpression> {
        match test {
            PrimaryExpr::Query(query) => Ok(LogicalExpression::Exists(query)),
            PrimaryExpr::Logical(_, expression) => Ok(expression),
            PrimaryExpr::Literal(_) if self.rest().starts_with('=') => Err(self.expected("`==`")),
            PrimaryExpr::Literal(_) => Err(self.error(at, "a literal is not a test: compare it")),
            PrimaryExpr::Value(call, _) => {
                let name = call.name;
                let what = format!("the result of `{name}` is a value, which has to be compared");
                Err(self.error(call.at, &what))
            }
        }
    }

    /// The expression as `comparable`. An error about a query names the byte `query_at`.
    fn comparable(&self, side: PrimaryExpr<'_>, query_at: usize) -> Result<Comparable> {
        match side {
            PrimaryExpr::Literal(literal) => Ok(Comparable::Literal(literal)),
            PrimaryExpr::Value(_, function) => Ok(Comparable::Function(function)),
            PrimaryExpr::Query(query) => {
                let query = SingularQuery::of(query).map(Comparable::Query);
                query.ok_or_else(|| {
                    let what = "expected a query of names and indexes in the comparison: this one \
                                can select several nodes";
                    self.error(query_at, what)
                })
            }
            PrimaryExpr::Logical(call, _) => {
                let name = call.name;
                let what = format!("`{name}` holds or does not hold, and cannot be compared");
                Err(self.error(call.at, &what))
            }
        }
    }

    fn comparison_op(&mut self) -> Option<ComparisonOp> {
        let mut operators = COMPARISON_OPS.into_iter();
        let (_, operator) = operators.find(|(text, _)| self.take(text))?;
        Some(operator)
    }

    fn at_comparison_op(&self) -> bool {
        let mut operators = COMPARISON_OPS.iter();
        operators.any(|(text, _)| self.rest().starts_with(text))
    }

    /// Whether an operator of any kind is next.
    pub(super) fn at_operator(&self) -> bool {
        self.at_comparison_op() || self.rest().starts_with("&&") || self.rest().starts_with("||")
    }

    /// The error that neither an operator nor `closing` follows an expression.
    pub(super) fn expected_operator(&self, closing: &str) -> Error {
        let operand = |character: char| {
            matches!(character, '$' | '@' | '\'' | '"' | '_' | '-') || character.is_alphanumeric()
        };
        match self.next_char() {
            Some('=') if !self.at_comparison_op() => self.error(self.at, "expected `==`"),
            Some('&') => self.error(self.at, "expected `&&`"),
            Some('|') => self.error(self.at, "expected `||`"),
            Some(character) if operand(character) => {
                self.error(self.at, "an operator is missing between two values")
            }
            _ => self.expected(&format!("`&&`, `||`, {closing}")),
        }
    }
}
