//! Asks Phyllo and the crate `jsonschema` whether a value fits.

use phyllo::budget::{Budget, Steps};
use phyllo::document::path::Segment;
use phyllo::error::Result;
use phyllo::key::Leaves;
use phyllo::types::{CollectionType, Violations};
use serde_json::Value;

/// The type of a schema.
pub(crate) fn parse(schema: &Value) -> Result<CollectionType> {
    let budget = Budget::of_background();
    CollectionType::parse("Things", &schema.to_string(), &Steps::of(&budget))
}

/// The violations by a value at a place. None if Phyllo cannot store the value.
pub(crate) fn violations(
    of: &CollectionType,
    place: &[Segment],
    value: &Value,
) -> Option<Violations> {
    let leaves = Leaves::from_json(&value.to_string()).ok()?;
    let budget = Budget::of_background();
    let steps = Steps::of(&budget);
    let mut validator = of.validator(place, &steps);
    for (key, value) in leaves.iter() {
        validator.push(key, value).expect("it is well-formed");
    }
    Some(validator.finish().expect("it is well-formed"))
}

/// Whether Phyllo says that a document fits.
pub(crate) fn fits(of: &CollectionType, document: &Value) -> Option<bool> {
    violations(of, &[], document).map(|found| found.is_empty())
}

/// The validator of the crate `jsonschema`, which checks formats, too.
pub(crate) fn theirs(schema: &Value) -> jsonschema::Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .should_validate_formats(true)
        .build(schema)
        .unwrap_or_else(|error| panic!("{schema}: {error}"))
}
