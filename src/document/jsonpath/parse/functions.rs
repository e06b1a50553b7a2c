//! Calls of functions (RFC 9535 §2.4), with the types of their arguments checked (§2.4.3).

use super::super::ast::{
    Comparable, FilterQuery, FunctionExpr, LogicalExpression, Pattern, SingularQuery,
};
use super::primary::{FunctionCall, PrimaryExpr};
use super::{QueryParser, too_complex};
use crate::document::leaf::{Leaf, abridged};
use crate::document::regexp::Regexp;
use crate::document::tree::Tree;
use crate::error::{Error, Limit, Result};
use crate::limits::{JSONPATH_FUNCTIONS_MAX, REGEXPS_MAX};

/// Whether RFC 9535 has a function of this name.
pub(super) fn is_function(name: &str) -> bool {
    matches!(name, "length" | "count" | "value" | "match" | "search")
}

impl<'q> QueryParser<'q> {
    /// `function-expr`, of which the name is consumed and `(` is next.
    pub(super) fn call(&mut self, call: FunctionCall<'q>) -> Result<PrimaryExpr<'q>> {
        let name = abridged(call.name);
        if !is_function(call.name) {
            let what = "only length, count, value, match and search";
            return Err(self.error(call.at, &format!("there is no function `{name}`, {what}")));
        }
        self.open_calls += 1;
        if self.open_calls > JSONPATH_FUNCTIONS_MAX {
            return Err(too_complex(
                self.text,
                self.at,
                Limit::new("jsonPathFunctions", JSONPATH_FUNCTIONS_MAX),
                &format!("calls of functions nest deeper than {JSONPATH_FUNCTIONS_MAX} levels"),
            ));
        }
        self.expect("(")?;
        let expression = match call.name {
            "length" => FunctionExpr::Length(Box::new(self.value_argument(call)?)),
            "count" => FunctionExpr::Count(self.query_argument(call)?),
            "value" => FunctionExpr::Value(self.query_argument(call)?),
            _ => return self.match_or_search(call),
        };
        self.end_call()?;
        Ok(PrimaryExpr::Value(call, expression))
    }

    /// The arguments of `match` or `search`.
    fn match_or_search(&mut self, call: FunctionCall<'q>) -> Result<PrimaryExpr<'q>> {
        let text = self.value_argument(call)?;
        self.expect(",")?;
        let pattern = self.value_argument(call)?;
        let pattern = self.pattern(pattern, call.name == "match")?;
        self.end_call()?;
        let expression = LogicalExpression::Match(text, pattern);
        Ok(PrimaryExpr::Logical(call, expression))
    }

    fn end_call(&mut self) -> Result<()> {
        self.open_calls -= 1;
        self.expect(")")
    }

    /// An argument of the type `ValueType`, and the blanks around it.
    fn value_argument(&mut self, call: FunctionCall<'_>) -> Result<Comparable> {
        const VALUE: &str = "a value, or a query that selects at most one node";
        self.skip_blanks();
        if let Some('(' | '!') = self.next_char() {
            return Err(self.wrong_type(call, VALUE));
        }
        let argument = self.primary("an argument")?;
        self.end_argument(call, VALUE)?;
        let value = match argument {
            PrimaryExpr::Literal(literal) => Some(Comparable::Literal(literal)),
            PrimaryExpr::Value(_, function) => Some(Comparable::Function(function)),
            PrimaryExpr::Query(query) => SingularQuery::of(query).map(Comparable::Query),
            PrimaryExpr::Logical(..) => None,
        };
        value.ok_or_else(|| self.wrong_type(call, VALUE))
    }

    /// An argument of the type `NodesType`, and the blanks around it.
    fn query_argument(&mut self, call: FunctionCall<'_>) -> Result<FilterQuery> {
        const QUERY: &str = "a query";
        self.skip_blanks();
        match self.next_char() {
            Some('$' | '@') => {}
            None | Some(')' | ',') => return Err(self.expected(QUERY)),
            _ => return Err(self.wrong_type(call, QUERY)),
        }
        let query = self.filter_query()?;
        self.end_argument(call, QUERY)?;
        Ok(query)
    }

    /// The blanks after an argument. With an operator behind them it is a logical expression, which no
    /// function takes.
    fn end_argument(&mut self, call: FunctionCall<'_>, expected: &str) -> Result<()> {
        self.skip_blanks();
        if self.at_operator() {
            return Err(self.wrong_type(call, expected));
        }
        Ok(())
    }

    fn wrong_type(&self, call: FunctionCall<'_>, expected: &str) -> Error {
        let what = format!("an argument of `{}` is not {expected}", call.name);
        self.error(call.at, &what)
    }

    /// The second argument of `match` or `search`: a literal is checked here.
    fn pattern(&mut self, value: Comparable, whole: bool) -> Result<Pattern> {
        let Comparable::Literal(Tree::Leaf(Leaf::String(text))) = value else {
            return Ok(Pattern::Dynamic { value, whole });
        };
        if self.regexps.len() >= REGEXPS_MAX {
            return Err(Error::too_complex(
                Limit::new("regexps", REGEXPS_MAX),
                format!(
                    "the JSONPath has more than {REGEXPS_MAX} regular expressions, which is the \
                     limit"
                ),
            ));
        }
        let regexp = Regexp::parse(&text, whole)?;
        self.regexps.push(regexp.clone());
        Ok(Pattern::Fixed(regexp))
    }
}
