//! What an index records of its sources, and how `trawl index --update` reads them again.

use super::git::GitFlags;
use anyhow::{Context, Result, bail};
use index::corpus::{self, Packages};
use index::directory::{read_manifest, read_recorded};
use index::indexing::RepositorySource;
use index::manifest::Options;
use schema::message::{RecordedSource, SourceKind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Returns what is recorded of the sources of this run.
pub(super) fn sources(directories: &[PathBuf], each: bool, git: &GitFlags) -> Vec<RecordedSource> {
    let source = |kind, path: &Path, patterns: &[String]| {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let patterns = patterns.iter().map(|pattern| pattern.clone().into_bytes());
        RecordedSource {
            kind,
            location: path.as_os_str().as_bytes().to_vec(),
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
    pub(super) repositories: Vec<RepositorySource>,
    /// The options that it was built with.
    pub(super) options: Options,
}

/// Finds the sources that the index in `out` records. A repository that is gone is found to be so when it
/// is read.
pub(super) fn read_again(out: &Path, git: &GitFlags) -> Result<RecordedSources> {
    git.check_roots()?;
    let manifest = read_manifest(out)?;
    let shown = out.display();
    let Some(named) = &manifest.recorded else {
        bail!("{shown}: this index does not record its sources; name them once, without --update");
    };
    let recorded = read_recorded(out, named)?;
    if recorded.sources.is_empty() {
        bail!("{shown}: this index does not record its sources; name them once, without --update");
    }
    let mut found = RecordedSources {
        packages: Packages::default(),
        repositories: Vec::new(),
        options: manifest.options,
    };
    for source in &recorded.sources {
        found.add(source, git)?;
    }
    Ok(found)
}

impl RecordedSources {
    fn add(&mut self, source: &RecordedSource, git: &GitFlags) -> Result<()> {
        let path = Path::new(OsStr::from_bytes(&source.location));
        let patterns = source.patterns.iter();
        let patterns = patterns.map(|pattern| String::from_utf8_lossy(pattern).into_owned());
        let patterns: Vec<String> = patterns.collect();
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
            SourceKind::Repository => self.repositories.push(git.at(path, &patterns)?),
            SourceKind::Repositories => self.repositories.extend(git.inside(path, &patterns)?),
        }
        Ok(())
    }
}
