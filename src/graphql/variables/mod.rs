//! Coerces variables to the types that the operation declares, and checks their cost.

pub(crate) mod coerce;
pub(crate) mod coerced;
pub(crate) mod listed;
pub(crate) mod reader;
pub(crate) mod variable_cost;
