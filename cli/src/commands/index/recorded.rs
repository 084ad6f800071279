//! Recorded sources, found again by `trawl index --update`.

use super::super::mirror::FetchFlags;
use super::build::BuildFlags;
use super::git::{GitFlags, GivenRepositories, is_url};
use anyhow::{Result, ensure};
use index::corpus::Packages;
use index::directory::{read_manifest, read_recorded};
use index::manifest::Options;
use schema::message::{Recorded, RecordedSource, SourceKind};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(super) fn sources(
    directories: &[PathBuf],
    build: &BuildFlags,
    git: &GitFlags,
) -> Vec<RecordedSource> {
    let source = |kind, path: &Path, patterns: &[String]| {
        let real = path.canonicalize().ok().filter(|_| !is_url(path));
        let location = real.unwrap_or_else(|| path.to_owned());
        let patterns = patterns.iter().map(|pattern| pattern.clone().into_bytes());
        RecordedSource {
            kind,
            location: location.as_os_str().as_bytes().to_vec(),
            patterns: patterns.collect(),
            no_versions: kind == SourceKind::Directories && build.no_versions,
        }
    };
    let kind = if build.each {
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

pub(super) struct RecordedSources {
    pub(super) packages: Packages,
    pub(super) repositories: GivenRepositories,
    pub(super) recorded: Vec<RecordedSource>,
    pub(super) options: Options,
}

/// Missing, unfetched and duplicate sources become problems. A dry run fetches nothing.
pub(super) fn read_again(
    out: &Path,
    git: &GitFlags,
    fetch: &FetchFlags,
    is_dry_run: bool,
) -> Result<RecordedSources> {
    ensure!(
        git.patterns.is_empty(),
        "--ref cannot be used with --update, which reads the recorded patterns again"
    );
    let manifest = read_manifest(out)?;
    let recorded = match &manifest.recorded {
        Some(named) => read_recorded(out, named)?,
        None => Recorded::default(),
    };
    ensure!(
        !recorded.sources.is_empty(),
        "{}: this index does not record its sources; name them once, without --update",
        out.display()
    );
    let mut found = RecordedSources {
        packages: Packages::default(),
        repositories: GivenRepositories::default(),
        recorded: recorded.sources.clone(),
        options: manifest.options,
    };
    for source in &recorded.sources {
        let path = Path::new(OsStr::from_bytes(&source.location));
        match source.kind {
            SourceKind::Directory | SourceKind::Directories => found.add_packages(source, path),
            SourceKind::Repository | SourceKind::Repositories => {
                found.add_repositories(source, path, git, fetch, is_dry_run);
            }
        }
    }
    found.keep_one_of_each_name(&recorded);
    Ok(found)
}

struct BestSource {
    path: PathBuf,
    is_repository: bool,
    /// True if indexed from there, and if named alone.
    rank: (bool, bool),
}

impl RecordedSources {
    fn add_packages(&mut self, source: &RecordedSource, path: &Path) {
        let each = source.kind == SourceKind::Directories;
        let build = BuildFlags::of_sources(each, self.options.no_ignore, source.no_versions);
        match build.packages(&[path.to_owned()]) {
            Ok(found) => {
                self.packages.sources.extend(found.sources);
                self.packages.parents.extend(found.parents);
                self.packages.beside.extend(found.beside);
            }
            Err(error) => {
                let shown = path.display().to_string();
                let reason = format!("{error:#}; --remove drops its packages");
                self.repositories.problems.push((shown, reason));
            }
        }
    }

    /// Prefers the indexed source, then one named alone.
    fn keep_one_of_each_name(&mut self, recorded: &Recorded) {
        let best = self.best_of_each_name(recorded);
        let (mut seen, mut left_out) = (HashSet::new(), Vec::new());
        let mut is_kept = |name: &[u8], path: &Path, is_repository: bool| {
            let best = &best[name];
            if best.path == path {
                return best.is_repository == is_repository && seen.insert(name.to_vec());
            }
            let reason = format!(
                "left out: {} has the same name; rename one of them, or drop it with --remove and index \
                 the other one",
                best.path.display()
            );
            left_out.push((path.display().to_string(), reason));
            false
        };
        // A directory that is also inside another one keeps its own name.
        self.packages.sources.sort_by_key(|it| it.is_versioned);
        let all = &mut self.packages;
        all.sources
            .retain(|it| is_kept(&it.name, &it.directory, false));
        let all = &mut self.repositories;
        all.sources.retain(|it| is_kept(&it.name, &it.path, true));
        all.problems.extend(left_out);
    }

    fn best_of_each_name(&self, recorded: &Recorded) -> HashMap<Vec<u8>, BestSource> {
        let is_alone = |path: &Path| {
            let location = path.as_os_str().as_bytes();
            recorded.sources.iter().any(|it| it.location == location)
        };
        let mut best: HashMap<Vec<u8>, BestSource> = HashMap::new();
        let mut consider = |name: &[u8], path: &Path, is_repository, is_indexed| {
            let rank = (is_indexed, is_alone(path));
            if best.get(name).is_none_or(|known| known.rank < rank) {
                let source = BestSource {
                    path: path.to_owned(),
                    is_repository,
                    rank,
                };
                best.insert(name.to_vec(), source);
            }
        };
        for it in &self.packages.sources {
            consider(&it.name, &it.directory, false, false);
        }
        for it in &self.repositories.sources {
            let known = recorded.repository(&it.name);
            let is_indexed = known.is_some_and(|known| known.location == it.location);
            consider(&it.name, &it.path, true, is_indexed);
        }
        best
    }

    fn add_repositories(
        &mut self,
        source: &RecordedSource,
        path: &Path,
        git: &GitFlags,
        fetch: &FetchFlags,
        is_dry_run: bool,
    ) {
        let is_one = source.kind == SourceKind::Repository;
        let patterns = source.patterns.iter();
        let patterns = patterns.map(|pattern| String::from_utf8_lossy(pattern).into_owned());
        let flags = GitFlags {
            git: is_one.then(|| path.into()).into_iter().collect(),
            git_dir_each: (!is_one).then(|| path.into()).into_iter().collect(),
            patterns: patterns.collect(),
            alternates_root: git.alternates_root.clone(),
            history: git.history,
            since: git.since,
        };
        let found = if is_dry_run {
            flags.known(fetch)
        } else if is_one && is_url(path) {
            flags.fetched(fetch)
        } else {
            flags.local()
        };
        let name = git::repository_name(path).unwrap_or_else(|| source.location.clone());
        let name = String::from_utf8_lossy(&name).into_owned();
        let all = &mut self.repositories;
        match found {
            Ok(found) => {
                all.sources.extend(found.sources);
                all.problems.extend(found.problems);
                all.parents.extend(found.parents);
                all.beside.extend(found.beside);
            }
            Err(error) => all.problems.push((name, format!("{error:#}"))),
        }
    }
}
