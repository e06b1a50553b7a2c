//! Readers during concurrent additions, moves and renames.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use futures::future::try_join_all;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

use super::tree::{Tree, add, move_under, plant, rename};
use crate::pages::Served;

cases!(
    threads [
        readers_see_a_consistent_tree_during_concurrent_changes,
    ]
);

const WRITERS: u64 = 4;
const ROUNDS: u64 = 30;
const READERS: usize = 3;
/// The minimum number of states of the tree that each reader must observe.
const SEEN: usize = 20;

const CATEGORIES: [(&str, Option<&str>); 12] = [
    ("all", None),
    ("a", Some("all")),
    ("b", Some("all")),
    ("c", Some("all")),
    ("aa", Some("a")),
    ("ab", Some("a")),
    ("ba", Some("b")),
    ("aaa", Some("aa")),
    ("aab", Some("aa")),
    ("aba", Some("ab")),
    ("aaaa", Some("aaa")),
    ("aaab", Some("aaa")),
];

/// How many readers have observed enough, and whether the writers are done.
#[derive(Default)]
struct Progress {
    satisfied: AtomicUsize,
    over: AtomicBool,
}

async fn readers_see_a_consistent_tree_during_concurrent_changes() {
    let served = Served::on(super::empty_store().await).await;
    plant(&served, &CATEGORIES).await;
    let progress = Arc::new(Progress::default());
    let readers = (0..READERS)
        .map(|reader| tokio::spawn(look_on(served.clone(), reader, Arc::clone(&progress))));
    let writers = (0..WRITERS)
        .map(|writer| tokio::spawn(change(served.clone(), writer, Arc::clone(&progress))));
    let readers = try_join_all(readers);
    let writers = async {
        let done = try_join_all(writers).await;
        progress.over.store(true, SeqCst);
        done
    };
    // The first failure ends the test.
    let both = tokio::try_join!(readers, writers);
    let (_, done) = both.expect("readers that saw no contradiction, and writers that did not fail");
    let done = done.iter().fold(Done::default(), |sum, done| Done {
        added: sum.added + done.added,
        renamed: sum.renamed + done.renamed,
        moved: sum.moved + done.moved,
    });
    assert!(done.added > 0 && done.renamed > 0 && done.moved > 0);
    let tree = Tree::read(&served).await;
    assert_eq!(tree.contradiction(), None);
    assert_eq!(tree.ids().len(), CATEGORIES.len() + done.added);
    served.assert_sound().await;
}

/// Reads alternately all categories, and one with its descendants, until the writers are done, and
/// once more.
async fn look_on(served: Served, reader: usize, progress: Arc<Progress>) {
    let mut seen = BTreeSet::new();
    for turn in reader.. {
        let last = progress.over.load(SeqCst);
        let tree = if turn % 2 == 0 {
            Tree::read(&served).await
        } else {
            let (one, _) = CATEGORIES[turn / 2 % CATEGORIES.len()];
            Tree::read_around(&served, one).await
        };
        assert_eq!(tree.contradiction(), None);
        if seen.insert(tree.text()) && seen.len() == SEEN {
            progress.satisfied.fetch_add(1, SeqCst);
        }
        if last {
            return;
        }
    }
}

/// The number of changes by kind.
#[derive(Default)]
struct Done {
    added: usize,
    renamed: usize,
    moved: usize,
}

/// Changes the tree until the writer has made its changes and the readers have observed enough.
/// Changes that fail because of a concurrent one are retried.
async fn change(served: Served, writer: u64, progress: Arc<Progress>) -> Done {
    let mut random = StdRng::seed_from_u64(writer);
    let mut done = Done::default();
    for round in 0.. {
        if round >= ROUNDS && progress.satisfied.load(SeqCst) == READERS {
            break;
        }
        let kind = random.random_range(0..8);
        loop {
            let tree = Tree::read(&served).await;
            let ids: Vec<String> = tree.ids().into_iter().map(str::to_owned).collect();
            let one = &ids[random.random_range(0..ids.len())];
            let other = &ids[random.random_range(0..ids.len())];
            let id = format!("{writer}-{round}");
            let changed = match kind {
                0 => add(&served, &id, one).await,
                1..4 => rename(&served, one, &format!("name {id}"), &format!("slug {id}")).await,
                _ if tree.is_within(other, one) => continue,
                _ => move_under(&served, one, other).await,
            };
            match changed.as_ref().map_err(String::as_str) {
                Ok(_) => break,
                Err("TEST_FAILED" | "CONFLICT") => {}
                Err(code) => panic!("{code}"),
            }
        }
        *match kind {
            0 => &mut done.added,
            1..4 => &mut done.renamed,
            _ => &mut done.moved,
        } += 1;
    }
    done
}
