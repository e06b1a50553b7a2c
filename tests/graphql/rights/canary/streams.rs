//! Random subscribers of stores that change, under rules that change.
//!
//! - No response has a canary that the rules in force do not allow this caller to read.
//! - A live query ends up with what the caller may read now. It is null when the document is hidden, once
//!   and without content. Nothing is sent twice.
//! - A subscriber of changes gets each change of what it follows once and in order, cut to the place that it
//!   may read.
//! - A stream ends with `FORBIDDEN` when the rules do not allow it any more, and never before.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use phyllo::graphql::{RulesInForce, Started};
use phyllo::rights::Rules;
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, IteratorRandom as _};
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::super::super::replica::{ARRIVAL_TIME_MAX, Responses};
use super::documents::{canaries, dump, random_documents, store};
use super::followed::{ChangeLog, FollowedPlace};
use super::moments::{CanaryPlaces, Moment};
use super::oracle::{Caller, Documents, Oracle, TestRule, parsed};
use super::subscriptions::{Cursor, Followed, subscription, write};
use super::{Client, NONE, client, stores_at_once};

cases!(
    async [
        streams_have_all_that_their_callers_may_read_and_nothing_else,
    ]
);

/// 1,000 cases in the long tests.
const CASES_PER_SEQUENCE: usize = 5;

/// So many stores have streams of all kinds.
const WORLDS_OF_ALL_KINDS: usize = 50;

/// The writes and replacements of rules of one store.
const CHANGES: usize = 20;

/// The streams that are open at the same time.
const STREAMS: usize = 8;

async fn streams_have_all_that_their_callers_may_read_and_nothing_else() {
    let worlds = super::cases(CASES_PER_SEQUENCE) / CHANGES;
    let seeds = super::first_seed()..;
    // Pages are executed at most a few times a second, so worlds wait together.
    let run = |seed| async move { World::new(seed).await.run().await };
    let runs = futures::stream::iter(seeds.take(worlds)).map(run);
    let mut runs = runs.buffer_unordered(stores_at_once());
    let mut seen = Seen::default();
    while let Some(of_world) = runs.next().await {
        for (kind, count) in of_world {
            *seen.entry(kind).or_default() += count;
        }
    }
    println!("{seen:?}");
    if worlds < WORLDS_OF_ALL_KINDS {
        return;
    }
    for kind in [
        OPENED,
        REOPENED,
        RESUMED,
        REFUSED,
        ENDED,
        LIVE_RESPONSES,
        HIDDEN_DOCUMENTS,
        WHOLE_CHANGES,
        CUT_CHANGES,
        CANARIES,
    ] {
        let count = seen.get(kind).copied().unwrap_or_default();
        assert!(count * 25 >= worlds, "{count} {kind}");
    }
}

/// What the streams had.
type Seen = BTreeMap<&'static str, usize>;

const OPENED: &str = "streams opened";
const REOPENED: &str = "live queries opened again when the rules were replaced";
const RESUMED: &str = "streams resumed after a cursor";
const REFUSED: &str = "streams refused at their start";
const ENDED: &str = "streams ended by other rules";
const LIVE_RESPONSES: &str = "responses of live queries";
const HIDDEN_DOCUMENTS: &str = "responses that a document is gone, though it exists";
const WHOLE_CHANGES: &str = "whole changes";
const CUT_CHANGES: &str = "changes of a part";
const CANARIES: &str = "canaries told";

struct Stream {
    followed: Followed,
    query: String,
    caller: usize,
    responses: Responses,
    /// The newest response of a live query.
    newest: Option<Value>,
    /// The first moment of which it can have a response.
    since: usize,
    /// Whether the rules of its start do not allow it.
    is_refused_at_start: bool,
}

struct World {
    seed: u64,
    random: StdRng,
    next: u64,
    all: Client,
    /// Clients with the rules, of each caller.
    limited: [Client; 2],
    rules: watch::Sender<Arc<Rules>>,
    logs: BTreeMap<&'static str, ChangeLog>,
    cursors: Vec<Cursor>,
    /// The moments since all streams had all that they should have. Not empty.
    moments: Vec<Moment>,
    places: CanaryPlaces,
    streams: Vec<Stream>,
    seen: Seen,
}

