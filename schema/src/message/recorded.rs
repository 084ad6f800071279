//! Sources of an index, recorded beside the shards: git repositories with indexed commits, and
//! directories read again by an update.
//!
//! A file is a sequence of frames: totals, each repository followed by its revisions, then sources.
//! **Invariant:** repositories ascend by package, their revisions by name; the default is among
//! them.

use super::codec::{
    MessageError, builder, convert_enum, encode_values, finish, length, reader, text,
};
use super::lookup::Commit;
use crate::frame::{self, HEADER_BYTES, Kind};
use crate::trawl_capnp::{recorded_part, recorded_repository, recorded_revision, recorded_source};
use capnp::data_list;
use zerocopy::IntoBytes;

/// Sources of an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Packages that are git repositories, ascending.
    pub repositories: Vec<RecordedRepository>,
    /// Sources read again by an update.
    pub sources: Vec<RecordedSource>,
}

/// Package that is a git repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedRepository {
    /// Directory name of the package.
    pub package: Vec<u8>,
    /// Path or URL, as given.
    pub location: Vec<u8>,
    /// True for a URL.
    pub is_url: bool,
    /// Chosen revisions; none means the default branch.
    pub patterns: Vec<Vec<u8>>,
    /// Full name of the default revision.
    pub default: Vec<u8>,
    /// Time of the last fetch, in seconds since 1970; 0 means never.
    pub fetched: u64,
    /// Time of indexing, in seconds since 1970.
    pub indexed: u64,
    /// Reason of a failed last update, or empty.
    pub problem: String,
    /// Revisions, ascending by name.
    pub revisions: Vec<RecordedRevision>,
}

/// Indexed revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedRevision {
    /// Full name, such as `refs/heads/main`, or a given commit id.
    pub name: Vec<u8>,
    /// Indexed commit.
    pub commit: Commit,
}

/// Source read again by an update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedSource {
    /// Kind of the source.
    pub kind: SourceKind,
    /// Absolute path or URL.
    pub location: Vec<u8>,
    /// Git: chosen revisions; none means the default branch.
    pub patterns: Vec<Vec<u8>>,
    /// Directory of packages: names have no versions.
    pub no_versions: bool,
}

/// Kind of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// Directory that is a package.
    Directory,
    /// Directory of such directories.
    Directories,
    /// A git repository.
    Repository,
    /// Directory of git repositories.
    Repositories,
}

/// Malformed records.
#[derive(Debug, thiserror::Error)]
#[error("damaged at byte {offset}: {reason}")]
pub struct RecordedError {
    /// Offset in bytes.
    pub offset: usize,
    /// Cause.
    #[source]
    pub reason: MessageError,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    repositories: u32,
    revisions: u32,
    sources: u32,
}

enum Part {
    Totals(Totals),
    /// With the number of its revisions, which follow.
    Repository(RecordedRepository, u32),
    Revision(RecordedRevision),
    Source(RecordedSource),
}

impl Recorded {
    /// Repository of a package.
    pub fn repository(&self, package: &[u8]) -> Option<&RecordedRepository> {
        let by_package = |known: &RecordedRepository| known.package[..].cmp(package);
        let found = self.repositories.binary_search_by(by_package);
        found.ok().map(|at| &self.repositories[at])
    }

    /// Encodes records as frames. Fails if one is too long.
    ///
    /// # Panics
    /// If repositories or revisions do not ascend.
    pub fn encode(&self) -> Result<Vec<u8>, MessageError> {
        assert!(self.is_ordered(), "repositories and revisions ascend");
        let mut out = Vec::new();
        let revisions = self.repositories.iter().map(|each| each.revisions.len());
        let totals = Totals {
            repositories: length(self.repositories.len()),
            revisions: length(revisions.sum()),
            sources: length(self.sources.len()),
        };
        part(&mut out, |part| totals.encode_to(part.init_totals()))?;
        for repository in &self.repositories {
            part(&mut out, |part| {
                repository.encode_to(part.init_repository());
            })?;
            for revision in &repository.revisions {
                part(&mut out, |part| revision.encode_to(part.init_revision()))?;
            }
        }
        for source in &self.sources {
            part(&mut out, |part| source.encode_to(part.init_source()))?;
        }
        Ok(out)
    }

    /// Decodes records.
    pub fn decode(bytes: &[u8]) -> Result<Recorded, RecordedError> {
        // Messages are read in place, so they must be aligned.
        let mut words = vec![0_u64; bytes.len().div_ceil(8)];
        words.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
        let bytes = &words.as_bytes()[..bytes.len()];
        let mut parts = Parts { bytes, offset: 0 };
        let decoded = parts.recorded();
        decoded.map_err(|reason| RecordedError {
            offset: parts.offset,
            reason,
        })
    }

    fn is_ordered(&self) -> bool {
        let is_default_known = |each: &RecordedRepository| {
            let mut names = each.revisions.iter().map(|revision| &revision.name);
            names.any(|name| *name == each.default)
        };
        self.repositories.is_sorted_by(|a, b| a.package < b.package)
            && self.repositories.iter().all(|each| {
                each.revisions.is_sorted_by(|a, b| a.name < b.name) && is_default_known(each)
            })
    }
}

impl RecordedRepository {
    /// Revision by full name.
    pub fn revision(&self, name: &[u8]) -> Option<&RecordedRevision> {
        let by_name = |known: &RecordedRevision| known.name[..].cmp(name);
        let found = self.revisions.binary_search_by(by_name);
        found.ok().map(|at| &self.revisions[at])
    }

