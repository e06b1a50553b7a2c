//! `phyllo salvage`

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indicatif::HumanCount;
use tokio::task::yield_now;

use crate::cli::arguments::SalvageArguments;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::opening::{check_directory, no_store, open_database};
use crate::cli::outcome::{Done, Ended, failed};
use crate::cli::terminal::output::{Output, say};
use crate::database::{
    Database, Index, SalvagedDocument, SalvagedDocuments, SalvagedSettings, StoredType,
};
use crate::document::json::write_string;
use crate::error::{Error, Result};
use crate::key::tuple_text;
use crate::operations::write_line;
use crate::store::{FILE_NAME, LOG_NAMES, LostKeys, Salvage};

/// The file with a request that creates each index.
const INDEXES_NAME: &str = "indexes.ndjson";
const CREATE_INDEX: &str = "mutation($collection:String!,$name:String!,$on:[JSONPath!]!,\
                            $unique:Boolean!,$where:DocumentFilter)\
                            {createIndex(collection:$collection,name:$name,on:$on,unique:$unique,\
                            where:$where){name state}}";

/// The file with a request that sets each type.
const TYPES_NAME: &str = "types.ndjson";
const SET_TYPE: &str = "mutation($collection:String!,$schema:JSON!)\
                        {setCollectionType(collection:$collection,schema:$schema){state}}";

pub(crate) async fn run(store: &StoreLocation, arguments: SalvageArguments) -> Done {
    let StoreLocation::Directory(directory) = store else {
        let message = "only the files of a directory can be salvaged; restore a cluster with \
                       FoundationDB's own tools";
        return Err(Error::bad_input(message).into());
    };
    check_directory(directory)?;
    let names = [FILE_NAME].into_iter().chain(LOG_NAMES);
    if !names.into_iter().any(|name| directory.join(name).exists()) {
        return Err(no_store(&directory.display()).into());
    }
    let mut target = SalvagedFiles::create(arguments.to)?;
    let Salvage {
        reader,
        lost,
        faults,
    } = Salvage::open(directory, &target.directory)?;
    for fault in &faults {
        say(format_args!("damaged: {fault}"));
    }
    let database = open_database(Arc::new(reader), Duration::ZERO).await?;
    let missing = write_documents(&database, lost.clone(), &mut target).await?;
    let incomplete = write_settings(&database, &lost, &target).await?;
    if faults.is_empty() && missing == 0 && !incomplete {
        say(format_args!("nothing is damaged"));
        return Ok(());
    }
    say(format_args!(
        "{} documents are known to be lost",
        HumanCount(missing)
    ));
    Err(Ended::Told)
}

/// Writes the whole documents. Returns the number of those that are known to be lost.
async fn write_documents(
    database: &Database,
    lost: LostKeys,
    target: &mut SalvagedFiles,
) -> std::result::Result<u64, Ended> {
    let mut documents = SalvagedDocuments::of(database, lost).await?;
    let (mut missing, mut line) = (0, Vec::new());
    while let Some(document) = documents.next().await? {
        match document {
            SalvagedDocument::Whole {
                collection,
                document,
            } => {
                write_line(&mut line, &document);
                target.write(&collection, &line)?;
            }
            SalvagedDocument::Lost { key, reason } => {
                missing += 1;
                say(format_args!("lost: {}: {reason}", tuple_text(&key)));
            }
            SalvagedDocument::Foreign { key } => {
                missing += 1;
                say(format_args!("not exported: {}", tuple_text(&key)));
            }
        }
        // Allows an interrupt here.
        yield_now().await;
    }
    target.finish()?;
    Ok(missing)
}

/// Writes the settings that are whole. Returns whether some are not, or may be missing.
async fn write_settings(
    database: &Database,
    lost: &LostKeys,
    target: &SalvagedFiles,
) -> std::result::Result<bool, Ended> {
    let settings = SalvagedSettings::of(database, lost).await?;
    if !settings.indexes.is_empty() {
        let mut output = target.file(INDEXES_NAME)?;
        for (collection, index) in &settings.indexes {
            output.write(&create_index(collection, index))?;
        }
        output.finish()?;
        let count = settings.indexes.len();
        SalvagedFiles::report(&format!("{count} indexes in {INDEXES_NAME}\n"))?;
    }
    if !settings.types.is_empty() {
        let mut output = target.file(TYPES_NAME)?;
        for stored in &settings.types {
            output.write(&set_type(stored))?;
        }
        output.finish()?;
        let count = settings.types.len();
        SalvagedFiles::report(&format!("{count} types in {TYPES_NAME}\n"))?;
    }
    if let Some(changes) = settings.changes {
        let seconds = changes.retention.as_secs();
        SalvagedFiles::report(&format!("the change log was kept for {seconds} s\n"))?;
    }
    for fault in &settings.faults {
        say(format_args!("lost: {fault}"));
    }
    Ok(!settings.faults.is_empty())
}

