//! The suite of documents, on a cluster.

use super::case::Case;
use super::model;
use super::shared::empty_store;

#[path = "../documents/adopted.rs"]
mod adopted;
#[path = "../documents/catalogued.rs"]
mod catalogued;
#[path = "../documents/malformed.rs"]
mod malformed;
#[path = "../documents/round_trip.rs"]
mod round_trip;
#[path = "../documents/world.rs"]
mod world;

pub(crate) fn suite() -> Vec<Case> {
    [
        adopted::suite(),
        catalogued::suite(),
        malformed::suite(),
        round_trip::suite(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
