//! Merges sorted pointers into the total order.
//!
//! Sources are merged by rank, path hash, line, and last the position, which decides
//! nothing. Pointers with equal rank and hash form a group; several documents in it are
//! ordered by package and path.
//!
//! **Invariant:** memory holds at most [`GROUP_LEN_MAX`] pointers of a group. A larger group is
//! emitted in pieces if it is one document; several documents, with colliding hashes, are an error.

use super::pointer::{FrameAt, Pointer, SortKey};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

/// Pointers of equal rank and hash held in memory: 2 MiB.
const GROUP_LEN_MAX: usize = 64 << 10;

/// Frames listed by a [`Continued`]: 4 MiB. Ties in later frames read the document's name.
const CONTINUED_LEN_MAX: usize = 256 << 10;

pub(crate) type DocumentName = (Vec<u8>, Vec<u8>);

pub trait Sorted<E> {
    /// `None` at the end.
    fn next(&mut self) -> Result<Option<Pointer>, E>;
}

/// Too many pointers of different documents with one hash.
#[derive(Debug, PartialEq, Eq)]
pub struct Collision;

/// Frames that continue an earlier frame's document, by offset, so that most ties need no names. 16
/// bytes per frame, up to a bound.
#[derive(Debug, Default)]
pub struct Continued {
    /// Offsets of the frame and of its document's first frame; ascending.
    frames: Vec<(u64, u64)>,
}

impl Continued {
    /// Records that the frame at `offset` continues the document at `first`. Offsets must ascend.
    pub fn push(&mut self, offset: u64, first: u64) {
        if self.frames.len() < CONTINUED_LEN_MAX {
            self.frames.push((offset, first));
        }
    }

    /// Offset of the document's first frame; `offset` itself if unknown.
    fn first(&self, offset: u64) -> u64 {
        let frames = &self.frames;
        let found = frames.binary_search_by_key(&offset, |&(offset, _)| offset);
        found.map_or(offset, |at| frames[at].1)
    }
}

/// Calls `each` with every pointer in total order, until it breaks. `continued` is indexed by
/// stream. `document` reads a frame's name, if documents share rank and hash.
pub fn merge<E: From<Collision>>(
    sources: Vec<impl Sorted<E>>,
    continued: &[Continued],
    document: impl FnMut(FrameAt) -> Result<DocumentName, E>,
    each: impl FnMut(Pointer) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let mut groups = Groups {
        documents: DocumentNames {
            continued,
            names: FxHashMap::default(),
            read: document,
        },
        group: Vec::new(),
        emitted: None,
        each,
    };
    let mut merged = LoserTree::new(sources)?;
    while let Some(pointer) = merged.next()? {
        if groups.push(pointer)?.is_break() {
            return Ok(());
        }
    }
    groups.flush().map(drop)
}

/// Merges without ordering ties by document: [`merge`] does that later.
pub fn merge_sorted<E>(
    sources: Vec<impl Sorted<E>>,
    mut each: impl FnMut(Pointer) -> Result<(), E>,
) -> Result<(), E> {
    let mut merged = LoserTree::new(sources)?;
    while let Some(pointer) = merged.next()? {
        each(pointer)?;
    }
    Ok(())
}

/// Loser tree: inner nodes hold the loser, so a pointer costs one comparison per level.
struct LoserTree<S> {
    sources: Vec<S>,
    /// Next pointer of each source; [`LAST`] at its end.
    heads: Vec<Pointer>,
    /// The winner, and losers of the nodes 1 to n - 1.
    nodes: Vec<usize>,
    /// Least key of the others, once the winner has won twice: pointers of a document follow each
    /// other, so each costs one comparison.
    second: Option<SortKey>,
}

/// Greater than every pointer: no stream has this number.
const LAST: Pointer = Pointer {
    key: [u64::MAX; 2],
    frame: u64::MAX,
    package: 0,
    index: 0,
};

impl<S> LoserTree<S> {
    fn new<E>(mut sources: Vec<S>) -> Result<Self, E>
    where
        S: Sorted<E>,
    {
        let heads = sources.iter_mut();
        let heads = heads.map(|source| Ok(source.next()?.unwrap_or(LAST)));
        let heads: Result<Vec<_>, E> = heads.collect();
        let mut tree = LoserTree {
            nodes: vec![usize::MAX; sources.len()],
            heads: heads?,
            sources,
            second: None,
        };
        for source in 0..tree.sources.len() {
            tree.play(source);
        }
        Ok(tree)
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
        let head = self.sources[winner].next()?.unwrap_or(LAST);
        self.heads[winner] = head;
        if self.second.is_some_and(|second| head.sort_key() <= second) {
            return Ok(Some(pointer));
        }
        self.play(winner);
        self.second = (self.nodes[0] == winner).then(|| self.second());
        Ok(Some(pointer))
    }

