//! Answers of LOOKUP about changes: commits of a file's lines, and files of a commit.

use super::codec::{MessageError, convert_enum, encode_records, length, text};
use super::signature::Signature;
use crate::trawl_capnp::{blame, blame_hunk, blame_source, change, change_list};

/// Origin commits of a file's lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// The commit has a file at the path.
    pub found: bool,
    /// Commit id of the revision.
    pub commit: String,
    /// No bound was reached.
    pub complete: bool,
    /// All lines, ascending.
    pub hunks: Vec<BlameHunk>,
    /// Commits of the hunks.
    pub sources: Vec<BlameSource>,
}

/// Lines of one commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlameHunk {
    /// First line, from 1.
    pub first: u32,
    /// Lines.
    pub lines: u32,
    /// Index in [`Blame::sources`].
    pub source: u32,
    /// First line in the commit's file.
    pub source_line: u32,
    /// Perhaps of an earlier commit: a bound was reached.
    pub or_earlier: bool,
}

/// Commit, and the file in it with the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlameSource {
    /// Commit id.
    pub commit: String,
    /// Author and time.
    pub author: Signature,
    /// Beginning of the first paragraph; empty if the answer is too long.
    pub subject: Vec<u8>,
    /// Path in the commit; empty: as requested.
    pub path: Vec<u8>,
    /// Earlier commit with the file, or empty.
    pub previous: String,
    /// Path there; empty: as requested.
    pub previous_path: Vec<u8>,
}

/// Files changed by a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeList {
    /// Commit id.
    pub commit: String,
    /// Files, by path.
    pub changes: Vec<Change>,
    /// True if more exist.
    pub more: bool,
}

/// Changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its path.
    pub path: Vec<u8>,
    /// Kind of change.
    pub kind: ChangeKind,
}

/// Kind of change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// New.
    Added,
    /// Gone.
    Removed,
    /// Changed content, mode or type.
    Modified,
}

impl Blame {
    pub(super) fn encode_to(&self, mut to: blame::Builder<'_>) {
        to.set_found(self.found);
        to.set_commit(&self.commit[..]);
        to.set_complete(self.complete);
        encode_records!(to.init_hunks, self.hunks);
        encode_records!(to.init_sources, self.sources);
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
