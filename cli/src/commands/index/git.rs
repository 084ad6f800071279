//! The repositories that `trawl index` is given, and what decides how they are read.

use anyhow::{Context, Result, bail};
use index::corpus::Source;
use index::indexing::RepositorySource;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The directory of objects that git's hooks name.
const OBJECT_DIRECTORY: &str = "GIT_OBJECT_DIRECTORY";

/// Further ones, separated by colons.
const ALTERNATE_OBJECT_DIRECTORIES: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// Which git repositories are packages.
#[derive(clap::Args, Default)]
pub(super) struct GitFlags {
    /// A git repository is a package, named after its directory without .git; bare, or a work tree of which
    /// only what is committed counts. May be repeated
    #[arg(long, value_name = "PATH")]
    git: Vec<OsString>,
    /// Every git repository directly inside DIR is a package. May be repeated
    #[arg(long, value_name = "DIR")]
    git_dir_each: Vec<PathBuf>,
    /// Which revisions of each repository are indexed, instead of its default branch (HEAD): the name of a
    /// branch or tag, a pattern with *, ? or [, `all` for all branches and tags, or the id of a commit.
    /// Queries without `rev:` search HEAD's branch if it is among them, else the youngest revision that the
    /// first PATTERN chose. May be repeated
    #[arg(long = "ref", value_name = "PATTERN", requires = "repositories")]
    patterns: Vec<String>,
    /// A repository may take objects from below DIR, too (objects/info/alternates), not only from itself
    /// and the directory that holds it. May be repeated
    #[arg(long, value_name = "DIR", requires = "repositories")]
    alternates_root: Vec<PathBuf>,
}

impl GitFlags {
    /// Returns the repositories.
    pub(super) fn repositories(&self) -> Result<Vec<RepositorySource>> {
        for root in &self.alternates_root {
            let listed = std::fs::read_dir(root);
            listed.with_context(|| format!("--alternates-root {}", root.display()))?;
        }
        let mut sources = Vec::new();
        for path in &self.git {
            sources.push(self.source(path.as_ref())?);
        }
        for directory in &self.git_dir_each {
            sources.extend(self.inside(directory)?);
        }
        with_environment(&mut sources)?;
        Ok(sources)
    }

    /// Returns the repositories directly inside a directory, by name.
    fn inside(&self, directory: &Path) -> Result<Vec<RepositorySource>> {
        let shown = format!("--git-dir-each {}", directory.display());
        let entries = std::fs::read_dir(directory).with_context(|| shown.clone())?;
        let mut paths = Vec::new();
        for entry in entries {
            let entry = entry.with_context(|| shown.clone())?;
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && git::is_repository(&entry.path()) {
                paths.push(entry.path());
            }
        }
        if paths.is_empty() {
            bail!("{shown}: contains no git repository");
        }
        paths.sort();
        paths.iter().map(|path| self.source(path)).collect()
    }

    fn source(&self, path: &Path) -> Result<RepositorySource> {
        let shown = path.display();
        if is_url(path) {
            bail!(
                "--git {shown}: this is a URL; `trawl mirror` keeps a copy of it, which --git indexes"
            );
        }
        let real = path.canonicalize();
        let real = real.with_context(|| format!("--git {shown}"))?;
        if !git::is_repository(&real) {
            bail!("--git {shown}: no git repository, neither a bare one nor a work tree");
        }
        let name = git::repository_name(&real);
        Ok(RepositorySource {
            name: name.with_context(|| format!("--git {shown}: it has no name"))?,
            location: real.as_os_str().as_bytes().to_vec(),
            path: real,
            patterns: self.patterns.clone(),
            alternates_roots: self.alternates_root.clone(),
            ..RepositorySource::default()
        })
    }
}

/// Whether git would take it for a URL: `https://host/x`, or `host:x`.
fn is_url(path: &Path) -> bool {
    let text = path.as_os_str().as_bytes();
    let colon = text.iter().position(|&byte| byte == b':');
    let slash = text.iter().position(|&byte| byte == b'/');
    colon.is_some_and(|colon| slash.is_none_or(|slash| colon < slash)) && !path.exists()
}

/// Takes the directories of objects that the environment names, which are those of one repository.
fn with_environment(sources: &mut [RepositorySource]) -> Result<()> {
    let named = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let (own, alternates) = (named(OBJECT_DIRECTORY), named(ALTERNATE_OBJECT_DIRECTORIES));
    if sources.is_empty() || (own.is_none() && alternates.is_none()) {
        return Ok(());
    }
    let [source] = sources else {
        bail!(
            "{OBJECT_DIRECTORY} and {ALTERNATE_OBJECT_DIRECTORIES} are those of one repository, and {} \
             are given: name one with --git, or unset them",
            sources.len()
        );
    };
    source.object_directory = own.map(PathBuf::from);
    if let Some(alternates) = alternates {
        let paths = std::env::split_paths(&alternates);
        source.alternate_object_directories =
            paths.filter(|path| !path.as_os_str().is_empty()).collect();
    }
    Ok(())
}

/// Refuses two packages of one name.
pub(super) fn check_names(sources: &[Source], repositories: &[RepositorySource]) -> Result<()> {
    let directories = sources.iter().map(|it| (&it.name, &it.directory));
    let repositories = repositories.iter().map(|it| (&it.name, &it.path));
    let mut known: HashMap<&Vec<u8>, &PathBuf> = HashMap::new();
    for (name, path) in directories.chain(repositories) {
        if let Some(other) = known.insert(name, path) {
            bail!(
                "two sources are the same package, `{}`: {} and {}",
                String::from_utf8_lossy(name),
                other.display(),
                path.display()
            );
        }
    }
    Ok(())
}

/// Says that a directory which is a git work tree could be indexed as a repository.
pub(super) fn note_on_work_trees(sources: &[Source]) -> Option<String> {
    let is_work_tree = |source: &&Source| source.directory.join(".git").exists();
    let mut work_trees = sources.iter().filter(is_work_tree);
    let first = work_trees.next()?.directory.display();
    Some(match work_trees.count() {
        0 => format!(
            "{first} is a git work tree, indexed as it is on disk; `--git {first}` indexes what is \
             committed"
        ),
        more => format!(
            "{first} and {more} more are git work trees, indexed as they are on disk; `--git` indexes \
             what is committed"
        ),
    })
}
