//! A call of the function of a root field, and its arguments.

use std::sync::Arc;

use async_graphql::{
    ID, InputType, MaybeUndefined, Name, PathSegment, Pos, Positioned, ServerError, Value,
};
use bytes::Bytes;

use super::field_permit::FieldPermit;
use super::session::MutationSession;
use crate::database::{DocumentKey, MissingParents};
use crate::error::{Error, Limit, Result};
use crate::graphql::arguments::json_argument::{LeavesArgument, leaves, parsed};
use crate::graphql::arguments::place_input::{DEFAULT_COLLECTION, NamedDocument, PlaceInput};
use crate::graphql::arguments::required::{in_argument, required_json};
use crate::graphql::arguments::timestamp::rfc3339;
use crate::graphql::arguments::update_lists::UpdateLists;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::PlanArguments;
use crate::graphql::prepare::plan::{
    ElementField, Field, MutationFunction, PlanSize, PlannedField, PlannedMutation, Selection,
};
use crate::graphql::response::write_errors::server_error;
use crate::graphql::scalars::scalar_types::{Json, PathScalar, VersionScalar};
use crate::key::Version;
use crate::limits::BULK_DOCUMENTS_MAX;

/// A call of the function of a root field.
pub(super) struct Call<'c> {
    pub(super) session: &'c MutationSession,
    pub(super) field: &'c PlannedField,
    pub(super) planned: &'c PlannedMutation,
    pub(super) variables: PlanArguments<'c>,
    /// What the rules allow the field. None if there are no rules.
    pub(super) permit: Option<&'c FieldPermit>,
}

/// The error of a call.
pub(super) struct CallError {
    error: Error,
    /// The position of the argument that does not have its type.
    argument: Option<Pos>,
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        Self {
            error,
            argument: None,
        }
    }
}

impl CallError {
    /// Adds `place` in front of the message.
    pub(super) fn at(self, place: String) -> Self {
        Self {
            error: self.error.at(place),
            ..self
        }
    }

    /// The error in the response, at a field.
    pub(super) fn located(&self, field: &PlannedField) -> ServerError {
        let mut located = server_error(&self.error);
        located.locations.push(self.argument.unwrap_or(field.pos));
        located.path.push(PathSegment::Field(field.key.to_string()));
        located
    }
}

/// The arguments that say which document is changed.
pub(super) struct TargetArguments {
    collection: String,
    id: Option<ID>,
    id_from: Option<PlaceInput>,
}

impl TargetArguments {
    /// Which document they name. It is not the changed one.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: they name none, or two. As [`NamedDocument::of`].
    pub(super) fn named(&self) -> Result<NamedDocument<'_>> {
        let id = self.id.as_ref().map(|id| id.as_str());
        match NamedDocument::of(&self.collection, id, self.id_from.as_ref())? {
            NamedDocument::Changed => Err(Error::bad_input(
                "the document is not named: give the argument `id` or `idFrom`",
            )),
            named => Ok(named),
        }
    }

    /// The document, whose key may be read in the transaction.
    ///
    /// # Errors
    /// As [`TargetArguments::named`] and [`PlaceInput::read_key`].
    pub(super) async fn document(&self, session: &MutationSession) -> Result<Arc<DocumentKey>> {
        let document = match self.named()? {
            NamedDocument::Key(document) => document,
            NamedDocument::Stored(collection, at) => {
                let request_budget = &session.request_budget;
                let memory = request_budget.budget().reserve();
                let id = at.read_key(session.transaction(), request_budget, &memory);
                DocumentKey::new(collection, id.await?)?
            }
            NamedDocument::Changed => return Err(mismatch()),
        };
        Ok(Arc::new(document))
    }
}

