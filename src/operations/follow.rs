//! Following: the changes of documents, and a value that changes, as lines of text.

use crate::budget::Budget;
use crate::database::{
    ChangeCursor, ChangeFollower, Database, DocumentKey, FollowFrom, FollowedChange, Interest,
    changes_cursor,
};
use crate::document::id::DocumentId;
use crate::document::json::write_string;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::{ChangeKind, Version};

/// Which changes to follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRequest {
    /// The collection.
    pub collection: String,
    /// The document. `None` for all documents of the collection.
    pub id: Option<DocumentId>,
    /// The path in the document.
    pub path: Path,
    /// The cursor after which to begin. `None` for the first change in the log.
    pub after: Option<String>,
    /// Whether to wait for further changes at the end of the log.
    pub follow: bool,
}

/// Changes as JSON objects, one to a line.
pub struct ChangeLines {
    budget: Budget,
    follower: ChangeFollower,
    /// The version of the last commit to read. `None` to wait for further ones.
    end: Option<Version>,
}

impl ChangeLines {
    /// Begins to read changes.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the log is off, or an argument has no meaning. `CHANGES_EXPIRED`: the log
    /// no longer has all changes after the cursor. Errors of the store.
    pub async fn begin(database: &Database, request: ChangeRequest) -> Result<Self> {
        let ChangeRequest {
            collection,
            id,
            path,
            after,
            follow,
        } = request;
        let interest = match id {
            Some(id) => Interest::in_path(collection, id, &path),
            None if path.tokens().is_empty() => Interest::in_collection(collection),
            None => return Err(Error::bad_input("a path is in a document: give its id")),
        };
        let from = match after {
            Some(after) => FollowFrom::Cursor(ChangeCursor::parse(&after)?),
            None if follow => FollowFrom::Now,
            None => FollowFrom::Beginning,
        };
        let end = if follow {
            None
        } else {
            let snapshot = database.snapshot().await?;
            let cursor = changes_cursor(&*snapshot).await?;
            cursor.map(|cursor| cursor.position.version)
        };
        Ok(Self {
            follower: database.changes().follow(interest, from).await?,
            budget: Budget::of_background(),
            end,
        })
    }

    /// The next line, with its end. `None` at the end.
    ///
    /// # Errors
    /// `CHANGES_EXPIRED`: the log no longer has the next change. Errors of the store.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        let change = match self.end {
            None => self.follower.next().await?,
            Some(end) => match self.follower.next_until(end).await? {
                Some(change) => change,
                None => return Ok(None),
            },
        };
        let patch = change.patch.read(&self.budget).await?;
        Ok(Some(line(&change, patch.as_deref())))
    }
}

/// The line of a change.
fn line(followed: &FollowedChange, patch: Option<&[u8]>) -> Vec<u8> {
    let change = &followed.commit.changes[followed.change];
    let mut line = Vec::new();
    let mut text = |name: &str, value: &str| {
        line.push(if line.is_empty() { b'{' } else { b',' });
        write_string(&mut line, name);
        line.push(b':');
        write_string(&mut line, value);
    };
    text("cursor", &followed.cursor.to_string());
    text("version", &followed.commit.version.to_string());
    text("collection", &change.collection);
    if let Some(id) = &change.id {
        text("key", &id.to_string());
    }
    let kind = match change.kind {
        ChangeKind::Created => "CREATED",
        ChangeKind::Updated => "UPDATED",
        ChangeKind::Deleted => "DELETED",
        ChangeKind::CollectionDropped => "COLLECTION_DROPPED",
        ChangeKind::CollectionChanged => "COLLECTION_CHANGED",
    };
    text("kind", kind);
    line.extend_from_slice(format!(",\"time\":{},\"paths\":[", followed.commit.time).as_bytes());
    for (at, place) in change.places.iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        write_string(&mut line, &place.to_string());
    }
    line.extend_from_slice(b"],\"patch\":");
    line.extend_from_slice(patch.unwrap_or(b"null"));
    let resync = if change.needs_resync() {
        "true"
    } else {
        "false"
    };
    line.extend_from_slice(format!(",\"resync\":{resync}}}\n").as_bytes());
    line
}

/// A value of a document, now and after each change, as one line of JSON each. A line is empty while
/// nothing is stored there.
pub struct ValueLines {
    database: Database,
    document: DocumentKey,
    path: Path,
    follower: ChangeFollower,
    last: Option<Vec<u8>>,
}

impl ValueLines {
    /// Begins to watch a value.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the log is off. Errors of the store.
    pub async fn begin(database: &Database, document: DocumentKey, path: Path) -> Result<Self> {
        let DocumentKey { collection, id } = document.clone();
        let interest = Interest::in_path(collection, id, &path);
        let changes = database.changes();
        Ok(Self {
            follower: changes.follow(interest, FollowFrom::Now).await?,
            database: database.clone(),
            document,
            path,
            last: None,
        })
    }

    /// The next line, with its end, as soon as the value differs from the last one.
    ///
    /// # Errors
    /// `CHANGES_EXPIRED`: the log was switched off. Errors of the store.
    pub async fn next(&mut self) -> Result<Vec<u8>> {
        loop {
            if self.last.is_some() {
                self.follower.changed().await?;
            }
            let found = super::get(&self.database, self.document.clone(), self.path.clone());
            let mut line = found.await?.unwrap_or_default();
            line.push(b'\n');
            if self.last.as_ref() != Some(&line) {
                self.last = Some(line.clone());
                return Ok(line);
            }
        }
    }
}
