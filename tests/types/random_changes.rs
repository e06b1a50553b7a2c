//! Validates random changes by what they touch, and compares with validating the whole document.

use phyllo::budget::{Budget, Steps};
use phyllo::document::path::{Place, Segment};
use phyllo::limits::INFERRED_PLACES_MAX;
use phyllo::types::{CollectionType, Inference, is_compatible};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use crate::random_schemas::{NAMES, any_value, schema, value};
use crate::seed::test_seed;
use crate::skip::rounds;
use crate::verdicts::{fits, parse, theirs, violations};

fn of_schema(schema: &Value) -> CollectionType {
    parse(schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

#[test]
fn verdicts_on_random_documents_are_those_of_jsonschema() {
    let mut rng = StdRng::seed_from_u64(test_seed());
    let mut fitting = 0;
    for _ in 0..SCHEMAS {
        let schema = schema(&mut rng);
        let (ours, theirs) = (of_schema(&schema), theirs(&schema));
        for at in 0..DOCUMENTS_OF_SCHEMA {
            let document = match at % 8 {
                0 => any_value(&mut rng, 0),
                _ => value(&mut rng, &schema, &schema, 0),
            };
            let expected = theirs.is_valid(&document);
            let found = violations(&ours, &[], &document).expect("it can be stored");
            assert_eq!(
                found.is_empty(),
                expected,
                "schema {schema}\ndocument {document}\nours {:?}\ntheirs {:?}",
                found.listed(),
                theirs
                    .iter_errors(&document)
                    .map(|it| it.to_string())
                    .collect::<Vec<_>>(),
            );
            fitting += usize::from(expected);
        }
    }
    println!(
        "{fitting} of {} documents fit",
        SCHEMAS * DOCUMENTS_OF_SCHEMA
    );
    assert!(fitting > SCHEMAS * DOCUMENTS_OF_SCHEMA / 10, "{fitting}");
}

const SCHEMAS: usize = 250;
const DOCUMENTS_OF_SCHEMA: usize = 40;

/// A change of one place.
#[derive(Debug)]
enum Change {
    /// Sets a member, or replaces an element.
    Set(Vec<Segment>, Value),
    RemoveMember(Vec<Segment>),
    /// Inserts an element before the one at the place, or at the end.
    Insert(Vec<Segment>, Value),
    RemoveElement(Vec<Segment>),
}

#[test]
fn a_change_fits_if_the_changed_document_fits() {
    let mut rng = StdRng::seed_from_u64(test_seed());
    let changes = rounds(10_000, 100_000);
    let (mut compared, mut refused) = (0, 0);
    while compared < changes {
        let schema = schema(&mut rng);
        let (ours, theirs) = (of_schema(&schema), theirs(&schema));
        let documents: Vec<Value> = (0..20)
            .map(|_| value(&mut rng, &schema, &schema, 0))
            .filter(|document| theirs.is_valid(document))
            .collect();
        for mut document in documents {
            for _ in 0..5 {
                let Some(change) = random_change(&mut rng, &schema, &document) else {
                    continue;
                };
                let mut changed = document.clone();
                apply(&mut changed, &change);
                let expected = theirs.is_valid(&changed);
                let found = violations_of(&ours, &change, &changed);
                assert_eq!(
                    found.is_empty(),
                    expected,
                    "schema {schema}\ndocument {document}\nchange {change:?}\nours {found:?}\ntheirs {:?}",
                    theirs
                        .iter_errors(&changed)
                        .map(|it| it.to_string())
                        .collect::<Vec<_>>(),
                );
                compared += 1;
                refused += usize::from(!expected);
                if expected {
                    document = changed;
                }
            }
        }
    }
    println!("{compared} changes, of which {refused} do not fit");
    assert!(refused > compared / 20, "{refused} of {compared}");
}

/// What a change violates, by what it touches.
fn violations_of(of: &CollectionType, change: &Change, changed: &Value) -> Vec<String> {
    let length = |array: &[Segment]| {
        let elements = at(changed, array).as_array().expect("an array").len();
        let violation = of.check_length(array, elements as u64);
        assert!(of.bounds_length(array) || violation.is_none());
        violation
    };
    let (place, value) = match change {
        Change::Set(place, value) | Change::Insert(place, value) => (place, Some(value)),
        Change::RemoveMember(place) | Change::RemoveElement(place) => (place, None),
    };
    let found = value.map(|value| violations(of, place, value).expect("it can be stored"));
    let mut found: Vec<String> = found
        .iter()
        .flat_map(|found| found.listed().iter().map(ToString::to_string))
        .collect();
    let array = &place[..place.len().saturating_sub(1)];
    let more = match change {
        Change::Set(..) => None,
        Change::RemoveMember(_) => of.check_removal(place),
        Change::Insert(..) | Change::RemoveElement(_) => length(array),
    };
    found.extend(more.map(|it| it.to_string()));
    found
}

fn at<'v>(document: &'v Value, place: &[Segment]) -> &'v Value {
    document
        .pointer(&Place(place.to_vec()).to_string())
        .expect("it is there")
}

