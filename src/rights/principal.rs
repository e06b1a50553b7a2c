//! Who sends a request.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

/// The sender of a request, as the server has authenticated it.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Principal {
    /// May do everything: whoever can open the local socket, and everybody if there are no rules.
    Operator,
    /// A caller without a token.
    #[default]
    Anonymous,
    /// A caller with a token of the token file, which has this name.
    Token {
        /// The name.
        name: Arc<str>,
    },
    /// A user with a verified token.
    User {
        /// The claims of the token.
        claims: Arc<Map<String, Value>>,
    },
}

impl Principal {
    /// The claims. None for callers without a user's token.
    pub(super) fn claims(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::User { claims } => Some(claims),
            Self::Operator | Self::Anonymous | Self::Token { .. } => None,
        }
    }
}

/// Shows no claim, because logs must not contain any.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operator => f.write_str("Operator"),
            Self::Anonymous => f.write_str("Anonymous"),
            Self::Token { name } => f.debug_struct("Token").field("name", name).finish(),
            Self::User { .. } => f.write_str("User"),
        }
    }
}
