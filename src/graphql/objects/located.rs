//! A document or a part of one, as resolvers pass it on: its location, and data read ahead for the
//! selection.

use std::sync::Arc;

use async_graphql::Context;
use futures::future::BoxFuture;

use super::field_reads::{PlaceField, contains, is_enough, is_version};
use super::lookahead::{reads_below, reads_of_document};
use crate::database::{
    Answer, DocumentKey, Extent, PartReads, QuerySelection, ReadRequest, Remainder, Value, length,
};
use crate::document::jsonpath::Query;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::{Path, Place};
use crate::error::{Error, Limit, Result};
use crate::graphql::context::session::{LoadedReads, Session, mismatch};
use crate::graphql::scalars::types::{Json, JsonPath, PathScalar, VersionScalar, path_argument};
use crate::limits::{COMPARED_READS_PER_STEP, SELECTED_MAX};

/// A place in a document at which a value is stored.
#[derive(Clone)]
pub(crate) struct Located {
    pub(crate) document: Arc<DocumentKey>,
    /// The requested path. Data that was read ahead is looked up by it.
    requested: Path,
    pub(crate) place: Place,
    kind: Option<Kind>,
    /// The whole value at this place, if it was read.
    part: Option<Value>,
    ahead: LoadedReads,
}

impl Located {
    /// Reads what the selection below the current field needs from the document at `path`; none if
    /// nothing is stored there.
    pub(crate) async fn find(
        context: &Context<'_>,
        document: Arc<DocumentKey>,
        path: Path,
    ) -> Result<Option<Self>> {
        let session = Session::of(context);
        session.request_budget().check()?;
        let mut reads = reads_below(context.field(), &document, &path, session.budget());
        if session.has_written(&document) {
            reads.retain(|read| !is_version(read));
        }
        let ahead = session.load(reads).await?;
        let root = Self {
            document,
            requested: Path::default(),
            place: Place::default(),
            kind: None,
            part: None,
            ahead,
        };
        root.at_path(context, &path).await
    }

    /// An existing document after the current field has written it or left it unchanged. Reads only
    /// what the selection requests, so that the transaction conflicts on nothing else.
    pub(crate) async fn written(context: &Context<'_>, document: Arc<DocumentKey>) -> Result<Self> {
        let session = Session::of(context);
        let mut reads = reads_of_document(context.field(), &document, session.budget());
        if session.has_written(&document) {
            reads.retain(|read| !is_version(read));
        }
        let ahead = if reads.is_empty() {
            LoadedReads::default()
        } else {
            session.load(reads).await?
        };
        Ok(Self::listed(document, ahead))
    }

    /// An existing document, and the data that was read ahead from it.
    pub(crate) fn listed(document: Arc<DocumentKey>, ahead: LoadedReads) -> Self {
        Self {
            document,
            requested: Path::default(),
            place: Place::default(),
            kind: None,
            part: None,
            ahead,
        }
    }

    /// A child from a page of children.
    pub(crate) fn child(&self, part: Value, kind: Kind) -> Self {
        let requested = Path::from(&part.place);
        let place = part.place.clone();
        let extent = if part.is_whole() {
            Extent::Whole
        } else {
            Extent::First
        };
        let read = ReadRequest::Value(self.document.clone(), requested.clone(), extent);
        Self {
            document: self.document.clone(),
            requested,
            place,
            kind: Some(kind),
            part: None,
            ahead: LoadedReads::of(read, Answer::Value(Some(part))),
        }
    }

    /// The document that contains this part.
    pub(crate) fn whole(&self) -> Self {
        Self {
            requested: Path::default(),
            place: Place::default(),
            kind: None,
            part: None,
            ..self.clone()
        }
    }

    pub(crate) async fn at(
        &self,
        context: &Context<'_>,
        path: &PathScalar,
    ) -> Result<Option<Self>> {
        let path = self.requested.join(&path_argument(Some(path))?);
        self.at_path(context, &path).await
    }

    pub(crate) async fn value(
        &self,
        context: &Context<'_>,
        path: Option<PathScalar>,
    ) -> Result<Option<Json>> {
        let path = self.requested.join(&path_argument(path.as_ref())?);
        let extent = PlaceField::Value.extent();
        let part = self.part(context, path, extent).await?;
        json(context, part).await
    }

