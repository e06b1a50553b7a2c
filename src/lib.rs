//! Phyllo
pub mod database;
pub mod document;
pub mod error;
pub mod key;
pub mod limits;
pub mod store;
