//! The conjuncts of a filter.

use crate::document::filter::Filter;

/// Splits a filter into conjuncts. Nested conjunctions are flattened.
pub(crate) fn flatten(filter: &Filter, conjuncts: &mut Vec<Filter>) {
    match filter {
        Filter::All(parts) => {
            for part in parts {
                flatten(part, conjuncts);
            }
        }
        Filter::Any(parts) if parts.len() == 1 => flatten(&parts[0], conjuncts),
        other => conjuncts.push(other.clone()),
    }
}
