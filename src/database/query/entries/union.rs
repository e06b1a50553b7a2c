//! Ids that stand in any of several streams, each once: a merge that keeps the head of each stream
//! in order, so that the next id costs a logarithm of the streams and not all of them.

use std::collections::BTreeSet;

use futures::future::try_join_all;

use super::ids::{IdBytes, Ids};
use crate::error::Result;

/// The streams of a merge, and the id that comes next in each.
pub(crate) struct Union<'r> {
    parts: Vec<Ids<'r>>,
    /// The head of each stream that is not `unread`, unless the stream has ended.
    heads: BTreeSet<(IdBytes, usize)>,
    /// The streams whose head is not known.
    unread: Vec<usize>,
}

impl<'r> Union<'r> {
    pub(crate) fn new(parts: Vec<Ids<'r>>) -> Self {
        Self {
            heads: BTreeSet::new(),
            unread: (0..parts.len()).collect(),
            parts,
        }
    }

    pub(crate) fn parts(&self) -> &[Ids<'r>] {
        &self.parts
    }

    /// The id that comes next.
    ///
    /// # Errors
    /// As [`Ids::peek`].
    pub(crate) async fn peek(&mut self, backward: bool) -> Result<Option<IdBytes>> {
        match &self.unread[..] {
            [] => {}
            [only] => {
                let part = *only;
                let head = self.parts[part].peek(backward).await?;
                self.heads.extend(head.map(|id| (id, part)));
            }
            _ => {
                let unread: BTreeSet<usize> = self.unread.iter().copied().collect();
                let parts = self.parts.iter_mut().enumerate();
                let unread = parts.filter(|(at, _)| unread.contains(at));
                let peeked = unread.map(|(at, part)| async move {
                    let head = part.peek(backward).await?;
                    Ok::<_, crate::error::Error>(head.map(|id| (id, at)))
                });
                let heads = try_join_all(peeked).await?;
                self.heads.extend(heads.into_iter().flatten());
            }
        }
        self.unread.clear();
        Ok(self.first(backward).map(|(id, _)| id.clone()))
    }

    /// Goes on behind an id in every stream whose head it is.
    pub(crate) fn advance(&mut self, id: &[u8], backward: bool) {
        self.pop_while(
            backward,
            |head| head == id,
            |part| part.advance(id, backward),
        );
    }

    /// Goes on to the first id of each stream that does not stand before `id` in this direction.
    pub(crate) fn seek(&mut self, id: &[u8], backward: bool) {
        for at in self.unread.clone() {
            self.parts[at].seek(id, backward);
        }
        let before = |head: &[u8]| if backward { head > id } else { head < id };
        self.pop_while(backward, before, |part| part.seek(id, backward));
    }

    fn pop_while(
        &mut self,
        backward: bool,
        is_passed: impl Fn(&[u8]) -> bool,
        pass: impl Fn(&mut Ids<'r>),
    ) {
        while self.first(backward).is_some_and(|(id, _)| is_passed(id)) {
            let head = if backward {
                self.heads.pop_last()
            } else {
                self.heads.pop_first()
            };
            let Some((_, part)) = head else {
                return;
            };
            pass(&mut self.parts[part]);
            self.unread.push(part);
        }
    }

    fn first(&self, backward: bool) -> Option<&(IdBytes, usize)> {
        if backward {
            self.heads.last()
        } else {
            self.heads.first()
        }
    }
}
