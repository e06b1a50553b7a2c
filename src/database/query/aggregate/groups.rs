//! Groups under construction.

use std::collections::{BTreeMap, BTreeSet};

use super::request::{AggregateQuery, GroupOrder};
use super::summary::{DocumentSummary, ValueSummary};
use crate::budget::{Budget, OwnedList, Reservation, free, in_turns};
use crate::database::query::entries::ids::IdBytes;
use crate::database::query::page::UsedIndexes;
use crate::error::{Error, Limit, Resource, Result};
use crate::key::IndexValue;
use crate::limits::{COPIED_BYTES_PER_STEP, GROUPS_PER_DOCUMENT_MAX, STEPS_PER_READ};

/// The groups of a query.
#[derive(Clone, Debug)]
pub struct Aggregation {
    /// The first groups in the order of the query.
    pub groups: OwnedList<Group>,
    /// The number of all groups.
    pub group_count: usize,
    /// The indexes used. None if no index was used.
    pub index: Option<UsedIndexes>,
    /// The number of keys of entries or of the catalog read, plus the number of documents examined.
    pub scanned: usize,
    /// The number of documents examined.
    pub examined: usize,
}

/// A group of documents.
#[derive(Clone, Debug)]
pub struct Group {
    /// The values of the paths to group by, as JSON texts.
    pub key: Vec<String>,
    /// The number of documents.
    pub count: u64,
    /// The aggregates of each path of the query.
    pub of: Vec<ValueSummary>,
}

/// The groups of the documents added so far.
pub(crate) struct Groups<'q> {
    query: &'q AggregateQuery,
    budget: &'q Budget,
    memory: Reservation,
    /// By the packed values of the paths to group by.
    states: BTreeMap<Vec<u8>, GroupState>,
    /// The objects and arrays among these values.
    containers: BTreeMap<IndexValue, GroupedContainer>,
}

/// An object or an array to group by, of which an index value is only a digest.
enum GroupedContainer {
    /// Its JSON text in the first document that has it.
    Text(String),
    /// The id of the first document that has it.
    In(IdBytes),
}

struct GroupState {
    count: u64,
    of: Vec<ValueSummary>,
}

impl Drop for Groups<'_> {
    fn drop(&mut self) {
        let states = std::mem::take(&mut self.states);
        free(states.len(), states);
    }
}

impl<'q> Groups<'q> {
    /// Creates the groups of no document: none, or the only one if the query does not group.
    pub(crate) fn new(query: &'q AggregateQuery, budget: &'q Budget) -> Self {
        let mut states = BTreeMap::new();
        if query.group_by.is_empty() {
            states.insert(Vec::new(), GroupState::new(query));
        }
        Self {
            query,
            budget,
            memory: budget.reserve(),
            states,
            containers: BTreeMap::new(),
        }
    }

    /// Adds documents to the only group of a query that does not group.
    pub(crate) fn count(&mut self, documents: u64) {
        for group in self.states.values_mut() {
            group.count += documents;
        }
    }

