//! Documents through the database: values are returned as stored, whole and in parts.

#[macro_use]
#[path = "../cases/mod.rs"]
mod cases;

use cases::new_store as empty_store;

mod adopted;
mod catalogued;
mod checked;
mod corruptions;
mod malformed;
#[path = "../model/mod.rs"]
mod model;
mod round_trip;
mod world;
