//! Merges sorted pointers into the total order.
//!
//! Sources are merged by what a pointer itself says: rank, path hash, line, and then its place, which
//! decides nothing. Pointers that share rank and hash are looked at before they are given out: where
//! they are of different documents, package and path order them.
//! **Invariant:** memory is that of [`GROUP_LEN_MAX`] pointers, however many there are. Matches of one
//! document with the same rank are given out as they come; it takes documents whose names have the
//! same hash to exceed the bound, and that is an error.

use super::{Continued, Document, FrameAt, Pointer};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

/// Pointers of equal rank and hash that are held to be put in order: 2 MiB.
const GROUP_LEN_MAX: usize = 64 << 10;

/// Sorted pointers.
pub(crate) trait Sorted<E> {
    /// The next one; `None` behind the last.
    fn next(&mut self) -> Result<Option<Pointer>, E>;
}

/// More pointers than memory may hold are of different documents with the same hash.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Collision;

/// Gives the pointers of `sources` to `each` in total order, until it breaks. `continued` is by
/// backend. `document` reads the package and path of a frame; it is asked only where documents share
/// rank and hash.
pub(crate) fn merge<E: From<Collision>>(
    sources: Vec<impl Sorted<E>>,
    continued: &[Continued],
    document: impl FnMut(FrameAt) -> Result<Document, E>,
    each: impl FnMut(Pointer) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let mut groups = Groups {
        documents: Documents {
            continued,
            names: FxHashMap::default(),
            read: document,
        },
        group: Vec::new(),
        given: None,
        each,
    };
    let mut merged = Losers::new(sources)?;
    while let Some(pointer) = merged.next()? {
        if groups.push(pointer)?.is_break() {
            return Ok(());
        }
    }
    groups.flush().map(drop)
}

/// The same for sources of one backend that are to be merged again: nothing is looked at but what
/// pointers say themselves.
pub(crate) fn merge_sorted<E>(
    sources: Vec<impl Sorted<E>>,
    mut each: impl FnMut(Pointer) -> Result<(), E>,
) -> Result<(), E> {
    let mut merged = Losers::new(sources)?;
    while let Some(pointer) = merged.next()? {
        each(pointer)?;
    }
    Ok(())
}

/// A tournament of sources: each inner node holds the source that lost there, so that the next
/// pointer costs one comparison a level.
struct Losers<S> {
    sources: Vec<S>,
    /// Of each source the pointer that is its next; [`LAST`] behind the last.
    heads: Vec<Pointer>,
    /// The winner, and the losers of the inner nodes 1 to n - 1.
    nodes: Vec<usize>,
}

/// Greater than every pointer: there are fewer backends than it names.
const LAST: Pointer = Pointer {
    key: [u64::MAX; 2],
    frame: u64::MAX,
    package: 0,
    index: 0,
};

impl<S> Losers<S> {
    fn new<E>(mut sources: Vec<S>) -> Result<Self, E>
    where
        S: Sorted<E>,
    {
        let heads: Result<Vec<_>, E> = sources
            .iter_mut()
            .map(|source| Ok(source.next()?.unwrap_or(LAST)))
            .collect();
        let mut losers = Losers {
            nodes: vec![usize::MAX; sources.len()],
            heads: heads?,
            sources,
        };
        for source in 0..losers.sources.len() {
            losers.play(source);
        }
        Ok(losers)
    }

    fn next<E>(&mut self) -> Result<Option<Pointer>, E>
    where
        S: Sorted<E>,
    {
        let Some(&winner) = self.nodes.first() else {
            return Ok(None);
        };
        let pointer = self.heads[winner];
        if pointer == LAST {
            return Ok(None);
        }
        self.heads[winner] = self.sources[winner].next()?.unwrap_or(LAST);
        self.play(winner);
        Ok(Some(pointer))
    }

