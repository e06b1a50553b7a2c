//! The access rules of a server, which can be replaced while it runs.

use std::future::pending;
use std::sync::Arc;

use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::rights::{Principal, RequestRights, Rules};

/// The access rules that are in force now.
#[derive(Clone, Debug)]
pub struct RulesInForce(watch::Receiver<Arc<Rules>>);

impl RulesInForce {
    /// The newest rules that a channel has.
    pub fn new(rules: watch::Receiver<Arc<Rules>>) -> Self {
        Self(rules)
    }

    /// Rules that nobody replaces.
    pub fn fixed(rules: Rules) -> Self {
        Self(watch::channel(Arc::new(rules)).1)
    }

    /// The same rules, to notice when they are replaced from now on.
    pub(crate) fn followed(&self) -> Self {
        let mut followed = self.clone();
        followed.0.mark_unchanged();
        followed
    }

    /// Waits until the rules are replaced.
    async fn replaced(&mut self) {
        if self.0.changed().await.is_err() {
            pending::<()>().await;
        }
    }

    fn current(&self) -> Arc<Rules> {
        self.0.borrow().clone()
    }
}

/// Whether the rules were replaced since they were [followed](RulesInForce::followed).
pub(crate) fn are_replaced(rules: Option<&RulesInForce>) -> bool {
    rules.is_some_and(|rules| rules.0.borrow().has_changed())
}

/// Waits until the rules are replaced. Without rules, forever.
pub(crate) async fn replaced(rules: &mut Option<RulesInForce>) {
    match rules {
        Some(rules) => rules.replaced().await,
        None => pending().await,
    }
}

/// Whose requests have the same [`caller_digest`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SameCaller {
    /// Those with the same rights: equal claims, and operations that are listed, or not.
    Rights,
    /// Those of one user, with any token, if tokens name the user by the claims `iss` and `sub`.
    User,
}

/// A digest that distinguishes callers whose requests the rules limit. None for others.
pub(crate) fn caller_digest(rights: &RequestRights, same: SameCaller) -> Option<[u8; 32]> {
    rights.rules_in_force()?;
    let mut digest = Sha256::new();
    if same == SameCaller::Rights && rights.is_listed {
        digest.update(b"listed:");
    }
    match &rights.principal {
        Principal::Operator => return None,
        Principal::Anonymous => digest.update(b"anonymous"),
        Principal::Token { name } => {
            digest.update(b"token:");
            digest.update(name.as_bytes());
        }
        Principal::User { claims } => {
            let claims = &**claims;
            let named = (claims.get("iss"), claims.get("sub"));
            let text = match named {
                (Some(issuer), Some(subject)) if same == SameCaller::User => {
                    json!([issuer, subject]).to_string()
                }
                _ => json!(claims).to_string(),
            };
            digest.update(b"user:");
            digest.update(text.as_bytes());
        }
    }
    Some(digest.finalize().into())
}

/// What a caller may do now. Without rules, everything. `is_listed` says whether the operation is a listed
/// one, sent by its id.
pub(crate) fn rights_of(
    rules: Option<&RulesInForce>,
    principal: Principal,
    is_listed: bool,
) -> RequestRights {
    RequestRights {
        principal,
        rules: rules.map(RulesInForce::current),
        is_listed,
    }
}
