//! Filters of partial indexes.
//!
//! A partial index has entries only of the documents that pass its filter. The maintenance of an
//! index evaluates the filter before and after each change that may affect it, so the filter is
//! restricted to what a small read of a document answers, however large the document is: each
//! condition is on a single place, and compares it with leaves. Whether an object or an array is
//! there is known from its first pair. A string in pieces is read only as far as a comparison with
//! the filter's strings can depend on it.

use super::filter_value::FilterValueReader;
use crate::budget::{Budget, Steps};
use crate::database::document_key::DocumentKey;
use crate::document::filter::{Filter, FilterValue, Need, Test};
use crate::document::path::{Place, Segment};
use crate::document::tree::Tree;
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::key::{Leaves, append_place};
use crate::limits::INDEX_FILTER_BYTES_MAX;

/// The filter of a partial index. Equal filters have the same JSON.
#[derive(Clone, Debug)]
pub struct IndexFilter {
    filter: Filter,
    json: String,
    /// The places that it reads.
    places: Vec<Place>,
}

impl PartialEq for IndexFilter {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

impl IndexFilter {
    /// Creates the filter of an index.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a path may select several values, a test compares with an object or an
    /// array, or the filter has `contains`. `TOO_LARGE`: the filter is longer than
    /// [`INDEX_FILTER_BYTES_MAX`].
    pub fn new(filter: Filter) -> Result<Self> {
        let json = filter.to_json();
        if json.len() > INDEX_FILTER_BYTES_MAX {
            return Err(Error::too_large(
                Limit::new("indexFilterBytes", INDEX_FILTER_BYTES_MAX),
                format!(
                    "the filter of an index takes {} bytes as JSON; the limit is \
                     {INDEX_FILTER_BYTES_MAX}",
                    json.len()
                ),
            ));
        }
        check(&filter)?;
        let needs = filter.needs().into_iter();
        let places = needs.map(|Need { place, .. }| Place(place)).collect();
        Ok(Self {
            filter,
            json,
            places,
        })
    }

    /// Parses the JSON of a filter.
    ///
    /// # Errors
    /// As [`IndexFilter::new`] and [`Filter::from_json`].
    pub fn from_json(json: &str) -> Result<Self> {
        Self::new(Filter::from_json(json)?)
    }

    /// The filter as JSON, in the notation of the schema's `DocumentFilter`.
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The filter.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }

    /// The key of each place that the filter reads in a document. None if the key exceeds
    /// the limit, because nothing can be stored there.
    ///
    /// # Errors
    /// `INTERNAL`.
    pub(crate) fn places(&self, document: &DocumentKey) -> Result<Vec<Option<Vec<u8>>>> {
        let places = self.places.iter().map(|place| match document.place(place) {
            Ok(key) => Ok(Some(key)),
            Err(error) if error.kind() == ErrorKind::KeyTooLong => Ok(None),
            Err(error) => Err(error),
        });
        places.collect()
    }

    /// Whether a document given by its leaves passes.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`].
    pub(crate) async fn passes_leaves(&self, leaves: &Leaves, budget: &Budget) -> Result<bool> {
        let mut found = Vec::with_capacity(self.places.len());
        for place in &self.places {
            let mut packed = Vec::new();
            append_place(&mut packed, place);
            let mut reader = FilterValueReader::default();
            let mut pairs = leaves.below(&packed);
            while let Some((key, value)) = pairs.next()
                && reader.push(key, value)
            {}
            found.push(reader.finish());
        }
        self.holds(&found, budget).await
    }

    /// Whether a document with these values at the places of the filter passes.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`].
    pub(crate) async fn holds(&self, found: &[Option<Tree>], budget: &Budget) -> Result<bool> {
        let stored = |place: &[Segment]| {
            let at = self.places.iter().position(|known| known.0 == place);
            match at.and_then(|at| found.get(at)) {
                Some(Some(value)) => FilterValue::Value(value),
                Some(None) | None => FilterValue::Absent,
            }
        };
        let holds = |steps: &Steps<'_>| self.filter.holds(&stored, steps);
        budget.compute(holds).await
    }
}

