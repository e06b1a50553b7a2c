//! The suite of documents, on a cluster.

use phyllo::database::Existing;
use phyllo::key::Family;
use world::{World, numbered};

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

cases!(sync[a_check_finds_exactly_the_damage]);

pub(crate) fn all() -> Vec<Case> {
    [
        suite(),
        adopted::suite(),
        catalogued::suite(),
        malformed::suite(),
        round_trip::suite(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn a_check_finds_exactly_the_damage() {
    let world = World::damaged("the test damages it");
    for id in 0..50 {
        let json = r#"{"a":[1,{"b":[]}],"c":"text"}"#;
        world.put(&numbered(id), json, Existing::Fail).expect("new");
    }
    let (found, summary) = world.check(None);
    assert_eq!((found, summary.documents, summary.faults), (vec![], 50, 0));
    let document = numbered(7);
    let existence = Family::Existence(&document.collection, &document.id);
    let existence = existence.key().expect("short");
    world.clear(&existence);
    let (found, summary) = world.check(None);
    assert!(summary.faults > 0, "{found:?}");
}
