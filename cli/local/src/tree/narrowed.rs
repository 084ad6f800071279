//! Directories to enter for the files that can match, by what the process publishes.
//!
//! There is no table of the other files: the client walks the tree, and enters these directories.

use super::CANDIDATES_MAX;
use super::published::{Base, Publications};
use crate::condition::Condition;
use crate::place::Place;
use crate::watch::split;
use crate::{doorbell, mounts};
use anyhow::{Context, Result};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::mem;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Publications that are removed before they are read, since newer ones followed.
const READS_MAX: usize = 3;

/// Path of a directory, relative to the root, to names in it that may matter: files, and
/// directories that are searched like in a scan. Directories that are no key are not entered.
pub(crate) type Directories = HashMap<Vec<u8>, HashSet<Vec<u8>>>;

/// Answer of the index of a watched tree.
pub(crate) enum Answer {
    /// No process watches a tree around the directory.
    Unknown,
    /// The process does not answer, or its index is not current.
    Stale,
    /// Every file may match.
    All,
    Narrowed {
        root: PathBuf,
        directories: Directories,
    },
}

/// Asks for the directories to enter at or below `directory`, whose name in the walk is `named`.
pub(crate) fn ask(place: &Place, directory: &Path, named: &Path, condition: &Condition) -> Answer {
    if !place.is_served() {
        return Answer::Unknown;
    }
    let mut is_known = false;
    for root in directory.ancestors() {
        let publications = Publications::new(place.publications_of(root));
        let base = match current(&publications, root) {
            Ok(Some(base)) => base,
            Ok(None) => {
                is_known = true;
                continue;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(_) => return Answer::Stale,
        };
        return match narrow(&publications, base, directory, named, condition) {
            Ok(Some(directories)) => Answer::Narrowed {
                root: root.to_owned(),
                directories,
            },
            Ok(None) => Answer::All,
            // Replaced since it was read.
            Err(_) => Answer::Stale,
        };
    }
    match is_known {
        true => Answer::Stale,
        false => Answer::Unknown,
    }
}

/// Returns what is published of the tree at `root`, with each change before the call.
fn current(publications: &Publications, root: &Path) -> io::Result<Option<Base>> {
    let mut attempts = 1..=READS_MAX;
    loop {
        let number = doorbell::ring(&publications.bell())?;
        if number == 0 {
            return Ok(None);
        }
        match publications.read(number, root) {
            // Newer ones followed.
            Err(_) if attempts.next().is_some() => {}
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
            read => return read,
        }
    }
}

fn narrow(
    publications: &Publications,
    mut base: Base,
    directory: &Path,
    named: &Path,
    condition: &Condition,
) -> Result<Option<Directories>> {
    base.open
        .extend(mounts::below(&mut mounts::open()?, &base.root)?);
    if condition.follows_links {
        base.open.extend(mem::take(&mut base.links));
    }
    let below = directory.strip_prefix(OsStr::from_bytes(&base.root));
    let scope = below.context("another root")?.as_os_str().as_bytes();
    let mut narrowing = Narrowing::new(scope, &base.open);
    if !narrowing.is_searchable(scope) || !base.open.iter().all(|path| narrowing.add(path)) {
        return Ok(None);
    }
    let mut add = |path: &[u8]| {
        let is_selected = narrowing
            .below_scope(path)
            .is_some_and(|below| condition.selects(&named.join(OsStr::from_bytes(below))));
        !is_selected || narrowing.add(path)
    };
    let is_complete = base
        .each_text()
        .all(|(path, text)| !condition.has_match(text) || add(path))
        && publications
            .open(&base)?
            .each_candidate(&condition.query, add)?;
    Ok(is_complete.then_some(narrowing.directories))
}

/// Directories to enter, in progress.
struct Narrowing<'a> {
    scope: &'a [u8],
    /// Paths without a document, or with one that is out of date.
    open: &'a HashSet<Vec<u8>>,
    directories: Directories,
    count: usize,
}

