//! Documents through the database: whatever goes in comes out, whole and in parts.

mod catalogued;
mod checked;
mod damages;
mod malformed;
#[path = "../model/mod.rs"]
mod model;
mod round_trip;
mod world;
