//! Coerces variables to the types that the operation declares, and checks their cost.

pub(crate) mod coerce_value;
pub(crate) mod coerce_variables;
pub(crate) mod coerced;
pub(crate) mod listed;
pub(crate) mod variable_cost;
