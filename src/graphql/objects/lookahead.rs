//! Lookahead in the selection: collects all reads from a document before the first of them.

use std::sync::Arc;

use async_graphql::{Name, SelectionField, Value};

use crate::budget::Budget;
use crate::database::{DocumentKey, Extent, ReadRequest};
use crate::document::path::Path;
use crate::graphql::scalars::jsonpath::query_ahead;
use crate::graphql::scalars::types::path_of;

/// All that the selection below `field` reads from `document` at `path`, so that one batch can read
/// it. Invalid arguments are skipped; their resolvers report the error.
pub(crate) fn wants_below(
    field: SelectionField<'_>,
    document: &Arc<DocumentKey>,
    path: &Path,
    budget: &Budget,
) -> Vec<ReadRequest> {
    let mut wants = Wants {
        document,
        budget,
        found: vec![ReadRequest::Value(
            document.clone(),
            path.clone(),
            Extent::First,
        )],
    };
    wants.add(field, path);
    wants.found
}

/// All that the selection below `field` reads from a document that is known to exist.
pub(crate) fn wants_of_document(
    field: SelectionField<'_>,
    document: &Arc<DocumentKey>,
    budget: &Budget,
) -> Vec<ReadRequest> {
    let root = Path::default();
    let needs_kind = field.selection_set().any(|field| field.name() == "kind");
    let mut wants = wants_below(field, document, &root, budget);
    wants.retain(|want| match want {
        ReadRequest::Value(_, path, Extent::First) => needs_kind || *path != root,
        ReadRequest::Value(..) | ReadRequest::Version(_) => true,
    });
    wants
}

struct Wants<'d> {
    document: &'d Arc<DocumentKey>,
    budget: &'d Budget,
    found: Vec<ReadRequest>,
}

impl Wants<'_> {
    fn add(&mut self, field: SelectionField<'_>, path: &Path) {
        for below in field.selection_set() {
            match below.name() {
                "value" => {
                    if let Some(place) = path_below(&below, path) {
                        self.part(place, Extent::Whole);
                    }
                }
                "subdocument" => {
                    if let Some(place) = path_below(&below, path) {
                        self.part(place.clone(), Extent::First);
                        self.add(below, &place);
                    }
                }
                "select" => {
                    let query = argument(&below, "query");
                    if let Some(query) = query
                        .as_ref()
                        .and_then(|text| query_ahead(text, self.budget))
                    {
                        let prefix = Path::of_segments(query.prefix());
                        self.part(path.join(&prefix), Extent::Whole);
                    }
                    self.add_elsewhere(below);
                }
                _ => self.add_of_document(below),
            }
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
            "document" => {
                let root = Path::default();
                if field.selection_set().any(|field| field.name() == "kind") {
                    self.part(root.clone(), Extent::First);
                }
                self.add(field, &root);
            }
            "version" => self.found.push(ReadRequest::Version(self.document.clone())),
            _ => {}
        }
    }

    fn part(&mut self, path: Path, extent: Extent) {
        let same = self.found.iter_mut().find_map(|want| match want {
            ReadRequest::Value(_, wanted, extent) if *wanted == path => Some(extent),
            _ => None,
        });
        match same {
            Some(wanted) => *wanted = extent.max(*wanted),
            None => self
                .found
                .push(ReadRequest::Value(self.document.clone(), path, extent)),
        }
    }
}

/// `path` joined with the field's `path` argument; none if an argument is invalid.
fn path_below(field: &SelectionField<'_>, path: &Path) -> Option<Path> {
    match argument(field, "path") {
        Some(value) => path_of(&value).ok().map(|below| path.join(&below)),
        None => field.arguments().ok().map(|_| path.clone()),
    }
}

fn argument(field: &SelectionField<'_>, name: &str) -> Option<Value> {
    let arguments = field.arguments().ok()?.into_iter();
    let mut named = arguments.filter(|(given, _): &(Name, Value)| given == name);
    named.next().map(|(_, value)| value)
}
