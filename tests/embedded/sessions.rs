//! The sessions of a store: a commit number and its session name one commit, also in copies of the files.

use phyllo::store::{Embedded, Sessions, Store};

use crate::machine::Machine;
use crate::set;

async fn sessions(store: &Embedded) -> Sessions {
    let snapshot = store.snapshot().await.expect("it serves");
    snapshot.sessions().cloned().expect("it records them")
}

/// Commits pairs. Returns the numbers of the commits.
async fn commits(store: &Embedded, count: usize) -> Vec<u64> {
    let mut numbers = Vec::new();
    for _ in 0..count {
        set(store, "key", "value").await.expect("committed");
        let snapshot = store.snapshot().await.expect("it serves");
        numbers.push(snapshot.version().await.expect("a version").commit_number());
    }
    numbers
}

#[tokio::test]
async fn commits_keep_their_session_when_the_store_is_opened_again() {
    let machine = Machine::new();
    let mut named: Vec<(u64, u64)> = Vec::new();
    for round in 0..6 {
        let store = machine.open().expect("a store");
        store.enable_log().await.expect("enabled");
        let own = commits(&store, round).await;
        let sessions = sessions(&store).await;
        assert!(
            named
                .iter()
                .all(|(number, name)| sessions.of(*number) == Some(*name))
        );
        let name = own.first().map(|number| sessions.of(*number));
        for number in own {
            assert_eq!(Some(sessions.of(number)), name, "one session");
            named.push((number, sessions.of(number).expect("a session")));
        }
        // Some end by a kill.
        let killed = machine.image();
        if round % 2 == 1 {
            let killed = Machine::holding(killed);
            let reader = killed.read().expect("it is read");
            let snapshot = reader.snapshot().await.expect("it serves");
            let read = snapshot.sessions().expect("it has them");
            assert!(
                named
                    .iter()
                    .all(|(number, name)| read.of(*number) == Some(*name))
            );
        }
        drop(store);
    }
    let mut names: Vec<u64> = named.into_iter().map(|(_, name)| name).collect();
    names.dedup();
    assert_eq!(names.len(), 5, "each round with commits has its own");
}

#[tokio::test]
async fn a_copy_has_other_sessions_for_the_commits_that_it_lacks() {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    let common = commits(&store, 5).await;
    let copied = machine.image();
    // In the same session as the copied commits, and in a later one.
    let mut later = commits(&store, 5).await;
    drop(store);
    let store = machine.open().expect("it was closed");
    later.extend(commits(&store, 5).await);
    let original = sessions(&store).await;
    let copy = Machine::holding(copied);
    let restored = copy.open().expect("it is recovered");
    commits(&restored, 20).await;
    let restored = sessions(&restored).await;
    for number in common {
        assert_eq!(restored.of(number), original.of(number));
    }
    for number in later {
        assert_ne!(restored.of(number), original.of(number), "{number}");
    }
}

#[tokio::test]
async fn commits_of_before_the_first_session_have_none() {
    let store = Machine::new().open().expect("a store");
    assert_eq!(sessions(&store).await.of(0), None);
    assert_eq!(Sessions::default().of(7), None);
}