impl World {
    async fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let mut next = 0;
        let callers = [(); 2].map(|()| Caller::random(&mut random));
        let allowed: Vec<TestRule> = (0..4).map(|_| TestRule::random(&mut random)).collect();
        let (rules, in_force) = watch::channel(parsed(&allowed));
        let all = client().await;
        all.log_changes().await;
        let mut logs = BTreeMap::new();
        for collection in ["c", "d"] {
            logs.insert(collection, ChangeLog::new(&all, collection).await);
        }
        let documents = random_documents(&mut random, &mut next);
        store(&all, &documents).await;
        let first = all.limited(RulesInForce::new(in_force), callers[0].principal());
        let second = first.sent_by(callers[1].principal());
        let oracles = callers.map(|caller| Oracle {
            rules: allowed.clone(),
            caller,
        });
        let mut world = Self {
            seed,
            random,
            next,
            all,
            limited: [first, second],
            rules,
            logs,
            cursors: Vec::new(),
            moments: vec![Moment {
                documents: Rc::default(),
                oracles: Rc::new(oracles),
            }],
            places: CanaryPlaces::default(),
            streams: Vec::new(),
            seen: Seen::default(),
        };
        world.read_logs().await;
        world
    }

    async fn run(mut self) -> Seen {
        let mut changes = 0;
        while changes < CHANGES {
            // The rules are replaced at most once, so that a stream can only be refused by those of its
            // start and by those at the end.
            let replaced_before = self.random.random_range(0..8);
            for step in 0..self.random.random_range(1..5) {
                if step == replaced_before {
                    self.replace_rules();
                    self.reopen().await;
                } else {
                    self.write().await;
                }
                changes += 1;
                while self.streams.len() < STREAMS && self.random.random_bool(0.7) {
                    self.open_random().await;
                }
            }
            self.settle().await;
        }
        self.seen
    }

    fn count(&mut self, kind: &'static str) {
        *self.seen.entry(kind).or_default() += 1;
    }

    fn now(&self) -> &Moment {
        self.moments.last().expect("a moment")
    }

    fn documents(&self) -> Rc<Documents> {
        self.now().documents.clone()
    }

    fn oracle(&self, caller: usize) -> &Oracle {
        &self.now().oracles[caller]
    }

    fn context(&self, stream: &Stream) -> String {
        let oracle = self.oracle(stream.caller);
        format!(
            "PHYLLO_TEST_SEED={} PHYLLO_CANARY_CASES={CHANGES}\n{:?}\n{}\n{}\n{:#?}",
            self.seed,
            oracle.caller,
            TestRule::file(&oracle.rules),
            stream.query,
            self.now().documents,
        )
    }

    /// Changes the documents, and notes the moment.
    async fn write(&mut self) {
        let documents = self.documents();
        let (query, variables) = write(&mut self.random, &mut self.next, &documents);
        self.all.ask(&query, &variables).await;
        self.note_documents().await;
    }

    async fn note_documents(&mut self) {
        let documents = dump(&self.all).await;
        let before = self.documents();
        self.places.add(&documents, &before);
        let oracles = self.now().oracles.clone();
        let documents = Rc::new(documents);
        self.moments.push(Moment { documents, oracles });
    }

    /// Replaces the rules by similar ones.
    fn replace_rules(&mut self) {
        let random = &mut self.random;
        let Moment { documents, oracles } = self.moments.last().expect("a moment");
        let mut allowed = oracles[0].rules.clone();
        allowed.retain(|_| random.random_bool(0.75));
        while allowed.len() < 4 {
            allowed.push(TestRule::random(random));
        }
        self.rules.send_replace(parsed(&allowed));
        let oracles = oracles.each_ref().map(|oracle| Oracle {
            rules: allowed.clone(),
            caller: oracle.caller.clone(),
        });
        let moment = Moment {
            documents: documents.clone(),
            oracles: Rc::new(oracles),
        };
        self.moments.push(moment);
    }

    /// Reads all changes so far, and keeps a cursor after them.
    async fn read_logs(&mut self) {
        let marker = self.random.random_range(0..1_000_000_000_u64);
        let marked = |collection: &str| {
            format!(
                r#"{collection}: replaceDocument(collection: "{collection}", id: "marker", document: [{marker}]) {{ version }}"#
            )
        };
        let marked = format!("{} {}", marked("c"), marked("d"));
        let marked = self.all.mutate(&marked).await;
        self.note_documents().await;
        for (collection, log) in &mut self.logs {
            log.read_to(&marked[collection]["version"]).await;
        }
        let cursor = self.all.data("{ changesCursor }", NONE).await;
        let cursor = cursor["changesCursor"].as_str().expect("a cursor");
        let logs = self.logs.iter();
        let counts = logs.map(|(name, log)| (*name, log.changes.len()));
        self.cursors.push((cursor.to_owned(), counts.collect()));
    }

    /// Starts a random subscription, or one that is open once more.
    async fn open_random(&mut self) {
        let open = self.streams.choose(&mut self.random);
        let open = open.filter(|open| open.followed.is_live() && self.random.random_bool(0.2));
        if let Some(open) = open {
            let (followed, query) = (open.followed.clone(), open.query.clone());
            return self.open(open.caller, followed, query).await;
        }
        let caller = self.random.random_range(0..2);
        let Moment { documents, oracles } = self.moments.last().expect("a moment");
        let focus = oracles[caller].focus("read", &mut self.random);
        let (followed, query) = subscription(&mut self.random, documents, focus, &self.cursors);
        self.open(caller, followed, query).await;
    }

    /// Closes a live query and opens it again at once, or opens it a second time. The program had no time to notice
    /// the last change.
    async fn reopen(&mut self) {
        let streams = self.streams.iter().enumerate();
        let live = streams.filter(|(_, stream)| stream.followed.is_live());
        let Some((at, stream)) = live.choose(&mut self.random) else {
            return;
        };
        let (caller, followed) = (stream.caller, stream.followed.clone());
        let query = stream.query.clone();
        if self.streams.len() == STREAMS || self.random.random_bool(0.5) {
            self.streams.remove(at);
        }
        self.count(REOPENED);
        self.open(caller, followed, query).await;
    }

    async fn open(&mut self, caller: usize, followed: Followed, query: String) {
        let followed = match followed {
            Followed::Changes(place, None) => {
                self.read_logs().await;
                let from = self.logs[&*place.collection].changes.len();
                Followed::Changes(place, Some(from))
            }
            Followed::Changes(..) => {
                self.count(RESUMED);
                followed
            }
            live => live,
        };
        self.count(OPENED);
        let started = self.limited[caller].start(&query, NONE).await;
        let may_follow = match &followed {
            Followed::Changes(place, _) => place.may_follow(self.oracle(caller)),
            _ => true,
        };
        let responses = match started {
            Started::Responses(responses) => Responses::of(responses),
            Started::Refused(json) => {
                let text = String::from_utf8_lossy(&json);
                // An argument of a live query can be invalid.
                let is_forbidden = text.contains("FORBIDDEN");
                let is_expected = !may_follow || (followed.is_live() && !is_forbidden);
                assert!(is_expected, "seed {}: {query}: {text}", self.seed);
                self.count(REFUSED);
                return;
            }
        };
        // It may share a query that has a response since the rules are in force.
        let oracles = &self.now().oracles;
        let is_other = |moment: &Moment| !Rc::ptr_eq(&moment.oracles, oracles);
        let since = self.moments.iter().rposition(is_other);
        let mut stream = Stream {
            followed,
            query,
            caller,
            responses,
            newest: None,
            since: since.map_or(0, |last| last + 1),
            is_refused_at_start: false,
        };
        assert!(may_follow, "it started\n{}", self.context(&stream));
        if stream.followed.is_live() {
            stream.is_refused_at_start = self.expected(&stream).await.is_none();
        }
        self.streams.push(stream);
    }
}

