//! Git repositories of `trawl index` and `trawl serve`.

use super::super::mirror::{FetchFlags, fetch as fetch_all, words};
use crate::cache_dir;
use crate::mirror::{self, Remote};
use anyhow::{Context, Result, bail, ensure};
use git::{LeftOut, SourceOptions};
use index::corpus::{BESIDE_LISTED_MAX, SkipReason, Source};
use index::indexing::{HistorySource, RepositorySource};
use index::manifest::Beside;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Set by git for hooks.
const OBJECT_DIRECTORY: &str = "GIT_OBJECT_DIRECTORY";

/// Separated by colons.
const ALTERNATE_OBJECT_DIRECTORIES: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";

/// Git repositories to index.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct GitFlags {
    /// Index a git repository as a package; may be repeated
    ///
    /// The package is named after its directory without .git. The repository may be bare, or a work
    /// tree, in which only committed files count. `trawl index` also takes a URL, and keeps a
    /// mirror of it in the user's cache directory.
    #[arg(long, value_name = "PATH")]
    pub(super) git: Vec<OsString>,
    /// Index every git repository below DIR as a package; may be repeated
    ///
    /// A package is named by its path there: `x`, `group/x`. A symbolic link to a repository
    /// counts. Everything else is left out and counted.
    #[arg(long, value_name = "DIR")]
    pub(super) git_dir_each: Vec<PathBuf>,
    /// Index these revisions of each repository instead of its default branch (HEAD); may be
    /// repeated
    ///
    /// PATTERN is the name of a branch or tag, a glob with *, ? or [, `all` for all branches and
    /// tags, or the id of a commit. A repository without such a revision is indexed with its other
    /// revisions.
    ///
    /// Queries without `rev:` search HEAD's branch if it is among them, else the youngest revision
    /// that the first PATTERN chose.
    #[arg(long = "ref", value_name = "PATTERN", requires = "repositories")]
    pub(super) patterns: Vec<String>,
    /// Index the commits of these revisions, too, for `type:commit` and `type:diff`
    ///
    /// Later updates add new commits, and drop those that no revision reaches.
    #[arg(long, requires = "repositories")]
    pub(super) history: bool,
    /// Leave out commits before DATE, such as 2024-05-31 or 2024
    #[arg(long, value_name = "DATE", requires = "history", value_parser = since)]
    pub(super) since: Option<i64>,
    /// Allow repositories to take objects from below DIR, too (objects/info/alternates); may be
    /// repeated
    ///
    /// By default, a repository takes objects only from itself and the directory that holds it.
    #[arg(long, value_name = "DIR", requires = "repositories")]
    pub(super) alternates_root: Vec<PathBuf>,
}

impl GitFlags {
    pub(crate) fn is_given(&self) -> bool {
        !self.git.is_empty() || !self.git_dir_each.is_empty()
    }

    /// Fetches URLs; the environment may name object directories.
    pub(super) fn fetched(&self, fetch: &FetchFlags) -> Result<GivenRepositories> {
        let mut given = self.given(|url, given| self.fetch(url, fetch, given))?;
        with_environment(&mut given.sources)?;
        let is_nothing = given.sources.is_empty() && !given.problems.is_empty();
        ensure!(!is_nothing, "{}", given.said());
        Ok(given)
    }

    /// Repositories of a server, without URLs.
    pub(crate) fn local(&self) -> Result<GivenRepositories> {
        self.given(|url, _| {
            let shown = url.display();
            bail!("--git {shown}: this is a URL; `trawl mirror` keeps a copy of it, which --git serves")
        })
    }

    /// Uses no network. A URL's mirror may not exist.
    pub(super) fn known(&self, fetch: &FetchFlags) -> Result<GivenRepositories> {
        self.given(|url, given| {
            let (remote, directory) = remote(url, fetch)?;
            let mirror = mirror::path(&directory, &remote);
            given.sources.push(RepositorySource {
                name: git::repository_name(&mirror).unwrap_or_default(),
                location: url.as_os_str().as_bytes().to_vec(),
                is_url: true,
                path: mirror,
                ..RepositorySource::default()
            });
            Ok(())
        })
    }

    fn given(
        &self,
        add_url: impl Fn(&Path, &mut GivenRepositories) -> Result<()>,
    ) -> Result<GivenRepositories> {
        let mut given = GivenRepositories::default();
        for path in &self.git {
            let path: &Path = path.as_ref();
            if is_url(path) {
                add_url(path, &mut given)?;
            } else {
                given.sources.push(self.source(path)?);
            }
        }
        for root in &self.alternates_root {
            let listed = std::fs::read_dir(root);
            listed.with_context(|| format!("--alternates-root {}", root.display()))?;
        }
        for directory in &self.git_dir_each {
            self.add_below(directory, &mut given)?;
        }
        Ok(given)
    }

    /// If fetching fails, the last state is indexed.
    fn fetch(&self, url: &Path, fetch: &FetchFlags, given: &mut GivenRepositories) -> Result<()> {
        let shown = url.display().to_string();
        let (remote, directory) = remote(url, fetch)?;
        let remotes = [remote];
        let results = fetch_all(&remotes, &fetch.options()?, &directory)?;
        let path = mirror::path(&directory, &remotes[0]);
        if let Err(error) = &results[0].outcome {
            let mut reason = words(error);
            if path.exists() {
                reason.push_str("; what was fetched before was indexed");
            }
            given.problems.push((shown.clone(), reason));
        }
        if path.exists() {
            given.sources.push(RepositorySource {
                location: shown.into_bytes(),
                is_url: true,
                ..self.source(&path)?
            });
        }
        Ok(())
    }

