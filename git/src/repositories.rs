//! Repositories below one directory, or of work trees, by name.
//!
//! A bounded number is open, evicted by LRU. One that moved, was repacked or got other replace refs
//! is reopened before it answers.

use crate::blame::{self, Blame, BlameLimits};
use crate::changes;
use crate::error::{LookupError, Result, RootError, similar};
use crate::history;
use crate::location::{self, Location, Roots};
use crate::log::{self, LOG_COUNT_MAX, Log, LogCursor};
use crate::names;
use crate::references;
use crate::repository::{ObjectStore, Repository, Session, lock};
use crate::revision;
use crate::tree::{self, Blob};
use clru::CLruCache;
use schema::message::{ChangeList, Commit, Reference};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Each keeps up to 4 MiB of objects.
const OPEN_MAX: NonZeroUsize = NonZeroUsize::new(64).unwrap();

const NAMES_AGE_MAX: Duration = Duration::from_secs(5);

/// For any number of threads.
pub struct Repositories {
    places: Places,
    open: Mutex<Open>,
    names: Mutex<Option<(Instant, Arc<Vec<String>>)>>,
}

enum Places {
    /// Canonical directory above them.
    Below(PathBuf),
    Named(BTreeMap<String, PathBuf>),
}

type Open = CLruCache<String, Arc<Repository>>;

impl Repositories {
    /// Opens nothing yet. Fails if the path is no readable directory.
    pub fn new(root: &Path) -> Result<Repositories, RootError> {
        let fail = |source| RootError {
            path: root.to_owned(),
            source,
        };
        let real = root.canonicalize().map_err(fail)?;
        std::fs::read_dir(&real).map_err(fail)?;
        Ok(Repositories::at(Places::Below(real)))
    }

    /// Repositories of work trees by name. Their objects must be below the parent of the tree.
    pub fn of_work_trees(trees: impl IntoIterator<Item = (String, PathBuf)>) -> Repositories {
        Repositories::at(Places::Named(trees.into_iter().collect()))
    }

    fn at(places: Places) -> Repositories {
        Repositories {
            places,
            open: Mutex::new(Open::new(OPEN_MAX)),
            names: Mutex::default(),
        }
    }

    /// Names of the repositories, ascending: paths below the directory without `.git`. Walks it at
    /// most every 5 seconds.
    /// Fails if the directory is unreadable.
    pub fn names(&self) -> Result<Vec<String>, RootError> {
        self.shared_names().map(|names| names.to_vec())
    }

    /// Commit of a revision; an empty one is the default branch.
    pub fn commit(&self, repo: &str, rev: &str) -> Result<Commit> {
        self.look_up(repo, |repository, session| {
            let object = revision::resolve(session, rev)?;
            let mut commit = repository.tags(session)?.commit(&object)?;
            correct(repository, session, [&mut commit])?;
            Ok(commit)
        })
    }

    /// Counts commits reachable from `new` and not from `old`, up to `count_max`.
    /// Fails also for a commit that is gone.
    pub fn commits_between(&self, repo: &str, old: &str, new: &str, count_max: u32) -> Result<u32> {
        self.look_up(repo, |_, session| {
            let old = revision::resolve(session, old)?.id;
            let new = revision::resolve(session, new)?.id;
            history::count_between(&session.objects, old, new, count_max)
        })
    }

    /// Page of a revision's log, in the order of `git log`, perhaps for a path. A cursor continues
    /// from its own tip.
    pub fn log(
        &self,
        repo: &str,
        rev: &str,
        path: &[u8],
        after: Option<&LogCursor>,
        count: usize,
    ) -> Result<Log> {
        let path = log::split_path(path)?;
        self.look_up(repo, |repository, session| {
            let tip = revision::resolve(session, after.map_or(rev, LogCursor::tip))?.id;
            let count = count.clamp(1, LOG_COUNT_MAX);
            let mut page = log::page(repository, session, tip, &path, after, count)?;
            correct(repository, session, &mut page.commits)?;
            Ok(page)
        })
    }

    /// References to commits, by full name. Leaves out broken ones, and those to a tree or file.
    pub fn refs(&self, repo: &str) -> Result<Vec<Reference>> {
        self.look_up(repo, |_, session| {
            let mut references = Vec::new();
            for (name, (id, peeled)) in session.references.list("refs")? {
                // A damaged object affects no other references.
                let commit = session.objects.commit(peeled.unwrap_or(id)).ok().flatten();
                if let Some(commit) = commit {
                    references.push(Reference {
                        kind: references::kind(&name),
                        name: name.into(),
                        id: commit.id.to_string(),
                        indexed: false,
                    });
                }
            }
            Ok(references)
        })
    }

    /// Blames the lines of a file on commits; `None` if the commit lacks the file.
    /// Fails also for files over the limits.
    pub fn blame(
        &self,
        repo: &str,
        rev: &str,
        path: &[u8],
        limits: BlameLimits,
    ) -> Result<Option<Blame>> {
        let path = log::split_path(path)?;
        self.look_up(repo, |repository, session| {
            let commit = revision::resolve(session, rev)?;
            let mut found = blame::blame(&session.objects, &commit, &path, limits)?;
            let sources = found.iter_mut().flat_map(|found| &mut found.sources);
            correct(
                repository,
                session,
                sources.map(|source| &mut source.commit),
            )?;
            Ok(found)
        })
    }

