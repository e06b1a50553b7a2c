//! Encodes documents and all other records as keys and values (docs/format.md). Pure: no store, no
//! I/O, no async.

mod commits;
mod decode_pairs;
mod entry;
mod family;
mod index;
mod leaves;
mod leaves_reader;
mod measure;
mod system;
mod tree;
mod tuple;
mod value_set;
mod verify;

pub use commits::{
    ChangeKind, ChangeLogPart, ChangeLogRange, ChangesDecoder, CommitMarker, LoggedChange,
    encode_changes,
};
pub use decode_pairs::{
    Assemble, Decoding, JsonText, KeyStep, Malformed, Marker, are_neighbours, document_prefix,
    kind_at, step,
};
pub use entry::{Entry, OwnKey, all_documents};
pub use family::{Family, Version};
pub use index::{IndexKey, IndexValue, IndexValueBuilder, NumberForm, Rank};
pub use leaves::{Leaves, Packer, check_key_bytes};
pub use leaves_reader::LeavesReader;
pub use system::{
    FamilyRange, Ranges, SystemKey, collection_of, counts_of, name_of_collection,
    ranges_of_collection, split_document,
};
pub use tree::{NoTree, tree};
pub use tuple::{
    append_id, append_name_prefix, append_place, append_segment, decode_leaf, decode_piece,
    empty_marker, from_hex, hex, pack_leaf, tuple_text,
};
pub use value_set::{DistinctElements, EqualElement, EqualElements, ValueSet, check_array};
pub use verify::{Verified, Verify};
