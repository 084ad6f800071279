//! What an index records of its sources, and how `trawl index --update` reads them again.

use super::super::mirror::FetchFlags;
use super::git::{GitFlags, GivenRepositories, is_url};
use anyhow::{Context, Result, ensure};
use index::corpus::{self, Packages};
use index::directory::{read_manifest, read_recorded};
use index::manifest::Options;
use schema::message::{RecordedSource, SourceKind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns what is recorded of the sources of this run.
pub(super) fn sources(directories: &[PathBuf], each: bool, git: &GitFlags) -> Vec<RecordedSource> {
    let source = |kind, path: &Path, patterns: &[String]| {
        let real = path.canonicalize().ok().filter(|_| !is_url(path));
        let location = real.unwrap_or_else(|| path.to_owned());
        let patterns = patterns.iter().map(|pattern| pattern.clone().into_bytes());
        RecordedSource {
            kind,
            location: location.as_os_str().as_bytes().to_vec(),
            patterns: patterns.collect(),
        }
    };
    let kind = if each {
        SourceKind::Directories
    } else {
        SourceKind::Directory
    };
    let directories = directories.iter().map(|path| source(kind, path, &[]));
    let repositories = git.git.iter();
    let repositories =
        repositories.map(|path| source(SourceKind::Repository, path.as_ref(), &git.patterns));
    let parents = git.git_dir_each.iter();
    let parents = parents.map(|path| source(SourceKind::Repositories, path, &git.patterns));
    directories.chain(repositories).chain(parents).collect()
}

/// The sources of an index.
pub(super) struct RecordedSources {
    pub(super) packages: Packages,
    pub(super) repositories: GivenRepositories,
    /// The options that it was built with.
    pub(super) options: Options,
}

/// Finds the sources that the index in `out` records. A repository that is gone or cannot be fetched is a
/// problem of its own.
pub(super) fn read_again(
    out: &Path,
    git: &GitFlags,
    fetch: &FetchFlags,
) -> Result<RecordedSources> {
    ensure!(
        git.patterns.is_empty(),
        "--ref cannot be used with --update, which reads the recorded patterns again"
    );
    let manifest = read_manifest(out)?;
    let recorded = match &manifest.recorded {
        Some(named) => read_recorded(out, named)?.sources,
        None => Vec::new(),
    };
    ensure!(
        !recorded.is_empty(),
        "{}: this index does not record its sources; name them once, without --update",
        out.display()
    );
    let mut found = RecordedSources {
        packages: Packages::default(),
        repositories: GivenRepositories::default(),
        options: manifest.options,
    };
    for source in &recorded {
        found.add(source, git, fetch)?;
    }
    Ok(found)
}

impl RecordedSources {
    fn add(&mut self, source: &RecordedSource, git: &GitFlags, fetch: &FetchFlags) -> Result<()> {
        let path = Path::new(OsStr::from_bytes(&source.location));
        match source.kind {
            SourceKind::Directory | SourceKind::Directories => {
                let each = source.kind == SourceKind::Directories;
                let no_ignore = self.options.no_ignore;
                let found = corpus::packages(&[path.to_owned()], each, no_ignore)
                    .context("a source that the index records; --remove drops its packages")?;
                self.packages.sources.extend(found.sources);
                self.packages.parents.extend(found.parents);
                self.packages.beside.extend(found.beside);
            }
            SourceKind::Repository | SourceKind::Repositories => {
                self.add_repositories(source, path, git, fetch);
            }
        }
        Ok(())
    }

    fn add_repositories(
        &mut self,
        source: &RecordedSource,
        path: &Path,
        git: &GitFlags,
        fetch: &FetchFlags,
    ) {
        let is_one = source.kind == SourceKind::Repository;
        let patterns = source.patterns.iter();
        let patterns = patterns.map(|pattern| String::from_utf8_lossy(pattern).into_owned());
        let flags = GitFlags {
            git: is_one.then(|| path.into()).into_iter().collect(),
            git_dir_each: (!is_one).then(|| path.into()).into_iter().collect(),
            patterns: patterns.collect(),
            alternates_root: git.alternates_root.clone(),
        };
        let found = if is_one && is_url(path) {
            flags.fetched(fetch)
        } else {
            flags.local().map(|sources| GivenRepositories {
                sources,
                problems: Vec::new(),
            })
        };
        let name = git::repository_name(path).unwrap_or_else(|| source.location.clone());
        let name = String::from_utf8_lossy(&name).into_owned();
        let all = &mut self.repositories;
        match found {
            Ok(found) => {
                all.sources.extend(found.sources);
                all.problems.extend(found.problems);
            }
            Err(error) => all.problems.push((name, format!("{error:#}"))),
        }
    }
}
