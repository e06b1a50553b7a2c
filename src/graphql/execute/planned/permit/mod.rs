//! Access rules: what they allow a bound plan.
//!
//! This is the only place between binding and the first read. [`used_places`] collects every place that a
//! bound plan uses, [`apply_rules`] asks the rules for all of them at once. If no rule covers one of them, the
//! plan is not executed, so nothing is read. If rules cover them only in documents that pass a filter:
//!
//! - The filter is added to that of a page of documents.
//! - For a document that is named, the filter is evaluated first, in the same snapshot or transaction. A
//!   document that does not pass is not read at all. It is answered as one that does not exist, and takes
//!   the same reads.
//! - For a document to which a reference leads, the rules are asked when its key is known
//!   ([`followed_rights`]). If they do not allow it, the reference leads nowhere.
//! - A document to which a mutation writes a reference that must exist is as an absent one if they do not allow to read
//!   it ([`required_rights`]).
//! - What shows something of other documents is refused: counts, groups and plans.

pub(crate) mod apply_rules;
mod followed_rights;
pub(crate) mod hidden_documents;
pub(crate) mod required_rights;
pub(crate) mod used_places;
