//! The change log: what each commit changed, in the order of commits.
//!
//! # Writing
//! A transaction records the edits of documents while it makes them ([`record`]). When it commits,
//! [`write_commit_entry`] stores one entry in the same transaction: a header with the changed documents and
//! places, and apart from it the edits as JSON Patches, so that a server that looks for changes of
//! certain places does not read the patches of others. The keys of an entry contain the version
//! of its commit, which only the commit determines. So entries are in the order of commits, and
//! writing them conflicts with nothing. An entry never makes a transaction fail that would fit
//! without it: details are left out before ([`recorder`]).
//!
//! # Whether there is a log
//! [`settings`] belong to the store. Every transaction reads them, so it conflicts with one that
//! changes them. A server that was started before the log was switched on notices it by the format,
//! which each transaction reads, too.
//!
//! # Reading
//! Entries are spread over shards. All shards are read at one snapshot, so the commits up to its
//! version are complete ([`read_change_log`]). [`feed`] reads each new commit once for all subscribers of a
//! server, and its subscribers share what they hold of them ([`feed::shared_commits`]). [`expire`] removes old entries and moves the horizon, after which the log is complete, in
//! the same transaction. A reader from before the horizon gets an error and no gap. [`size`] measures
//! the log.

pub(crate) mod change_cursor;
pub(crate) mod expire;
pub(crate) mod feed;
pub(crate) mod history;
pub(crate) mod interest;
pub(crate) mod read_change_log;
pub(crate) mod record;
pub(crate) mod recorder;
pub(crate) mod settings;
pub(crate) mod size;
mod subscribers;
pub(crate) mod write_commit_entry;
