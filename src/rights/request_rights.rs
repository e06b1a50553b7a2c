//! What the sender of a request may do.

use std::sync::Arc;

use super::action::Action;
use super::decision::Decision;
use super::place_used::PlaceUsed;
use super::principal::Principal;
use super::rules::Rules;
use crate::document::path::Path;

/// Who sends a request, and the rules that are in force for it.
#[derive(Clone, Debug)]
pub struct RequestRights {
    /// The sender.
    pub principal: Principal,
    /// The rules. None if the server has none: then every request is allowed.
    pub rules: Option<Arc<Rules>>,
    /// Whether the operation is one of the listed operations, sent by its id.
    pub is_listed: bool,
}

impl RequestRights {
    /// The rights of the operator: everything is allowed.
    pub fn operator() -> Self {
        Self {
            principal: Principal::Operator,
            rules: None,
            is_listed: false,
        }
    }

    /// The rules, if they limit this request.
    pub fn rules_in_force(&self) -> Option<&Rules> {
        match self.principal {
            Principal::Operator => None,
            _ => self.rules.as_deref(),
        }
    }

    /// Whether an action is allowed anywhere in a collection, in some document and at some path of it.
    pub fn allow_somewhere(&self, action: Action, collection: &str) -> bool {
        let Some(rules) = self.rules_in_force() else {
            return true;
        };
        let used = PlaceUsed::in_collection(action, collection, Path::root());
        rules.allows_somewhere(&self.principal, self.is_listed, &used)
    }

    /// The rules that may be compared with one place.
    pub fn rule_count(&self) -> u64 {
        self.rules_in_force().map_or(0, Rules::len) as u64
    }

    /// Whether a rule covers a place in documents with certain keys only.
    pub fn cover_some_keys(&self, used: &PlaceUsed<'_>) -> bool {
        let rules = self.rules_in_force();
        rules.is_some_and(|rules| rules.cover_some(&self.principal, self.is_listed, used, true))
    }

    /// Whether a rule covers a place in some documents.
    pub fn cover_some_documents(&self, used: &PlaceUsed<'_>) -> bool {
        let rules = self.rules_in_force();
        rules.is_none_or(|rules| rules.cover_some(&self.principal, self.is_listed, used, false))
    }

    /// Decides whether the request may use places.
    pub fn decide(&self, used: &[PlaceUsed<'_>]) -> Decision {
        match self.rules_in_force() {
            None => Decision::Allowed,
            Some(rules) => rules.decide(&self.principal, self.is_listed, used),
        }
    }
}
