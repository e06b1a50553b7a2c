//! Phyllo
pub mod database;
pub mod document;
pub mod error;
pub mod graphql;
pub mod key;
pub mod limits;
pub mod server;
pub mod store;
