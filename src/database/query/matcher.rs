//! Evaluation of candidate documents: whether they match, and what the query computes from those
//! that do.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::page::{Order, OrderBy, is_long};
use super::plan::column::index_value;
use crate::budget::{Budget, Share, Steps, pause};
use crate::database::document_key::DocumentKey;
use crate::database::read::adjacent::AdjacentDocuments;
use crate::database::read::load::load;
use crate::database::read::range_plan::Extent;
use crate::database::read::request::{Answer, ReadRequest};
use crate::database::read::value::Value;
use crate::document::filter::{Filter, FilterValue, Need};
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::document::path::{Path, Place, Segment};
use crate::document::tree::Tree;
use crate::error::{Error, Result};
use crate::key::IndexValue;
use crate::limits::{
    COPIED_BYTES_PER_STEP, HELD_PER_READ, LOOKED_AT_BYTES_MAX, LOOKED_AT_FIRST_DOCUMENTS,
    SCAN_BATCH_DOCUMENTS,
};
use crate::store::Read;

/// What a query computes from each document that matches.
pub(crate) trait Projection: Sync {
    /// The result for one document.
    type Output: Send;

    /// The queries whose values it needs.
    fn queries(&self) -> Vec<&Query>;

    /// Computes the result from the values below the prefixes of [`Projection::queries`]. None if
    /// the document is left out.
    ///
    /// # Errors
    /// As [`Query::select`].
    fn project(
        &self,
        stored: &StoredValues<'_, '_>,
        steps: &Steps<'_>,
    ) -> Result<Option<Self::Output>>;
}

/// The value at a place.
pub(crate) type StoredValues<'f, 't> = dyn Fn(&[Segment]) -> FilterValue<'t> + 'f;

/// Evaluates candidate documents, many in one round of reads.
pub(crate) struct Matcher<'q, P> {
    read: &'q dyn Read,
    pub(crate) budget: &'q Budget,
    pub(crate) collection: &'q str,
    filter: Filter,
    projection: P,
    needs: Vec<Need>,
    /// Whether the candidates are consecutive in the catalog.
    pub(crate) in_a_row: bool,
    /// Documents to read in one round. Lowered when they are too large for that.
    together: usize,
    /// Documents examined.
    pub(crate) examined: usize,
}

/// What was read at one need.
enum MatcherInput {
    Nothing,
    Something,
    Value(Tree),
}

impl<'q, P: Projection> Matcher<'q, P> {
    /// Creates a matcher that evaluates `filter` and `projection`.
    pub(crate) fn new(
        read: &'q dyn Read,
        budget: &'q Budget,
        collection: &'q str,
        filter: Filter,
        projection: P,
    ) -> Self {
        let mut needs = filter.needs();
        for query in projection.queries() {
            let place = query.prefix();
            needs.retain(|need| need.place != place);
            needs.push(Need {
                place: place.to_vec(),
                value: true,
            });
        }
        Self {
            read,
            budget,
            collection,
            filter,
            projection,
            needs,
            in_a_row: false,
            // On a cluster each round costs a round trip; elsewhere it costs next to nothing.
            together: if read.is_remote() {
                SCAN_BATCH_DOCUMENTS
            } else {
                LOOKED_AT_FIRST_DOCUMENTS
            },
            examined: 0,
        }
    }

    /// Whether the result does not depend on the documents.
    pub(crate) fn is_needless(&self) -> bool {
        self.needs.is_empty() && self.filter.is_empty()
    }