/// The request that creates an index, as a line.
fn create_index(collection: &str, index: &Index) -> Vec<u8> {
    let mut line = b"{\"query\":".to_vec();
    write_string(&mut line, CREATE_INDEX);
    line.extend_from_slice(b",\"variables\":{\"collection\":");
    write_string(&mut line, collection);
    line.extend_from_slice(b",\"name\":");
    write_string(&mut line, &index.name);
    line.extend_from_slice(b",\"on\":[");
    for (at, path) in index.on.iter().enumerate() {
        line.extend_from_slice(if at == 0 { b"" } else { b"," });
        write_string(&mut line, path.text());
    }
    line.extend_from_slice(format!("],\"unique\":{}", index.unique).as_bytes());
    if let Some(filter) = &index.filter {
        line.extend_from_slice(b",\"where\":");
        line.extend_from_slice(filter.json().as_bytes());
    }
    line.extend_from_slice(b"}}\n");
    line
}

/// The request that sets a type, as a line.
fn set_type(stored: &StoredType) -> Vec<u8> {
    let mut line = b"{\"query\":".to_vec();
    write_string(&mut line, SET_TYPE);
    line.extend_from_slice(b",\"variables\":{\"collection\":");
    write_string(&mut line, &stored.collection);
    line.extend_from_slice(b",\"schema\":");
    line.extend_from_slice(stored.schema_line().as_bytes());
    line.extend_from_slice(b"}}\n");
    line
}

/// The directory of the result, with a file for each collection.
struct SalvagedFiles {
    directory: PathBuf,
    /// The files of all collections so far, and their documents. Collections are in order, so only the
    /// last file is open.
    collections: BTreeMap<String, (String, u64)>,
    open: Option<(String, Output<File>)>,
}

impl SalvagedFiles {
    /// Creates the directory, which only its owner can read.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is not empty. `UNAVAILABLE`: it cannot be created.
    fn create(directory: PathBuf) -> Result<Self> {
        let created = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&directory);
        let entries = created.and_then(|()| fs::read_dir(&directory));
        let mut entries = entries.map_err(|error| cannot_write(&directory, &error))?;
        if entries.next().is_some() {
            let place = directory.display();
            return Err(Error::bad_input(format!(
                "the directory {place} is not empty"
            )));
        }
        Ok(Self {
            directory,
            collections: BTreeMap::new(),
            open: None,
        })
    }

    /// Writes a line to the file of a collection.
    fn write(&mut self, collection: &str, line: &[u8]) -> Done {
        let output = match &mut self.open {
            Some((open, output)) if open == collection => output,
            _ => {
                self.close()?;
                let name = file_name(self.collections.len() + 1, collection);
                let output = self.file(&name)?;
                self.collections.insert(collection.to_owned(), (name, 0));
                &mut self.open.insert((collection.to_owned(), output)).1
            }
        };
        output.write(line)?;
        if let Some((_, documents)) = self.collections.get_mut(collection) {
            *documents += 1;
        }
        Ok(())
    }

    /// Closes the files, and reports them.
    fn finish(&mut self) -> Done {
        self.close()?;
        let mut lines = Vec::new();
        for (collection, (name, documents)) in &self.collections {
            let documents = HumanCount(*documents);
            lines.push(format!(
                "{documents} documents of {collection:?} in {name}\n"
            ));
        }
        Self::report(&lines.concat())
    }

    fn close(&mut self) -> Done {
        match self.open.take() {
            Some((_, output)) => output.finish(),
            None => Ok(()),
        }
    }

    /// Prints what was written.
    fn report(text: &str) -> Done {
        let mut output = Output::stdout();
        output.write(text.as_bytes())?;
        output.finish()
    }

    fn file(&self, name: &str) -> Result<Output<File>> {
        let path = self.directory.join(name);
        let options = &mut File::options();
        let file = options.write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|error| cannot_write(&path, &error))?;
        Ok(Output::new(file, path.display().to_string()))
    }
}

/// The name of a collection's file: its number, and what of its name is plain.
fn file_name(number: usize, collection: &str) -> String {
    let plain = |character: &char| character.is_ascii_alphanumeric() || "-_".contains(*character);
    let name: String = collection.chars().filter(plain).take(40).collect();
    format!("{number}-{name}.ndjson")
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    failed(format!("{} cannot be written: {error}", path.display()))
}
