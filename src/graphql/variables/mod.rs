//! Variables: coerced to the types of the query, and what they cost.

pub(crate) mod coerce;
pub(crate) mod coerced;
pub(crate) mod listed;
pub(crate) mod reader;
pub(crate) mod variable_cost;
