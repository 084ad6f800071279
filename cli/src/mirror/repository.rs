//! One mirror: a bare repository, cloned or updated.
//!
//! **Invariant:** a mirror is a whole repository. Clones are renamed when complete. A fetch changes
//! all references in one transaction, after their objects.

use super::address;
use super::child::{self, ChildError, Limits, MirrorOptions, TOO_LARGE, local_git, network_git};
use super::memory;
use super::remote::{Remote, Scheme};
use anyhow::{Context, Result, anyhow, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Prefix of directories with incomplete clones.
pub(super) const INCOMING: &str = ".incoming-";

/// Older locks are from a killed process.
const LOCK_AGE_MIN: Duration = Duration::from_secs(3600);

/// Number of references: all, or those added, changed or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mirrored {
    Cloned(usize),
    Updated(usize),
    UpToDate,
}

pub(super) struct Attempt<'a> {
    pub(super) remote: &'a Remote,
    pub(super) directory: &'a Path,
    pub(super) options: &'a MirrorOptions,
    pub(super) limits: Limits<'a>,
    /// Checked; none for a directory.
    pub(super) addresses: Vec<IpAddr>,
}

pub(crate) fn path(directory: &Path, remote: &Remote) -> PathBuf {
    directory.join(format!("{}.git", remote.name))
}

