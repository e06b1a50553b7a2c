//! Changes a document. The first line is a document, the rest is a JSON Patch, which is also
//! applied as a merge patch.

use std::sync::Arc;

use bytes::Bytes;
use phyllo::budget::Budget;
use phyllo::database::{DocumentKey, Existing, MissingParents, merge, patch, put};
use phyllo::document::id::DocumentId;
use phyllo::document::parse_merge_patch::MergePatch;
use phyllo::document::patch::{PatchOperation, parse};
use phyllo::document::path::{Path, Place};
use phyllo::error::{ErrorKind, Result};
use phyllo::key::{JsonText, Leaves, Verified, Verify};
use phyllo::store::{RangeRead, Transaction};

use super::world::World;

pub(super) const SEEDS: &[&[u8]] = &[
    b"{\"a\":[1,2,3],\"b\":{}}\n[{\"op\":\"add\",\"path\":\"/a/1\",\"value\":{\"c\":[]}}]",
    b"{\"a\":[1,2,3],\"b\":{}}\n[{\"op\":\"remove\",\"path\":\"/a/0\"},{\"op\":\"remove\",\"path\":\"/b\"}]",
    b"[[1],[2]]\n[{\"op\":\"move\",\"from\":\"/1\",\"path\":\"/0/0\"},{\"op\":\"copy\",\"from\":\"/0\",\"path\":\"/-\"}]",
    b"{\"a\":1}\n[{\"op\":\"test\",\"path\":\"/a\",\"value\":1.0},{\"op\":\"replace\",\"path\":\"\",\"value\":[]}]",
    b"{\"a\":{\"b\":1},\"c\":[1]}\n{\"a\":{\"b\":null},\"c\":{\"d\":null,\"e\":{}},\"f\":[null]}",
    b"{\"a~/\":{\"0\":[]}}\n[{\"op\":\"add\",\"path\":\"/a~0~1/0/-\",\"value\":null}]",
    b"7\n{\"a\":{}}",
    b"{\"a\":[]}\n[{\"op\":\"add\",\"path\":\"/a/-/b/0/-\",\"value\":1},{\"op\":\"copy\",\"from\":\"/a\",\"path\":\"/c/d\"}]",
];

pub(super) fn check(bytes: &[u8]) {
    thread_local!(static WORLD: World = World::new());
    let Some((document, change)) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| text.split_once('\n'))
    else {
        return;
    };
    let Ok(document) = Leaves::from_json(document) else {
        return;
    };
    WORLD.with(|world| {
        let change = Bytes::copy_from_slice(change.as_bytes());
        if let Ok(operations) = parse(&change) {
            for parents in [MissingParents::Fail, MissingParents::Create] {
                let patching = Change::Patch(&operations, parents);
                world.runtime.block_on(changed(world, &document, &patching));
            }
        }
        if let Ok(merge) = MergePatch::parse(&change) {
            let merging = Change::Merge(&merge);
            world.runtime.block_on(changed(world, &document, &merging));
        }
    });
}

enum Change<'t> {
    Patch(&'t [PatchOperation], MissingParents),
    Merge(&'t MergePatch),
}

/// Changes a document in a transaction that is never committed. The pairs must equal those of
/// storing the result as a new document.
async fn changed(world: &World, document: &Leaves, change: &Change<'_>) {
    let transaction = world.database.store().begin().await.expect("it serves");
    let key = DocumentKey::new("D", DocumentId::Integer(1)).expect("short");
    let stored = put(
        &*transaction,
        &Budget::of_background(),
        &key,
        document,
        Existing::Fail,
    )
    .await;
    stored.expect("there is none");
    let key = Arc::new(key);
    let done = match change {
        Change::Patch(operations, parents) => {
            patch(
                &*transaction,
                &Budget::of_background(),
                &key,
                &Path::default(),
                operations,
                *parents,
            )
            .await
        }
        Change::Merge(merging) => {
            merge(
                &*transaction,
                &Budget::of_background(),
                &key,
                &Path::default(),
                merging,
            )
            .await
        }
    };
    match done {
        Ok(_) => exact(&*transaction, &key).await.expect("readable"),
        Err(error) => assert_ne!(error.kind(), ErrorKind::Internal, "{error}"),
    }
}

async fn exact(transaction: &dyn Transaction, key: &DocumentKey) -> Result<()> {
    let begin = key.place(&Place::default())?;
    let end = [&begin[..], &[0xFF]].concat();
    let batch = transaction.range(RangeRead::new(&begin, &end)).await?;
    if batch.more {
        // Larger than fuzzers usually generate.
        return Ok(());
    }
    let mut json = Vec::new();
    let mut text = JsonText::new(&mut json);
    let mut verify = Verify::default();
    let relative = |(key, value): (&[u8], &[u8])| (key[begin.len()..].to_vec(), value.to_vec());
    let pairs: Vec<_> = batch.pairs.iter().map(relative).collect();
    for (key, value) in &pairs {
        assert_eq!(verify.push(key, value), Verified::default(), "{pairs:?}");
        text.push(key, value).expect("it was verified");
    }
    assert_eq!(verify.finish(), None);
    text.finish().expect("it was verified");
    if pairs.is_empty() {
        // The document was removed.
        return Ok(());
    }
    let text = std::str::from_utf8(&json).expect("JSON text is UTF-8");
    let anew = match Leaves::from_json(text) {
        Ok(anew) => anew,
        Err(error) => panic!("{text} was made, and is refused: {error}"),
    };
    let anew = anew
        .iter()
        .map(|(key, value)| (key.to_vec(), value.to_vec()));
    assert!(anew.eq(pairs), "{text}");
    Ok(())
}
