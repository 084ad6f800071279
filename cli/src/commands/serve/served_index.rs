//! Index of `trawl serve`: its directory and sources.

use super::super::index::{self as index_command, BuildFlags, GitFlags, check_names};
use crate::{cache_dir, terminal};
use anyhow::{Result, bail};
use git::Repositories;
use index::corpus::Packages;
use index::directory::Index;
use index::indexing::{self, Changes, Progress, Report, Suspects};
use schema::name::name_of;
use std::path::{Path, PathBuf};

type Problems = Vec<(String, String)>;

pub(crate) struct ServedIndex {
    pub(crate) directory: PathBuf,
    /// `None` if the index is served without update.
    sources: Option<Vec<PathBuf>>,
    /// The sources are those of [`cache_dir::default_sources`].
    is_default: bool,
    pub(super) build: BuildFlags,
    git: GitFlags,
    /// For a build; `None` is the default.
    memory: Option<u64>,
    /// An index in the cache belongs to `serve` alone.
    prune: bool,
}

impl ServedIndex {
    /// Finds the named index, or one in the user's cache directory.
    pub(crate) fn new(
        index: Option<&Path>,
        sources: &[PathBuf],
        build: &BuildFlags,
        git: &GitFlags,
        memory: Option<u64>,
    ) -> Result<ServedIndex> {
        let is_default = index.is_none() && sources.is_empty() && !git.is_given();
        let sources = match (index, sources) {
            (_, []) if git.is_given() => Some(Vec::new()),
            (Some(index), []) if build.is_given() => bail!(
                "flags for building an index need a SOURCE; name one, or leave the flags out to serve \
                 {} as it is",
                index.display()
            ),
            (Some(_), []) => None,
            (None, []) => Some(vec![PathBuf::from(".")]),
            (_, sources) => Some(sources.to_vec()),
        };
        let mut served = ServedIndex {
            directory: index.unwrap_or(Path::new("")).to_owned(),
            sources,
            is_default,
            build: build.clone(),
            git: git.clone(),
            memory,
            prune: index.is_none(),
        };
        if index.is_none() {
            let (packages, repositories) = (served.packages()?.sources, git.local()?.sources);
            let directories = packages.iter().map(|source| &*source.directory);
            let directories = directories.chain(repositories.iter().map(|it| &*it.path));
            served.directory = cache_dir::index_dir(directories)?;
        }
        Ok(served)
    }

    /// Empty if the index is not updated.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        self.sources.clone().unwrap_or_default()
    }

    pub(crate) fn has_sources(&self) -> bool {
        self.sources.as_ref().is_some_and(|it| !it.is_empty()) || self.git.is_given()
    }

    pub(super) fn repositories(&self) -> Result<Vec<PathBuf>> {
        let given = self.git.local()?.sources;
        Ok(given.into_iter().map(|it| it.path).collect())
    }

    pub(crate) fn directories(&self) -> Result<Vec<(Vec<u8>, PathBuf)>> {
        let sources = self.packages()?.sources.into_iter();
        Ok(sources
            .map(|source| (source.name, source.directory))
            .collect())
    }

    pub(crate) fn work_trees(&self) -> Result<Repositories> {
        let sources = self.packages()?.sources.into_iter();
        let trees = sources.filter(|source| source.directory.join(".git").exists());
        Ok(Repositories::of_work_trees(trees.map(|source| {
            let name = name_of(&source.name, !source.is_versioned);
            (String::from_utf8_lossy(name).into_owned(), source.directory)
        })))
    }

    fn packages(&self) -> Result<Packages> {
        Ok(match &self.sources {
            None => Packages::default(),
            Some(_) if self.is_default => Packages {
                sources: cache_dir::default_sources()?,
                ..Packages::default()
            },
            Some(paths) => self.build.packages(paths)?,
        })
    }

    /// Returns skipped repositories, too.
    fn changes(&self, packages: &Packages) -> Result<(Changes, Problems)> {
        let given = self.git.local()?;
        check_names(&packages.sources, &given.sources)?;
        let changes = Changes {
            prune: self.prune,
            repositories: given.sources,
            parents: given.parents,
            beside: given.beside,
            ..Changes::default()
        };
        Ok((changes, given.problems))
    }

    /// Updates with progress and summary.
    pub(super) fn prepare(&self) -> Result<()> {
        if self.sources.is_none() {
            return Ok(());
        }
        let (packages, directory) = (self.packages()?, &self.directory);
        let (changes, problems) = self.changes(&packages)?;
        let options = self.build.options(self.memory)?;
        // Needs no lock, which another `serve` may hold. The update compares repositories.
        let is_current = changes.repositories.is_empty()
            && indexing::is_current(packages.sources.clone(), &changes, directory, &options);
        let has_symbols = |index: Index| index.shards.iter().all(|shard| shard.has_symbols());
        if is_current && Index::open(directory).is_ok_and(has_symbols) {
            let directory = directory.display();
            terminal::report(format_args!("the index in {directory} is up to date"));
            return Ok(());
        }
        match index_command::update(packages, changes, directory, &options, problems) {
            Err(_) if is_current => Ok(()),
            updated => updated.map(drop),
        }
    }

    /// Updates silently, and compares the texts of suspects.
    pub(super) fn update(&self, suspects: Suspects) -> Result<Report> {
        let packages = self.packages()?;
        let (mut changes, problems) = self.changes(&packages)?;
        changes.parents.extend(packages.parents);
        changes.beside.extend(packages.beside);
        changes.suspects = suspects;
        let (directory, options) = (&self.directory, self.build.options(self.memory)?);
        let progress = Progress::default();
        let mut report = index_command::while_locked(|| {
            let sources = packages.sources.clone();
            indexing::update(sources, &changes, directory, &options, &progress)
        })?;
        report.problems.extend(problems);
        Ok(report)
    }
}
