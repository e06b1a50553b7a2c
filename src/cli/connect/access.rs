//! Access to a database, either opened by this process or through the server that holds it.

use std::path::Path;
use std::sync::Arc;

use tokio::time::{Instant, sleep};

use super::client::{self, Client, Records};
use super::cluster;
use super::opening::{
    HELD_CHECK_TIME, RecoveryProgress, StorePurpose, check_directory, held, is_missing, no_store,
    open_database, open_unless_held,
};
use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::parse::WrittenPath;
use crate::cli::terminal::output::say;
use crate::database::{
    Adopted, Check, Collection, Database, DefinedType, DocumentKey, Finding, Foreign, Put, Scan,
    Scanned, StoredType, Summary, Swept, Value,
};
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::limits::{CHANGE_RETENTION_OF_NEW_STORES, STORE_WAIT_TIME_MAX};
use crate::operations::{self, ChangeLines, ChangeRequest, NewDocument, Policy, Sweep, ValueLines};
use crate::server::local::typing;
use crate::store::{self, EmbeddedOptions, Pairs};

/// Access to a database. Both variants have the same behavior.
pub(crate) enum DatabaseAccess {
    /// This process holds the store.
    Direct(Database),
    /// A server holds the store.
    Through(Client),
}

impl DatabaseAccess {
    /// Opens a store. If a server holds its directory, connects to that server.
    ///
    /// # Errors
    /// `NOT_FOUND`: there is no store. `UNAVAILABLE`: another process holds it without serving it,
    /// or it cannot be opened.
    pub(crate) async fn open(store: &StoreLocation, purpose: StorePurpose) -> Result<Self> {
        match store {
            StoreLocation::Directory(directory) => {
                Self::open_directory(store, directory, purpose).await
            }
            StoreLocation::Cluster(file) => {
                let cluster = cluster::open(file.as_deref())?;
                if purpose != StorePurpose::Create && !Database::is_in(&cluster).await? {
                    return Err(no_store(store));
                }
                let retention = CHANGE_RETENTION_OF_NEW_STORES;
                let database = open_database(Arc::new(cluster), retention).await?;
                Ok(Self::direct(store, database))
            }
        }
    }

    async fn open_directory(
        location: &StoreLocation,
        directory: &Path,
        purpose: StorePurpose,
    ) -> Result<Self> {
        check_directory(directory)?;
        let deadline = Instant::now() + STORE_WAIT_TIME_MAX;
        let options = EmbeddedOptions::default();
        let progress = RecoveryProgress::OnTerminal;
        loop {
            if let Some(client) = Client::connect(directory).await? {
                return Ok(Self::Through(client));
            }
            if purpose != StorePurpose::Create && is_missing(directory) {
                return Err(no_store(&directory.display()));
            }
            let opened = open_unless_held(directory, options, purpose, progress).await?;
            if let Some(store) = opened {
                let database = open_database(store, CHANGE_RETENTION_OF_NEW_STORES).await?;
                return Ok(Self::direct(location, database));
            }
            // The holder may be a server that is about to create its socket, or a short command.
            if Instant::now() >= deadline {
                return Err(held(directory));
            }
            sleep(HELD_CHECK_TIME).await;
        }
    }

    /// Access to a database of this process. Reports a new store, because its directory may not be
    /// the one that was meant.
    fn direct(location: &StoreLocation, database: Database) -> Self {
        if database.is_new() {
            say(format_args!(
                "created a new store in {}; --store selects another one",
                location.absolute()
            ));
        }
        Self::Direct(database)
    }

    /// Stores a batch in one transaction: [`operations::put_batch`]. `texts` are the JSON texts of
    /// the documents, in the same order.
    pub(crate) async fn put_batch(
        &self,
        collection: &str,
        documents: Vec<NewDocument>,
        texts: &[Vec<u8>],
        policy: Policy,
    ) -> Result<Vec<Result<Put>>> {
        match self {
            Self::Direct(database) => {
                operations::put_batch(database, collection, Arc::new(documents), policy).await
            }
            Self::Through(client) => {
                let ids = documents.iter().map(|document| &document.id);
                client.put_batch(collection, ids.zip(texts), policy).await
            }
        }
    }