    /// Lets a source play from its leaf to the top. While the tree is filled for the first time, it
    /// waits at the first node where nobody has been.
    fn play(&mut self, source: usize) {
        let mut winner = source;
        let mut node = (source + self.sources.len()) / 2;
        while node > 0 {
            let other = self.nodes[node];
            if other == usize::MAX {
                self.nodes[node] = winner;
                return;
            }
            if self.heads[other].place() < self.heads[winner].place() {
                self.nodes[node] = winner;
                winner = other;
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }
}

/// Collects pointers that share rank and hash.
struct Groups<'a, F, G> {
    documents: Documents<'a, F>,
    group: Vec<Pointer>,
    /// A pointer of this group that has been given out already.
    given: Option<Pointer>,
    each: G,
}

impl<E, F, G> Groups<'_, F, G>
where
    E: From<Collision>,
    F: FnMut(FrameAt) -> Result<Document, E>,
    G: FnMut(Pointer) -> Result<ControlFlow<()>, E>,
{
    fn push(&mut self, pointer: Pointer) -> Result<ControlFlow<()>, E> {
        let first = self.given.as_ref().or(self.group.first());
        if first.is_some_and(|first| !first.ties_with(&pointer)) && self.flush()?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.group.push(pointer);
        if self.group.len() < GROUP_LEN_MAX {
            return Ok(ControlFlow::Continue(()));
        }
        if !self.is_one_document()? {
            return Err(Collision.into());
        }
        self.given = Some(pointer);
        self.give()
    }

    /// Gives out a group that is complete.
    fn flush(&mut self) -> Result<ControlFlow<()>, E> {
        if let ([alone], None) = (&self.group[..], self.given) {
            let alone = *alone;
            self.group.clear();
            return (self.each)(alone);
        }
        if self.group.len() > 1 || self.given.is_some() {
            if !self.is_one_document()? {
                if self.given.is_some() {
                    return Err(Collision.into());
                }
                self.documents.sort(&mut self.group)?;
            }
            self.documents.names.clear();
        }
        self.given = None;
        self.give()
    }

    fn give(&mut self) -> Result<ControlFlow<()>, E> {
        for pointer in self.group.drain(..) {
            if (self.each)(pointer)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Whether all pointers of the group so far are of one document, or of several that have the same
    /// name.
    fn is_one_document(&mut self) -> Result<bool, E> {
        let first = self.given.unwrap_or(self.group[0]);
        let begin = self.documents.begin(&first);
        for pointer in self.group.iter().filter(|each| each.frame != first.frame) {
            let other = self.documents.begin(pointer);
            if other != begin && !self.documents.have_one_name(begin, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The names of documents whose hashes are equal.
struct Documents<'a, F> {
    continued: &'a [Continued],
    /// Of the group that is looked at, by the first frame.
    names: FxHashMap<FrameAt, Document>,
    read: F,
}

impl<F, E> Documents<'_, F>
where
    F: FnMut(FrameAt) -> Result<Document, E>,
{
    /// The first frame of a match's document, as far as that is known.
    fn begin(&self, pointer: &Pointer) -> FrameAt {
        let (backend, offset) = pointer.frame();
        (backend, self.continued[usize::from(backend)].first(offset))
    }

    fn have_one_name(&mut self, one: FrameAt, other: FrameAt) -> Result<bool, E> {
        self.read_name(one)?;
        self.read_name(other)?;
        Ok(self.names[&one] == self.names[&other])
    }

    fn read_name(&mut self, frame: FrameAt) -> Result<(), E> {
        if let Entry::Vacant(entry) = self.names.entry(frame) {
            entry.insert((self.read)(frame)?);
        }
        Ok(())
    }

    /// Orders pointers of equal rank and hash by document, then by line.
    fn sort(&mut self, group: &mut [Pointer]) -> Result<(), E> {
        for pointer in &*group {
            self.read_name(self.begin(pointer))?;
        }
        let key = |pointer: &Pointer| {
            let name = &self.names[&self.begin(pointer)];
            (name, pointer.line(), pointer.frame)
        };
        group.sort_by(|a, b| key(a).cmp(&key(b)));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
