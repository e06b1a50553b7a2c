//! Several parts of a value in one field: as a list, as one value that has only these parts, or as the
//! value without them.

use async_graphql::Context;

use super::field_reads::PlaceField;
use super::located::{Located, json};
use crate::database::{PickedPart, Value, write_picked};
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::scalars::types::{Json, PathScalar, paths_argument};

impl Located {
    /// The values at the paths, in their order; none where nothing is stored.
    pub(crate) async fn values(
        &self,
        context: &Context<'_>,
        paths: &[PathScalar],
    ) -> Result<Vec<Option<Result<Json>>>> {
        let parts = self.parts_at(context, paths).await?;
        let mut values = Vec::with_capacity(parts.len());
        for part in parts {
            let value = match part {
                Ok(part) => json(context, part).await,
                Err(error) => Err(error),
            };
            values.push(value.transpose());
        }
        Ok(values)
    }

    /// This value with only the parts at the paths; none if nothing is stored at any of them.
    pub(crate) async fn pick(
        &self,
        context: &Context<'_>,
        paths: &[PathScalar],
    ) -> Result<Option<Json>> {
        let parts = self.parts_at(context, paths).await?;
        let parts: Vec<Option<Value>> = parts.into_iter().collect::<Result<_>>()?;
        let picked: Vec<PickedPart<'_>> = parts.iter().flatten().map(Value::picked).collect();
        if picked.is_empty() {
            return Ok(None);
        }
        let request_budget = Session::of(context).request_budget();
        request_budget.carry(0)?;
        let mut text = Vec::new();
        let written = request_budget.budget().part_text();
        write_picked(picked, self.levels(), &mut text, written).await?;
        Ok(Some(Json(text.into())))
    }

    /// This value without the parts at the paths; none if it is one of them.
    pub(crate) async fn omit(
        &self,
        context: &Context<'_>,
        paths: &[PathScalar],
    ) -> Result<Option<Json>> {
        let paths = paths_argument(paths)?;
        let request_budget = Session::of(context).request_budget();
        request_budget.fields(paths.len())?;
        let Some(remainder) = self.remainder(context, &paths).await? else {
            return Ok(None);
        };
        request_budget.carry(0)?;
        let mut text = Vec::new();
        let written = request_budget.budget().part_text();
        remainder.write_json(&mut text, written).await?;
        Ok(Some(Json(text.into())))
    }

    /// The parts at the paths. Each counts as a field.
    async fn parts_at(
        &self,
        context: &Context<'_>,
        paths: &[PathScalar],
    ) -> Result<Vec<Result<Option<Value>>>> {
        let paths = paths_argument(paths)?;
        let session = Session::of(context);
        session.request_budget().fields(paths.len())?;
        let extent = PlaceField::Value.extent();
        let reads = paths.into_iter().map(|path| (path, extent));
        self.parts(context, reads.collect()).await
    }
}
