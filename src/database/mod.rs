//! Operations on documents. Each runs in one transaction or on one snapshot of the store.

mod bulk;
mod catalog;
mod changes;
mod check;
pub mod copy;
mod document_key;
mod edit;
mod format;
mod index;
mod open;
pub mod query;
mod read;
mod types;

pub use bulk::adopt::{Adopted, adopt};
pub use bulk::bulk_update::{Bulk, Changes, bulk, bulk_documents};
pub use bulk::check_references::ReferenceViolation;
pub use bulk::settle_references::{required_documents, settle_references};
pub use bulk::simulate_type::{
    DefinedType, define_type, simulate_type, simulate_type_in_snapshots,
};
pub use bulk::take::first_documents;
pub use bulk::test::test_document;
pub use bulk::type_checker::{TypeCheckStep, TypeChecker};
pub use catalog::collections::{Collection, collections, first_collections};
pub use catalog::drop::drop_collection;
pub use catalog::names::{NearNames, StoredKeys, is_there, names, near_names, stored_keys};
pub use catalog::scan::{Foreign, Scan, ScanTest, Scanned};
pub use changes::change_cursor::{ChangeCursor, ChangePosition, changes_cursor};
pub use changes::feed::patch_window::ChangePatch;
pub use changes::feed::{ChangeFollower, ChangesObserver, FollowFrom, FollowedChange};
pub use changes::interest::Interest;
pub use changes::read_change_log::LoggedCommit;
pub use changes::settings::{ChangeSettings, change_log_of_backup};
pub use changes::size::LogSize;
pub use check::checker::Check;
pub use check::finding::{Finding, Severity, Summary};
pub use copy::salvage::{SalvagedDocument, SalvagedDocuments, SalvagedSettings};
pub use document_key::{DocumentKey, check_collection};
pub use edit::append::append;
pub use edit::apply_update::update_document;
pub use edit::editor::Put;
pub use edit::rename::Rename;
pub use edit::source::{DocumentReference, ValuePlace, ValueSource};
pub use edit::stored_response::{IdempotencyKey, StoredResponse, keep_answer, kept_answer};
pub use edit::update_operation::{Comparand, Update, UpdateOperation, UpdateOperator};
pub use edit::write_document::{Existing, insert, insert_if_absent, put};
pub use edit::{
    MissingParents, delete, depend_on_version, exists, increment, merge, merge_document, patch,
    put_if_absent, replace, version_before,
};
pub use format::{
    FORMAT, FORMAT_CHANGES, FORMAT_EXACT_ENTRIES, FORMAT_INDEXED, FORMAT_LOG,
    FORMAT_SELECTIVE_INDEXES, FORMAT_TOMBSTONES, FORMAT_TYPES, FORMAT_VERSIONSTAMPS,
};
pub use index::build::{BuildStep, Builder};
pub use index::build_progress::{StoredIndex, stored_index, stored_indexes};
pub use index::define::{create_index, drop_index};
pub use index::definition::{Index, IndexPath, State, indexes};
pub use index::partial::IndexFilter;
pub use open::Database;
pub use open::unique_values::{UniqueViolation, unique_violation};
pub use read::adjacent::AdjacentDocuments;
pub use read::children::{Child, ChildBounds, Children, ChildrenPage, children, children_of};
pub use read::length::{length, members};
pub use read::load::{Loaded, load, read_requested};
pub use read::path_candidates::settled_path;
pub use read::projection::between::PartsBetween;
pub use read::projection::picked::{PickedPart, write_picked};
pub use read::projection::remainder::Remainder;
pub use read::range_plan::{Extent, RangeSource, ReadPlan};
pub use read::request::{Answer, BorrowedRequest, ReadRequest};
pub use read::selection::{PartReads, QuerySelection, SelectedNode, first_reads};
pub use read::value::Value;
pub use read::value_ref::ValueRef;
pub use types::all_types::{CollectionTypes, types_beside};
pub use types::define::{
    StoredType, TypeChange, check_type, drop_type, stored_type, type_state, typed_collections,
    types_version,
};
pub use types::head::TypeState;
pub use types::misfits::Misfit;