impl Attempt<'_> {
    /// Errors leave an existing mirror unchanged.
    pub(super) fn run(mut self) -> Result<Mirrored> {
        let path = path(self.directory, self.remote);
        let is_there = fs::symlink_metadata(&path).is_ok();
        if is_there {
            self.check_is_ours(&path)?;
        }
        let remote = self.remote;
        if remote.scheme != Scheme::File {
            let allow_private = self.options.allow_private;
            self.addresses = address::resolve(&remote.host, remote.port, allow_private)?;
        }
        let mut list = network_git(remote, &self.addresses, self.options);
        list.args(["ls-remote", "--symref", "--", &self.remote.url]);
        self.limits.memory = Some(memory::REFERENCES_BYTES_MAX);
        let output = child::run(&mut list, &self.limits)?;
        let theirs = References::advertised(&output, self.prefixes());
        // A fetch reads the list again, possibly changed.
        let listed = output.iter().filter(|&&byte| byte == b'\n').count();
        let repository_bytes = if is_there { child::size(&path) } else { 0 };
        self.limits.memory = Some(memory::of_fetch(listed, repository_bytes));
        drop(output);
        if is_there {
            self.limit_size(&path);
            self.update(&path, &theirs)
        } else {
            self.clone_to(&path, &theirs)
        }
    }

    fn prefixes(&self) -> &'static [&'static str] {
        if self.options.all_references {
            &["refs/"]
        } else {
            &["refs/heads/", "refs/tags/"]
        }
    }

    fn limit_size(&mut self, path: &Path) {
        self.limits.size = self.options.bytes_max.map(|bytes| (path.to_owned(), bytes));
    }

    /// Runs git without the network.
    fn local(&self, path: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
        let mut command = local_git();
        command.arg("--git-dir").arg(path).args(arguments);
        child::run(&mut command, &self.limits)
    }

    /// A mirror records its URL.
    fn check_is_ours(&self, path: &Path) -> Result<()> {
        let shown = path.display();
        let foreign =
            || anyhow!("{shown} is not a mirror that `trawl mirror` has made; move it away");
        let is_directory = fs::symlink_metadata(path).is_ok_and(|it| it.is_dir());
        let config = path.join("config");
        if !is_directory || !config.is_file() {
            return Err(foreign());
        }
        let mut command = local_git();
        command.arg("config").arg("--file").arg(config);
        command.args(["--get", "remote.origin.url"]);
        let url = match child::run(&mut command, &self.limits) {
            Ok(url) => String::from_utf8_lossy(url.trim_ascii()).into_owned(),
            Err(error) if matches!(error.downcast_ref(), Some(ChildError::Failed(_))) => {
                return Err(foreign());
            }
            Err(error) => return Err(error),
        };
        ensure!(
            url == self.remote.url,
            "{shown} is a mirror of {url}; move it away, or give this repository another name"
        );
        Ok(())
    }

    fn clone_to(&mut self, path: &Path, theirs: &References) -> Result<Mirrored> {
        let unwritable = |path: &Path| format!("cannot write {}", path.display());
        let temporary = tempfile::TempDir::with_prefix_in(INCOMING, self.directory);
        let temporary = temporary.with_context(|| unwritable(self.directory))?;
        // The temporary directory itself is private.
        let incoming = temporary.path().join("repository.git");
        self.limit_size(&incoming);
        self.init(&incoming, theirs)?;
        self.fetch(&incoming, true)?;
        self.set_head(&incoming, theirs)?;
        if let Some((incoming, bytes_max)) = &self.limits.size
            && child::size(incoming) > *bytes_max
        {
            bail!(TOO_LARGE);
        }
        let parent = path.parent();
        let parent = parent.expect("a mirror is below the directory of mirrors");
        fs::create_dir_all(parent).with_context(|| unwritable(parent))?;
        fs::rename(&incoming, path).with_context(|| unwritable(path))?;
        Ok(Mirrored::Cloned(theirs.ids.len()))
    }

    /// Knows its remote, so `git fetch` by hand works.
    fn init(&self, path: &Path, theirs: &References) -> Result<()> {
        let mut command = local_git();
        let arguments = "init --quiet --bare --template= --initial-branch=main";
        command.args(arguments.split(' '));
        if theirs.ids.values().any(|id| id.len() == 64) {
            command.arg("--object-format=sha256");
        }
        child::run(command.arg("--").arg(path), &self.limits)?;
        self.local(path, &["config", "remote.origin.url", &self.remote.url])?;
        for refspec in self.refspecs() {
            self.local(path, &["config", "--add", "remote.origin.fetch", &refspec])?;
        }
        Ok(())
    }

    fn refspecs(&self) -> impl Iterator<Item = String> + use<> {
        let prefixes = self.prefixes().iter();
        prefixes.map(|prefix| format!("+{prefix}*:{prefix}*"))
    }

    fn update(&self, path: &Path, theirs: &References) -> Result<Mirrored> {
        remove_leftovers(path);
        let format = "--format=%(objectname) %(refname)";
        let ids = self.local(path, &["for-each-ref", format])?;
        // Fails if HEAD is a commit.
        let head = self.local(path, &["symbolic-ref", "--quiet", "HEAD"]);
        let ours = References::local(&ids, &head.unwrap_or_default());
        let differing = theirs.differing(&ours);
        if differing > 0 {
            let fetched = self.fetch(path, true);
            let failed = fetched.as_ref().err().and_then(|it| it.downcast_ref());
            // No transaction turns a branch into a directory.
            match failed {
                Some(ChildError::Failed(said)) if said.contains("cannot lock ref") => {
                    self.fetch(path, false)?;
                }
                _ => fetched?,
            }
            // Ignores errors: a mirror without gc is valid.
            let _ = self.local(path, &["-c", "gc.auto=6700", "gc", "--auto", "--quiet"]);
        }
        if theirs.head != ours.head {
            self.set_head(path, theirs)?;
        }
        // Its time is that of the last comparison.
        let _ = fs::File::options()
            .append(true)
            .create(true)
            .open(path.join("FETCH_HEAD"))
            .and_then(|file| file.set_modified(SystemTime::now()));
        if differing == 0 && theirs.head == ours.head {
            return Ok(Mirrored::UpToDate);
        }
        Ok(Mirrored::Updated(differing))
    }

    fn fetch(&self, path: &Path, atomic: bool) -> Result<()> {
        let mut command = network_git(self.remote, &self.addresses, self.options);
        command
            .arg("--git-dir")
            .arg(path)
            .args(["fetch", "--quiet"]);
        let flags = "--prune --force --no-tags --no-recurse-submodules --no-auto-maintenance";
        command.args(flags.split(' '));
        if atomic {
            command.arg("--atomic");
        }
        command.args(["--", &self.remote.url]).args(self.refspecs());
        child::run(&mut command, &self.limits).map(drop)
    }

    fn set_head(&self, path: &Path, theirs: &References) -> Result<()> {
        let Some(Ok(head)) = theirs.head.as_deref().map(str::from_utf8) else {
            return Ok(());
        };
        let set = self.local(path, &["symbolic-ref", "HEAD", head]);
        set.map(drop)
    }
}

/// Leftovers are of a killed fetch: the lock excludes others.
fn remove_leftovers(path: &Path) {
    let is_temporary = |name: &str| name.starts_with("tmp_");
    let is_lock = |name: &str| name.ends_with(".lock");
    let (packs, refs) = (path.join("objects/pack"), path.join("refs"));
    remove_files(&packs, Duration::ZERO, 0, is_temporary);
    remove_files(path, LOCK_AGE_MIN, 0, is_lock);
    remove_files(&refs, LOCK_AGE_MIN, 16, is_lock);
}

