//! Git repositories as packages: revisions and their files.

use super::mark::{InRevisions, Mark};
use super::part::{ItemContent, SourceItem};
use crate::corpus::{self, SkipReason};
use crate::document::{Popularity, canonical, classify_as};
use crate::revisions::ObjectId;
use fnv::FnvHasher;
use git::{Hazard, LookupError, Selection, SourceOptions, SourceRepository, TreeEntryKind};
use schema::message::RecordedRepository;
use std::hash::Hasher;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistorySource {
    /// Leaves out earlier commits, by the time of the committer, in seconds since 1970.
    pub since: Option<i64>,
}

#[derive(Clone, Debug, Default)]
pub struct RepositorySource {
    pub name: Vec<u8>,
    pub path: PathBuf,
    /// Recorded origin: path or URL.
    pub location: Vec<u8>,
    pub is_url: bool,
    /// Revision patterns for [`SourceRepository::select`].
    pub patterns: Vec<String>,
    /// Fetch time in seconds since 1970; 0 if never.
    pub fetched: u64,
    /// Places of objects; the build sets the bounds.
    pub options: SourceOptions,
    pub history: Option<HistorySource>,
}

/// Reciprocal share of memory for delta caches.
const CACHE_SHARE: usize = 16;

const CACHE_BYTES_MIN: usize = 1 << 20;

pub(super) struct OpenRepository {
    repository: Arc<SourceRepository>,
    pub(super) selection: Selection,
    popularity: Popularity,
}

impl RepositorySource {
    /// `memory_bytes`: of the whole build.
    pub(super) fn open(
        &self,
        popularity: Popularity,
        memory_bytes: usize,
        jobs: usize,
    ) -> Result<OpenRepository, LookupError> {
        let threads = jobs.max(1);
        let cache_bytes = memory_bytes / CACHE_SHARE / threads;
        let repository = SourceRepository::open(
            &self.path,
            &SourceOptions {
                cache_bytes: cache_bytes.max(CACHE_BYTES_MIN),
                threads,
                ..self.options.clone()
            },
        )?;
        let selection = repository.select(&self.patterns);
        Ok(OpenRepository {
            selection: selection.map_err(|error| self.with_patterns(error))?,
            repository: Arc::new(repository),
            popularity,
        })
    }

    fn with_patterns(&self, error: LookupError) -> LookupError {
        match error {
            LookupError::UnknownRevision { .. } => LookupError::Refused {
                reason: format!("--ref {}: {error}", self.patterns.join(" --ref ")),
            },
            error => error,
        }
    }

    pub(super) fn record(&self, open: &OpenRepository) -> RecordedRepository {
        let selection = &open.selection;
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut revisions = selection.revisions.clone();
        revisions.iter_mut().for_each(|it| it.commit.shorten());
        let broken: Vec<String> = (selection.broken.iter())
            .map(|(name, reason)| format!("{}: {reason}", String::from_utf8_lossy(name)))
            .collect();
        let patterns = self.patterns.iter().map(|it| it.clone().into_bytes());
        RecordedRepository {
            package: self.name.clone(),
            location: self.location.clone(),
            is_url: self.is_url,
            patterns: patterns.collect(),
            default: selection.revisions[selection.default].name.clone(),
            fetched: self.fetched,
            indexed: since.map_or(0, |since| since.as_secs()),
            problem: broken.join("; "),
            revisions,
            history: self.history.is_some(),
            since: self.history.and_then(|it| it.since).unwrap_or(i64::MIN),
        }
    }
}

impl OpenRepository {
    pub(super) fn repository(&self) -> &Arc<SourceRepository> {
        &self.repository
    }

    pub(super) fn signature(&self) -> u64 {
        let mut hasher = FnvHasher::default();
        let mut write = |bytes: &[u8]| {
            hasher.write(&(bytes.len() as u64).to_le_bytes());
            hasher.write(bytes);
        };
        for revision in &self.selection.revisions {
            write(&revision.name);
            write(revision.commit.id.as_bytes());
        }
        write(&(self.selection.default as u64).to_le_bytes());
        write(&self.popularity.inst.to_bits().to_le_bytes());
        write(&self.popularity.rdep.to_bits().to_le_bytes());
        hasher.finish()
    }

    /// In shard order, without blob sizes.
    pub(super) fn items(&self) -> Result<Vec<SourceItem>, LookupError> {
        let revisions = &self.selection.revisions;
        let trees: Vec<String> = revisions.iter().map(|it| it.commit.tree.clone()).collect();
        let found = self.repository.files(&trees)?;
        let attributes = self
            .repository
            .attributes(&found, self.selection.default as u32);
        let sets: Vec<InRevisions> = (found.sets.iter())
            .map(|set| {
                let names = set
                    .iter()
                    .map(|&index| revisions[index as usize].name.clone());
                InRevisions::Named(Arc::new(names.collect()))
            })
            .collect();
        let mark = |set: u32, id: &git::ObjectId| Mark {
            revisions: sets[set as usize].clone(),
            object: ObjectId::new(id.as_bytes()).unwrap_or(ObjectId::NONE),
        };
        let mut items = Vec::with_capacity(found.files.len() + found.damaged.len());
        for file in found.files {
            let of_file = attributes.of(&file.path);
            let class = classify_as(&file.path, of_file.is_foreign);
            let reason = match (file.kind, file.hazard) {
                (_, Some(Hazard::Traversal)) => Some(SkipReason::UnsafePath),
                (TreeEntryKind::Submodule, _) => Some(SkipReason::Submodule(file.id.to_string())),
                (TreeEntryKind::Link, _) => Some(SkipReason::Symlink),
                _ => corpus::check_length(&file.path)
                    .err()
                    .map(SkipReason::Unreadable),
            };
            items.push(SourceItem {
                mark: mark(file.revisions, &file.id),
                static_rank: self.popularity.rank() + class.share(),
                language: of_file.language.as_deref().and_then(canonical),
                content: match reason {
                    Some(reason) => ItemContent::Skipped(reason),
                    None => ItemContent::Blob {
                        repository: Arc::clone(&self.repository),
                        id: file.id,
                        bytes: 0,
                    },
                },
                path: file.path,
            });
        }
        items.extend(found.damaged.into_iter().map(|directory| SourceItem {
            mark: mark(directory.revisions, &directory.id),
            static_rank: 0.0,
            language: None,
            content: ItemContent::Skipped(SkipReason::Unreadable(directory.reason)),
            path: directory.path,
        }));
        items.sort_by(|a, b| {
            let by_rank = b.static_rank.total_cmp(&a.static_rank);
            let by_path = || a.path.cmp(&b.path).then(a.mark.object.cmp(&b.mark.object));
            by_rank.then_with(by_path)
        });
        Ok(items)
    }
}

/// Fills in blob sizes. Unreadable blobs become skipped.
pub(super) fn measure(items: &mut [SourceItem]) {
    for item in items {
        let ItemContent::Blob {
            repository,
            id,
            bytes,
        } = &mut item.content
        else {
            continue;
        };
        match repository.size(*id) {
            Ok(size) if size > git::BLOB_BYTES_MAX => {
                item.content = ItemContent::Skipped(too_large(size));
            }
            Ok(size) => *bytes = size,
            Err(error) => {
                item.content = ItemContent::Skipped(SkipReason::Unreadable(error.to_string()));
            }
        }
    }
}

pub(super) fn too_large(bytes: u64) -> SkipReason {
    let most = git::BLOB_BYTES_MAX;
    SkipReason::TooLarge(format!("{bytes} bytes, more than {most} (BLOB_BYTES_MAX)"))
}
