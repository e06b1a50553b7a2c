//! The command line. Tests run commands on a store directly and through a server that holds it.

#[path = "cli/adopt.rs"]
mod adopt;
#[path = "cli/backup.rs"]
mod backup;
#[path = "cli/check.rs"]
mod check;
#[path = "cli/compact.rs"]
mod compact;
#[path = "cli/copy.rs"]
mod copy;
#[path = "cli/cut_connections.rs"]
mod cut_connections;
#[path = "cli/delete.rs"]
mod delete;
#[path = "cli/documents.rs"]
mod documents;
#[path = "cli/drop.rs"]
mod drop;
#[path = "cli/export.rs"]
mod export;
#[path = "cli/follow.rs"]
mod follow;
#[path = "cli/get.rs"]
mod get;
#[path = "cli/harness.rs"]
mod harness;
#[path = "cli/import.rs"]
mod import;
#[path = "cli/import_extended_json.rs"]
mod import_extended_json;
#[path = "cli/import_files.rs"]
mod import_files;
#[path = "cli/import_hostile.rs"]
mod import_hostile;
#[path = "cli/import_tables.rs"]
mod import_tables;
#[path = "cli/index.rs"]
mod index;
#[path = "cli/interrupts.rs"]
mod interrupts;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/local.rs"]
mod local;
#[path = "cli/names.rs"]
mod names;
#[path = "cli/new_stores.rs"]
mod new_stores;
#[path = "cli/permissions.rs"]
mod permissions;
#[path = "cli/restored_copy.rs"]
mod restored_copy;
#[path = "cli/rules.rs"]
mod rules;
#[path = "cli/salvage.rs"]
mod salvage;
#[path = "cli/sample.rs"]
mod sample;
#[path = "cli/tls.rs"]
mod tls;
#[path = "cli/transports.rs"]
mod transports;
#[path = "cli/types.rs"]
mod types;
#[path = "cli/update.rs"]
mod update;
#[path = "cli/urls.rs"]
mod urls;
