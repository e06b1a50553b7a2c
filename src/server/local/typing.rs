//! Types of collections on the local socket ([`wire`]).

use super::wire::{self, FieldReader, write_field};
use crate::database::{DefinedType, Misfit, StoredType, TypeChange, TypeState};
use crate::document::id::DocumentId;
use crate::error::{Result, TypeViolation};

/// `GET`, optionally with `?collection=…`: returns the types, as [`write_types`].
pub const TYPES: &str = "/v1/types";
/// `POST ?collection=…&dry-run=…`, with the schema: returns [`write_defined`].
pub const SET_TYPE: &str = "/v1/types/set";
/// `POST ?collection=…`: returns `true` if the collection has a type, otherwise `false`.
pub const CHECK_TYPE: &str = "/v1/types/check";
/// `POST ?collection=…`: returns `true` if the collection had a type, otherwise `false`.
pub const DROP_TYPE: &str = "/v1/types/drop";

const STATES: [(TypeState, &str); 3] = [
    (TypeState::Checking, "checking"),
    (TypeState::Enforced, "enforced"),
    (TypeState::Failed, "failed"),
];

const EFFECTS: [(TypeChange, &str); 3] = [
    (TypeChange::Unchanged, "unchanged"),
    (TypeChange::Compatible, "compatible"),
    (TypeChange::NeedsCheck, "needs-check"),
];

fn write_name<T: PartialEq>(out: &mut Vec<u8>, names: &[(T, &str)], value: &T) {
    let mut names = names.iter();
    let name = names.find(|(named, _)| named == value);
    write_field(out, name.map_or("", |(_, name)| name).as_bytes());
}

fn read_name<T: Copy>(names: &[(T, &str)], field: &[u8]) -> Result<T> {
    let mut names = names.iter();
    let found = names.find(|(_, name)| name.as_bytes() == field);
    found.map(|(value, _)| *value).ok_or_else(wire::cut_short)
}

/// Encodes types: of each the fields collection, schema (empty if it was not read), state, documents checked (empty if there is
/// no check), the number of misfits, and the misfits.
pub fn write_types(types: &[StoredType]) -> Vec<u8> {
    let mut out = Vec::new();
    for stored in types {
        write_field(&mut out, stored.collection.as_bytes());
        let schema = stored.schema.as_deref().unwrap_or_default();
        write_field(&mut out, schema.as_bytes());
        write_name(&mut out, &STATES, &stored.state);
        write_optional(&mut out, stored.checked);
        write_misfits(&mut out, &stored.misfits);
    }
    out
}

/// Decodes the output of [`write_types`].
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed. `BAD_USER_INPUT`: a text is not UTF-8.
pub fn read_types(bytes: &[u8]) -> Result<Vec<StoredType>> {
    let mut fields = FieldReader::new(bytes);
    let mut types = Vec::new();
    while !fields.is_empty() {
        types.push(StoredType {
            collection: read_text(&mut fields)?,
            schema: Some(read_text(&mut fields)?).filter(|schema| !schema.is_empty()),
            state: read_name(&STATES, fields.next()?)?,
            checked: read_optional(&mut fields)?,
            misfits: read_misfits(&mut fields)?,
        });
    }
    Ok(types)
}

/// Encodes the result of a definition: the fields collection, effect, state, documents examined
/// (empty if it was not simulated), whether these are all, the number of misfits, and the misfits.
pub fn write_defined(defined: &DefinedType) -> Vec<u8> {
    let mut out = wire::field(defined.collection.as_bytes());
    write_name(&mut out, &EFFECTS, &defined.effect);
    write_name(&mut out, &STATES, &defined.state);
    write_optional(&mut out, defined.examined);
    write_field(&mut out, defined.complete.to_string().as_bytes());
    write_misfits(&mut out, &defined.misfits);
    out
}

