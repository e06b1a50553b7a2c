//! Hostile requests against a real server, and the bounds that hold while they run.
//!
//! `generated` sends random requests at their maxima for a minute; `subscribed` does the same with
//! subscriptions; `unfinished` leaves connections in the middle of a request or a response;
//! `findings` sends requests that once broke a bound; `templates` has every field and argument of the
//! schema at its maximum. They start the server with the limits of [`limits`] and assert those of
//! [`bounds`].
//! They are long tests, because they measure latencies; setting one of these variables runs them too.
//!
//! | variable | what it does |
//! |---|---|
//! | `PHYLLO_HOSTILE_SECONDS` | how long random requests are sent; 60 if not given |
//! | `PHYLLO_HOSTILE_SEED` | the seed of a run; a failure prints the one that it had |
//! | `PHYLLO_HOSTILE_FAMILIES` | sends only requests whose family has one of these words in its name, separated by commas |
//! | `PHYLLO_PROGRAM` | the server to test, a release build; the bounds of a release build apply |
//!
//! For hours: `PHYLLO_HOSTILE_SECONDS=7200 cargo test --release --test hostile generated`.

mod after;
mod bounds;
mod client;
mod findings;
mod generated;
mod items;
mod limits;
mod many_subscriptions;
mod referring;
mod requests;
mod server;
#[path = "../skip/mod.rs"]
mod skip;
mod subscribed;
mod templates;
mod unfinished;
mod watch;
mod world;
