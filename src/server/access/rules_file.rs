//! The file of access rules.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::rights::Rules;
use crate::server::file_reload::{ReloadedFile, Watch};

/// The access rules of a file. If the file changes and is invalid, the previous rules stay in force.
pub(super) struct RulesFile {
    file: Arc<ReloadedFile<Rules>>,
    in_force: watch::Sender<Arc<Rules>>,
}

impl RulesFile {
    /// Reads the file.
    ///
    /// # Errors
    /// `UNAVAILABLE`: it cannot be read. As [`Rules::parse`].
    pub(super) fn new(path: PathBuf) -> Result<Self> {
        let secret = |_: &[u8]| false;
        let file = ReloadedFile::new(vec![Watch { path, secret }], |files| parse(&files.concat()));
        let file = Arc::new(file.map_err(|error| error.at("--rules"))?);
        Ok(Self {
            in_force: watch::Sender::new(file.current()),
            file,
        })
    }

    /// The rules in force, now and after each change.
    pub(super) fn in_force(&self) -> watch::Receiver<Arc<Rules>> {
        self.in_force.subscribe()
    }

    /// Reloads the file whenever it changes. Never returns.
    pub(super) async fn watch(&self) {
        let mut changes = self.file.changes();
        let replacing = async {
            while changes.changed().await.is_ok() {
                self.replace();
            }
        };
        tokio::join!(self.file.clone().watch(), replacing);
    }

    /// Reloads the file immediately.
    pub(super) async fn reload(&self) {
        self.file.clone().reload().await;
        self.replace();
    }

    /// Puts the rules of the file in force.
    fn replace(&self) {
        let current = self.file.current();
        self.in_force.send_if_modified(|rules| {
            let is_other = !Arc::ptr_eq(rules, &current);
            *rules = current;
            is_other
        });
    }
}

fn parse(file: &[u8]) -> Result<Rules> {
    let text = std::str::from_utf8(file).map_err(|error| {
        let at = error.valid_up_to();
        Error::bad_input(format!("the rules are not UTF-8 from byte {at} on"))
    })?;
    Rules::parse(text)
}
