//! The types of collections in the store, and the validation of changes.
//!
//! The head of a type ([`TypeHead`](head::TypeHead)) follows the definitions of the indexes of its
//! collection, so every write reads both as one range, under conflict: a write of a collection without
//! a type costs nothing more, and a transaction that was validated against a type conflicts with the
//! one that changes it. The head has the digest of the schema, by which a process finds the parsed
//! type ([`TypeCache`](type_cache::TypeCache)); the text of the schema is read once.
//!
//! An edit records the places that it touches ([`TouchedPlaces`](touched_places::TouchedPlaces)). At its
//! end they are validated as the transaction now has them, so a patch may pass through states that do
//! not fit ([`TypeGuard`](type_guard::TypeGuard)). A document that fitted before and fits at the touched
//! places fits as a whole: no keyword relates places that are far from each other. So the cost grows with the
//! change, and documents that were stored before the type are checked once, in the background
//! ([`TypeChecker`](crate::database::TypeChecker)).

pub(crate) mod all_types;
pub(crate) mod define;
pub(crate) mod head;
pub(crate) mod misfits;
pub(crate) mod pending_references;
pub(crate) mod referring_types;
pub(crate) mod touched_places;
pub(crate) mod type_cache;
pub(crate) mod type_guard;
pub(crate) mod validate;
