//! The references of a type whose keys an index finds: those that lead back, and those on which the deletion
//! of their target acts.

use super::collection_type::CollectionType;
use super::shape::{Additional, Kinds, OnDelete, Reference, ShapeId};
use crate::document::id::DocumentId;
use crate::document::json::write_string;
use crate::document::leaf::Leaf;

/// A reference whose keys an index finds, at its only place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexedReference {
    /// The collection of the documents to which the keys lead.
    pub target: String,
    /// The name of the field there that leads back.
    pub inverse: Option<String>,
    /// What the deletion of such a document does.
    pub on_delete: OnDelete,
    /// The keys.
    pub keys: ReferenceKeys,
    /// A name for the index.
    pub index: String,
}

/// Where a document has the keys of a reference, and of which kind they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceKeys {
    /// The members on the way to the keys. `None` is each element of an array, or each member of a map.
    steps: Vec<Option<String>>,
    /// Whether keys are integers, and not strings.
    integers: bool,
}

/// The bytes of a name for an index.
const INDEX_NAME_BYTES_MAX: usize = 100;

/// Places that are looked at. A definition that is used at many places is looked at in each.
const PLACES_MAX: usize = 10_000;

/// A place whose shape is looked at.
struct OpenPlace {
    shape: ShapeId,
    steps: Vec<Option<String>>,
    /// The definitions around it.
    around: Vec<ShapeId>,
}

impl Reference {
    /// Whether an index finds the keys.
    pub fn is_indexed(&self) -> bool {
        self.inverse.is_some() || self.on_delete != OnDelete::Ignore
    }

    /// Whether a write of a key depends on other documents.
    pub fn is_checked(&self) -> bool {
        self.exists || self.chain.is_some()
    }
}

impl ReferenceKeys {
    /// A JSONPath that selects the keys.
    pub fn path(&self) -> String {
        let mut path = "$".to_owned();
        self.steps
            .iter()
            .for_each(|step| append(&mut path, step.as_deref()));
        path
    }

    /// Whether a document can have several keys there.
    pub fn has_several(&self) -> bool {
        self.steps.iter().any(Option::is_none)
    }

    /// A JSONPath that selects the keys that are equal to one of these. If a document has one key there, it is
    /// selected.
    pub fn path_of(&self, keys: &[Leaf<'_>]) -> String {
        let Some(each) = self.steps.iter().position(Option::is_none) else {
            return self.path();
        };
        let (mut path, mut behind) = ("$".to_owned(), String::new());
        self.steps[..each]
            .iter()
            .for_each(|step| append(&mut path, step.as_deref()));
        self.steps[each + 1..]
            .iter()
            .for_each(|step| append(&mut behind, step.as_deref()));
        let tests: Vec<String> = keys
            .iter()
            .map(|key| format!("@{behind} == {}", literal(key)))
            .collect();
        format!("{path}[?{}]{behind}", tests.join(" || "))
    }

    /// The key that leads to a document. None if none does.
    pub fn key_of(&self, id: &DocumentId) -> Option<Leaf<'static>> {
        match (self.integers, id) {
            (true, DocumentId::Integer(integer)) => Some(Leaf::Integer(*integer)),
            (true, _) => None,
            (false, id) => Some(Leaf::String(id.to_string().into())),
        }
    }
}

/// A key as JSON, which is a literal of JSONPath.
fn literal(key: &Leaf<'_>) -> String {
    match key {
        Leaf::String(text) => quoted(text),
        Leaf::Integer(integer) => integer.to_string(),
        _ => "null".to_owned(),
    }
}

fn append(path: &mut String, step: Option<&str>) {
    match step {
        Some(name) => {
            path.push('[');
            path.push_str(&quoted(name));
            path.push(']');
        }
        None => path.push_str("[*]"),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    write_string(&mut quoted, text);
    String::from_utf8_lossy(&quoted).into_owned()
}

impl CollectionType {
    /// The references whose keys an index finds.
    ///
    /// # Errors
    /// Why one of them cannot be found: an index can be on names and one `[*]` only.
    pub fn indexed_references(&self) -> Result<Vec<IndexedReference>, String> {
        let is_indexed = |reference: &Reference| reference.is_indexed();
        let mut shapes = self.shapes();
        if !shapes.any(|(_, shape)| shape.reference.as_deref().is_some_and(is_indexed)) {
            return Ok(Vec::new());
        }
        let mut found: Vec<IndexedReference> = Vec::new();
        let mut open = vec![OpenPlace {
            shape: ShapeId::ROOT,
            steps: Vec::new(),
            around: Vec::new(),
        }];
        let mut places = 0;
        while let Some(place) = open.pop() {
            places += 1;
            if places > PLACES_MAX {
                return Err(format!(
                    "a schema with an `inverse` or an `onDelete` has at most {PLACES_MAX} places"
                ));
            }
            let shape = self.shape(place.shape);
            if place.around.contains(&shape.definition) {
                return Err(
                    "a schema that contains itself has no `inverse` and no `onDelete`: its keys can be at any depth"
                        .to_owned(),
                );
            }
            if let Some(reference) = shape.reference.as_deref().filter(|it| is_indexed(it)) {
                let integers = !shape.constraints.kinds.has(Kinds::STRING);
                let indexed = indexed(reference, &place.steps, integers)?;
                let is_same = |other: &IndexedReference| {
                    other.inverse.is_some()
                        && (&other.target, &other.inverse) == (&indexed.target, &indexed.inverse)
                };
                if let Some(inverse) = indexed
                    .inverse
                    .as_ref()
                    .filter(|_| found.iter().any(is_same))
                {
                    return Err(format!(
                        "the `inverse` {inverse:?} is at two places: write a schema with another name for one of them"
                    ));
                }
                found.push(indexed);
            }
            self.open_inside(place, &mut open);
        }
        found.reverse();
        Ok(found)
    }

    fn open_inside(&self, place: OpenPlace, open: &mut Vec<OpenPlace>) {
        let OpenPlace {
            shape,
            steps,
            mut around,
        } = place;
        let shape = self.shape(shape);
        around.push(shape.definition);
        let constraints = &shape.constraints;
        let properties = constraints
            .object
            .properties
            .iter()
            .map(|it| (Some(it.name.to_string()), it.shape));
        let values = match constraints.object.additional {
            Additional::Map(values) => Some(values),
            _ => None,
        };
        let each = values.into_iter().chain(constraints.array.items);
        for (step, shape) in properties.chain(each.map(|shape| (None, shape))) {
            let mut steps = steps.clone();
            steps.push(step);
            open.push(OpenPlace {
                shape,
                steps,
                around: around.clone(),
            });
        }
    }
}

fn indexed(
    reference: &Reference,
    steps: &[Option<String>],
    integers: bool,
) -> Result<IndexedReference, String> {
    if steps.iter().filter(|step| step.is_none()).count() > 1 {
        return Err(format!(
            "the keys of the field {:?} are in a list inside a list, on which there can be no index: remove \
             `inverse` and `onDelete`",
            reference.field
        ));
    }
    let names = steps.iter().flatten().map(String::as_str);
    let names: Vec<&str> = ["reference"].into_iter().chain(names).collect();
    let mut index = names.join("_");
    while index.len() > INDEX_NAME_BYTES_MAX {
        index.pop();
    }
    Ok(IndexedReference {
        target: reference.collection.clone(),
        inverse: reference.inverse.clone(),
        on_delete: reference.on_delete,
        keys: ReferenceKeys {
            steps: steps.to_vec(),
            integers,
        },
        index,
    })
}