    /// Returns, for each document, the projection, or none if it does not match.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: a JSONPath examines more nodes than allowed. `INTERNAL`: a document is
    /// damaged. Errors of the store. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) async fn at(&mut self, ids: &[DocumentId]) -> Result<Vec<Option<P::Output>>> {
        let mut passed = Vec::with_capacity(ids.len());
        while passed.len() < ids.len() {
            passed.extend(self.first_of(&ids[passed.len()..]).await?);
        }
        Ok(passed)
    }

    /// As [`Matcher::at`], for the first of the documents: as many as are read in one round, so that
    /// the caller need not hold the results for all of them.
    ///
    /// # Errors
    /// As [`Matcher::at`].
    pub(crate) async fn first_of(&mut self, ids: &[DocumentId]) -> Result<Vec<Option<P::Output>>> {
        if self.is_needless() {
            let steps = Steps::of(self.budget);
            let project = |_: &DocumentId| self.passes_as(&[], &steps);
            return ids.iter().map(project).collect();
        }
        loop {
            let some = &ids[..ids.len().min(self.together)];
            match self.look_at(some).await? {
                Some((passed, bytes)) => {
                    self.examined += some.len();
                    // As many documents as are likely to fill half of the memory.
                    let held = bytes + self.read_bytes(some.len());
                    let likely = some.len() * LOOKED_AT_BYTES_MAX / (2 * held.max(1));
                    self.together = likely.clamp(1, (8 * some.len()).max(1));
                    return Ok(passed);
                }
                None => self.together = some.len() / 2,
            }
        }
    }

    /// Evaluates some documents. Returns the results and the number of bytes read. None if
    /// the documents together exceed the memory limit. A single document may be as large as a
    /// request may read.
    async fn look_at(&self, ids: &[DocumentId]) -> Result<Option<(Vec<Option<P::Output>>, usize)>> {
        let memory = match ids {
            [_] => self.budget.reserve(),
            _ => self.budget.reserve_at_most(LOOKED_AT_BYTES_MAX),
        };
        let reads_memory = self.budget.share();
        reads_memory.take(self.read_bytes(ids.len()))?;
        let mut reads = Vec::with_capacity(ids.len() * self.needs.len());
        for id in ids {
            let document = Arc::new(DocumentKey::new(self.collection, id.clone())?);
            reads.extend(self.needs.iter().map(|need| request(&document, need)));
        }
        let requested: Vec<&ReadRequest> = reads.iter().flatten().collect();
        let in_a_row = AdjacentDocuments(self.read);
        let read = if self.in_a_row { &in_a_row } else { self.read };
        let answers = load(read, &requested, &memory).await;
        // An engine may complete every call without waiting, so yield explicitly.
        pause().await;
        if ids.len() > 1 && memory.is_full() {
            self.budget.check()?;
            return Ok(None);
        }
        let mut answers = answers.into_iter();
        let answers: Vec<Answer> = reads
            .iter()
            .filter_map(|read| match read {
                Some(_) => answers.next(),
                None => Some(Ok(Answer::Value(None))),
            })
            .collect::<Result<_>>()?;
        let mut passed = Vec::with_capacity(ids.len());
        let needs = self.needs.len();
        for at in 0..ids.len() {
            let answers = &answers[at * needs..(at + 1) * needs];
            let trees = answers
                .iter()
                .zip(&self.needs)
                .filter(|(_, need)| need.value);
            let parts = trees.filter_map(|(answer, _)| part(answer));
            // Trees are held for one document at a time.
            let tree_memory = self.budget.reserve();
            tree_memory.hold(parts.map(Value::tree_bytes).sum())?;
            let pass = |steps: &Steps<'_>| self.passes(answers, steps);
            passed.push(self.budget.compute(pass).await?);
            self.budget.pace(1).await?;
        }
        Ok(Some((passed, memory.held())))
    }

    /// The memory for the reads of so many documents, besides what they read, in bytes.
    fn read_bytes(&self, documents: usize) -> usize {
        documents * self.needs.len() * HELD_PER_READ
    }

    /// Evaluates one document from the answers for its needs, in the order of the needs.
    fn passes(&self, answers: &[Answer], steps: &Steps<'_>) -> Result<Option<P::Output>> {
        let found: Vec<MatcherInput> = self
            .needs
            .iter()
            .zip(answers)
            .map(|(need, answer)| found_at(need, answer, steps))
            .collect::<Result<_>>()?;
        self.passes_as(&found, steps)
    }

    fn passes_as(&self, found: &[MatcherInput], steps: &Steps<'_>) -> Result<Option<P::Output>> {
        let stored = |place: &[Segment]| {
            let at = self.needs.iter().position(|need| need.place == place);
            match at.and_then(|at| found.get(at)) {
                Some(MatcherInput::Value(value)) => FilterValue::Value(value),
                Some(MatcherInput::Something) => FilterValue::Present,
                Some(MatcherInput::Nothing) | None => FilterValue::Absent,
            }
        };
        if self.filter.holds(&stored, steps)? {
            self.projection.project(&stored, steps)
        } else {
            Ok(None)
        }
    }
}

