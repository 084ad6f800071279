//! Sources of an index, recorded beside the shards: git repositories with indexed commits, and
//! directories read again by an update.
//!
//! A file is a sequence of frames: totals, each repository followed by its revisions, then sources.
//! **Invariant:** repositories ascend by package, their revisions by name; the default is among
//! them.

use super::codec::{MessageError, builder, finish, length, reader};
use super::lookup::Commit;
use super::record::{Read, encode_values, read_from, record};
use crate::frame::{self, HEADER_BYTES, Kind};
use crate::trawl_capnp::recorded_part::totals;
use crate::trawl_capnp::{recorded_part, recorded_repository, recorded_revision, recorded_source};
use zerocopy::IntoBytes;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Ascending.
    pub repositories: Vec<RecordedRepository>,
    pub sources: Vec<RecordedSource>,
}

record! {
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct RecordedRepository: recorded_repository {
        pub package: Vec<u8> = [get_package, set_package],
        /// Path or URL, as given.
        pub location: Vec<u8> = [get_location, set_location],
        pub is_url: bool = [get_is_url, set_is_url],
        /// Full name of the default revision.
        pub default: Vec<u8> = [get_default, set_default],
        /// Time of the last fetch, in seconds since 1970; 0 means never.
        pub fetched: u64 = [get_fetched, set_fetched],
        /// Time of indexing, in seconds since 1970.
        pub indexed: u64 = [get_indexed, set_indexed],
        /// Reason of a failed last update, or empty.
        pub problem: String = [get_problem, set_problem],
        /// Chosen revisions; none means the default branch.
        pub patterns: Vec<Vec<u8>> = [get_patterns, values init_patterns],
        /// Ascending by name.
        pub revisions: Vec<RecordedRevision> = [number set_revisions],
        /// Its commits are indexed too,
        pub history: bool = [get_history, set_history],
        /// if committed at or after this time, in seconds since 1970.
        pub since: i64 = [get_since, set_since],
    }

    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct RecordedRevision: recorded_revision {
        /// Full name, such as `refs/heads/main`, or a given commit id.
        pub name: Vec<u8> = [get_name, set_name],
        pub commit: Commit = [get_commit, record init_commit],
    }

    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct RecordedSource: recorded_source {
        pub kind: SourceKind = [get_kind, set_kind],
        /// Absolute path or URL.
        pub location: Vec<u8> = [get_location, set_location],
        /// Git: chosen revisions; none means the default branch.
        pub patterns: Vec<Vec<u8>> = [get_patterns, values init_patterns],
        /// Directory of packages: names have no versions.
        pub no_versions: bool = [get_no_versions, set_no_versions],
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SourceKind: recorded_source::Kind {
        Directory,
        /// Directory of such directories.
        Directories,
        Repository,
        /// Directory of git repositories.
        Repositories,
    }
}

#[derive(Debug, thiserror::Error)]
#[error("damaged at byte {offset}: {reason}")]
pub struct RecordedError {
    pub offset: usize,
    #[source]
    pub reason: MessageError,
}

record! {
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    struct Totals: totals {
        repositories: u32 = [get_repositories, set_repositories],
        revisions: u32 = [get_revisions, set_revisions],
        sources: u32 = [get_sources, set_sources],
    }
}

impl Recorded {
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
    /// By full name.
    pub fn revision(&self, name: &[u8]) -> Option<&RecordedRevision> {
        let by_name = |known: &RecordedRevision| known.name[..].cmp(name);
        let found = self.revisions.binary_search_by(by_name);
        found.ok().map(|at| &self.revisions[at])
    }
}

const ORDER: &str = "order of records";

struct Parts<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl Parts<'_> {
    fn recorded(&mut self) -> Result<Recorded, MessageError> {
        let totals = self.next(|part| match part {
            recorded_part::Totals(from) => Some(Totals::decode_from(from)),
            _ => None,
        })?;
        let (mut recorded, mut revisions) = (Recorded::default(), 0);
        for _ in 0..totals.repositories {
            let (mut repository, count) = self.next(|part| match part {
                recorded_part::Repository(from) => Some(repository_and_revisions(from)),
                _ => None,
            })?;
            revisions += u64::from(count);
            for _ in 0..count {
                repository.revisions.push(self.next(|part| match part {
                    recorded_part::Revision(from) => Some(Read::read(from)),
                    _ => None,
                })?);
            }
            recorded.repositories.push(repository);
        }
        for _ in 0..totals.sources {
            recorded.sources.push(self.next(|part| match part {
                recorded_part::Source(from) => Some(Read::read(from)),
                _ => None,
            })?);
        }
        let is_all = self.offset == self.bytes.len() && revisions == u64::from(totals.revisions);
        if !is_all || !recorded.is_ordered() {
            return Err(MessageError::Impossible(ORDER));
        }
        Ok(recorded)
    }

    /// Reads the next part, if `read` takes it.
    fn next<T>(
        &mut self,
        read: impl FnOnce(recorded_part::WhichReader<'_>) -> Option<Result<T, MessageError>>,
    ) -> Result<T, MessageError> {
        let rest = &self.bytes[self.offset..];
        let frame = frame::decode(rest)?.ok_or(frame::FrameError::Truncated)?;
        if frame.kind != Kind::Record || frame.bytes < HEADER_BYTES {
            return Err(MessageError::Impossible("type of a record"));
        }
        let message = reader(frame.payload)?;
        let part = message.get_root::<recorded_part::Reader<'_>>()?.which()?;
        let part = read(part).transpose()?;
        self.offset += frame.bytes;
        part.ok_or(MessageError::Impossible(ORDER))
    }
}

/// Reads a repository and the number of its revisions.
fn repository_and_revisions(
    from: capnp::Result<recorded_repository::Reader<'_>>,
) -> Result<(RecordedRepository, u32), MessageError> {
    let from = from?;
    Ok((RecordedRepository::decode_from(from)?, from.get_revisions()))
}

fn part(
    out: &mut Vec<u8>,
    fill: impl FnOnce(recorded_part::Builder<'_>),
) -> Result<(), MessageError> {
    let mut message = builder();
    fill(message.init_root());
    finish(Kind::Record, &message, out)
}

#[cfg(test)]
mod tests;