fn remove_files(directory: &Path, age: Duration, depth: usize, is_left: fn(&str) -> bool) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        if metadata.is_dir() && depth > 0 {
            remove_files(&entry.path(), age, depth - 1, is_left);
        }
        let modified = metadata.modified().ok().and_then(|it| it.elapsed().ok());
        let name = entry.file_name();
        if metadata.is_file()
            && name.to_str().is_some_and(is_left)
            && modified.is_some_and(|it| it >= age)
        {
            // Git reports remaining files.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Default if the server names none, best first.
const USUAL: [&[u8]; 2] = [b"refs/heads/main", b"refs/heads/master"];

/// References listed by a server or stored in a mirror.
#[derive(Debug, Default, PartialEq, Eq)]
struct References {
    ids: BTreeMap<Vec<u8>, Vec<u8>>,
    head: Option<Vec<u8>>,
}

impl References {
    /// Parses `git ls-remote --symref`, restricted to `prefixes`.
    fn advertised(output: &[u8], prefixes: &[&str]) -> References {
        let mut references = References::default();
        let mut head_id = None;
        for (value, name) in lines(output, b'\t') {
            if name == b"HEAD" {
                match value.strip_prefix(b"ref: ") {
                    Some(branch) => references.head = Some(branch.to_owned()),
                    None => head_id = Some(value),
                }
            } else if is_wanted(name, prefixes) {
                references.ids.insert(name.to_owned(), value.to_owned());
            }
        }
        if let Some(id) = head_id
            && references.head.is_none()
        {
            references.head = references.branch_at(id);
        }
        references.head.take_if(|head| !is_branch(head));
        references
    }

    /// Parses `git for-each-ref` as `%(objectname) %(refname)`, and `git symbolic-ref`.
    fn local(output: &[u8], head: &[u8]) -> References {
        let ids = lines(output, b' ').map(|(id, name)| (name.to_owned(), id.to_owned()));
        References {
            ids: ids.collect(),
            head: Some(head.trim_ascii().to_owned()).filter(|head| is_branch(head)),
        }
    }

    fn branch_at(&self, id: &[u8]) -> Option<Vec<u8>> {
        let is_there = |name: &&[u8]| self.ids.get(*name).is_some_and(|it| it == id);
        let usual = USUAL.into_iter().find(is_there);
        let mut at = (self.ids.iter()).filter(|(name, it)| is_branch(name) && *it == id);
        let any = || at.next().map(|(name, _)| name.as_slice());
        usual.or_else(any).map(<[u8]>::to_owned)
    }

    fn differing(&self, other: &References) -> usize {
        let changed = (self.ids.iter()).filter(|(name, id)| other.ids.get(*name) != Some(id));
        let gone = (other.ids.keys()).filter(|name| !self.ids.contains_key(*name));
        changed.count() + gone.count()
    }
}

/// Skips lines without two fields.
fn lines(output: &[u8], between: u8) -> impl Iterator<Item = (&[u8], &[u8])> {
    output.split(|&byte| byte == b'\n').filter_map(move |line| {
        let at = line.iter().rposition(|&byte| byte == between)?;
        Some((&line[..at], &line[at + 1..]))
    })
}

fn is_branch(name: &[u8]) -> bool {
    name.starts_with(b"refs/heads/")
}

fn is_wanted(name: &[u8], prefixes: &[&str]) -> bool {
    // `refs/tags/v1^{}` is the target of a tag.
    let is_peeled = name.ends_with(b"^{}");
    let has_prefix = prefixes.iter().any(|it| name.starts_with(it.as_bytes()));
    !is_peeled && has_prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advertised(output: &str) -> References {
        References::advertised(output.as_bytes(), &["refs/heads/", "refs/tags/"])
    }

    #[test]
    fn the_default_branch_is_the_one_that_the_server_names_or_the_likeliest() {
        let head = |output| {
            advertised(output)
                .head
                .map(|it| String::from_utf8(it).unwrap())
        };
        let named = "ref: refs/heads/x\tHEAD\n1\tHEAD\n1\trefs/heads/main\n1\trefs/heads/x\n";
        assert_eq!(head(named).as_deref(), Some("refs/heads/x"));
        let guessed = "1\tHEAD\n1\trefs/heads/a\n1\trefs/heads/main\n";
        assert_eq!(head(guessed).as_deref(), Some("refs/heads/main"));
        let other = "1\tHEAD\n2\trefs/heads/main\n1\trefs/heads/z\n1\trefs/tags/a\n";
        assert_eq!(head(other).as_deref(), Some("refs/heads/z"));
        assert_eq!(head("ref: --help\tHEAD\n"), None);
        assert_eq!(head(""), None);
    }

    #[test]
    fn references_are_compared_by_name_and_id() {
        let theirs =
            advertised("1\trefs/heads/a\n2\trefs/tags/v\n1\trefs/tags/v^{}\n9\trefs/pull/1/head\n");
        assert_eq!(theirs.ids.len(), 2);
        let ours = |output: &str| References::local(output.as_bytes(), b"refs/heads/a\n");
        assert_eq!(
            theirs.differing(&ours("1 refs/heads/a\n2 refs/tags/v\n")),
            0
        );
        assert_eq!(
            theirs.differing(&ours("3 refs/heads/a\n1 refs/heads/b\n")),
            3
        );
    }
}
