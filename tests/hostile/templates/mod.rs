//! Every field and argument of the schema at its maximum, over every transport.
//!
//! The list has an operation for each of them; a new one in the schema fails the test until the list
//! has it. The other test sends them to a server and asserts how long a poll of a task takes
//! (`phyllo_longest_poll_seconds`) and how many steps of work it has (`phyllo_longest_poll_steps`), which
//! do not depend on the machine. It prints how many polls were long (`phyllo_long_polls_total`). Builds
//! with debug assertions measure time of the processor, so other work on the machine does not count. For
//! the bound of an optimized build:
//!
//! ```sh
//! cargo build --locked --profile polls
//! PHYLLO_PROGRAM=target/polls/phyllo cargo test --locked --test hostile -- template
//! ```

mod coverage;
mod mutations;
mod one_step;
mod queries;
mod references;
mod subscriptions;
mod transports;
mod typed;

use std::time::Duration;

use coverage::{Coordinates, Schema};
use phyllo::limits::POLL_STEPS_MAX;
use serde_json::{Value, json};
use transports::Transport;

use super::client::Client;
use super::limits::Limits;
use super::server::{Server, alone, is_release};
use super::world;

/// The longest poll in an optimized build with debug assertions.
const LONGEST_POLL_MAX: Duration = Duration::from_millis(2);
/// How many times as long the same work takes in a build for tests.
const DEBUG_FACTOR: u32 = 10;

/// The longest poll of the program that is tested.
fn longest_poll_max() -> Duration {
    if is_release() {
        LONGEST_POLL_MAX
    } else {
        LONGEST_POLL_MAX * DEBUG_FACTOR
    }
}

/// An operation at its maximum.
pub(super) struct Template {
    pub(super) name: &'static str,
    pub(super) query: String,
    pub(super) variables: Value,
}

impl Template {
    fn new(name: &'static str, query: String, variables: Value) -> Self {
        Self {
            name,
            query,
            variables,
        }
    }
}

/// Texts that only a store has.
struct Known {
    /// After half of the elements of an array.
    child_cursor: String,
    /// After half of the documents of a collection.
    page_cursor: String,
    /// Empty if the server keeps no log of changes.
    changes_cursor: String,
    version: String,
    /// The global ids of documents.
    ids: Vec<String>,
}

impl Known {
    /// For a test without a store.
    fn unknown() -> Self {
        let text = || "unknown".to_owned();
        Self {
            child_cursor: text(),
            page_cursor: text(),
            changes_cursor: text(),
            version: text(),
            ids: vec![text()],
        }
    }

    fn read(client: &mut Client) -> Self {
        let query = "{ changesCursor
            document(collection: \"arrays\", id: \"numbers\") {
                version children(first: 1000) { pageInfo { endCursor } } }
            documents(collection: \"small\", first: 150) {
                nodes { id } pageInfo { endCursor } } }";
        let data = client.data(query, &json!({}));
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let nodes = data["documents"]["nodes"].as_array().expect("a list");
        Self {
            child_cursor: text(&data["document"]["children"]["pageInfo"]["endCursor"]),
            page_cursor: text(&data["documents"]["pageInfo"]["endCursor"]),
            changes_cursor: data["changesCursor"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            version: text(&data["document"]["version"]),
            ids: nodes.iter().map(|node| text(&node["id"])).collect(),
        }
    }
}

/// All templates, for a server that has the documents of [`world`].
pub(super) fn of(client: &mut Client) -> Vec<Template> {
    of_world(&Known::read(client))
}

/// All templates, with those of the collections that have types.
fn of_world(known: &Known) -> Vec<Template> {
    let mut templates = all(known);
    templates.extend(typed::templates());
    templates.extend(references::templates());
    templates
}

fn all(known: &Known) -> Vec<Template> {
    let mut all = queries::templates(known);
    all.extend(mutations::templates(known));
    all.extend(one_step::templates(known));
    all.extend(subscriptions::templates(known));
    all
}

#[test]
fn every_field_and_argument_has_a_template() {
    let schema = Schema::parse(include_str!("../../../schema.graphql"));
    let mut missing = schema.coordinates();
    assert!(missing.len() > 200, "{} coordinates", missing.len());
    for template in all(&Known::unknown()) {
        let used: Coordinates = schema.used(&template.query, &template.variables);
        missing.retain(|coordinate| !used.contains(coordinate));
    }
    // Fields of an interface are selected on its types too.
    missing.remove("Node.id");
    assert!(missing.is_empty(), "no template has {missing:#?}");
}

#[test]
fn no_template_keeps_a_thread_from_others() {
    let Some(_alone) = alone() else { return };
    let limits = Limits::LOW;
    let flags = ["--change-retention", "1h", "--message-bytes-max", "4MiB"];
    let server = Server::start_with(&limits, &flags);
    let mut client = server.client();
    world::fill(&mut client, 0);
    let mut wrong = String::new();
    let mut before = Polls::read(&mut client);
    for transport in Transport::ALL {
        let known = Known::read(&mut client);
        for template in of_world(&known) {
            if !transport.takes(&template) {
                continue;
            }
            transport.send(&server, &template);
            let now = Polls::read(&mut client);
            let name = format!("{} by {transport:?}", template.name);
            let long = now.long - before.long;
            println!("{name}: {long} long polls, {now:?}");
            if now.longest > before.longest.max(longest_poll_max()) {
                wrong.extend([format!("{name}: {:?}\n", now.longest)]);
            }
            if now.steps > before.steps.max(POLL_STEPS_MAX) {
                wrong.extend([format!("{name}: {} steps\n", now.steps)]);
            }
            before = now;
        }
    }
    assert!(wrong.is_empty(), "polls that take too long:\n{wrong}");
}

/// The polls so far.
#[derive(Debug)]
struct Polls {
    long: u64,
    longest: Duration,
    /// The most steps of one.
    steps: u64,
}

impl Polls {
    fn read(client: &mut Client) -> Self {
        let response = client.send(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
        let text = response.expect("it answers").text();
        let metric = |name: &str| {
            let mut lines = text.lines();
            let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            found.expect("a metric").to_owned()
        };
        let number = |name| metric(name).parse().expect("a number");
        let longest = metric("phyllo_longest_poll_seconds").parse();
        Self {
            long: number("phyllo_long_polls_total"),
            longest: Duration::from_secs_f64(longest.expect("a number")),
            steps: number("phyllo_longest_poll_steps"),
        }
    }
}
