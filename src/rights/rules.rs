//! Rules, indexed by collection, and what they decide.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use super::decision::{Conditions, Decision};
use super::parse;
use super::place_used::PlaceUsed;
use super::principal::Principal;
use super::rule::{Rule, RulePart};
use super::template::Template;
use crate::document::filter::Filter;
use crate::error::Result;

/// The rules of a server.
pub struct Rules {
    all: Vec<Rule>,
    /// The numbers of the rules for one collection, ascending.
    of_collection: HashMap<Box<str>, Vec<usize>>,
    /// The numbers of the rules for every collection, or for one that a claim names, ascending.
    of_any_collection: Vec<usize>,
    /// The places that were decided, if they are recorded.
    recorded: Option<Mutex<Vec<PlaceUsed<'static>>>>,
}

impl Rules {
    /// Parses a file of rules (docs/access.md).
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not TOML, or not rules. `TOO_LARGE`: there are too many.
    /// `TOO_COMPLEX`: a `where` exceeds the limits on filters. The message begins with the line and
    /// the column.
    pub fn parse(text: &str) -> Result<Self> {
        Ok(Self::new(parse::rules(text)?))
    }

    fn new(rules: Vec<Rule>) -> Self {
        let mut of_collection = HashMap::<_, Vec<_>>::new();
        let mut of_any_collection = Vec::new();
        for (number, rule) in rules.iter().enumerate() {
            match &rule.collection {
                Some(Template::Literal(name)) => {
                    of_collection.entry(name.clone()).or_default().push(number);
                }
                Some(Template::Claim { .. }) | None => of_any_collection.push(number),
            }
        }
        Self {
            all: rules,
            of_collection,
            of_any_collection,
            recorded: None,
        }
    }

    /// The same rules, which record the places that they decide about.
    #[must_use]
    pub fn recording(self) -> Self {
        Self {
            recorded: Some(Mutex::default()),
            ..self
        }
    }

    /// The places that were decided, each once.
    pub fn recorded(&self) -> Vec<PlaceUsed<'static>> {
        let recorded = self.recorded.iter().map(|places| places.lock());
        let recorded =
            recorded.map(|places| places.unwrap_or_else(PoisonError::into_inner).clone());
        recorded.flatten().collect()
    }

    fn record(&self, used: &[PlaceUsed<'_>]) {
        if let Some(recorded) = &self.recorded {
            let mut recorded = recorded.lock().unwrap_or_else(PoisonError::into_inner);
            for place in used {
                if !recorded.contains(place) {
                    recorded.push(place.clone().into_owned());
                }
            }
        }
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are no rules, so that everything is refused.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// All rules, in the order of the file.
    pub(super) fn all(&self) -> &[Rule] {
        &self.all
    }

    /// Decides whether a principal may use places. Each place must be at or below a place that a rule
    /// covers. `is_listed` says whether the operation is one of the listed operations, sent by its
    /// id.
    pub fn decide(
        &self,
        principal: &Principal,
        is_listed: bool,
        used: &[PlaceUsed<'_>],
    ) -> Decision {
        if matches!(principal, Principal::Operator) {
            return Decision::Allowed;
        }
        self.record(used);
        let mut conditions = Conditions::default();
        for (number, place) in used.iter().enumerate() {
            let refused = || Decision::Refused(Box::new(place.clone().into_owned()));
            match self.cover(principal, is_listed, place) {
                Cover::Always => {}
                Cover::Never => return refused(),
                Cover::Where(rules) => {
                    let fill = |rule| self.filter(rule, principal);
                    if !conditions.add(number, &rules, fill) {
                        return refused();
                    }
                }
            }
        }
        if conditions.is_empty() {
            return Decision::Allowed;
        }
        Decision::Depends(conditions)
    }

    /// Whether a rule allows a principal an action anywhere in a collection.
    pub(super) fn allows_somewhere(
        &self,
        principal: &Principal,
        is_listed: bool,
        used: &PlaceUsed<'_>,
    ) -> bool {
        self.candidates(&used.collection)
            .any(|number| self.all[number].is_for(principal, is_listed, used))
    }

    /// Whether a rule covers a place in some documents, whose key is not known. If `by_key`, only rules for
    /// certain keys count.
    pub(super) fn cover_some(
        &self,
        principal: &Principal,
        is_listed: bool,
        used: &PlaceUsed<'_>,
        by_key: bool,
    ) -> bool {
        let mut rules = self.candidates(&used.collection);
        rules.any(|number| {
            let rule = &self.all[number];
            let mut unmatched = rule.unmatched(principal, is_listed, used);
            (rule.id.is_some() || !by_key) && unmatched.all(|part| part == RulePart::Id)
        })
    }

    /// The rules that cover a place.
    fn cover(&self, principal: &Principal, is_listed: bool, place: &PlaceUsed<'_>) -> Cover {
        let mut conditional = Vec::new();
        for number in self.candidates(&place.collection) {
            let rule = &self.all[number];
            if rule.covers(principal, is_listed, place) {
                if rule.filter.is_none() {
                    return Cover::Always;
                }
                conditional.push(number);
            }
        }
        if conditional.is_empty() {
            return Cover::Never;
        }
        Cover::Where(conditional)
    }

    /// The numbers of the rules that can cover a place of the collection.
    fn candidates(&self, collection: &str) -> impl Iterator<Item = usize> + '_ {
        let of_collection = self.of_collection.get(collection).into_iter().flatten();
        of_collection.chain(&self.of_any_collection).copied()
    }

    fn filter(&self, rule: usize, principal: &Principal) -> Option<Filter> {
        let filter = self.all[rule].filter.as_ref()?;
        filter.filled(principal.claims())
    }
}

/// The rules that cover a place.
enum Cover {
    /// A rule without a filter.
    Always,
    /// Only these rules, which have filters.
    Where(Vec<usize>),
    Never,
}

/// Shows the number of rules.
impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