fn at_mut<'v>(document: &'v mut Value, place: &[Segment]) -> &'v mut Value {
    document
        .pointer_mut(&Place(place.to_vec()).to_string())
        .expect("it is there")
}

fn random_change(rng: &mut StdRng, schema: &Value, document: &Value) -> Option<Change> {
    let mut places = Vec::new();
    containers(document, &mut Vec::new(), &mut places);
    let place = places.choose(rng)?.clone();
    let below = |segment: Segment| [&place[..], &[segment]].concat();
    // Half of the new values fit some other place of the schema.
    let new = if rng.random_bool(0.5) {
        any_value(rng, 3)
    } else {
        let inside = value(rng, schema, schema, 0);
        let members = inside.as_object().into_iter().flat_map(|it| it.values());
        members.cloned().choose(rng).unwrap_or(json!("a"))
    };
    match at(document, &place) {
        Value::Object(members) => {
            let known = members.keys().choose(rng).cloned();
            match rng.random_range(0..3) {
                0 => Some(Change::RemoveMember(below(Segment::Key(known?)))),
                1 => Some(Change::Set(below(Segment::Key(known?)), new)),
                _ => {
                    let name = (*NAMES.choose(rng)?).to_owned();
                    Some(Change::Set(below(Segment::Key(name)), new))
                }
            }
        }
        Value::Array(elements) => {
            let index = (0..elements.len()).choose(rng);
            let new = if rng.random_bool(0.5) {
                elements.choose(rng).cloned().unwrap_or(new)
            } else {
                new
            };
            let segment = |index: usize| Segment::Index(index as u64);
            match rng.random_range(0..3) {
                0 => Some(Change::RemoveElement(below(segment(index?)))),
                1 => Some(Change::Set(below(segment(index?)), new)),
                _ => {
                    let index = rng.random_range(0..=elements.len());
                    Some(Change::Insert(below(segment(index)), new))
                }
            }
        }
        _ => None,
    }
}

/// The places of all objects and arrays.
fn containers(value: &Value, here: &mut Vec<Segment>, places: &mut Vec<Vec<Segment>>) {
    let mut visit = |segment: Segment, child: &Value, places: &mut Vec<Vec<Segment>>| {
        here.push(segment);
        containers(child, here, places);
        here.pop();
    };
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                visit(Segment::Key(name.clone()), member, places);
            }
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                visit(Segment::Index(index as u64), element, places);
            }
        }
        _ => return,
    }
    places.push(here.clone());
}

fn apply(document: &mut Value, change: &Change) {
    let (Change::Set(place, _)
    | Change::RemoveMember(place)
    | Change::Insert(place, _)
    | Change::RemoveElement(place)) = change;
    let (last, above) = place.split_last().expect("below the document");
    match (at_mut(document, above), last, change) {
        (Value::Object(members), Segment::Key(name), Change::Set(_, new)) => {
            members.insert(name.clone(), new.clone());
        }
        (Value::Object(members), Segment::Key(name), Change::RemoveMember(_)) => {
            members.remove(name);
        }
        (Value::Array(elements), Segment::Index(index), change) => {
            let index = usize::try_from(*index).expect("small");
            match change {
                Change::Set(_, new) => elements[index] = new.clone(),
                Change::Insert(_, new) => elements.insert(index, new.clone()),
                _ => {
                    elements.remove(index);
                }
            }
        }
        (other, ..) => panic!("{change:?} of {other}"),
    }
}

