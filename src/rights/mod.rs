//! Access rules: who may do what, at which places.
//!
//! Rules only allow. A request is a list of the [places](PlaceUsed) that it uses, each with an
//! [action](Action), and a rule covers a place of a document with everything below it. The places of a
//! request are known before anything is read, so [`Rules::decide`] refuses a request before it reads:
//! every place must be at or below one that a rule for the [principal](Principal) covers.
//!
//! A rule with a `where` covers its place only in documents that pass a filter, which is not known
//! before the document is read. Then the [decision](Decision) is a [condition](Conditions) on each
//! document: for every place, the filter of one of the rules that cover it holds. The conditions of
//! different places are not interchangeable. With one rule for `/a` where W1 holds and one for `/b`
//! where W2 holds, a request that reads both needs W1 and W2: W1 or W2 would show `/b` of documents
//! that pass only W1.
//!
//! A path can be ambiguous: `/a/0` is an element or a member, and `-1` of a list is some element. A rule
//! covers it only if it covers everything that the path can mean, whatever is stored.

mod action;
mod claim;
mod decision;
mod explain;
mod parse;
mod place_used;
mod principal;
mod request_rights;
mod rule;
mod rules;
mod template;
mod where_filter;

#[cfg(test)]
mod tests;

pub use action::Action;
pub use decision::{Conditions, Decision};
pub use explain::Explanation;
pub use place_used::PlaceUsed;
pub use principal::Principal;
pub use request_rights::RequestRights;
pub use rules::Rules;
