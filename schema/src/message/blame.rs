//! Answers of LOOKUP about what commits changed: the commits of a file's lines, and the files of a commit.

use super::codec::{MessageError, convert_enum, length, text};
use super::signature::Signature;
use crate::trawl_capnp::{blame, blame_hunk, blame_source, change, change_list};

/// The commits that the lines of a file come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// Whether the commit has a file at the path.
    pub found: bool,
    /// The id of the commit that the revision stands for.
    pub commit: String,
    /// Whether no bound was reached.
    pub complete: bool,
    /// All lines, ascending.
    pub hunks: Vec<BlameHunk>,
    /// The commits that hunks come from.
    pub sources: Vec<BlameSource>,
}

/// Lines that come from one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlameHunk {
    /// The first of them, from 1.
    pub first: u32,
    /// How many they are.
    pub lines: u32,
    /// An index in [`Blame::sources`].
    pub source: u32,
    /// Where they begin in the file that the commit has.
    pub source_line: u32,
    /// Whether they may be of an earlier commit, because a bound was reached.
    pub or_earlier: bool,
}

/// A commit, and the file in it that lines come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlameSource {
    /// The id of the commit.
    pub commit: String,
    /// Who wrote the change, and when.
    pub author: Signature,
    /// The beginning of the message's first paragraph; empty if the answer would be too long.
    pub subject: Vec<u8>,
    /// The path of the file in the commit; empty: the path that was asked for.
    pub path: Vec<u8>,
    /// The id of the commit before it that had the file; empty: none.
    pub previous: String,
    /// The path of the file there; empty: the path that was asked for.
    pub previous_path: Vec<u8>,
}

/// The files that a commit changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeList {
    /// The id of the commit.
    pub commit: String,
    /// The files, by path.
    pub changes: Vec<Change>,
    /// Whether there are more.
    pub more: bool,
}

/// A file that a commit changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path.
    pub path: Vec<u8>,
    /// What happened to it.
    pub kind: ChangeKind,
}

/// What a commit did to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It is no longer there.
    Removed,
    /// Its content, its mode or its type has changed.
    Modified,
}

impl Blame {
    pub(super) fn encode_to(&self, mut to: blame::Builder<'_>) {
        to.set_found(self.found);
        to.set_commit(&self.commit[..]);
        to.set_complete(self.complete);
        let mut hunks = to.reborrow().init_hunks(length(self.hunks.len()));
        for (index, hunk) in (0..).zip(&self.hunks) {
            hunk.encode_to(hunks.reborrow().get(index));
        }
        let mut sources = to.init_sources(length(self.sources.len()));
        for (index, source) in (0..).zip(&self.sources) {
            source.encode_to(sources.reborrow().get(index));
        }
    }

    pub(super) fn decode_from(from: blame::Reader<'_>) -> Result<Blame, MessageError> {
        let sources = from.get_sources()?.iter().map(BlameSource::decode_from);
        let sources: Vec<BlameSource> = sources.collect::<Result<_, _>>()?;
        let hunks: Vec<BlameHunk> = (from.get_hunks()?.iter())
            .map(BlameHunk::decode_from)
            .collect();
        let mut next = 1;
        for hunk in &hunks {
            let is_next = hunk.first == next && hunk.lines > 0 && hunk.source_line > 0;
            if !is_next || hunk.source as usize >= sources.len() {
                return Err(MessageError::Impossible("lines of a blame"));
            }
            next = hunk.first.saturating_add(hunk.lines);
        }
        Ok(Blame {
            found: from.get_found(),
            commit: text(from.get_commit()?)?,
            complete: from.get_complete(),
            hunks,
            sources,
        })
    }
}

impl BlameHunk {
    fn encode_to(&self, mut to: blame_hunk::Builder<'_>) {
        to.set_first(self.first);
        to.set_lines(self.lines);
        to.set_source(self.source);
        to.set_source_line(self.source_line);
        to.set_or_earlier(self.or_earlier);
    }

    fn decode_from(from: blame_hunk::Reader<'_>) -> BlameHunk {
        BlameHunk {
            first: from.get_first(),
            lines: from.get_lines(),
            source: from.get_source(),
            source_line: from.get_source_line(),
            or_earlier: from.get_or_earlier(),
        }
    }
}

impl BlameSource {
    fn encode_to(&self, mut to: blame_source::Builder<'_>) {
        to.set_commit(&self.commit[..]);
        self.author.encode_to(to.reborrow().init_author());
        to.set_subject(&self.subject);
        to.set_path(&self.path);
        to.set_previous(&self.previous[..]);
        to.set_previous_path(&self.previous_path);
    }

    fn decode_from(from: blame_source::Reader<'_>) -> Result<BlameSource, MessageError> {
        Ok(BlameSource {
            commit: text(from.get_commit()?)?,
            author: Signature::decode_from(from.get_author()?)?,
            subject: from.get_subject()?.to_vec(),
            path: from.get_path()?.to_vec(),
            previous: text(from.get_previous()?)?,
            previous_path: from.get_previous_path()?.to_vec(),
        })
    }
}

impl ChangeList {
    pub(super) fn encode_to(&self, mut to: change_list::Builder<'_>) {
        to.set_commit(&self.commit[..]);
        to.set_more(self.more);
        let mut changes = to.init_changes(length(self.changes.len()));
        for (index, change) in (0..).zip(&self.changes) {
            let mut entry = changes.reborrow().get(index);
            entry.set_path(&change.path);
            entry.set_kind(change.kind.into());
        }
    }

    pub(super) fn decode_from(from: change_list::Reader<'_>) -> Result<ChangeList, MessageError> {
        let mut changes = Vec::new();
        for entry in from.get_changes()? {
            changes.push(Change {
                path: entry.get_path()?.to_vec(),
                kind: entry.get_kind()?.into(),
            });
        }
        Ok(ChangeList {
            commit: text(from.get_commit()?)?,
            changes,
            more: from.get_more(),
        })
    }
}

convert_enum!(ChangeKind, change::Kind: Added, Removed, Modified);
