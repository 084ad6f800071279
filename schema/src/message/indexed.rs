//! What an index recorded of a git repository, in a LIST frame.

use super::codec::{MessageError, length, text};
use crate::trawl_capnp::{indexed_repository, indexed_revision};

/// Revisions in an entry, at most. A repository may have thousands of tags.
pub const INDEXED_REVISIONS_MAX: usize = 64;

/// The encoding of an unknown number.
const UNKNOWN: u32 = u32::MAX;

/// A git repository that is indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedRepository {
    /// The short name of the default revision.
    pub default: String,
    /// When it was fetched, in seconds since 1970; 0 means never.
    pub fetched: u64,
    /// Why it could not be brought up to date the last time; empty when it could.
    pub problem: String,
    /// The first revisions, the default one before all others, which ascend: at most
    /// [`INDEXED_REVISIONS_MAX`].
    pub revisions: Vec<IndexedRevision>,
    /// The number of all revisions.
    pub revision_count: u32,
}

/// A revision that is indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedRevision {
    /// Its full name, such as `refs/heads/main`.
    pub name: String,
    /// The id of the commit at which it was indexed.
    pub commit: String,
    /// When that was committed, in seconds since 1970.
    pub committed: i64,
    /// Commits that the name has now and the index has not; `None` when unknown.
    pub behind: Option<u32>,
}

impl IndexedRepository {
    pub(super) fn encode_to(&self, mut to: indexed_repository::Builder<'_>) {
        to.set_default(&self.default[..]);
        to.set_fetched(self.fetched);
        to.set_problem(&self.problem[..]);
        to.set_revision_count(self.revision_count);
        let mut revisions = to.init_revisions(length(self.revisions.len()));
        for (index, revision) in (0..).zip(&self.revisions) {
            revision.encode_to(revisions.reborrow().get(index));
        }
    }

    pub(super) fn decode_from(from: indexed_repository::Reader<'_>) -> Result<Self, MessageError> {
        let revisions = from.get_revisions()?;
        if revisions.len() as usize > INDEXED_REVISIONS_MAX {
            return Err(MessageError::Impossible("number of revisions"));
        }
        let revisions = revisions.iter().map(IndexedRevision::decode_from);
        Ok(IndexedRepository {
            default: text(from.get_default()?)?,
            fetched: from.get_fetched(),
            problem: text(from.get_problem()?)?,
            revisions: revisions.collect::<Result<_, _>>()?,
            revision_count: from.get_revision_count(),
        })
    }
}

impl IndexedRevision {
    fn encode_to(&self, mut to: indexed_revision::Builder<'_>) {
        to.set_name(&self.name[..]);
        to.set_commit(&self.commit[..]);
        to.set_committed(self.committed);
        to.set_behind(self.behind.unwrap_or(UNKNOWN));
    }

    fn decode_from(from: indexed_revision::Reader<'_>) -> Result<Self, MessageError> {
        Ok(IndexedRevision {
            name: text(from.get_name()?)?,
            commit: text(from.get_commit()?)?,
            committed: from.get_committed(),
            behind: Some(from.get_behind()).filter(|&behind| behind != UNKNOWN),
        })
    }
}