    /// Adds a document.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it is in more than [`GROUPS_PER_DOCUMENT_MAX`] groups.
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) async fn add(&mut self, document: DocumentSummary) -> Result<()> {
        let sizes = document.keys.iter().map(BTreeMap::len);
        let groups = sizes.fold(1, usize::saturating_mul);
        if groups > GROUPS_PER_DOCUMENT_MAX {
            return Err(Error::too_complex(
                Limit::new("groupsPerDocument", GROUPS_PER_DOCUMENT_MAX),
                format!(
                    "a document is in {groups} groups, one for each combination of the values at \
                     `groupBy`; the limit is {GROUPS_PER_DOCUMENT_MAX}"
                ),
            ));
        }
        let of = 1 + self.query.of.len();
        self.budget.pace((groups * of) as u64).await?;
        let budget = self.budget;
        let values: usize = document.keys.iter().map(BTreeMap::len).sum();
        let columns = || self.columns(document.keys);
        let steps = STEPS_PER_READ * values as u64;
        let columns = budget.portion(steps, columns).await?;
        let mut key = Vec::new();
        for group in 0..groups {
            key.clear();
            append_combination(&mut key, &columns, group);
            let copied = key.len() as u64 / COPIED_BYTES_PER_STEP;
            self.budget.pace(copied).await?;
            let (group, memory) = self.group(&key)?;
            group.count += 1;
            for (all, one) in group.of.iter_mut().zip(&document.of) {
                hold_growth(memory, all, |all| all.add_all(one))?;
            }
        }
        Ok(())
    }

    /// The values of each path to group by. Keeps the texts of objects and arrays.
    fn columns(
        &mut self,
        keys: Vec<BTreeMap<IndexValue, Option<String>>>,
    ) -> Result<Vec<Vec<IndexValue>>> {
        let mut columns = Vec::with_capacity(keys.len());
        for values in keys {
            let mut column = Vec::with_capacity(values.len());
            for (value, text) in values {
                if let Some(text) = text
                    && !self.containers.contains_key(&value)
                {
                    hold(&self.memory, value.bytes().len() + text.len())?;
                    let container = GroupedContainer::Text(text);
                    self.containers.insert(value.clone(), container);
                }
                column.push(value);
            }
            columns.push(column);
        }
        Ok(columns)
    }

    /// Adds an entry of an index: the packed values to group by, and the values to aggregate.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) fn add_entry<'v>(
        &mut self,
        key: &[u8],
        of: impl Iterator<Item = &'v IndexValue>,
    ) -> Result<()> {
        let query = self.query;
        let (group, memory) = self.group(key)?;
        group.count += 1;
        for ((summary, path), value) in group.of.iter_mut().zip(&query.of).zip(of) {
            hold_growth(memory, summary, |summary| summary.add(path, value))?;
        }
        Ok(())
    }

    /// Records that a document has an object or an array that its entry holds as a digest.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) fn add_container(&mut self, value: &IndexValue, id: &[u8]) -> Result<()> {
        match self.containers.get_mut(value) {
            None => {
                let bytes =
                    value.bytes().len() + id.len() + size_of::<(IndexValue, GroupedContainer)>();
                hold(&self.memory, bytes)?;
                let container = GroupedContainer::In(id.to_vec());
                self.containers.insert(value.clone(), container);
            }
            Some(GroupedContainer::In(first)) if id < &first[..] => {
                hold(&self.memory, id.len().saturating_sub(first.len()))?;
                *first = id.to_vec();
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Returns the documents that have the objects and arrays whose texts are missing and are part
    /// of the result.
    pub(crate) fn unread(&self) -> Vec<IdBytes> {
        if self.containers.is_empty() {
            return Vec::new();
        }
        let mut ids = BTreeSet::new();
        for key in self.first() {
            for value in IndexValue::split_all(key) {
                if let Some(GroupedContainer::In(id)) = self.containers.get(&value) {
                    ids.insert(id.clone());
                }
            }
        }
        ids.into_iter().collect()
    }

    /// Adds the texts of the objects and arrays in a document.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) fn add_texts(&mut self, id: &[u8], document: DocumentSummary) -> Result<()> {
        for (value, text) in document.keys.into_iter().flatten() {
            if let Some(container) = self.containers.get_mut(&value)
                && let GroupedContainer::In(first) = container
                && first == id
                && let Some(text) = text
            {
                hold(&self.memory, text.len())?;
                *container = GroupedContainer::Text(text);
            }
        }
        Ok(())
    }

    fn group(&mut self, key: &[u8]) -> Result<(&mut GroupState, &Reservation)> {
        if !self.states.contains_key(key) {
            let of = self.query.of.len() * size_of::<ValueSummary>();
            // A node of the map has places for twice as many groups as it holds at least.
            let bytes = key.len() + of + 2 * size_of::<(Vec<u8>, GroupState)>();
            hold(&self.memory, bytes)?;
            self.states
                .insert(key.to_vec(), GroupState::new(self.query));
        }
        let group = self.states.get_mut(key);
        let group = group.ok_or_else(|| Error::internal("a group was not inserted"))?;
        Ok((group, &self.memory))
    }

    /// The first groups in the order of the query.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted). `INTERNAL`.
    pub(crate) async fn aggregation(
        mut self,
        index: Option<UsedIndexes>,
        scanned: usize,
        examined: usize,
    ) -> Result<Aggregation> {
        let group_count = self.states.len();
        let budget = self.budget;
        budget.pace(group_count as u64).await?;
        let steps = STEPS_PER_READ * group_count as u64;
        let first = budget.portion(steps, || self.take_first()).await;
        let mut groups = Vec::with_capacity(first.len());
        let mut first = in_turns(first);
        while let Some((packed, state)) = first.next().await {
            let key = self.key(&packed)?;
            let bytes: usize = key.iter().map(String::len).sum();
            hold(&self.memory, bytes)?;
            groups.push(Group {
                key,
                count: state.count,
                of: state.of,
            });
        }
        Ok(Aggregation {
            groups: groups.into(),
            group_count,
            index,
            scanned,
            examined,
        })
    }

    /// The keys of the first groups in the order of the query.
    fn first(&self) -> Vec<&Vec<u8>> {
        let size = self.query.size;
        let order = self.query.order;
        if !order.by_count {
            let keys = self.states.keys();
            return if order.descending {
                keys.rev().take(size).collect()
            } else {
                keys.take(size).collect()
            };
        }
        // The best groups so far; the worst of them is the last one.
        let mut best = BTreeSet::new();
        for (key, group) in &self.states {
            best.insert((order.rank(group.count), key));
            if best.len() > size {
                best.pop_last();
            }
        }
        best.into_iter().map(|(_, key)| key).collect()
    }

    /// Removes the groups, and returns those of [`Groups::first`].
    fn take_first(&mut self) -> Vec<(Vec<u8>, GroupState)> {
        let size = self.query.size;
        let order = self.query.order;
        let states = std::mem::take(&mut self.states).into_iter();
        if !order.by_count {
            return if order.descending {
                states.rev().take(size).collect()
            } else {
                states.take(size).collect()
            };
        }
        let mut best = BTreeMap::new();
        for (key, group) in states {
            best.insert((order.rank(group.count), key), group);
            if best.len() > size {
                best.pop_last();
            }
        }
        let best = best.into_iter();
        best.map(|((_, key), group)| (key, group)).collect()
    }

    /// The JSON texts of packed values.
    fn key(&self, packed: &[u8]) -> Result<Vec<String>> {
        let text = |value: IndexValue| {
            let Some(leaf) = value.leaf() else {
                return match self.containers.get(&value) {
                    Some(GroupedContainer::Text(text)) => Ok(text.clone()),
                    _ => Err(Error::internal("the value of a group was not read")),
                };
            };
            let mut text = Vec::new();
            leaf.write_json(&mut text);
            String::from_utf8(text).map_err(|error| Error::internal(error.to_string()))
        };
        IndexValue::split_all(packed).map(text).collect()
    }
}

