//! Why the rules allow or refuse the places that a request uses.

use std::fmt;

use super::place_used::PlaceUsed;
use super::principal::Principal;
use super::rule::RulePart;
use super::rules::Rules;
use crate::document::path::Token;

/// How many rules that do not cover a place are named.
const NEAR_RULES: usize = 3;

/// Which rules cover a place, or which parts of the nearest rules do not match it.
pub struct Explanation<'r> {
    place: PlaceUsed<'r>,
    /// The rules that cover the place, with their filter for the principal as JSON.
    covering: Vec<(usize, Option<String>)>,
    /// The rules of which the fewest parts do not match. Empty if a rule covers the place.
    near: Vec<(usize, Vec<RulePart>)>,
}

impl Rules {
    /// Explains the decision about each place.
    pub fn explain<'r>(
        &self,
        principal: &Principal,
        is_listed: bool,
        used: &[PlaceUsed<'r>],
    ) -> Vec<Explanation<'r>> {
        let explain = |place: &PlaceUsed<'r>| self.explain_place(principal, is_listed, place);
        used.iter().map(explain).collect()
    }

    fn explain_place<'r>(
        &self,
        principal: &Principal,
        is_listed: bool,
        place: &PlaceUsed<'r>,
    ) -> Explanation<'r> {
        let mut covering = Vec::new();
        let mut near = Vec::new();
        for rule in self.all() {
            let unmatched: Vec<RulePart> = rule.unmatched(principal, is_listed, place).collect();
            match (unmatched.is_empty(), &rule.filter) {
                (false, _) => near.push((rule.line, unmatched)),
                (true, None) => covering.push((rule.line, None)),
                (true, Some(filter)) => match filter.filled(principal.claims()) {
                    Some(filter) => covering.push((rule.line, Some(filter.to_json()))),
                    None => near.push((rule.line, vec![RulePart::Where])),
                },
            }
        }
        let fewest = near.iter().map(|(_, unmatched)| unmatched.len()).min();
        near.retain(|(_, unmatched)| covering.is_empty() && Some(unmatched.len()) == fewest);
        Explanation {
            place: place.clone(),
            covering,
            near,
        }
    }
}

impl Explanation<'_> {
    /// Whether a rule covers the place, at least in some documents.
    pub fn is_covered(&self) -> bool {
        !self.covering.is_empty()
    }
}

/// Formats the place on a line, and a line for each rule below it.
impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let always = self.covering.iter().any(|(_, filter)| filter.is_none());
        let decision = match (self.is_covered(), always) {
            (false, _) => "refused",
            (true, false) => "depends",
            (true, true) => "allowed",
        };
        write!(f, "{decision}: {}", self.place)?;
        for (line, filter) in &self.covering {
            write!(f, "\n  by the rule on line {line}")?;
            if let Some(filter) = filter {
                write!(f, ", in documents with {filter}")?;
            }
        }
        if self.is_covered() {
            return Ok(());
        }
        for (line, unmatched) in self.near.iter().take(NEAR_RULES) {
            let parts = unmatched
                .iter()
                .map(|part| part.reason())
                .collect::<Vec<_>>()
                .join(", and ");
            write!(f, "\n  not by the rule on line {line}: {parts}")?;
        }
        let others = self.near.len().saturating_sub(NEAR_RULES);
        if others > 0 {
            write!(
                f,
                "\n  nor by {others} other rules with as many differences"
            )?;
        }
        let tokens = self.place.path.tokens();
        if tokens.iter().any(|token| matches!(token, Token::Digits(_))) {
            f.write_str(
                "\n  a number in a JSON Pointer is an index or a name, and a rule must cover both: \
                 write the path as a list",
            )?;
        }
        Ok(())
    }
}

impl RulePart {
    /// Why the part does not match.
    fn reason(self) -> &'static str {
        match self {
            Self::Actions => "`actions` does not have this action",
            Self::Operations => "`operations` needs an operation of the list",
            Self::Collection => "`collection` is another",
            Self::Id => "`id` is another document",
            Self::Path => "`path` does not lead to or above this place",
            Self::Who => "`who` is others",
            Self::Where => "`where` needs a claim that is missing or of another type",
        }
    }
}
