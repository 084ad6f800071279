//! The index that `trawl serve` serves: where it is, and what it is made of.

use super::super::index::{self as index_command, BuildFlags, GitFlags, check_names};
use crate::default_sources::default_sources;
use crate::{cache_dir, terminal};
use anyhow::{Result, bail};
use index::corpus::Packages;
use index::indexing::{self, Changes, Progress, Report, Suspects};
use std::path::{Path, PathBuf};

/// An index and its sources.
pub(super) struct ServedIndex {
    /// Its directory.
    pub(super) directory: PathBuf,
    sources: IndexSources,
    build: BuildFlags,
    git: GitFlags,
    /// Drop packages that are not among the sources. An index in the cache belongs to `serve` alone.
    prune: bool,
}

/// What an index is made of.
enum IndexSources {
    /// It is served as it is.
    None,
    Default,
    Named(Vec<PathBuf>),
}

impl ServedIndex {
    /// Finds the index that the command line names, or the one in the user's cache directory.
    pub(super) fn new(
        index: Option<&Path>,
        sources: &[PathBuf],
        build: &BuildFlags,
        git: &GitFlags,
    ) -> Result<ServedIndex> {
        let sources = match (index, sources) {
            (_, []) if git.is_given() => IndexSources::Named(Vec::new()),
            (Some(index), []) if build.is_given() => bail!(
                "flags for building an index need a SOURCE; name one, or leave the flags out to serve \
                 {} as it is",
                index.display()
            ),
            (Some(_), []) => IndexSources::None,
            (None, []) => IndexSources::Default,
            (_, sources) => IndexSources::Named(sources.to_vec()),
        };
        let mut served = ServedIndex {
            directory: index.unwrap_or(Path::new("")).to_owned(),
            sources,
            build: build.clone(),
            git: git.clone(),
            prune: index.is_none(),
        };
        if index.is_none() {
            let (packages, repositories) = (served.packages()?.sources, git.local()?);
            let directories = packages.iter().map(|source| &*source.directory);
            let directories = directories.chain(repositories.iter().map(|it| &*it.path));
            served.directory = cache_dir::index_dir(directories)?;
        }
        Ok(served)
    }

    /// The directories that were named, or the current one. Empty if the index is served as it is.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        match &self.sources {
            IndexSources::None => Vec::new(),
            IndexSources::Default => vec![PathBuf::from(".")],
            IndexSources::Named(paths) => paths.clone(),
        }
    }

    /// The git repositories that were named.
    pub(super) fn repositories(&self) -> Result<Vec<PathBuf>> {
        Ok(self.git.local()?.into_iter().map(|it| it.path).collect())
    }

    /// Whether files that git ignores are indexed.
    pub(super) fn no_ignore(&self) -> bool {
        self.build.no_ignore
    }

    fn packages(&self) -> Result<Packages> {
        Ok(match &self.sources {
            IndexSources::None => Packages::default(),
            IndexSources::Default => Packages {
                sources: default_sources()?,
                ..Packages::default()
            },
            IndexSources::Named(paths) => self.build.packages(paths)?,
        })
    }

    fn changes(&self, packages: &Packages) -> Result<Changes> {
        let repositories = self.git.local()?;
        check_names(&packages.sources, &repositories)?;
        Ok(Changes {
            prune: self.prune,
            repositories,
            ..Changes::default()
        })
    }

    /// Brings the index up to date if it has sources. Shows progress and a summary.
    pub(super) fn prepare(&self) -> Result<()> {
        if matches!(self.sources, IndexSources::None) {
            return Ok(());
        }
        let (packages, directory) = (self.packages()?, &self.directory);
        let changes = self.changes(&packages)?;
        let options = self.build.options()?;
        // This check needs no lock; another `serve` of the same directories may hold it.
        // Repositories are compared by the update itself.
        if changes.repositories.is_empty()
            && indexing::is_current(packages.sources.clone(), &changes, directory, &options)
        {
            let directory = directory.display();
            terminal::report(format_args!("the index in {directory} is up to date"));
            return Ok(());
        }
        for (name, reason) in index_command::update(packages, changes, directory, &options)? {
            let (name, reason) = (terminal::escaped(&name), terminal::escaped(&reason));
            terminal::report(format_args!("trawl: {name}: {reason}"));
        }
        Ok(())
    }

    /// Brings the index up to date without a word. The texts of suspects are compared.
    pub(super) fn update(&self, suspects: Suspects) -> Result<Report> {
        let packages = self.packages()?;
        let changes = Changes {
            parents: packages.parents.clone(),
            beside: packages.beside.clone(),
            suspects,
            ..self.changes(&packages)?
        };
        let (directory, options) = (&self.directory, self.build.options()?);
        let progress = Progress::default();
        Ok(indexing::update(
            packages.sources,
            &changes,
            directory,
            &options,
            &progress,
        )?)
    }
}