impl GroupState {
    fn new(query: &AggregateQuery) -> Self {
        Self {
            count: 0,
            of: vec![ValueSummary::default(); query.of.len()],
        }
    }
}

impl GroupOrder {
    /// Ranks a group by its number of documents. The first groups have the least rank.
    fn rank(self, count: u64) -> u64 {
        if self.descending {
            u64::MAX - count
        } else {
            count
        }
    }
}

/// Appends the packed values of one of the combinations of a value of each column.
fn append_combination(key: &mut Vec<u8>, columns: &[Vec<IndexValue>], mut combination: usize) {
    for column in columns {
        let value = column.get(combination % column.len().max(1));
        key.extend_from_slice(value.map_or(&[], IndexValue::bytes));
        combination /= column.len().max(1);
    }
}

/// Changes a summary and holds the memory by which it grows.
fn hold_growth(
    memory: &Reservation,
    summary: &mut ValueSummary,
    change: impl FnOnce(&mut ValueSummary),
) -> Result<()> {
    let before = summary.bytes();
    change(summary);
    hold(memory, summary.bytes().saturating_sub(before))
}

/// Holds memory for groups.
fn hold(memory: &Reservation, bytes: usize) -> Result<()> {
    memory.hold(bytes).map_err(|error| {
        if !memory.is_full() {
            return error;
        }
        let bytes_max = memory.bytes_max();
        Error::exhausted(
            Resource::ReadBytes,
            Limit::new("readBytesAtOnce", bytes_max),
            format!(
                "the values of the groups take more than {bytes_max} bytes, which one request may \
                 hold at a time: restrict `where`, or group by other values"
            ),
        )
    })
}