/// The values by which a document is ordered.
pub(crate) struct OrderingValues {
    pub(crate) values: Vec<IndexValue>,
    /// Memory for the values, if one of them is longer than a key.
    pub(crate) memory: Option<Share>,
}

/// The values by which a document is ordered, if there is an order.
impl Projection for Option<&Order> {
    type Output = Option<OrderingValues>;

    fn queries(&self) -> Vec<&Query> {
        let values = self.iter().flat_map(|order| &order.values);
        values.map(|value| &value.by).collect()
    }

    fn project(
        &self,
        stored: &StoredValues<'_, '_>,
        steps: &Steps<'_>,
    ) -> Result<Option<Self::Output>> {
        let Some(order) = self else {
            return Ok(Some(None));
        };
        let mut values = Vec::with_capacity(order.values.len());
        let mut memory = None;
        for order in &order.values {
            let FilterValue::Value(value) = stored(order.by.prefix()) else {
                return Ok(None);
            };
            let Some(value) = order.value_of(value, steps)? else {
                return Ok(None);
            };
            if is_long(&value) {
                let memory = memory.get_or_insert_with(|| steps.counted_share());
                memory.take(value.bytes().len())?;
            }
            values.push(value);
        }
        Ok(Some(Some(OrderingValues { values, memory })))
    }
}

impl OrderBy {
    /// The ordering value of a document: the least or the greatest selected value. None if
    /// nothing is selected.
    fn value_of(&self, below_prefix: &Tree, steps: &Steps<'_>) -> Result<Option<IndexValue>> {
        let mut best: Option<IndexValue> = None;
        self.by.visit(below_prefix, steps, |value| {
            let value = index_value(value).ok_or_else(|| unpacked(&self.by))?;
            steps.spend(value.bytes().len() as u64 / COPIED_BYTES_PER_STEP)?;
            let is_better = |best: &IndexValue| {
                if self.descending {
                    value > *best
                } else {
                    value < *best
                }
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some(value);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(best)
    }
}

/// The error for a stored object or array that has no packed form.
pub(crate) fn unpacked(path: &Query) -> Error {
    Error::internal(format!(
        "an object or an array at {} cannot be packed",
        path.text()
    ))
}

/// The read for a need. None if the place exceeds the key limit, because nothing can be
/// stored there.
fn request(document: &Arc<DocumentKey>, need: &Need) -> Option<ReadRequest> {
    let place = Place(need.place.clone());
    document.place(&place).ok()?;
    let extent = if need.value {
        Extent::Whole
    } else {
        Extent::First
    };
    Some(ReadRequest::Value(
        document.clone(),
        Path::from(&place),
        extent,
    ))
}

fn part(answer: &Answer) -> Option<&Value> {
    match answer {
        Answer::Value(part) => part.as_ref(),
        Answer::Remainder(_) | Answer::Between(_) | Answer::Version(_) => None,
    }
}

fn found_at(need: &Need, answer: &Answer, steps: &Steps<'_>) -> Result<MatcherInput> {
    match answer {
        Answer::Value(None) => Ok(MatcherInput::Nothing),
        Answer::Value(Some(_)) if !need.value => Ok(MatcherInput::Something),
        Answer::Value(Some(part)) => part.tree(steps).map(MatcherInput::Value),
        Answer::Remainder(_) | Answer::Between(_) | Answer::Version(_) => {
            Err(Error::internal("a load returned what was not requested"))
        }
    }
}