impl<'a> Narrowing<'a> {
    fn new(scope: &'a [u8], open: &'a HashSet<Vec<u8>>) -> Narrowing<'a> {
        Narrowing {
            scope,
            open,
            // A directory without a key is one that the index does not know.
            directories: Directories::from([(scope.to_vec(), HashSet::new())]),
            count: 0,
        }
    }

    fn below_scope<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        match self.scope {
            [] => Some(path),
            scope => path.strip_prefix(scope)?.strip_prefix(b"/"),
        }
    }

    /// Adds a path with the directories above it. Returns false once there are too many.
    fn add(&mut self, path: &[u8]) -> bool {
        if self.below_scope(path).is_none() {
            return true;
        }
        let (directory, name) = split(path);
        if let Some(names) = self.directories.get_mut(directory) {
            names.insert(name.to_vec());
        } else {
            // Searched as a whole, since a directory above is open.
            if !self.is_searchable(directory) {
                return true;
            }
            let names = HashSet::from([name.to_vec()]);
            self.directories.insert(directory.to_vec(), names);
            let mut above = directory;
            while !above.is_empty() {
                above = split(above).0;
                self.directories.entry(above.to_vec()).or_default();
            }
        }
        self.count += 1;
        self.count <= CANDIDATES_MAX
    }

    /// Tests that a directory and all above it are known.
    fn is_searchable(&self, directory: &[u8]) -> bool {
        let mut path = directory;
        while !path.is_empty() {
            if self.open.contains(path) {
                return false;
            }
            path = split(path).0;
        }
        // The root itself.
        !self.open.contains(&b""[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::fmt::Write;

    fn check(open: &[&str], scope: &str, candidates: &[&str], expected: Expect) {
        let open: HashSet<Vec<u8>> = open.iter().map(|path| path.as_bytes().to_vec()).collect();
        let mut narrowing = Narrowing::new(scope.as_bytes(), &open);
        let mut text = String::new();
        if narrowing.is_searchable(scope.as_bytes()) {
            let open = open.iter().map(Vec::as_slice);
            let candidates = candidates.iter().map(|path| path.as_bytes());
            assert!(open.chain(candidates).all(|path| narrowing.add(path)));
            let mut lines: Vec<_> = narrowing.directories.iter().collect();
            lines.sort_by_key(|(directory, _)| *directory);
            for (directory, names) in lines {
                let mut names: Vec<_> = names
                    .iter()
                    .map(|name| String::from_utf8_lossy(name))
                    .collect();
                names.sort();
                let directory = String::from_utf8_lossy(directory);
                writeln!(text, "{directory}: {}", names.join(" ")).unwrap();
            }
        } else {
            text.push_str("all\n");
        }
        expected.assert_eq(&text);
    }

    #[test]
    fn a_narrowing_has_the_directories_above() {
        check(
            &[],
            "",
            &["a/b/x", "y"],
            expect![[r#"
                : y
                a: 
                a/b: x
            "#]],
        );
    }

    #[test]
    fn below_an_open_path_no_directory_is_known() {
        check(
            &["a/b"],
            "",
            &["a/b/x", "a/b/c/y", "a/bc/z"],
            expect![[r#"
                : 
                a: b
                a/bc: z
            "#]],
        );
        check(
            &["a", "a/b"],
            "",
            &["a/b/x"],
            expect![[r#"
                : a
            "#]],
        );
    }

    #[test]
    fn a_narrowing_is_limited_to_its_scope() {
        check(
            &["c"],
            "a/b",
            &["a/b/x", "a/y", "a/bc/z"],
            expect![[r#"
                a/b: x
            "#]],
        );
        check(&["a"], "a/b", &["a/b/x"], expect!["all\n"]);
        check(&[""], "", &["x"], expect!["all\n"]);
    }
}