    /// Up to `count_max` files at or below `path` that differ between two revisions, by path.
    /// An empty first revision is the other's first parent.
    pub fn changes(
        &self,
        repo: &str,
        (since, rev): (&str, &str),
        path: &[u8],
        count_max: usize,
    ) -> Result<ChangeList> {
        let path = log::split_path(path)?;
        self.look_up(repo, |_, session| {
            let commit = revision::resolve(session, rev)?;
            let since = match since {
                "" => None,
                since => Some(revision::resolve(session, since)?),
            };
            let commits = (since.as_ref(), &commit);
            changes::changes(&session.objects, commits, &path, count_max)
        })
    }

    /// Reads a file of up to `bytes_max` bytes, and returns its commit id. Follows links within the
    /// tree; submodules are no files.
    pub fn file(
        &self,
        repo: &str,
        rev: &str,
        path: &[u8],
        bytes_max: u64,
    ) -> Result<(String, Option<Blob>)> {
        let path = log::split_path(path)?;
        let (commit, id) = self.look_up(repo, |_, session| {
            let commit = revision::resolve(session, rev)?;
            let id = tree::file_at(session, session.objects.tree(&commit)?, &path)?;
            Ok((commit.id.to_string(), id))
        })?;
        let Some(id) = id else {
            return Ok((commit, None));
        };
        let (repository, _) = self.repository(repo)?;
        let blob = tree::with_blob(&repository, id, bytes_max, |content| match content {
            Ok(bytes) => Blob::Content(bytes.to_vec()),
            Err(bytes) => Blob::TooLarge(bytes),
        })?;
        Ok((commit, Some(blob)))
    }

    /// Names of files, links and, with a final `/`, directories in a directory. No submodules;
    /// empty if missing.
    pub fn directory(&self, repo: &str, rev: &str, path: &[u8]) -> Result<Vec<Vec<u8>>> {
        let path = log::split_path(path)?;
        self.look_up(repo, |_, session| {
            let commit = revision::resolve(session, rev)?;
            tree::directory(session, session.objects.tree(&commit)?, &path)
        })
    }

    /// Runs a look-up, and retries it on the reopened repository: it may have been repacked.
    fn look_up<T>(
        &self,
        name: &str,
        look: impl Fn(&Repository, &Session<'_>) -> Result<T>,
    ) -> Result<T> {
        let (repository, is_new) = self.repository(name)?;
        let answer = repository.look_up(|session| look(&repository, session));
        if is_new || !matches!(answer, Err(LookupError::Unreadable { .. })) {
            return answer;
        }
        lock(&self.open).pop(name);
        let (repository, _) = self.repository(name)?;
        repository.look_up(|session| look(&repository, session))
    }

    fn repository(&self, name: &str) -> Result<(Arc<Repository>, bool)> {
        let known = lock(&self.open).get(name).cloned();
        if let Some(repository) = known {
            if repository.is_current() {
                return Ok((repository, false));
            }
            lock(&self.open).pop(name);
        }
        let Some(location) = self.places.locate(name)? else {
            let names = self.shared_names().unwrap_or_default();
            let candidates = similar(name, names.iter().map(String::as_str));
            return Err(LookupError::UnknownRepository { candidates });
        };
        let repository = Arc::new(Repository::open(location, &ObjectStore::default())?);
        lock(&self.open).put(name.to_owned(), Arc::clone(&repository));
        Ok((repository, true))
    }

    fn shared_names(&self) -> Result<Arc<Vec<String>>, RootError> {
        let mut known = lock(&self.names);
        if let Some((read, names)) = known.as_ref()
            && read.elapsed() < NAMES_AGE_MAX
        {
            return Ok(Arc::clone(names));
        }
        let names = Arc::new(self.places.names()?);
        *known = Some((Instant::now(), Arc::clone(&names)));
        Ok(names)
    }
}

/// Corrects names by the `.mailmap` of the default branch.
fn correct<'c>(
    repository: &Repository,
    session: &Session<'_>,
    commits: impl IntoIterator<Item = &'c mut Commit>,
) -> Result<()> {
    // A repository may have no branch yet.
    if let Ok(head) = revision::resolve(session, "") {
        let mailmap = repository.mailmap(session, &head)?;
        commits
            .into_iter()
            .for_each(|commit| mailmap.correct(commit));
    }
    Ok(())
}

impl Places {
    fn locate(&self, name: &str) -> Result<Option<Location>> {
        match self {
            Places::Below(root) => location::locate(root, name),
            Places::Named(trees) => {
                let tree = trees.get(name).and_then(|tree| tree.canonicalize().ok());
                let Some(tree) = tree else { return Ok(None) };
                let root = tree.parent().unwrap_or(&tree).to_owned();
                location::locate_at(&Roots::of_source(vec![root]), &tree)
            }
        }
    }

    fn names(&self) -> Result<Vec<String>, RootError> {
        match self {
            Places::Below(root) => names::list(root),
            Places::Named(trees) => Ok(trees.keys().cloned().collect()),
        }
    }
}