impl Call<'_> {
    /// The value of an argument. A variable without a value leaves the argument out. An argument that is
    /// not there is undefined, which optional types accept.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it does not have its type.
    pub(super) fn argument<T: InputType>(&self, name: &str) -> Result<T, CallError> {
        let mut arguments = self.planned.arguments.iter();
        let given = arguments.find(|(argument, _)| argument.node == name);
        let value = given.and_then(|(_, value)| self.variables.value(&value.node));
        let value = match (&self.planned.typed, value) {
            (Some(typed), Some(value)) if typed.name == name => {
                Some(typed.writes.json(&typed.input, value)?)
            }
            (_, value) => value,
        };
        T::parse(value).map_err(|error| {
            let error = error.into_server_error(Pos::default());
            CallError {
                error: Error::bad_input(error.message),
                argument: given.map(|(_, value)| value.pos),
            }
        })
    }

    /// As [`Call::argument`], with a default.
    pub(super) fn argument_or<T: InputType>(&self, name: &str, default: T) -> Result<T, CallError> {
        let mut arguments = self.planned.arguments.iter();
        let is_given = arguments.any(|(argument, value)| {
            argument.node == name && self.variables.value(&value.node).is_some()
        });
        if is_given {
            self.argument(name)
        } else {
            Ok(default)
        }
    }

    pub(super) fn collection(&self) -> Result<String, CallError> {
        self.argument_or("collection", DEFAULT_COLLECTION.to_owned())
    }

    /// The arguments that say which document is changed.
    pub(super) fn target(&self) -> Result<TargetArguments, CallError> {
        Ok(TargetArguments {
            collection: self.collection()?,
            id: self.argument("id")?,
            id_from: self.argument("idFrom")?,
        })
    }

    /// The path in the argument `path`. None if it is null.
    pub(super) fn path(&self) -> Result<Option<PathScalar>, CallError> {
        self.argument_or("path", Some(PathScalar::default()))
    }

    /// What the argument `createParents` says.
    pub(super) fn missing_parents(&self) -> Result<MissingParents, CallError> {
        Ok(if self.argument_or("createParents", false)? {
            MissingParents::Create
        } else {
            MissingParents::Fail
        })
    }

    /// Whether a value is stored only if none is stored at its place.
    pub(super) fn if_absent(&self) -> Result<bool, CallError> {
        self.argument_or("ifAbsent", false)
    }

    /// The version that the document must have, if one is given.
    pub(super) fn version(&self) -> Result<Option<Version>, CallError> {
        let version: Option<VersionScalar> = self.argument("ifVersion")?;
        Ok(version.map(|VersionScalar(version)| version))
    }

    /// The leaves of the argument `document`.
    ///
    /// # Errors
    /// As [`leaves`]. `BAD_USER_INPUT`: it is missing.
    pub(super) async fn leaves(&self, document: &MaybeUndefined<Json>) -> Result<LeavesArgument> {
        let text = required_json("document", document)?;
        let leaves = leaves(text, &self.session.request_budget).await;
        leaves.map_err(|error| in_argument("document", error))
    }

    /// The argument `patch`, parsed by `parse`.
    ///
    /// # Errors
    /// As `parse`. `BAD_USER_INPUT`: it is missing.
    pub(super) async fn patch<T: Send + 'static>(
        &self,
        patch: &MaybeUndefined<Json>,
        parse: fn(&Bytes) -> Result<T>,
    ) -> Result<T> {
        let text = required_json("patch", patch)?;
        let patch = parsed(text, &self.session.request_budget, parse).await;
        patch.map_err(|error| in_argument("patch", error))
    }

    /// The lists of operators of `updateDocument` and `updateDocuments`.
    pub(super) fn update_lists(&self) -> Result<UpdateLists, CallError> {
        let time = rfc3339(self.session.time);
        Ok(UpdateLists {
            set: self.argument("set")?,
            unset: self.argument("unset")?,
            rename: self.argument("rename")?,
            increment: self.argument("increment")?,
            min: self.argument("min")?,
            max: self.argument("max")?,
            remove: self.argument("remove")?,
            append: self.argument("append")?,
            add: self.argument("add")?,
            merge: self.argument("merge")?,
            now: self.argument("now")?,
            time: format!("\"{time}\"").into(),
        })
    }

    /// The writes in the argument `operations`, each as the field of the mutation that it names.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: an element has not exactly one member. `TOO_LARGE`: there are too many.
    pub(super) fn writes(&self) -> Result<Vec<PlannedMutation>, CallError> {
        let mut arguments = self.planned.arguments.iter();
        let given = arguments.find(|(argument, _)| argument.node == "operations");
        let (_, given) = given.ok_or_else(mismatch)?;
        let writes = match self.variables.value(&given.node) {
            Some(Value::List(writes)) => writes,
            Some(write) => vec![write],
            None => Vec::new(),
        };
        if writes.len() > BULK_DOCUMENTS_MAX {
            let limit = Limit::new("changedDocuments", BULK_DOCUMENTS_MAX);
            let message = format!("there are more than {BULK_DOCUMENTS_MAX} writes");
            return Err(Error::too_large(limit, message).into());
        }
        let writes = writes.into_iter().enumerate();
        let planned = writes.map(|(number, write)| {
            let write = planned_write(write, given.pos);
            write.ok_or_else(|| {
                let message = "exactly one member is required, which is not null";
                Error::bad_input(message)
                    .at(format!("the write {number}"))
                    .into()
            })
        });
        planned.collect()
    }

    /// The call of a write among those of [`Call::writes`].
    pub(super) fn of_write<'w>(
        &'w self,
        planned: &'w PlannedMutation,
        permit: Option<&'w FieldPermit>,
    ) -> Call<'w> {
        Call {
            session: self.session,
            field: self.field,
            planned,
            variables: self.variables,
            permit,
        }
    }

    /// Whether the removed value is selected.
    pub(super) fn selects_value(&self) -> bool {
        let mut selected = self.variables.included(&self.planned.below);
        selected
            .any(|selected| matches!(selected.field, Field::OfElement(ElementField::DeletedValue)))
    }
}

/// The function that a member of `DocumentWrite` names.
fn function_of_write(member: &str) -> Option<MutationFunction> {
    Some(match member {
        "insert" => MutationFunction::InsertDocument,
        "append" => MutationFunction::AppendDocument,
        "replace" => MutationFunction::ReplaceDocument,
        "copy" => MutationFunction::CopyDocument,
        "merge" => MutationFunction::MergeDocument,
        "patch" => MutationFunction::PatchDocument,
        "increment" => MutationFunction::IncrementDocument,
        "update" => MutationFunction::UpdateDocument,
        "delete" => MutationFunction::DeleteDocument,
        "test" => MutationFunction::TestDocument,
        _ => return None,
    })
}

/// A write as a field of `Mutation`. None if it has not exactly one member.
fn planned_write(write: Value, pos: Pos) -> Option<PlannedMutation> {
    let Value::Object(members) = write else {
        return None;
    };
    let mut members = members.into_iter();
    let (Some((member, Value::Object(arguments))), None) = (members.next(), members.next()) else {
        return None;
    };
    let arguments = arguments.into_iter().map(|(name, value)| {
        let name: Positioned<Name> = Positioned::new(name, pos);
        (name, Positioned::new(value.into_value(), pos))
    });
    Some(PlannedMutation {
        function: function_of_write(&member)?,
        name: member,
        arguments: arguments.collect(),
        typed: None,
        below: Selection(Vec::new()),
        size: PlanSize::default(),
    })
}
