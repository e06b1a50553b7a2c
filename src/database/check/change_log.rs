//! Checks the change log.

use std::sync::Arc;

use super::finding::{CheckReport, FindingKind};
use crate::database::catalog::cursor::Cursor;
use crate::database::changes::settings::{ChangeSettings, horizon_of};
use crate::error::Result;
use crate::key::{ChangeLogPart, ChangeLogRange, ChangesDecoder, Family, Version};
use crate::limits::{CHANGE_SHARDS, PIECE_BYTES};
use crate::store::Read;

/// Checks the settings and the entries of the change log: every header can be decoded, belongs to a
/// commit after the horizon, and has all of its patches.
pub(crate) async fn check_change_log(read: &Arc<dyn Read>, report: &mut CheckReport) -> Result<()> {
    let settings_key = Family::ChangeSettings.key()?;
    let Ok(settings) = ChangeSettings::read(&**read).await else {
        report.tell(FindingKind::ChangeLog, &settings_key);
        return Ok(());
    };
    let horizon_key = Family::ChangeHorizon.key()?;
    let horizon = read.get(&horizon_key).await?;
    let horizon = match (settings, horizon) {
        (None, None) => Version([0; 10]),
        (_, horizon) => {
            let Ok(horizon) = horizon_of(horizon.as_deref()) else {
                report.tell(FindingKind::ChangeLog, &horizon_key);
                return Ok(());
            };
            horizon
        }
    };
    for shard in 0..CHANGE_SHARDS {
        let part = |part| {
            let range = ChangeLogRange::new(part, shard);
            let cursor = Cursor::new(read.clone(), range.begin().to_vec(), range.end());
            (range, cursor)
        };
        let (headers, header_pairs) = part(ChangeLogPart::Headers);
        let (patches, patch_pairs) = part(ChangeLogPart::Patches);
        let mut check = ShardCheck {
            headers,
            patches,
            header_pairs,
            patch_pairs,
            horizon,
        };
        while check.commit(report).await? {}
        check.rest(report).await?;
    }
    Ok(())
}

/// The check of one shard. The headers and the patches are both in the order of commits.
struct ShardCheck {
    headers: ChangeLogRange,
    patches: ChangeLogRange,
    header_pairs: Cursor,
    patch_pairs: Cursor,
    horizon: Version,
}

impl ShardCheck {
    /// Checks the next commit. Returns false if there is none.
    async fn commit(&mut self, report: &mut CheckReport) -> Result<bool> {
        let Some((key, _)) = self.header_pairs.peek().await? else {
            return Ok(false);
        };
        let first = key.to_vec();
        let Some((version, _)) = self.headers.parse(&first) else {
            report.tell(FindingKind::ChangeLog, &first);
            self.header_pairs.advance();
            return Ok(true);
        };
        let mut sound = version > self.horizon;
        let mut decoder = ChangesDecoder::new(version);
        let mut number = 0;
        while let Some((key, value)) = self.header_pairs.peek().await?
            && let Some((of, at)) = self.headers.parse(key)
            && of == version
        {
            sound &= at == number && decoder.decode(value).is_some();
            number += 1;
            self.header_pairs.advance();
        }
        sound &= self.patch_bytes(version, report).await? == Some(decoder.patch_bytes());
        if !sound {
            report.tell(FindingKind::ChangeLog, &first);
        }
        Ok(true)
    }

    /// The bytes of the patches of a commit. `None` if a piece is missing.
    async fn patch_bytes(
        &mut self,
        version: Version,
        report: &mut CheckReport,
    ) -> Result<Option<u64>> {
        let (mut bytes, mut number, mut whole) = (0, 0, true);
        while let Some((key, value)) = self.patch_pairs.peek().await? {
            match self.patches.parse(key) {
                Some((of, _)) if of > version => break,
                Some((of, at)) if of == version => {
                    // Only the last piece is shorter.
                    whole &= at == number && bytes == number * PIECE_BYTES as u64;
                    bytes += value.len() as u64;
                    number += 1;
                }
                _ => report.tell(FindingKind::ChangeLog, key),
            }
            self.patch_pairs.advance();
        }
        Ok(whole.then_some(bytes))
    }

    /// Reports the patches that belong to no commit.
    async fn rest(&mut self, report: &mut CheckReport) -> Result<()> {
        while let Some((key, _)) = self.patch_pairs.peek().await? {
            report.tell(FindingKind::ChangeLog, key);
            self.patch_pairs.advance();
        }
        Ok(())
    }
}