/// Decodes the output of [`write_defined`].
///
/// # Errors
/// As [`read_types`].
pub fn read_defined(bytes: &[u8]) -> Result<DefinedType> {
    let mut fields = FieldReader::new(bytes);
    Ok(DefinedType {
        collection: read_text(&mut fields)?,
        effect: read_name(&EFFECTS, fields.next()?)?,
        state: read_name(&STATES, fields.next()?)?,
        examined: read_optional(&mut fields)?,
        complete: fields.next()? == b"true",
        misfits: read_misfits(&mut fields)?,
    })
}

fn write_optional(out: &mut Vec<u8>, number: Option<u64>) {
    let number = number.map(|number| number.to_string());
    write_field(out, number.unwrap_or_default().as_bytes());
}

fn read_optional(fields: &mut FieldReader<'_>) -> Result<Option<u64>> {
    match fields.next()? {
        [] => Ok(None),
        number => wire::number(number).map(Some),
    }
}

fn read_text(fields: &mut FieldReader<'_>) -> Result<String> {
    Ok(wire::text(fields.next()?)?.to_owned())
}

/// Of each misfit: the id, the place, the keyword, what is expected, whether there is a value, and the
/// value.
fn write_misfits(out: &mut Vec<u8>, misfits: &[Misfit]) {
    write_field(out, misfits.len().to_string().as_bytes());
    for Misfit { id, violation } in misfits {
        let TypeViolation {
            place,
            keyword,
            expected,
            value,
        } = violation;
        for text in [&id.to_string(), place, keyword, expected] {
            write_field(out, text.as_bytes());
        }
        write_field(out, value.is_some().to_string().as_bytes());
        write_field(out, value.as_deref().unwrap_or_default().as_bytes());
    }
}

fn read_misfits(fields: &mut FieldReader<'_>) -> Result<Vec<Misfit>> {
    let count: usize = wire::number(fields.next()?)?;
    let misfits = (0..count).map(|_| {
        let id = DocumentId::parse(wire::text(fields.next()?)?)?;
        let (place, keyword) = (read_text(fields)?, read_text(fields)?);
        let expected = read_text(fields)?;
        let has_value = fields.next()? == b"true";
        let value = read_text(fields)?;
        let value = has_value.then_some(value);
        let violation = TypeViolation {
            place,
            keyword,
            expected,
            value,
        };
        Ok(Misfit { id, violation })
    });
    misfits.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misfits() -> Vec<Misfit> {
        let values = [None, Some(String::new()), Some("\"é\"".to_owned())];
        let misfits = values.into_iter().map(|value| Misfit {
            id: DocumentId::Text("7".to_owned()),
            violation: TypeViolation {
                place: "/a/0".to_owned(),
                keyword: "type".to_owned(),
                expected: "string".to_owned(),
                value,
            },
        });
        misfits.collect()
    }

    #[test]
    fn types_round_trip() {
        let types = STATES.map(|(state, name)| StoredType {
            collection: name.to_owned(),
            schema: (state == TypeState::Failed).then(|| "{}".to_owned()),
            state,
            checked: (state == TypeState::Checking).then_some(u64::MAX),
            misfits: misfits(),
        });
        let bytes = write_types(&types);
        assert_eq!(read_types(&bytes).expect("readable"), types);
        read_types(&bytes[..bytes.len() - 1]).expect_err("cut short");
    }

    #[test]
    fn definitions_round_trip() {
        for (effect, _) in EFFECTS {
            let defined = DefinedType {
                collection: "D".to_owned(),
                effect,
                state: TypeState::Failed,
                examined: (effect == TypeChange::NeedsCheck).then_some(0),
                complete: effect != TypeChange::NeedsCheck,
                misfits: misfits(),
            };
            let bytes = write_defined(&defined);
            assert_eq!(read_defined(&bytes).expect("readable"), defined);
            read_defined(&bytes[..bytes.len() - 1]).expect_err("cut short");
        }
    }
}
