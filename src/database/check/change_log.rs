//! Checks the change log.

use std::sync::Arc;

use super::finding::{CheckReport, FindingKind};
use super::snapshots::is_too_old;
use crate::database::catalog::cursor::Cursor;
use crate::database::changes::settings::{ChangeSettings, horizon_of};
use crate::error::Result;
use crate::key::{ChangeLogPart, ChangeLogRange, ChangesDecoder, Family, Version};
use crate::limits::{CHANGE_SHARDS, PIECE_BYTES};
use crate::store::Read;

/// Checks the settings and the entries of the change log: every header can be decoded, belongs to a
/// commit after the horizon, and has all of its patches.
pub(crate) struct ChangeLogCheck {
    read: Arc<dyn Read>,
    /// None if entries were not read yet from this snapshot.
    horizon: Option<Version>,
    /// The shard that is being read, or read next.
    shard: u8,
    current: Option<ShardCheck>,
}

impl ChangeLogCheck {
    pub(crate) fn new(read: Arc<dyn Read>) -> Self {
        Self {
            read,
            horizon: None,
            shard: 0,
            current: None,
        }
    }

    /// Continues in another snapshot, with the first commit that was not checked in full.
    pub(crate) fn resume(&mut self, read: Arc<dyn Read>) {
        self.horizon = None;
        if let Some(shard) = &mut self.current {
            shard.resume(&read);
        }
        self.read = read;
    }

    /// Checks the next commit. Returns false if there is none.
    ///
    /// # Errors
    /// Errors of the store. The commit is then not checked.
    pub(crate) async fn step(&mut self, report: &mut CheckReport) -> Result<bool> {
        let horizon = match self.horizon {
            Some(horizon) => horizon,
            None => match self.read_horizon(report).await? {
                Some(horizon) => *self.horizon.insert(horizon),
                None => return Ok(false),
            },
        };
        if let Some(shard) = &mut self.current {
            let mut found = CheckReport::default();
            if !shard.commit(horizon, &mut found).await? {
                self.current = None;
                self.shard += 1;
            }
            report.append(found);
            return Ok(true);
        }
        if self.shard == CHANGE_SHARDS {
            return Ok(false);
        }
        self.current = Some(ShardCheck::new(&self.read, self.shard));
        Ok(true)
    }

    /// The horizon, after which the log is complete. None if it or the settings are malformed.
    async fn read_horizon(&self, report: &mut CheckReport) -> Result<Option<Version>> {
        let settings_key = Family::ChangeSettings.key()?;
        let settings = match ChangeSettings::read(&*self.read).await {
            Ok(settings) => settings,
            Err(error) if is_too_old(&error) => return Err(error),
            Err(_) => {
                report.add(FindingKind::ChangeLog, &settings_key);
                return Ok(None);
            }
        };
        let horizon_key = Family::ChangeHorizon.key()?;
        match (settings, self.read.get(&horizon_key).await?) {
            (None, None) => Ok(Some(Version([0; 10]))),
            (_, horizon) => {
                let horizon = horizon_of(horizon.as_deref()).ok();
                if horizon.is_none() {
                    report.add(FindingKind::ChangeLog, &horizon_key);
                }
                Ok(horizon)
            }
        }
    }
}

/// The check of one shard. The headers and the patches are both in the order of commits.
struct ShardCheck {
    headers: ChangeLogRange,
    patches: ChangeLogRange,
    header_pairs: Cursor,
    patch_pairs: Cursor,
    /// Where the headers and the patches continue that do not belong to a commit that was checked in
    /// full.
    unchecked: (Vec<u8>, Vec<u8>),
}

impl ShardCheck {
    fn new(read: &Arc<dyn Read>, shard: u8) -> Self {
        let part = |part| {
            let range = ChangeLogRange::new(part, shard);
            let cursor = Cursor::new(read.clone(), range.begin().to_vec(), range.end());
            (range, cursor)
        };
        let (headers, header_pairs) = part(ChangeLogPart::Headers);
        let (patches, patch_pairs) = part(ChangeLogPart::Patches);
        Self {
            unchecked: (header_pairs.position(), patch_pairs.position()),
            headers,
            patches,
            header_pairs,
            patch_pairs,
        }
    }

    /// Continues in another snapshot.
    fn resume(&mut self, read: &Arc<dyn Read>) {
        let (headers, patches) = self.unchecked.clone();
        self.header_pairs.renew(read.clone(), headers);
        self.patch_pairs.renew(read.clone(), patches);
    }

    /// Checks the next commit, or the patches behind the last one. Returns false at the end.
    async fn commit(&mut self, horizon: Version, report: &mut CheckReport) -> Result<bool> {
        let more = self.next_commit(horizon, report).await?;
        if !more {
            self.rest(report).await?;
        }
        self.unchecked = (self.header_pairs.position(), self.patch_pairs.position());
        Ok(more)
    }

    /// Checks the next commit. Returns false if there is none.
    async fn next_commit(&mut self, horizon: Version, report: &mut CheckReport) -> Result<bool> {
        let Some((key, _)) = self.header_pairs.peek().await? else {
            return Ok(false);
        };
        let first = key.to_vec();
        let Some((version, _)) = self.headers.parse(&first) else {
            report.add(FindingKind::ChangeLog, &first);
            self.header_pairs.advance();
            return Ok(true);
        };
        let mut sound = version > horizon;
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
            report.add(FindingKind::ChangeLog, &first);
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
                _ => report.add(FindingKind::ChangeLog, key),
            }
            self.patch_pairs.advance();
        }
        Ok(whole.then_some(bytes))
    }

    /// Reports the patches that belong to no commit.
    async fn rest(&mut self, report: &mut CheckReport) -> Result<()> {
        while let Some((key, _)) = self.patch_pairs.peek().await? {
            report.add(FindingKind::ChangeLog, key);
            self.patch_pairs.advance();
        }
        Ok(())
    }
}
