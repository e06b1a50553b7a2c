//! Which types of collections a schema can have.

use crate::error::{Error, Result};

/// What is built of types, and the types that were left out because nothing can be built with them.
pub(super) struct Servable<'t, S, T> {
    pub(super) built: S,
    pub(super) left_out: Vec<(&'t T, Error)>,
}

/// Builds a schema of types, without those with which the library rejects it. One that is rejected is found in
/// about as many builds as the logarithm of the number of types.
///
/// # Errors
/// The error of `build` without those types.
pub(super) fn servable<'t, S, T>(
    types: &[&'t T],
    build: impl Fn(&[&'t T]) -> Result<S>,
) -> Result<Servable<'t, S, T>> {
    let error = match build(types) {
        Ok(built) => {
            return Ok(Servable {
                built,
                left_out: Vec::new(),
            });
        }
        Err(error) => error,
    };
    let mut left_out = Vec::new();
    leave_out(types, error, &build, &mut left_out);
    let mut kept = types.to_vec();
    kept.retain(|ty| !left_out.iter().any(|(other, _)| std::ptr::eq(*ty, *other)));
    let built = build(&kept)?;
    Ok(Servable { built, left_out })
}

/// Adds those of `types`, which are rejected with `error`, that are rejected by themselves.
fn leave_out<'t, S, T>(
    types: &[&'t T],
    error: Error,
    build: &impl Fn(&[&'t T]) -> Result<S>,
    left_out: &mut Vec<(&'t T, Error)>,
) {
    if let [only] = types {
        left_out.push((*only, error));
        return;
    }
    let (first, second) = types.split_at(types.len() / 2);
    for half in [first, second] {
        if half.is_empty() {
            continue;
        }
        if let Err(error) = build(half) {
            leave_out(half, error, build, left_out);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::servable;
    use crate::error::Error;

    #[test]
    fn types_that_are_rejected_are_left_out() {
        let types: Vec<u32> = (0..100).collect();
        let types: Vec<&u32> = types.iter().collect();
        for rejected in [&[][..], &[0], &[99], &[17, 18, 60]] {
            let builds = Cell::new(0);
            let built = servable(&types, |types: &[&u32]| {
                builds.set(builds.get() + 1);
                match types.iter().find(|ty| rejected.contains(**ty)) {
                    Some(ty) => Err(Error::internal(format!("{ty}"))),
                    None => Ok(types.len()),
                }
            })
            .unwrap_or_else(|error| panic!("{error}"));
            let left_out: Vec<u32> = built.left_out.iter().map(|(ty, _)| **ty).collect();
            assert_eq!(left_out, rejected);
            assert_eq!(built.built, 100 - rejected.len());
            assert!(builds.get() <= 2 + 14 * rejected.len(), "{}", builds.get());
        }
    }

    #[test]
    fn an_error_without_types_is_returned() {
        let built = servable(&[&1, &2], |_: &[&i32]| -> Result<(), _> {
            Err(Error::internal("always"))
        });
        assert!(built.is_err());
    }
}