/// Checks what a filter reads. The recursion is bounded by the levels of filters.
fn check(filter: &Filter) -> Result<()> {
    let condition = match filter {
        Filter::All(parts) | Filter::Any(parts) => return parts.iter().try_for_each(check),
        Filter::Not(part) => return check(part),
        Filter::Where(condition) => condition,
    };
    let at = condition.at.text();
    if condition.at.place().is_none() {
        return Err(Error::bad_input(format!(
            "the filter of an index cannot test {at}: its JSONPaths may contain only names and \
             indexes from 0"
        )));
    }
    for test in &condition.tests {
        if matches!(test, Test::Contains(_)) {
            return Err(Error::bad_input(
                "the filter of an index cannot have `contains`",
            ));
        }
        let is_leaf = |value: &Tree| matches!(value, Tree::Leaf(_));
        if !test.trees().iter().all(is_leaf) {
            return Err(Error::bad_input(format!(
                "the filter of an index compares {at} with an object or an array; it can compare \
                 with null, booleans, numbers and strings"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_of_an_index_is_on_single_places_and_leaves() {
        for json in [
            r#"{"at":"$.a","eq":1}"#,
            r#"{"all":[{"at":"$['a b'][0]","in":[null,"x"]},{"not":{"at":"$","exists":true}}]}"#,
        ] {
            assert_eq!(IndexFilter::from_json(json).expect(json).json(), json);
        }
        for (json, message) in [
            (r#"{"at":"$.a[*]","eq":1}"#, "cannot test $.a[*]"),
            (r#"{"at":"$.a[-1]","exists":true}"#, "cannot test $.a[-1]"),
            (r#"{"not":{"at":"$.a","contains":""}}"#, "`contains`"),
            (r#"{"any":[{"at":"$.a","in":[1,[]]}]}"#, "an array"),
        ] {
            let error = IndexFilter::from_json(json).expect_err(json);
            assert!(error.message().contains(message), "{}", error.message());
        }
        let long = format!("{{\"at\":\"$.a\",\"eq\":\"{}\"}}", "x".repeat(5_000));
        assert!(IndexFilter::from_json(&long).is_err());
    }

    #[tokio::test]
    async fn documents_pass_as_a_query_says() {
        let budget = Budget::of_background();
        let long = format!("{}b{}", "é".repeat(2_040), "é".repeat(9_000));
        let documents = [
            "{}".to_owned(),
            r#"{"a":1.0}"#.to_owned(),
            r#"{"a":{"b":1}}"#.to_owned(),
            r#"{"a":[]}"#.to_owned(),
            format!("{{\"a\":\"{long}\"}}"),
        ];
        for (json, passing) in [
            (r#"{"at":"$.a","exists":true}"#, [1, 2, 3, 4].as_slice()),
            (r#"{"at":"$.a","eq":1}"#, &[1]),
            (r#"{"at":"$.a","ne":1}"#, &[2, 3, 4]),
            (r#"{"not":{"at":"$.a","eq":1}}"#, &[0, 2, 3, 4]),
            (r#"{"at":"$.a.b","gte":1}"#, &[2]),
            (r#"{"at":"$.a","startsWith":"é"}"#, &[4]),
            (r#"{"at":"$.a","gt":"z"}"#, &[4]),
            (
                r#"{"any":[{"at":"$.a","lt":2},{"at":"$.a.b","exists":true}]}"#,
                &[1, 2],
            ),
        ] {
            let filter = IndexFilter::from_json(json).expect(json);
            for (at, document) in documents.iter().enumerate() {
                let leaves = Leaves::from_json(document).expect("JSON");
                let passes = filter.passes_leaves(&leaves, &budget).await;
                assert_eq!(
                    passes.expect("in budget"),
                    passing.contains(&at),
                    "{json} {at}"
                );
            }
        }
        // The first 4,096 bytes of the string decide.
        for (compared, passes) in [
            (format!("{}a", "é".repeat(2_025)), true),
            ("é".repeat(2_025), true),
            (format!("{}ê", "é".repeat(2_024)), false),
        ] {
            let json = format!("{{\"at\":\"$.a\",\"gt\":\"{compared}\"}}");
            let filter = IndexFilter::from_json(&json).expect("short");
            let leaves = Leaves::from_json(&documents[4]).expect("JSON");
            let passed = filter.passes_leaves(&leaves, &budget).await;
            assert_eq!(passed.expect("in budget"), passes);
        }
    }
}