    /// Adopts documents that another program stored: [`operations::adopt`].
    pub(crate) async fn adopt(&self, collection: &str, begin: Option<Vec<u8>>) -> Result<Adopted> {
        match self {
            Self::Direct(database) => operations::adopt(database, collection, begin).await,
            Self::Through(client) => client.adopt(collection, begin).await,
        }
    }

    /// The JSON at a path of a document, or `None` if nothing is stored there.
    pub(crate) async fn get(
        &self,
        document: DocumentKey,
        path: WrittenPath,
    ) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Direct(database) => operations::get(database, document, path.path).await,
            Self::Through(client) => client.get(&document, &path.text).await,
        }
    }

    /// Reads changes. `path` is the text of the path.
    pub(crate) async fn changes(
        &self,
        request: ChangeRequest,
        path: &str,
    ) -> Result<FollowedLines> {
        match self {
            Self::Direct(database) => {
                let lines = ChangeLines::begin(database, request).await?;
                Ok(FollowedLines::Changes(Box::new(lines)))
            }
            Self::Through(client) => client
                .changes(&request, path)
                .await
                .map(FollowedLines::Through),
        }
    }

    /// Watches the value at a path of a document.
    pub(crate) async fn watch(
        &self,
        document: DocumentKey,
        path: WrittenPath,
    ) -> Result<FollowedLines> {
        match self {
            Self::Direct(database) => {
                let lines = ValueLines::begin(database, document, path.path).await?;
                Ok(FollowedLines::Value(Box::new(lines)))
            }
            Self::Through(client) => client
                .watch(&document, &path.text)
                .await
                .map(FollowedLines::Through),
        }
    }

    /// The pairs at a path of a document.
    pub(crate) async fn pairs(&self, document: DocumentKey, path: WrittenPath) -> Result<Pairs> {
        match self {
            Self::Direct(database) => {
                let part = operations::part(database, document, path.path).await?;
                let mut pairs = Pairs::default();
                for (key, value) in part.iter().flat_map(Value::pairs) {
                    pairs.push(key, value);
                }
                Ok(pairs)
            }
            Self::Through(client) => client.pairs(&document, &path.text).await,
        }
    }

    /// Lists the collections that hold a document.
    pub(crate) async fn collections(&self) -> Result<Vec<Collection>> {
        match self {
            Self::Direct(database) => operations::collections(database).await,
            Self::Through(client) => client.collections().await,
        }
    }

    /// Drops a collection: [`operations::drop_collection`].
    pub(crate) async fn drop_collection(&self, collection: &str) -> Result<i64> {
        match self {
            Self::Direct(database) => operations::drop_collection(database, collection).await,
            Self::Through(client) => client.drop_collection(collection).await,
        }
    }

    /// The type of a collection, or the types of all collections: [`operations::types`].
    pub(crate) async fn types(&self, collection: Option<&str>) -> Result<Vec<StoredType>> {
        match self {
            Self::Direct(database) => operations::types(database, collection).await,
            Self::Through(client) => client.types(collection).await,
        }
    }

    /// Gives a collection a type: [`operations::set_type`].
    pub(crate) async fn set_type(
        &self,
        collection: &str,
        schema: &str,
        dry_run: bool,
    ) -> Result<DefinedType> {
        match self {
            Self::Direct(database) => {
                operations::set_type(database, collection, schema, dry_run).await
            }
            Self::Through(client) => client.set_type(collection, schema, dry_run).await,
        }
    }

    /// Checks the stored documents of a collection again: [`operations::check_type`].
    pub(crate) async fn check_type(&self, collection: &str) -> Result<bool> {
        match self {
            Self::Direct(database) => operations::check_type(database, collection).await,
            Self::Through(client) => client.type_operation(typing::CHECK_TYPE, collection).await,
        }
    }

    /// Drops the type of a collection: [`operations::drop_type`].
    pub(crate) async fn drop_type(&self, collection: &str) -> Result<bool> {
        match self {
            Self::Direct(database) => operations::drop_type(database, collection).await,
            Self::Through(client) => client.type_operation(typing::DROP_TYPE, collection).await,
        }
    }

    /// Changes the next matching documents: [`operations::sweep_portion`].
    pub(crate) async fn sweep_portion(
        &self,
        sweep: &Sweep,
        after: Option<&DocumentId>,
        documents_max: usize,
    ) -> Result<Swept> {
        match self {
            Self::Direct(database) => {
                operations::sweep_portion(database, sweep, after.cloned(), documents_max).await
            }
            Self::Through(client) => client.sweep_portion(sweep, after, documents_max).await,
        }
    }

    /// The names of the existing collections if `collection` does not exist.
    pub(crate) async fn other_names(&self, collection: &str) -> Result<Option<Vec<String>>> {
        match self {
            Self::Direct(database) => operations::other_names(database, collection).await,
            Self::Through(client) => client.other_names(collection).await,
        }
    }

    /// Scans all documents of a collection.
    pub(crate) async fn scan(&self, collection: &str) -> Result<ExportedDocuments> {
        match self {
            Self::Direct(database) => operations::scan(database, collection)
                .await
                .map(|scan| ExportedDocuments::Direct(Box::new(scan))),
            Self::Through(client) => client
                .export(collection)
                .await
                .map(ExportedDocuments::Through),
        }
    }

    /// Backs up everything that is stored now.
    pub(crate) async fn backup(&self) -> Result<BackupBatches> {
        match self {
            Self::Direct(database) => operations::backup(database)
                .await
                .map(BackupBatches::Direct),
            Self::Through(client) => client.backup().await.map(BackupBatches::Through),
        }
    }

    /// Checks the store, or one collection.
    pub(crate) async fn check(&self, collection: Option<&str>) -> Result<FindingsSource> {
        match self {
            Self::Direct(database) => operations::check(database, collection)
                .await
                .map(|check| FindingsSource::Direct(Box::new(check))),
            Self::Through(client) => client.check(collection).await.map(FindingsSource::Through),
        }
    }
}

