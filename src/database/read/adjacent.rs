//! Reads of documents that are adjacent in the catalog.

use async_trait::async_trait;

use crate::error::Result;
use crate::store::{Batch, Locality, MultiRange, RangeRead, Read};

/// A reader for documents of one collection that are consecutive in the catalog, whatever their ids
/// are. On a remote store it marks the ranges as close to each other ([`Locality::Collection`]).
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
        let mut in_a_row = ranges.to_vec();
        for range in in_a_row.iter_mut().skip(1) {
            if range.near == Locality::Unknown {
                range.near = Locality::Collection;
            }
        }
        self.0.ranges(&in_a_row).await
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
        waits: bool,
        asked: Mutex<Vec<Locality>>,
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
            let near = ranges.iter().map(|range| range.near);
            *self.asked.lock().expect("alone") = near.collect();
            MultiRange::default()
        }

        fn is_remote(&self) -> bool {
            self.waits
        }
    }

    #[tokio::test]
    async fn what_stands_in_a_row_is_told_to_who_waits() {
        use Locality::{Collection, Document, Unknown};
        let range = |near| RangeRead {
            near,
            ..RangeRead::new(b"a", b"b")
        };
        let ranges = [Unknown, Document, Unknown, Unknown].map(range);
        for (waits, expected) in [
            (true, [Unknown, Document, Collection, Collection]),
            (false, [Unknown, Document, Unknown, Unknown]),
        ] {
            let asked = Mutex::default();
            let recorder = Recorder { waits, asked };
            AdjacentDocuments(&recorder).ranges(&ranges).await;
            assert_eq!(*recorder.asked.lock().expect("alone"), expected);
        }
    }
}
