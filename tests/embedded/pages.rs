//! The checksums of all pages of a store's file.

use std::fs;

use phyllo::store::{EmbeddedReader, FILE_NAME, LOG_NAMES, Store};

use crate::machine::{Image, Machine};
use crate::process::open;
use crate::skip::rounds;
use crate::{all, set};

const BLOCK: usize = 4096;

/// The files of a store before it was closed, and after.
async fn images() -> [Image; 2] {
    let machine = Machine::new();
    let store = machine.open().expect("a store");
    store.enable_log().await.expect("enabled");
    for number in 0..120_u8 {
        let value = format!("VALUE{number:03}").repeat(100);
        set(&store, format!("{number:03}"), value)
            .await
            .expect("committed");
    }
    let killed = machine.image();
    drop(store);
    [killed, machine.image()]
}

fn directory_with(image: &Image) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for (name, bytes) in LOG_NAMES.iter().chain([&FILE_NAME]).zip(image) {
        if let Some(bytes) = bytes {
            fs::write(directory.path().join(name), bytes).expect("written");
        }
    }
    directory
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_closed_and_killed_stores_are_intact() {
    for image in images().await {
        let directory = directory_with(&image);
        let file = directory.path().join(FILE_NAME);
        let before = fs::read(&file).expect("read");
        let wrong = EmbeddedReader::verify_pages(directory.path());
        assert_eq!(wrong.expect("it opens"), None);
        assert!(fs::read(&file).expect("read") == before, "it was changed");
        // The other process may be a server, which uses the file.
        let _store = open(directory.path()).expect("a store");
        let wrong = EmbeddedReader::verify_pages(directory.path());
        assert_eq!(wrong.expect("it is held"), None);
    }
}

/// Values are not interpreted when they are read, so only the checksum shows that one has changed.
#[tokio::test(flavor = "multi_thread")]
async fn every_changed_value_is_found() {
    let [_, closed] = images().await;
    let file = closed[2].as_ref().expect("a file");
    let places = file.windows(8).enumerate();
    let places = places.filter(|(_, bytes)| *bytes == b"VALUE077");
    let mut found = 0;
    for (at, _) in places.step_by(rounds(20, 1)) {
        let mut image = closed.clone();
        image[2].as_mut().expect("a file")[at + 5] ^= 1;
        let directory = directory_with(&image);
        let wrong = EmbeddedReader::verify_pages(directory.path());
        found += usize::from(wrong.expect("it opens").is_some());
    }
    // Pages that are no longer in use can have older copies.
    assert!(found >= rounds(5, 100), "{found}");
}

/// If all pages are intact although a byte was changed, no page in use has that byte.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_whose_pages_are_intact_has_the_same_data() {
    let [_, closed] = images().await;
    let expected = all(&Machine::holding(closed.clone()).open().expect("a store")).await;
    let bytes = closed[2].as_ref().expect("a file").len();
    let mut wrong = 0;
    for page in (1..bytes / BLOCK).step_by(rounds(7, 1)) {
        let mut image = closed.clone();
        image[2].as_mut().expect("a file")[page * BLOCK + page % BLOCK] ^= 1;
        let directory = directory_with(&image);
        if let Ok(None) = EmbeddedReader::verify_pages(directory.path()) {
            let (store, _) = open(directory.path()).expect("a store");
            assert!(all(&store).await == expected, "page {page}");
        } else {
            wrong += 1;
        }
    }
    assert!(wrong > 0);
}