    fn second(&self) -> SortKey {
        let mut second = LAST.sort_key();
        let mut node = (self.nodes[0] + self.sources.len()) / 2;
        while node > 0 {
            second = second.min(self.heads[self.nodes[node]].sort_key());
            node /= 2;
        }
        second
    }

    /// Plays a source from leaf to root. While the tree is built, it stays at the first empty node.
    fn play(&mut self, source: usize) {
        let mut winner = source;
        let mut node = (source + self.sources.len()) / 2;
        while node > 0 {
            let other = self.nodes[node];
            if other == usize::MAX {
                self.nodes[node] = winner;
                return;
            }
            if self.heads[other].sort_key() < self.heads[winner].sort_key() {
                self.nodes[node] = winner;
                winner = other;
            }
            node /= 2;
        }
        self.nodes[0] = winner;
    }
}

struct Groups<'a, F, G> {
    documents: DocumentNames<'a, F>,
    group: Vec<Pointer>,
    emitted: Option<Pointer>,
    each: G,
}

impl<E, F, G> Groups<'_, F, G>
where
    E: From<Collision>,
    F: FnMut(FrameAt) -> Result<DocumentName, E>,
    G: FnMut(Pointer) -> Result<ControlFlow<()>, E>,
{
    fn push(&mut self, pointer: Pointer) -> Result<ControlFlow<()>, E> {
        let first = self.emitted.as_ref().or(self.group.first());
        if first.is_some_and(|first| first.tie_key() != pointer.tie_key())
            && self.flush()?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        self.group.push(pointer);
        if self.group.len() < GROUP_LEN_MAX {
            return Ok(ControlFlow::Continue(()));
        }
        if !self.is_one_document()? {
            return Err(Collision.into());
        }
        self.emitted = Some(pointer);
        self.emit()
    }

    fn flush(&mut self) -> Result<ControlFlow<()>, E> {
        if let ([alone], None) = (&self.group[..], self.emitted) {
            let alone = *alone;
            self.group.clear();
            return (self.each)(alone);
        }
        if self.group.len() > 1 || self.emitted.is_some() {
            if !self.is_one_document()? {
                if self.emitted.is_some() {
                    return Err(Collision.into());
                }
                self.documents.sort(&mut self.group)?;
            }
            self.documents.names.clear();
        }
        self.emitted = None;
        self.emit()
    }

    fn emit(&mut self) -> Result<ControlFlow<()>, E> {
        for pointer in self.group.drain(..) {
            if (self.each)(pointer)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// True if all pointers of the group are in documents of one name.
    fn is_one_document(&mut self) -> Result<bool, E> {
        let first = self.emitted.unwrap_or(self.group[0]);
        let start = self.documents.start(&first);
        let mut last = first.frame;
        for pointer in &self.group {
            // Lines of one frame follow each other.
            if pointer.frame == std::mem::replace(&mut last, pointer.frame) {
                continue;
            }
            let other = self.documents.start(pointer);
            if other != start && !self.documents.have_one_name(start, other)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

struct DocumentNames<'a, F> {
    continued: &'a [Continued],
    names: FxHashMap<FrameAt, DocumentName>,
    read: F,
}

impl<F, E> DocumentNames<'_, F>
where
    F: FnMut(FrameAt) -> Result<DocumentName, E>,
{
    /// First frame of the match's document, or its own if unknown.
    fn start(&self, pointer: &Pointer) -> FrameAt {
        let (stream, offset) = pointer.frame();
        (stream, self.continued[usize::from(stream)].first(offset))
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

    /// Orders pointers of equal score and hash by document, place and line.
    fn sort(&mut self, group: &mut [Pointer]) -> Result<(), E> {
        for pointer in &*group {
            self.read_name(self.start(pointer))?;
        }
        let key = |pointer: &Pointer| {
            let name = &self.names[&self.start(pointer)];
            (name, pointer.place(), pointer.line(), pointer.frame)
        };
        group.sort_by(|a, b| key(a).cmp(&key(b)));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