impl World {
    /// Asserts that all streams have all that they should have now.
    async fn settle(&mut self) {
        self.read_logs().await;
        for stream in std::mem::take(&mut self.streams) {
            let kept = match &stream.followed {
                Followed::Changes(place, from) => {
                    let (place, from) = (place.clone(), from.unwrap_or_default());
                    self.settle_changes(stream, &place, from).await
                }
                _ => self.settle_live(stream).await,
            };
            self.streams.extend(kept);
        }
        self.moments.drain(..self.moments.len() - 1);
        for stream in &mut self.streams {
            stream.since = 0;
            stream.is_refused_at_start = false;
        }
    }

    /// What a live query should have sent last. None if the rules do not allow it.
    async fn expected(&self, stream: &Stream) -> Option<Value> {
        if let Followed::Field(field) = &stream.followed {
            let query = format!("{{ {field} }}");
            let found = self.limited[stream.caller].ask(&query, NONE).await;
            return Some(found).filter(|found| !is_forbidden(found));
        }
        self.now().response(&stream.followed, stream.caller)
    }

    /// Waits until a live query has sent what it should. Returns it if it stays open.
    async fn settle_live(&mut self, mut stream: Stream) -> Option<Stream> {
        let expected = self.expected(&stream).await;
        let of_query = canaries(&stream.query);
        loop {
            let is_settled = stream.newest.is_some() && stream.newest == expected;
            let time = if is_settled {
                Duration::ZERO
            } else {
                ARRIVAL_TIME_MAX
            };
            let (mut response, text) = match stream.responses.within(time).await {
                None if is_settled => return Some(stream),
                Some(Some(response)) => response,
                other => panic!(
                    "{other:?} after {:?}, expected {expected:?}\n{}",
                    stream.newest,
                    self.context(&stream)
                ),
            };
            for number in canaries(&text) {
                self.count(CANARIES);
                let mut moments = self.moments[stream.since..].iter();
                let is_read = |moment: &Moment| moment.is_read(number, &self.places, stream.caller);
                let is_told = of_query.contains(&number) || !self.places.is_stored(number);
                assert!(
                    is_told || moments.any(is_read),
                    "the canary {number} is told\n{text}\n{}",
                    self.context(&stream)
                );
            }
            if is_forbidden(&response) {
                let may_end = expected.is_none() || stream.is_refused_at_start;
                assert!(may_end, "it ends\n{}", self.context(&stream));
                self.end(stream).await;
                return None;
            }
            let is_of_oracle = !matches!(stream.followed, Followed::Field(_));
            if is_of_oracle && let Some(nodes) = response.pointer_mut("/data/documents/nodes") {
                let nodes = nodes.as_array_mut().expect("nodes");
                nodes.sort_by_key(|node| node["key"].to_string());
            }
            let newest = Some(response);
            if is_of_oracle && newest == stream.newest {
                // Another response between them was replaced before it was taken.
                let mut moments = self.moments[stream.since..].iter();
                let response = |moment: &Moment| moment.response(&stream.followed, stream.caller);
                let differs = moments.any(|moment| response(moment) != newest);
                assert!(differs, "it is sent twice\n{}", self.context(&stream));
            }
            self.count(LIVE_RESPONSES);
            if let (Followed::Document(place), Some(_)) = (&stream.followed, &stream.newest) {
                let key = (
                    place.collection.clone(),
                    place.id.clone().unwrap_or_default(),
                );
                let is_gone = newest == Some(json!({"data": {"document": null}}));
                if is_gone && self.documents().contains_key(&key) {
                    self.count(HIDDEN_DOCUMENTS);
                }
            }
            stream.newest = newest;
        }
    }

