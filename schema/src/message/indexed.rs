//! The index's record of a git repository, in a LIST frame.

use super::codec::{MessageError, encode_records, length, text};
use crate::trawl_capnp::{indexed_repository, indexed_revision};

/// Revisions of an entry. A repository may have thousands of tags.
pub const INDEXED_REVISIONS_MAX: usize = 64;

/// Encoding of an unknown number.
const UNKNOWN: u32 = u32::MAX;

/// Indexed git repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedRepository {
    /// Short name of the default revision.
    pub default: String,
    /// Last fetch, in seconds since 1970; 0 means never.
    pub fetched: u64,
    /// Reason of a failed last update, or empty.
    pub problem: String,
    /// First revisions, the default before the ascending rest, up to [`INDEXED_REVISIONS_MAX`].
    pub revisions: Vec<IndexedRevision>,
    /// Number of all revisions.
    pub revision_count: u32,
}

/// Indexed revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexedRevision {
    /// Full name, such as `refs/heads/main`.
    pub name: String,
    /// Indexed commit id.
    pub commit: String,
    /// Commit time, in seconds since 1970.
    pub committed: i64,
    /// Commits that the index lacks; `None` if unknown.
    pub behind: Option<u32>,
}

impl IndexedRepository {
    pub(super) fn encode_to(&self, mut to: indexed_repository::Builder<'_>) {
        to.set_default(&self.default[..]);
        to.set_fetched(self.fetched);
        to.set_problem(&self.problem[..]);
        to.set_revision_count(self.revision_count);
        encode_records!(to.init_revisions, self.revisions);
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
