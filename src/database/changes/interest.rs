//! Which changes a subscriber wants to know of.

use crate::document::id::DocumentId;
use crate::document::path::{Path, Place, Token};
use crate::key::LoggedChange;

/// The changes that a subscriber wants to know of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Interest {
    /// The collection.
    pub collection: String,
    /// The document. `None` for all documents of the collection.
    pub id: Option<DocumentId>,
    /// The places in the document. A change at, below or above one of them is wanted.
    pub places: Vec<Place>,
}

/// A path with more possible places is watched at its unambiguous beginning.
const PLACES_MAX: usize = 8;

impl Interest {
    /// Interest in all documents of a collection.
    pub fn in_collection(collection: String) -> Self {
        Self {
            collection,
            id: None,
            places: vec![Place::default()],
        }
    }

    /// Interest in what a path leads to in a document.
    pub fn in_path(collection: String, id: DocumentId, path: &Path) -> Self {
        Self {
            collection,
            id: Some(id),
            places: places(path),
        }
    }

    /// Interest in the same documents as a whole.
    pub(crate) fn in_whole_documents(self) -> Self {
        Self {
            places: vec![Place::default()],
            ..self
        }
    }

    /// Whether a change is wanted.
    pub fn includes(&self, change: &LoggedChange) -> bool {
        if change.collection != self.collection {
            return false;
        }
        match (&self.id, &change.id) {
            (None, _) | (_, None) => true,
            (Some(own), Some(changed)) => {
                own == changed
                    && change.places.iter().any(|changed| {
                        self.places.iter().any(|own| {
                            own.0.starts_with(&changed.0) || changed.0.starts_with(&own.0)
                        })
                    })
            }
        }
    }
}

/// The places that contain whatever a path leads to.
fn places(path: &Path) -> Vec<Place> {
    let fixed = path
        .tokens()
        .iter()
        .take_while(|token| !matches!(token, Token::FromEnd(_) | Token::Dash));
    let fixed = Path::new(fixed.cloned().collect());
    if fixed.ambiguous() <= PLACES_MAX.ilog2() as usize {
        return fixed.places();
    }
    let segments = fixed.tokens().iter().map_while(|token| match token {
        Token::Segment(segment) => Some(segment.clone()),
        _ => None,
    });
    vec![Place(segments.collect())]
}