    pub(crate) async fn kind(&self, context: &Context<'_>) -> Result<Kind> {
        if let Some(kind) = self.kind {
            return Ok(kind);
        }
        let part = self
            .part(context, self.requested.clone(), PlaceField::Kind.extent())
            .await?;
        match part {
            Some(part) => part.kind(),
            None => Err(Error::internal(
                "a document that was found is missing from its snapshot",
            )),
        }
    }

    /// The length of an array, an object or a string; none for other values.
    pub(crate) async fn length(&self, context: &Context<'_>) -> Result<Option<i32>> {
        let session = Session::of(context);
        let extent = match self.kind(context).await? {
            Kind::Array => Extent::Last,
            Kind::String => Extent::Whole,
            Kind::Object => {
                session.request_budget().places(1)?;
                let _turn = session.turn_to_page().await;
                let read = session.read().await?;
                let members = length(&*read, &self.document, &self.place, session.budget());
                return members.await.map(|members| Some(int(members)));
            }
            Kind::Number | Kind::Boolean | Kind::Null => return Ok(None),
        };
        let part = self.part(context, self.requested.clone(), extent).await?;
        let part = part.ok_or_else(mismatch)?;
        if extent == Extent::Last {
            return part.elements().map(|elements| Some(int(elements)));
        }
        let characters = session.budget().compute(|steps| part.characters(steps));
        characters.await.map(|characters| characters.map(int))
    }

    pub(crate) async fn version(&self, context: &Context<'_>) -> Result<Option<VersionScalar>> {
        let session = Session::of(context);
        if session.has_written(&self.document) {
            return Ok(Some(VersionScalar::OfThisCommit));
        }
        let ahead = self.ahead.answer(is_version);
        let answer = match ahead {
            Some(answer) => answer.clone()?,
            None => {
                self.load(session, ReadRequest::Version(self.document.clone()))
                    .await?
            }
        };
        match answer {
            Answer::Version(version) => Ok(version.map(VersionScalar::Known)),
            Answer::Value(_) | Answer::Remainder(_) => Err(mismatch()),
        }
    }

