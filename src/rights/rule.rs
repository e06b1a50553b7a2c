//! One rule: whom it allows what, and where.

use serde_json::{Map, Value};

use super::action::{Action, Actions};
use super::claim::{ClaimName, ClaimTest};
use super::place_used::PlaceUsed;
use super::principal::Principal;
use super::template::{FilledTemplate, Template};
use super::where_filter::WhereFilter;
use crate::document::id::DocumentId;
use crate::document::path::{Path, Segment, Token};

/// A rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// The line of the file on which it begins, from 1.
    pub(super) line: usize,
    pub(super) who: Who,
    pub(super) actions: Actions,
    /// Whether it allows only operations of the list of operations.
    pub(super) listed_only: bool,
    /// None for every collection.
    pub(super) collection: Option<Template>,
    /// None for every document.
    pub(super) id: Option<IdPattern>,
    /// The place that it covers, with everything below it.
    pub(super) path: Vec<TokenPattern>,
    /// What the documents must pass.
    pub(super) filter: Option<WhereFilter>,
}

/// Whom a rule is for.
#[derive(Debug)]
pub(super) enum Who {
    /// Everybody.
    Anyone,
    /// Every user with a verified token.
    User,
    /// The caller whose token has this name in the token file.
    Token(Box<str>),
    /// The users whose token has such a claim.
    Claim(ClaimName, ClaimTest),
}

/// The document of a rule.
#[derive(Debug)]
pub(super) enum IdPattern {
    /// This document.
    Exact(DocumentId),
    /// The document whose canonical text is that of the claim.
    Claim(Template),
}

/// One token of a rule's path.
#[derive(Debug)]
pub(super) enum TokenPattern {
    /// This token.
    Exact(Token),
    /// The member or element that a claim names.
    Claim(Template),
}

/// A part of a rule that a use of a place must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RulePart {
    Actions,
    Collection,
    Id,
    Path,
    Who,
    Operations,
    /// The filter, if the principal lacks a claim for it.
    Where,
}

impl RulePart {
    /// The parts that are compared with a use of a place. Those that are compared fast come first.
    const COMPARED: [Self; 6] = [
        Self::Actions,
        Self::Operations,
        Self::Collection,
        Self::Id,
        Self::Path,
        Self::Who,
    ];
}

impl Rule {
    /// Whether the rule covers a place, apart from its filter.
    pub(super) fn covers(
        &self,
        principal: &Principal,
        is_listed: bool,
        used: &PlaceUsed<'_>,
    ) -> bool {
        self.unmatched(principal, is_listed, used).next().is_none()
    }

    /// Whether the rule covers any place in the collection of a use.
    pub(super) fn is_for(
        &self,
        principal: &Principal,
        is_listed: bool,
        used: &PlaceUsed<'_>,
    ) -> bool {
        let is_inside = |part| matches!(part, RulePart::Id | RulePart::Path);
        self.unmatched(principal, is_listed, used).all(is_inside)
    }

    /// The parts that a use of a place does not match.
    pub(super) fn unmatched(
        &self,
        principal: &Principal,
        is_listed: bool,
        used: &PlaceUsed<'_>,
    ) -> impl Iterator<Item = RulePart> {
        let matches = move |part: &RulePart| match part {
            RulePart::Actions => self.actions.has(used.action),
            RulePart::Operations => is_listed || !self.listed_only,
            RulePart::Collection => {
                let names = |name: &Template| name.names(&used.collection, principal.claims());
                self.collection.as_ref().is_none_or(names)
            }
            RulePart::Id => self.id.as_ref().is_none_or(|pattern| {
                let is = |id: &DocumentId| pattern.is(id, principal.claims());
                used.id.as_deref().is_some_and(is)
            }),
            RulePart::Path => {
                used.action == Action::List || is_at_or_below(&used.path, &self.path, principal)
            }
            RulePart::Who => self.who.is(principal),
            RulePart::Where => true,
        };
        RulePart::COMPARED
            .into_iter()
            .filter(move |part| !matches(part))
    }
}

fn is_at_or_below(path: &Path, above: &[TokenPattern], principal: &Principal) -> bool {
    let tokens = path.tokens();
    above.len() <= tokens.len()
        && above
            .iter()
            .zip(tokens)
            .all(|(pattern, token)| pattern.covers(token, principal.claims()))
}

impl Who {
    fn is(&self, principal: &Principal) -> bool {
        match (self, principal) {
            (Self::Anyone, _) | (Self::User, Principal::User { .. }) => true,
            (Self::Token(name), Principal::Token { name: sent }) => **name == **sent,
            (Self::Claim(name, test), Principal::User { claims }) => {
                name.of(claims).is_some_and(|claim| test.passes(claim))
            }
            (Self::User | Self::Token(_) | Self::Claim(..), _) => false,
        }
    }
}

impl IdPattern {
    fn is(&self, id: &DocumentId, claims: Option<&Map<String, Value>>) -> bool {
        match self {
            Self::Exact(exact) => exact == id,
            Self::Claim(template) => template
                .filled(claims)
                .is_some_and(|filled| filled.is_display_of(id)),
        }
    }
}

impl TokenPattern {
    /// Whether every place that `token` can mean is one that the pattern can mean.
    fn covers(&self, token: &Token, claims: Option<&Map<String, Value>>) -> bool {
        let filled = match self {
            Self::Exact(exact) => return exact == token || Self::is_one_of(exact, token),
            Self::Claim(template) => template.filled(claims),
        };
        match (filled, token) {
            (
                Some(FilledTemplate::Alone(Value::Number(number))),
                Token::Segment(Segment::Index(index)),
            ) => number.as_u64() == Some(*index),
            (
                Some(FilledTemplate::Alone(Value::String(name))),
                Token::Segment(Segment::Key(key)),
            ) => name == key,
            (Some(filled @ FilledTemplate::Text(..)), Token::Segment(Segment::Key(key))) => {
                filled.is(key)
            }
            _ => false,
        }
    }

    /// Whether `segment` is one of the places that an ambiguous token of a rule means.
    fn is_one_of(ambiguous: &Token, segment: &Token) -> bool {
        match (ambiguous, segment) {
            (Token::Digits(digits), Token::Segment(Segment::Index(index))) => digits == index,
            (Token::Digits(_) | Token::Dash, Token::Segment(Segment::Key(key))) => {
                ambiguous.as_key().is_some_and(|name| name == *key)
            }
            _ => false,
        }
    }
}