    /// Asserts that the changes of the log from a number on are sent, and nothing else. Returns the stream if
    /// it stays open.
    async fn settle_changes(
        &mut self,
        mut stream: Stream,
        place: &FollowedPlace,
        from: usize,
    ) -> Option<Stream> {
        let oracle = self.oracle(stream.caller).clone();
        if !place.may_follow(&oracle) {
            let told = stream.responses.next().await;
            assert!(is_forbidden(&told), "{told}\n{}", self.context(&stream));
            assert_eq!(told["data"], Value::Null, "{}", self.context(&stream));
            self.end(stream).await;
            return None;
        }
        let whole = oracle.cover("read", &place.collection, place.id.as_deref(), &[]);
        let kind = if whole.is_always() {
            WHOLE_CHANGES
        } else {
            CUT_CHANGES
        };
        let log = &self.logs[&*place.collection].changes;
        let told = log[from..].iter();
        let told = told.filter_map(|change| place.told(change, &oracle));
        for expected in told.collect::<Vec<_>>() {
            let expected = json!({"data": {"changes": expected}});
            let (response, text) = match stream.responses.within(ARRIVAL_TIME_MAX).await {
                Some(Some(response)) => response,
                other => panic!("{other:?}, expected {expected}\n{}", self.context(&stream)),
            };
            assert_eq!(response, expected, "{}", self.context(&stream));
            for number in canaries(&text) {
                self.count(CANARIES);
                assert!(
                    !self.places.is_stored(number) || self.places.is_always_read(number, &oracle),
                    "the canary {number} is told\n{text}\n{}",
                    self.context(&stream)
                );
            }
            self.count(kind);
        }
        let more = stream.responses.within(Duration::ZERO).await;
        assert!(
            more.is_none(),
            "{more:?} is told\n{}",
            self.context(&stream)
        );
        let end = self.logs[&*place.collection].changes.len();
        stream.followed = Followed::Changes(place.clone(), Some(end));
        Some(stream)
    }

    /// Asserts that a stream ends.
    async fn end(&mut self, mut stream: Stream) {
        let is_first = stream.newest.is_none() && stream.followed.is_live();
        self.count(if is_first { REFUSED } else { ENDED });
        stream.responses.assert_ended().await;
    }
}

fn is_forbidden(response: &Value) -> bool {
    response["errors"][0]["extensions"]["code"] == json!("FORBIDDEN")
}