    /// The parts that a JSONPath query selects in this value.
    pub(crate) async fn select(
        &self,
        context: &Context<'_>,
        query: &JsonPath,
    ) -> Result<Vec<Self>> {
        let session = Session::of(context);
        session.request_budget().check()?;
        let budget = session.budget();
        let query = query.query(budget).await?;
        let read = |reads: PartReads| -> BoxFuture<'_, _> {
            Box::pin(async {
                let parts = self.parts(context, reads).await?;
                parts.into_iter().collect()
            })
        };
        let selection =
            QuerySelection::read(&query, &session.request_budget().memory, read).await?;
        let selected = selection.nodes();
        check_selected(&query, selected.len())?;
        session
            .request_budget()
            .elements(selected.len(), context.field())?;
        let located = selected.iter().map(|node| {
            let part = selection.value(node).ok_or_else(mismatch)?;
            Ok(Self {
                document: self.document.clone(),
                requested: Path::from(&part.place),
                place: part.place.clone(),
                kind: Some(node.kind),
                part: Some(part),
                ahead: self.ahead.clone(),
            })
        });
        located.collect()
    }

    async fn at_path(&self, context: &Context<'_>, path: &Path) -> Result<Option<Self>> {
        let extent = PlaceField::Subdocument.extent();
        let part = self.part(context, path.clone(), extent).await?;
        let Some(part) = part else {
            return Ok(None);
        };
        Ok(Some(Self {
            document: self.document.clone(),
            requested: path.clone(),
            kind: Some(part.kind()?),
            place: part.place.clone(),
            part: part.is_whole().then_some(part),
            ahead: self.ahead.clone(),
        }))
    }

    /// The part at `path`, from the data that was read ahead or else from the store.
    async fn part(
        &self,
        context: &Context<'_>,
        path: Path,
        extent: Extent,
    ) -> Result<Option<Value>> {
        if let Some(ahead) = self.part_ahead(&path, extent) {
            return ahead;
        }
        let read = ReadRequest::Value(self.document.clone(), path, extent);
        Session::of(context).load(vec![read]).await?.part()
    }

    /// The number of tokens in the path of this value, and so of segments in its place.
    pub(crate) fn levels(&self) -> usize {
        self.requested.tokens().len()
    }

    /// The parts at paths below this value: those that were not read ahead from the store, in one
    /// batch.
    pub(crate) async fn parts(
        &self,
        context: &Context<'_>,
        reads: PartReads,
    ) -> Result<Vec<Result<Option<Value>>>> {
        let session = Session::of(context);
        // Each path is compared with the reads that were made ahead.
        let compared = reads.len() as u64 * self.ahead.count() as u64;
        session
            .budget()
            .pace(compared / COMPARED_READS_PER_STEP)
            .await?;
        let mut missing = Vec::new();
        let mut parts = Vec::with_capacity(reads.len());
        for (at, (below, extent)) in reads.into_iter().enumerate() {
            let path = self.requested.join(&below);
            if let Some(part) = self.part_ahead(&path, extent) {
                parts.push(part);
            } else {
                let read = ReadRequest::Value(self.document.clone(), path, extent);
                missing.push((at, read));
                parts.push(Ok(None));
            }
        }
        if !missing.is_empty() {
            let (numbers, missing): (Vec<usize>, Vec<_>) = missing.into_iter().unzip();
            let loaded = session.load(missing).await?;
            for (number, part) in numbers.into_iter().zip(loaded.parts()) {
                parts[number] = part;
            }
        }
        Ok(parts)
    }

    /// This value without the parts at the paths; none if it is one of them. From the data that was
    /// read ahead, or else from the store.
    pub(crate) async fn remainder(
        &self,
        context: &Context<'_>,
        paths: &[Path],
    ) -> Result<Option<Remainder>> {
        let session = Session::of(context);
        session.budget().pace(paths.len() as u64).await?;
        if let Some(whole) = self.part_ahead(&self.requested, Extent::Whole) {
            return Ok(whole?.and_then(|whole| whole.without(paths)));
        }
        let omitted = paths.iter().map(|path| self.requested.join(path)).collect();
        let read = ReadRequest::Remainder(self.document.clone(), self.requested.clone(), omitted);
        let answer = match self.ahead.answer(|ahead| *ahead == read) {
            Some(answer) => answer.clone()?,
            None => self.load(session, read).await?,
        };
        match answer {
            Answer::Remainder(remainder) => Ok(remainder),
            Answer::Value(_) | Answer::Version(_) => Err(mismatch()),
        }
    }

    /// The part at `path` that was read ahead, to at least this extent. `ahead` holds only reads of
    /// this document.
    fn part_ahead(&self, path: &Path, extent: Extent) -> Option<Result<Option<Value>>> {
        if let Some(part) = &self.part
            && let Some(below) = path.below(&self.requested)
        {
            return Some(Ok(part.at(&below).and_then(|part| part.narrowed(extent))));
        }
        if let Some((_, answer)) = self.ahead.find(|read| is_enough(read, path, extent)) {
            return Some(part_of(answer).map(|part| part?.narrowed(extent)));
        }
        // A part that was read whole contains every part below it.
        let (read, answer) = self.ahead.find(|read| contains(read, path))?;
        let ReadRequest::Value(_, above, _) = read else {
            return None;
        };
        let whole = part_of(answer).ok().flatten().filter(Value::is_whole)?;
        let part = whole.at(&path.below(above)?);
        Some(Ok(part.and_then(|part| part.narrowed(extent))))
    }

    async fn load(&self, session: &Session, read: ReadRequest) -> Result<Answer> {
        let loaded = session.load(vec![read]).await?;
        loaded.answer(|_| true).cloned().ok_or_else(mismatch)?
    }
}

/// A part as JSON of the response.
pub(crate) async fn json(context: &Context<'_>, part: Option<Value>) -> Result<Option<Json>> {
    let Some(part) = part else {
        return Ok(None);
    };
    let request_budget = Session::of(context).request_budget();
    // Assembles no JSON once the response has reached its limit.
    request_budget.carry(0)?;
    let text = part.json_within(request_budget.budget().part_text());
    let text = text.await?;
    Ok(Some(Json(text.into())))
}

/// A length as `Int`. No document has as many children or characters as its maximum.
fn int(length: u64) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

fn part_of(answer: &Result<Answer>) -> Result<Option<Value>> {
    match answer.clone()? {
        Answer::Value(part) => Ok(part),
        Answer::Remainder(_) | Answer::Version(_) => Err(mismatch()),
    }
}

/// Checks the number of parts that a query selected.
///
/// # Errors
/// `TOO_COMPLEX`: there are too many.
pub(crate) fn check_selected(query: &Query, selected: usize) -> Result<()> {
    if selected <= SELECTED_MAX {
        return Ok(());
    }
    Err(Error::too_complex(
        Limit::new("selectedParts", SELECTED_MAX),
        format!(
            "the JSONPath {:?} selects {selected} parts; the limit is {SELECTED_MAX}",
            abridged(query.text()),
        ),
    ))
}
