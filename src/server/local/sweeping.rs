//! Changing the documents that match a filter on the local socket ([`wire`]).

use super::wire;
use crate::database::{Swept, UpdateOperator};
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::operations::{Sweep, SweepChange, UpdateArgument};

/// `POST ?collection=…&everything=…&change=…&documents=…`, optionally with `&after=…`. `change` is
/// `delete` or `update`. The body has the fields of [`write_sweep`]. Returns those of
/// [`write_swept`].
pub const SWEEP: &str = "/v1/sweep";

/// The name of a change in the request.
pub fn change_name(change: &SweepChange) -> &'static str {
    match change {
        SweepChange::Delete => "delete",
        SweepChange::Update(_) => "update",
    }
}

/// Encodes the body of a request: the filter as JSON, and the fields operator, path, operand of
/// each update.
pub fn write_sweep(sweep: &Sweep) -> Vec<u8> {
    let mut out = wire::field(sweep.filter.as_bytes());
    if let SweepChange::Update(updates) = &sweep.change {
        for update in updates {
            wire::write_field(&mut out, update.operator.name().as_bytes());
            wire::write_field(&mut out, update.at.as_bytes());
            wire::write_field(&mut out, update.operand.as_bytes());
        }
    }
    out
}

/// Decodes the output of [`write_sweep`]: the filter, and the change of this name.
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed. `BAD_USER_INPUT`: a text is not UTF-8.
pub fn read_sweep(change: &str, bytes: &[u8]) -> Result<(String, SweepChange)> {
    let mut fields = wire::FieldReader::new(bytes);
    let filter = wire::text(fields.next()?)?.to_owned();
    let mut updates = Vec::new();
    while !fields.is_empty() {
        let operator = UpdateOperator::parse(wire::text(fields.next()?)?);
        updates.push(UpdateArgument {
            operator: operator.ok_or_else(wire::cut_short)?,
            at: wire::text(fields.next()?)?.to_owned(),
            operand: wire::text(fields.next()?)?.to_owned(),
        });
    }
    match change {
        "delete" if updates.is_empty() => Ok((filter, SweepChange::Delete)),
        "update" => Ok((filter, SweepChange::Update(updates))),
        _ => Err(wire::cut_short()),
    }
}

/// Encodes the result of one transaction of a sweep: the numbers of documents examined, matching
/// and changed, the id of the last one (empty if no documents follow it), and the number of places
/// of each update.
pub fn write_swept(swept: &Swept) -> Vec<u8> {
    let mut out = Vec::new();
    for count in [swept.examined, swept.matched, swept.changed] {
        wire::write_field(&mut out, count.to_string().as_bytes());
    }
    let next = swept.next.as_ref().map(ToString::to_string);
    wire::write_field(&mut out, next.unwrap_or_default().as_bytes());
    for places in &swept.places {
        wire::write_field(&mut out, places.to_string().as_bytes());
    }
    out
}

/// Decodes the output of [`write_swept`].
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed.
pub fn read_swept(bytes: &[u8]) -> Result<Swept> {
    let mut fields = wire::FieldReader::new(bytes);
    let mut swept = Swept {
        examined: wire::number(fields.next()?)?,
        matched: wire::number(fields.next()?)?,
        changed: wire::number(fields.next()?)?,
        ..Swept::default()
    };
    swept.next = match fields.next()? {
        [] => None,
        id => Some(DocumentId::parse(wire::text(id)?)?),
    };
    while !fields.is_empty() {
        swept.places.push(wire::number(fields.next()?)?);
    }
    Ok(swept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_round_trip() {
        for next in [None, Some("\"\""), Some("7"), Some("\"7\""), Some("é")] {
            for places in [vec![], vec![0, u64::MAX]] {
                let swept = Swept {
                    examined: u64::MAX,
                    matched: 4,
                    changed: 3,
                    next: next.map(|id| DocumentId::parse(id).expect("an id")),
                    places,
                };
                let bytes = write_swept(&swept);
                assert_eq!(read_swept(&bytes).expect("readable"), swept);
                read_swept(&bytes[..bytes.len() - 1]).expect_err("cut short");
            }
        }
    }

    #[test]
    fn requests_round_trip() {
        let updates = UpdateOperator::ALL.map(|operator| UpdateArgument {
            operator,
            at: format!("$.{}", operator.name()),
            operand: "\"é\"".to_owned(),
        });
        for change in [SweepChange::Delete, SweepChange::Update(updates.to_vec())] {
            let sweep = Sweep {
                collection: "D".to_owned(),
                filter: "{}".to_owned(),
                everything: true,
                change,
            };
            let bytes = write_sweep(&sweep);
            let name = change_name(&sweep.change);
            let (filter, change) = read_sweep(name, &bytes).expect("readable");
            assert_eq!(filter, "{}");
            match (&sweep.change, &change) {
                (SweepChange::Delete, SweepChange::Delete) => {}
                (SweepChange::Update(sent), SweepChange::Update(read)) => assert_eq!(sent, read),
                _ => panic!("{change:?}"),
            }
            read_sweep(name, &bytes[..bytes.len() - 1]).expect_err("cut short");
            read_sweep("replace", &bytes).expect_err("an unknown change");
        }
    }
}
