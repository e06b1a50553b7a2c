//! Reads of documents that are adjacent in the catalog.

use async_trait::async_trait;

use crate::budget::in_turns;
use crate::error::Result;
use crate::key::Version;
use crate::store::{Batch, MultiRange, RangeRead, Read};

/// A reader for documents of one collection that are consecutive in the catalog, whatever their ids
/// are. On a remote store it marks the ranges as close to each other ([`RangeRead::adjacent`]).
pub struct AdjacentDocuments<'r>(pub &'r dyn Read);

#[async_trait]
impl Read for AdjacentDocuments<'_> {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.0.get(key).await
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        self.0.range(range).await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        if !self.is_remote() {
            return self.0.ranges(ranges).await;
        }
        let mut adjacent = ranges.to_vec();
        let mut behind = in_turns(adjacent.iter_mut().skip(1));
        while let Some(range) = behind.next().await {
            range.adjacent = true;
        }
        self.0.ranges(&adjacent).await
    }

    async fn version(&self) -> Result<Version> {
        self.0.version().await
    }

    fn is_remote(&self) -> bool {
        self.0.is_remote()
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.0.split_points(begin, end).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    struct Recorder {
        remote: bool,
        adjacent: Mutex<Vec<bool>>,
    }

    #[async_trait]
    impl Read for Recorder {
        async fn get(&self, _: &[u8]) -> Result<Option<Vec<u8>>> {
            Ok(None)
        }

        async fn range(&self, _: RangeRead<'_>) -> Result<Batch> {
            Ok(Batch::default())
        }

        async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
            let adjacent = ranges.iter().map(|range| range.adjacent);
            *self.adjacent.lock().expect("alone") = adjacent.collect();
            MultiRange::default()
        }

        async fn version(&self) -> Result<Version> {
            Ok(Version([0; 10]))
        }

        fn is_remote(&self) -> bool {
            self.remote
        }
    }

    #[tokio::test]
    async fn a_remote_store_learns_which_ranges_are_adjacent() {
        let ranges = [RangeRead::new(b"a", b"b"); 3];
        for (remote, expected) in [(true, [false, true, true]), (false, [false; 3])] {
            let adjacent = Mutex::default();
            let recorder = Recorder { remote, adjacent };
            AdjacentDocuments(&recorder).ranges(&ranges).await;
            assert_eq!(*recorder.adjacent.lock().expect("alone"), expected);
        }
    }
}