#[test]
fn documents_of_a_type_fit_every_type_that_is_compatible_with_it() {
    let mut rng = StdRng::seed_from_u64(test_seed());
    let mut compatible = 0;
    for _ in 0..rounds(2_000, 20_000) {
        let old = schema(&mut rng);
        let mut new = old.clone();
        for _ in 0..rng.random_range(0..3) {
            alter(&mut rng, &mut new);
        }
        let (Ok(old_type), Ok(new_type)) = (parse(&old), parse(&new)) else {
            continue;
        };
        let budget = Budget::of_background();
        let steps = Steps::of(&budget);
        if !is_compatible(&old_type, &new_type, &steps).expect("the budget suffices") {
            continue;
        }
        compatible += usize::from(old != new);
        for _ in 0..10 {
            let document = value(&mut rng, &old, &old, 0);
            if fits(&old_type, &document) == Some(true) {
                assert_eq!(
                    fits(&new_type, &document),
                    Some(true),
                    "old {old}\nnew {new}\ndocument {document}"
                );
            }
        }
    }
    println!("{compatible} changed schemas are compatible");
    assert!(compatible > 200, "{compatible}");
}

/// Changes something in a schema.
fn alter(rng: &mut StdRng, schema: &mut Value) {
    let Value::Object(members) = schema else {
        return;
    };
    let names: Vec<String> = members.keys().cloned().collect();
    let Some(name) = names.choose(rng) else {
        return;
    };
    match &**name {
        "properties" | "$defs" => {
            let properties = members[name].as_object_mut().expect("an object");
            match properties.values_mut().choose(rng) {
                Some(property) => alter(rng, property),
                None => {
                    properties.insert("b".to_owned(), json!({"type": "string"}));
                }
            }
        }
        "items" | "additionalProperties" => alter(rng, &mut members[name]),
        "type" => {
            let wider = [
                json!(["string", "null"]),
                json!(["integer", "null"]),
                json!("number"),
                json!(["object", "null"]),
            ];
            members[name] = wider.choose(rng).expect("some").clone();
        }
        "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems"
            if rng.random_bool(0.7) =>
        {
            members[name] = json!(rng.random_range(0..6));
        }
        "enum" => members[name] = json!(["a", "b", "c", "ab", "d"]),
        _ => {
            members.remove(name);
        }
    }
}

#[test]
fn documents_fit_the_schema_that_is_inferred_from_them() {
    let mut rng = StdRng::seed_from_u64(test_seed());
    let rounds = rounds(300, 3_000);
    let mut inferences = 0;
    for _ in 0..rounds {
        let schema = schema(&mut rng);
        let mut bytes = 0;
        let documents: Vec<Value> = (0..rng.random_range(1..40))
            .map(|_| value(&mut rng, &schema, &schema, 0))
            .take_while(|document| {
                // Each place takes at least a byte.
                bytes += document.to_string().len();
                bytes <= INFERRED_PLACES_MAX
            })
            .collect();
        inferences += usize::from(!documents.is_empty());
        let budget = Budget::of_background();
        let steps = Steps::of(&budget);
        let mut inference = Inference::new();
        for document in &documents {
            crate::inference::feed(&mut inference, document, &steps);
        }
        let text = inference.into_schema(&steps).expect("few places");
        let inferred: Value = serde_json::from_str(&text).expect("JSON");
        let (ours, theirs) = (of_schema(&inferred), theirs(&inferred));
        for document in &documents {
            assert_eq!(fits(&ours, document), Some(true), "{text}\n{document}");
            assert!(theirs.is_valid(document), "{text}\n{document}");
        }
    }
    assert!(inferences > rounds / 2, "{inferences} of {rounds}");
}