/// A snapshot of a store, in batches of pairs.
pub(crate) enum BackupBatches {
    Direct(store::Backup),
    Through(client::BackupStream),
}

impl BackupBatches {
    /// The number of the last commit in the backup.
    pub(crate) fn last_commit(&self) -> u64 {
        match self {
            Self::Direct(backup) => backup.last_commit(),
            Self::Through(backup) => backup.last_commit(),
        }
    }

    /// The next pairs, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Pairs>> {
        match self {
            Self::Direct(backup) => backup.next().await,
            Self::Through(backup) => backup.next().await,
        }
    }
}

/// The findings of a check.
pub(crate) enum FindingsSource {
    Direct(Box<Check>),
    Through(client::FindingsStream),
}

impl FindingsSource {
    /// The next finding, or the summary at the end.
    pub(crate) async fn next(&mut self) -> Result<Result<Finding, Summary>> {
        match self {
            Self::Direct(check) => {
                let finding = check.next_finding().await?;
                Ok(finding.ok_or_else(|| check.summary()))
            }
            Self::Through(findings) => findings.next().await,
        }
    }
}

/// Lines that are printed as they come.
pub(crate) enum FollowedLines {
    Changes(Box<ChangeLines>),
    Value(Box<ValueLines>),
    Through(client::LineStream),
}

impl FollowedLines {
    /// The next line, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        match self {
            Self::Changes(lines) => lines.next().await,
            Self::Value(lines) => lines.next().await.map(Some),
            Self::Through(lines) => lines.next().await,
        }
    }
}

/// The documents of a collection.
pub(crate) enum ExportedDocuments {
    Direct(Box<Scan>),
    Through(Records),
}

impl ExportedDocuments {
    /// The next document, or `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
        match self {
            Self::Direct(scan) => scan.next().await,
            Self::Through(records) => records.next().await,
        }
    }
}