    /// Adds repositories by name, and notes other entries.
    fn add_below(&self, directory: &Path, given: &mut GivenRepositories) -> Result<()> {
        let shown = format!("--git-dir-each {}", directory.display());
        let real = directory.canonicalize().with_context(|| shown.clone())?;
        let found = git::repositories_below(&real).with_context(|| shown.clone())?;
        ensure!(
            !found.repositories.is_empty(),
            "{shown}: contains no git repository"
        );
        ensure!(
            !found.is_truncated,
            "{shown}: has too many files and directories to look for repositories in; name directories \
             nearer to them"
        );
        for (name, path) in found.repositories {
            let source = self.source(&path)?;
            given.sources.push(RepositorySource { name, ..source });
        }
        let before = given.beside.len();
        for (path, reason) in found.left_out {
            given.leave_out(path, reason);
        }
        let more = (given.beside.len() - before).saturating_sub(BESIDE_LISTED_MAX);
        if more > 0 {
            given.beside.truncate(before + BESIDE_LISTED_MAX);
            given.beside.push(Beside {
                path: real.clone().into_os_string().into_vec(),
                reason: format!("{more} more beside the repositories (BESIDE_LISTED_MAX)"),
            });
        }
        given.parents.push(real);
        Ok(())
    }

    fn source(&self, path: &Path) -> Result<RepositorySource> {
        let shown = path.display();
        let real = path.canonicalize();
        let real = real.with_context(|| format!("--git {shown}"))?;
        if !git::is_repository(&real) {
            bail!("--git {shown}: no git repository, neither a bare one nor a work tree");
        }
        let name = git::repository_name(&real);
        Ok(RepositorySource {
            name: name.with_context(|| format!("--git {shown}: it has no name"))?,
            location: real.as_os_str().as_bytes().to_vec(),
            fetched: fetched(&real),
            path: real,
            patterns: self.patterns.clone(),
            options: SourceOptions {
                alternates_roots: self.alternates_root.clone(),
                ..SourceOptions::default()
            },
            history: (self.history).then_some(HistorySource { since: self.since }),
            ..RepositorySource::default()
        })
    }
}

fn since(typed: &str) -> Result<i64, String> {
    frontend::query::seconds_of(typed)
        .ok_or_else(|| format!("expected {}", frontend::query::DATE_EXPECTED))
}

#[derive(Default)]
pub(crate) struct GivenRepositories {
    pub(crate) sources: Vec<RepositorySource>,
    /// Names and reasons.
    pub(crate) problems: Vec<(String, String)>,
    pub(crate) parents: Vec<PathBuf>,
    /// Other entries of `parents`.
    pub(crate) beside: Vec<Beside>,
}

impl GivenRepositories {
    fn leave_out(&mut self, path: PathBuf, reason: LeftOut) {
        let reason = match reason {
            LeftOut::SameName(other) => {
                let reason = format!("left out: it has the name of {}", other.display());
                return self.problems.push((path.display().to_string(), reason));
            }
            LeftOut::File => SkipReason::Loose,
            LeftOut::Link => SkipReason::Symlink,
            LeftOut::Hidden => SkipReason::Hidden,
            LeftOut::NoRepository => SkipReason::NoRepository,
            LeftOut::Unreadable(reason) => SkipReason::Unreadable(reason),
        };
        self.beside.push(Beside {
            path: path.into_os_string().into_vec(),
            reason: reason.to_string(),
        });
    }

    pub(super) fn said(&self) -> String {
        let problems = self.problems.iter();
        let said = problems.map(|(url, reason)| format!("{url}: {reason}"));
        said.collect::<Vec<_>>().join("; ")
    }
}

fn remote(url: &Path, fetch: &FetchFlags) -> Result<(Remote, PathBuf)> {
    let shown = url.display().to_string();
    let remote = Remote::parse(&shown, None, &fetch.schemes());
    let remote = remote.with_context(|| format!("--git {shown}"))?;
    let directory = cache_dir::mirror_dir(&remote.url)?;
    Ok((remote, directory))
}

/// Time in seconds since 1970; 0 if never.
fn fetched(path: &Path) -> u64 {
    let modified = std::fs::metadata(path.join("FETCH_HEAD")).and_then(|it| it.modified());
    let since = modified.map(|it| it.duration_since(UNIX_EPOCH).unwrap_or_default());
    since.map_or(0, |since| since.as_secs())
}

/// Follows git: `https://host/x` and `host:x` are URLs.
pub(super) fn is_url(path: &Path) -> bool {
    let text = path.as_os_str().as_bytes();
    let colon = text.iter().position(|&byte| byte == b':');
    let slash = text.iter().position(|&byte| byte == b'/');
    colon.is_some_and(|colon| slash.is_none_or(|slash| colon < slash)) && !path.exists()
}

/// Object directories of the environment belong to one repository.
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
    source.options.object_directory = own.map(PathBuf::from);
    if let Some(alternates) = alternates {
        let paths = std::env::split_paths(&alternates);
        source.options.alternate_object_directories =
            paths.filter(|path| !path.as_os_str().is_empty()).collect();
    }
    Ok(())
}

pub(crate) fn check_names(sources: &[Source], repositories: &[RepositorySource]) -> Result<()> {
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

/// Suggests `--git` for work trees.
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
