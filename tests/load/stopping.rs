//! Stops and starts in the middle of a load.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use serde_json::json;

use super::client::{Connection, ask};
use super::server::Server;

const CLIENTS: usize = 8;
const STOPS: usize = 4;
/// What is answered between one stop and the next.
const BETWEEN: usize = 200;

#[test]
fn a_restart_under_load_loses_no_accepted_request() {
    let store = tempfile::tempdir().expect("a directory");
    let mut server = Server::start(store.path());
    let url = Mutex::new(server.url());
    let (over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (stored, unanswered) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (url, over, answered) = (&url, &over, &answered);
                scope.spawn(move || insert(client, url, over, answered))
            })
            .collect();
        for _ in 0..STOPS {
            let before = answered.load(SeqCst);
            while answered.load(SeqCst) < before + BETWEEN {
                assert!(
                    !clients.iter().any(ScopedJoinHandle::is_finished),
                    "a client failed"
                );
                std::thread::sleep(Duration::from_millis(1));
            }
            server.stop();
            server = Server::start(store.path());
            *url.lock().unwrap_or_else(PoisonError::into_inner) = server.url();
        }
        over.store(true, SeqCst);
        let ended = clients
            .into_iter()
            .map(|client| client.join().expect("it ends"));
        ended.fold((Vec::new(), Vec::new()), |mut all, (stored, unanswered)| {
            all.0.extend(stored);
            all.1.extend(unanswered);
            all
        })
    });
    println!(
        "{} requests were answered and {} were not, around {STOPS} stops",
        stored.len(),
        unanswered.len()
    );
    assert!(stored.len() >= STOPS * BETWEEN);
    let is_there = |id: &String| {
        let query = format!("{{ document(id: {}) {{ kind }} }}", json!(id));
        let found = ask(&server.url(), &query);
        assert!(found["errors"].is_null(), "{found}");
        !found["data"]["document"].is_null()
    };
    let lost: Vec<_> = stored.iter().filter(|id| !is_there(id)).collect();
    assert!(lost.is_empty(), "acknowledged and not there: {lost:?}");
    let silent: Vec<_> = unanswered.iter().filter(|id| is_there(id)).collect();
    assert!(silent.is_empty(), "accepted and not answered: {silent:?}");
    let counted = ask(&server.url(), "{ collections { count } }");
    assert_eq!(counted["data"]["collections"][0]["count"], stored.len());
}

/// Inserts documents one after another, on a new connection where the one before it ended.
/// Returns the ids of those that were acknowledged, and of those without an answer.
fn insert(
    client: usize,
    url: &Mutex<String>,
    over: &AtomicBool,
    answered: &AtomicUsize,
) -> (Vec<String>, Vec<String>) {
    let (mut stored, mut unanswered) = (Vec::new(), Vec::new());
    let mut connection = None;
    for number in 0.. {
        if over.load(SeqCst) {
            break;
        }
        if connection.is_none() {
            let url = url.lock().unwrap_or_else(PoisonError::into_inner).clone();
            connection = Connection::open(&url);
        }
        let Some(open) = &mut connection else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        let id = format!("{client}-{number}");
        let query = format!(
            "mutation {{ insertDocument(id: \"{id}\", document: {{n: {number}}}) {{ key }} }}"
        );
        if let Some(answer) = open.query(&query) {
            assert_eq!(answer, json!({"data": {"insertDocument": {"key": id}}}));
            stored.push(id);
            answered.fetch_add(1, SeqCst);
        } else {
            unanswered.push(id);
            connection = None;
        }
    }
    (stored, unanswered)
}
