//! Lookahead in the selection: collects all reads from a document before the first of them.

use std::sync::Arc;

use async_graphql::{Name, SelectionField, Value};

use super::field_reads::{FieldReads, PlaceField};
use crate::budget::{Budget, Steps};
use crate::database::{DocumentKey, Extent, PartReads, ReadRequest, first_reads};
use crate::document::path::Path;
use crate::graphql::scalars::jsonpath::query_ahead;
use crate::graphql::scalars::types::path_of;
use crate::limits::READS_AHEAD_MAX;

/// All that the selection below `field` reads from `document` at `path`, so that one batch can read
/// it. Invalid arguments are skipped; their resolvers report the error.
pub(crate) fn reads_below(
    field: SelectionField<'_>,
    document: &Arc<DocumentKey>,
    path: &Path,
    budget: &Budget,
) -> Vec<ReadRequest> {
    let mut lookahead = Lookahead::new(document, budget);
    lookahead.value(path.clone(), PlaceField::Subdocument.extent());
    lookahead.add(field, path);
    lookahead.reads.0
}

/// All that the selection below `field` reads from a document that is known to exist.
pub(crate) fn reads_of_document(
    field: SelectionField<'_>,
    document: &Arc<DocumentKey>,
    budget: &Budget,
) -> Vec<ReadRequest> {
    let mut lookahead = Lookahead::new(document, budget);
    lookahead.add_document(field);
    lookahead.reads.0
}

struct Lookahead<'d> {
    document: &'d Arc<DocumentKey>,
    budget: &'d Budget,
    reads: FieldReads<Arc<DocumentKey>, Path>,
}

impl<'d> Lookahead<'d> {
    fn new(document: &'d Arc<DocumentKey>, budget: &'d Budget) -> Self {
        Self {
            document,
            budget,
            reads: FieldReads::default(),
        }
    }

    /// Adds what the fields of the part at `path` read. The read of the part itself has its kind.
    fn add(&mut self, field: SelectionField<'_>, path: &Path) {
        for below in field.selection_set() {
            match below.name() {
                "value" => {
                    if let Some(place) = path_below(&below, path) {
                        self.value(place, PlaceField::Value.extent());
                    }
                }
                "values" | "pick" => {
                    let extent = PlaceField::Value.extent();
                    let listed = self.listed(&below).unwrap_or_default().into_iter();
                    self.parts(listed.map(|below| (below, extent)).collect(), path);
                }
                "omit" => {
                    let Some(listed) = self.listed(&below) else {
                        continue;
                    };
                    let omitted = listed.iter().map(|below| path.join(below)).collect();
                    let (document, path) = (self.document.clone(), path.clone());
                    self.reads.remainder(0, document, path, omitted);
                }
                "subdocument" => {
                    if let Some(place) = path_below(&below, path) {
                        self.value(place.clone(), PlaceField::Subdocument.extent());
                        self.add(below, &place);
                    }
                }
                "select" => {
                    let query = argument(&below, "query");
                    let query = query
                        .as_ref()
                        .and_then(|text| query_ahead(text, self.budget));
                    let reads =
                        query.and_then(|query| first_reads(&query, &Steps::of(self.budget)).ok());
                    self.parts(reads.unwrap_or_default(), path);
                    self.add_elsewhere(below);
                }
                _ => self.add_of_document(below),
            }
        }
    }

    /// The paths in a list. None if one is invalid, or if they are too many to be read ahead.
    fn listed(&self, field: &SelectionField<'_>) -> Option<Vec<Path>> {
        let listed = match argument(field, "paths")? {
            Value::List(listed) => listed,
            single => vec![single],
        };
        if self.reads.0.len() + listed.len() > READS_AHEAD_MAX {
            return None;
        }
        listed.iter().map(|path| path_of(path).ok()).collect()
    }

    /// Adds reads of several parts below `path`, unless they are too many to be compared with each
    /// other. Their field then reads them itself.
    fn parts(&mut self, reads: PartReads, path: &Path) {
        if self.reads.0.len() + reads.len() > READS_AHEAD_MAX {
            return;
        }
        for (below, extent) in reads {
            self.value(path.join(&below), extent);
        }
    }

    /// Adds only reads outside the part that is already read whole.
    fn add_elsewhere(&mut self, field: SelectionField<'_>) {
        for below in field.selection_set() {
            match below.name() {
                "subdocument" | "select" => self.add_elsewhere(below),
                _ => self.add_of_document(below),
            }
        }
    }

    fn add_of_document(&mut self, field: SelectionField<'_>) {
        match field.name() {
            "document" => self.add_document(field),
            "version" => {
                self.reads.version(0, self.document.clone());
            }
            _ => {}
        }
    }

    /// Adds what the fields of the whole document read.
    fn add_document(&mut self, field: SelectionField<'_>) {
        if field.selection_set().any(|field| field.name() == "kind") {
            self.value(Path::default(), PlaceField::Kind.extent());
        }
        self.add(field, Path::root());
    }

    fn value(&mut self, path: Path, extent: Extent) {
        self.reads.value(0, self.document.clone(), path, extent);
    }
}

/// `path` joined with the field's `path` argument; none if an argument is invalid.
fn path_below(field: &SelectionField<'_>, path: &Path) -> Option<Path> {
    match argument(field, "path") {
        Some(value) => path_of(&value).ok().map(|below| path.join(&below)),
        None => field.arguments().ok().map(|_| path.clone()),
    }
}

/// The value of an argument; none if it is absent or the arguments are invalid.
pub(crate) fn argument(field: &SelectionField<'_>, name: &str) -> Option<Value> {
    let arguments = field.arguments().ok()?.into_iter();
    let mut named = arguments.filter(|(given, _): &(Name, Value)| given == name);
    named.next().map(|(_, value)| value)
}