    fn encode_to(&self, mut to: recorded_repository::Builder<'_>) {
        to.set_package(&self.package);
        to.set_location(&self.location);
        to.set_is_url(self.is_url);
        to.set_default(&self.default);
        to.set_fetched(self.fetched);
        to.set_indexed(self.indexed);
        to.set_problem(&self.problem[..]);
        to.set_revisions(length(self.revisions.len()));
        encode_values!(to.init_patterns, self.patterns);
    }

    fn decode_from(from: recorded_repository::Reader<'_>) -> Result<Self, MessageError> {
        Ok(RecordedRepository {
            package: from.get_package()?.to_vec(),
            location: from.get_location()?.to_vec(),
            is_url: from.get_is_url(),
            patterns: list(from.get_patterns()?)?,
            default: from.get_default()?.to_vec(),
            fetched: from.get_fetched(),
            indexed: from.get_indexed(),
            problem: text(from.get_problem()?)?,
            revisions: Vec::new(),
        })
    }
}

impl RecordedRevision {
    fn encode_to(&self, mut to: recorded_revision::Builder<'_>) {
        to.set_name(&self.name);
        self.commit.encode_to(to.init_commit());
    }

    fn decode_from(from: recorded_revision::Reader<'_>) -> Result<Self, MessageError> {
        Ok(RecordedRevision {
            name: from.get_name()?.to_vec(),
            commit: Commit::decode_from(from.get_commit()?)?,
        })
    }
}

impl RecordedSource {
    fn encode_to(&self, mut to: recorded_source::Builder<'_>) {
        to.set_kind(self.kind.into());
        to.set_location(&self.location);
        to.set_no_versions(self.no_versions);
        encode_values!(to.init_patterns, self.patterns);
    }

    fn decode_from(from: recorded_source::Reader<'_>) -> Result<Self, MessageError> {
        Ok(RecordedSource {
            kind: from.get_kind()?.into(),
            location: from.get_location()?.to_vec(),
            patterns: list(from.get_patterns()?)?,
            no_versions: from.get_no_versions(),
        })
    }
}

impl Totals {
    fn encode_to(self, mut to: recorded_part::totals::Builder<'_>) {
        to.set_repositories(self.repositories);
        to.set_revisions(self.revisions);
        to.set_sources(self.sources);
    }
}

impl Part {
    fn decode(payload: &[u8]) -> Result<Part, MessageError> {
        let message = reader(payload)?;
        let root = message.get_root::<recorded_part::Reader<'_>>()?;
        Ok(match root.which()? {
            recorded_part::Totals(totals) => Part::Totals(Totals {
                repositories: totals.get_repositories(),
                revisions: totals.get_revisions(),
                sources: totals.get_sources(),
            }),
            recorded_part::Repository(from) => {
                let from = from?;
                Part::Repository(RecordedRepository::decode_from(from)?, from.get_revisions())
            }
            recorded_part::Revision(from) => Part::Revision(RecordedRevision::decode_from(from?)?),
            recorded_part::Source(from) => Part::Source(RecordedSource::decode_from(from?)?),
        })
    }
}

struct Parts<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Parts<'_> {
    fn recorded(&mut self) -> Result<Recorded, MessageError> {
        let wrong = || MessageError::Impossible("order of records");
        let Part::Totals(totals) = self.next()? else {
            return Err(wrong());
        };
        let (mut recorded, mut revisions) = (Recorded::default(), 0);
        for _ in 0..totals.repositories {
            let Part::Repository(mut repository, count) = self.next()? else {
                return Err(wrong());
            };
            revisions += u64::from(count);
            for _ in 0..count {
                let Part::Revision(revision) = self.next()? else {
                    return Err(wrong());
                };
                repository.revisions.push(revision);
            }
            recorded.repositories.push(repository);
        }
        for _ in 0..totals.sources {
            let Part::Source(source) = self.next()? else {
                return Err(wrong());
            };
            recorded.sources.push(source);
        }
        let is_all = self.offset == self.bytes.len() && revisions == u64::from(totals.revisions);
        if !is_all || !recorded.is_ordered() {
            return Err(wrong());
        }
        Ok(recorded)
    }

    fn next(&mut self) -> Result<Part, MessageError> {
        let rest = &self.bytes[self.offset..];
        let frame = frame::decode(rest)?.ok_or(frame::FrameError::Truncated)?;
        if frame.kind != Kind::Record || frame.bytes < HEADER_BYTES {
            return Err(MessageError::Impossible("type of a record"));
        }
        let part = Part::decode(frame.payload)?;
        self.offset += frame.bytes;
        Ok(part)
    }
}

fn part(
    out: &mut Vec<u8>,
    fill: impl FnOnce(recorded_part::Builder<'_>),
) -> Result<(), MessageError> {
    let mut message = builder();
    fill(message.init_root());
    finish(Kind::Record, &message, out)
}

fn list(from: data_list::Reader<'_>) -> Result<Vec<Vec<u8>>, MessageError> {
    let each = from.iter().map(|entry| Ok(entry?.to_vec()));
    each.collect()
}

convert_enum!(
    SourceKind,
    recorded_source::Kind: Directory, Directories, Repository, Repositories
);

#[cfg(test)]
mod tests;
