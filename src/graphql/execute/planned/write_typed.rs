//! Writes the values of typed documents. Each is compared with its type: documents that were stored before
//! the type, or by other programs, can have others. A value that does not fit is an error of its field.

use super::write_response::PlanWriter;
use super::write_state::{Failure, WriteState};
use crate::database::ReadRequest;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::Path;
use crate::error::{Error, Result, TypeViolation};
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::TypedStep;
use crate::graphql::execute::planned::finding::element::NULL;
use crate::graphql::schema::typed::typed_fields::{LeafType, TypedValue};

impl<'a> PlanWriter<'a> {
    /// Begins an object, a list or a map, whose steps end before the step `end`. If there is none, writes
    /// null and continues there.
    pub(super) fn open_typed(
        &self,
        state: &mut WriteState<'a>,
        typed: &TypedStep<'_>,
        end: usize,
    ) -> Result<Option<Failure>> {
        let required = typed.place.required;
        let expected = match typed.place.value {
            TypedValue::List(_) => Kind::Array,
            _ => Kind::Object,
        };
        let element = state.frames.element(typed.read.scope)?;
        let failure = match element.kind(typed.read.read) {
            Ok(Some(kind)) if kind == expected => {
                if !required {
                    state.open_nullable(end);
                }
                return Ok(None);
            }
            Ok(None | Some(Kind::Null)) if !required => {
                state.out.extend_from_slice(NULL);
                state.may_be_empty |= self.bound.is_of_root(typed.position);
                None
            }
            Ok(found) => {
                let found = match found {
                    None => Unfit::Nothing,
                    Some(kind) => Unfit::Kind(kind),
                };
                Some(self.misfit(state, typed, found)?)
            }
            Err(error) => Some(error),
        };
        // If the value is required, the step of the object that is null instead is looked for from here.
        if !required {
            state.at = end;
        }
        Ok(failure.map(|error| failed(typed, error)))
    }

    /// Writes a value without selections.
    pub(super) async fn typed_leaf(
        &self,
        state: &mut WriteState<'a>,
        typed: &TypedStep<'_>,
        leaf: &LeafType,
    ) -> Result<Option<Failure>> {
        let begin = state.out.len();
        let element = state.frames.element(typed.read.scope)?;
        let read = typed.read.read;
        let written = element.write_value(&mut state.out, read, self.request_budget);
        if let Err(error) = written.await {
            return Ok(Some(failed(typed, error)));
        }
        let is_missing = typed.place.required && state.out[begin..] == *NULL;
        if !is_missing && leaf.convert(&mut state.out, begin) {
            return Ok(None);
        }
        let found = if is_missing {
            Unfit::Nothing
        } else {
            let text = &state.out[begin..];
            let text = String::from_utf8_lossy(&text[..text.len().min(UNFIT_BYTES_MAX)]);
            Unfit::Json(abridged(&text).into_owned())
        };
        let error = self.misfit(state, typed, found)?;
        Ok(Some(failed(typed, error)))
    }

    /// The error for a value that does not fit.
    fn misfit(&self, state: &WriteState<'a>, typed: &TypedStep<'_>, found: Unfit) -> Result<Error> {
        let reads = &self.bound.scopes[typed.read.scope].reads;
        let Some(ReadRequest::Value(_, path, _)) = reads.0.get(typed.read.read) else {
            return Err(mismatch());
        };
        let element = state.frames.element(typed.read.scope)?;
        let place = match element.base() {
            None => path.to_string(),
            Some(base) => Path::from(base).join(path).to_string(),
        };
        let document = self.document(&state.frames, typed.document)?;
        let expected = typed.place.value.expected();
        let at = match &*place {
            "" => "the root".to_owned(),
            place => format!("the value at {:?}", abridged(place)),
        };
        let message = format!(
            "{at} of the document {} does not fit the type of the collection {:?}: {expected} is required, but \
             there is {}",
            document.id,
            abridged(&document.collection),
            found.text()
        );
        let violation = TypeViolation {
            place,
            keyword: found.keyword().to_owned(),
            expected: expected.to_owned(),
            value: match found {
                Unfit::Json(text) => Some(text),
                Unfit::Nothing | Unfit::Kind(_) => None,
            },
        };
        Ok(Error::type_mismatch(vec![violation], message))
    }
}

/// Bytes of a value that does not fit, of which an error shows some.
const UNFIT_BYTES_MAX: usize = 256;

/// The failure of a step.
fn failed(typed: &TypedStep<'_>, error: Error) -> Failure {
    if typed.place.required {
        Failure::Required(error, typed.position)
    } else {
        Failure::Nullable(error, typed.position)
    }
}

/// What there is in place of a value that fits.
enum Unfit {
    /// Nothing, or null.
    Nothing,
    /// A value of this kind.
    Kind(Kind),
    /// This value, which may be cut.
    Json(String),
}

impl Unfit {
    fn keyword(&self) -> &'static str {
        match self {
            Self::Nothing => "required",
            Self::Kind(_) | Self::Json(_) => "type",
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Nothing => "none".to_owned(),
            Self::Json(text) => text.clone(),
            Self::Kind(kind) => match kind {
                Kind::Object => "an object",
                Kind::Array => "an array",
                Kind::String => "a string",
                Kind::Number => "a number",
                Kind::Boolean => "a boolean",
                Kind::Null => "null",
            }
            .to_owned(),
        }
    }
}
