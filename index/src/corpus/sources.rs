//! Directories to packages, each named after its directory. Duplicate names would be ambiguous in
//! results: an error, found before indexing.

use super::rules::{Rules, Verdict};
use super::{CorpusError, SkipReason};
use crate::directory::is_index;
use crate::format::NAME_BYTES_MAX;
use crate::manifest::Beside;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Source {
    /// Canonical, without links or `..`.
    pub directory: PathBuf,
    /// Any bytes but `/` and NUL.
    pub name: Vec<u8>,
    /// The name may end in a version, since it comes from a directory of packages.
    pub is_versioned: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Packages {
    /// By path.
    pub sources: Vec<Source>,
    /// Directories of packages (`each`), canonical.
    pub parents: Vec<PathBuf>,
    /// Entries beside packages, by parent and path.
    pub beside: Vec<Beside>,
}

/// The rest is counted.
pub const BESIDE_LISTED_MAX: usize = 10_000;

/// Packages at `paths`.
///
/// Each path is a package; with `each`, every directory directly inside is one, by name. Hidden
/// directories, files, links, indexes and (without `no_ignore`) excluded entries go to
/// [`Packages::beside`]. A path that is a link takes the name of its target.
///
/// # Errors
/// A path that is missing, unreadable, nameless, not a directory or without files; with `each`, a
/// path without packages; two packages of one name.
pub fn packages(paths: &[PathBuf], each: bool, no_ignore: bool) -> Result<Packages, CorpusError> {
    let mut found = Packages::default();
    for path in paths {
        let directory = open(path)?;
        if each {
            found.add_inside(path, directory, no_ignore)?;
        } else {
            if !holds_file(&directory) {
                return Err(CorpusError::Empty(path.clone()));
            }
            found.sources.push(Source::new(directory, path, false)?);
        }
    }
    check_unique(&found.sources)?;
    Ok(found)
}

pub fn sources(paths: &[PathBuf], each: bool) -> Result<Vec<Source>, CorpusError> {
    if each {
        return packages(paths, true, false).map(|found| found.sources);
    }
    let found = paths
        .iter()
        .map(|path| Source::new(open(path)?, path, false));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    check_unique(&found)?;
    Ok(found)
}

impl Packages {
    fn add_inside(
        &mut self,
        given: &Path,
        directory: PathBuf,
        no_ignore: bool,
    ) -> Result<(), CorpusError> {
        let rules = (!no_ignore).then(|| Rules::above(&directory).enter(&directory, b""));
        let (mut sources, mut beside, mut more) = (Vec::new(), Vec::new(), 0);
        for entry in fs::read_dir(&directory).map_err(|error| explain(given, error))? {
            let entry = entry.map_err(|error| explain(given, error))?;
            match why_beside(&entry, rules.as_ref()) {
                None => sources.push(Source::new(entry.path(), given, true)?),
                Some(_) if beside.len() == BESIDE_LISTED_MAX => more += 1,
                Some(reason) => beside.push(Beside {
                    path: entry.path().into_os_string().into_vec(),
                    reason: reason.to_string(),
                }),
            }
        }
        if sources.is_empty() {
            return Err(CorpusError::NoPackages(given.to_owned()));
        }
        sources.sort_by(|a, b| a.name.cmp(&b.name));
        self.sources.extend(sources);
        beside.sort_by(|a, b| a.path.cmp(&b.path));
        if more > 0 {
            beside.push(Beside {
                path: directory.clone().into_os_string().into_vec(),
                reason: format!("{more} more beside the packages (BESIDE_LISTED_MAX)"),
            });
        }
        self.beside.extend(beside);
        self.parents.push(directory);
        Ok(())
    }
}

fn why_beside(entry: &fs::DirEntry, rules: Option<&Rules>) -> Option<SkipReason> {
    let (path, name) = (entry.path(), entry.file_name());
    let kind = match entry.file_type() {
        Ok(kind) => kind,
        Err(error) => return Some(SkipReason::Unreadable(error.to_string())),
    };
    if name.as_bytes() == b".git" {
        return Some(SkipReason::GitDirectory);
    }
    if let Some(Verdict::Excluded(rule)) = rules.map(|rules| rules.judge(&path, kind.is_dir())) {
        return Some(SkipReason::Ignored(rule));
    }
    match kind {
        _ if kind.is_dir() && is_index(&path) => Some(SkipReason::Index),
        _ if kind.is_dir() && name.as_bytes().starts_with(b".") => Some(SkipReason::Hidden),
        _ if kind.is_dir() => None,
        _ if kind.is_symlink() => Some(SkipReason::Symlink),
        _ if kind.is_file() => Some(SkipReason::Loose),
        _ => Some(SkipReason::NotRegular),
    }
}

/// True if anything but a directory is below, outside of `.git`.
fn holds_file(directory: &Path) -> bool {
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_name() == ".git" {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                _ => return true,
            }
        }
    }
    false
}

impl Source {
    fn new(directory: PathBuf, given: &Path, is_versioned: bool) -> Result<Source, CorpusError> {
        let name = directory.file_name().map(|name| name.as_bytes().to_vec());
        let name = name.ok_or_else(|| CorpusError::NoName(given.to_owned()))?;
        Ok(Source {
            directory,
            name,
            is_versioned,
        })
    }

    /// Path that the operating system accepts, at any depth. Paths beyond
    /// [`NAME_BYTES_MAX`] are errors.
    pub(super) fn reach(&self, path: &[u8]) -> io::Result<ReachedPath> {
        let absolute = self.absolute(path);
        if absolute.as_os_str().len() <= SYSTEM_PATH_BYTES_MAX || !cfg!(target_os = "linux") {
            return Ok(ReachedPath {
                path: absolute,
                _above: None,
            });
        }
        check_length(path).map_err(io::Error::other)?;
        let (mut rest, mut above) = (absolute.as_os_str().as_bytes(), None);
        while rest.len() > SYSTEM_PATH_BYTES_MAX {
            let cut = memchr::memrchr(b'/', &rest[..SYSTEM_PATH_BYTES_MAX]);
            let cut = cut.ok_or(io::ErrorKind::InvalidFilename)?;
            // The dot makes opening anything but a directory fail; a pipe would block.
            let directory = [&rest[..cut], b"/."].concat();
            above = Some(fs::File::open(below(above.as_ref(), &directory))?);
            rest = &rest[cut + 1..];
        }
        Ok(ReachedPath {
            path: below(above.as_ref(), rest),
            _above: above,
        })
    }

    /// May be too long for the operating system.
    pub(super) fn absolute(&self, path: &[u8]) -> PathBuf {
        if path.is_empty() {
            // `join` of an empty path adds a slash.
            return self.directory.clone();
        }
        self.directory.join(OsStr::from_bytes(path))
    }
}

/// The operating system takes 4,095 bytes; the rest is for the prefix of an open directory.
const SYSTEM_PATH_BYTES_MAX: usize = 4000;

pub(super) struct ReachedPath {
    pub(super) path: PathBuf,
    _above: Option<fs::File>,
}

fn below(directory: Option<&fs::File>, path: &[u8]) -> PathBuf {
    let path = Path::new(OsStr::from_bytes(path));
    match directory {
        Some(directory) => {
            Path::new(&format!("/proc/self/fd/{}", directory.as_raw_fd())).join(path)
        }
        None => path.to_owned(),
    }
}

pub(crate) fn check_length(path: &[u8]) -> Result<(), String> {
    if path.len() <= NAME_BYTES_MAX as usize {
        return Ok(());
    }
    Err(format!(
        "its path has more than {NAME_BYTES_MAX} bytes (NAME_BYTES_MAX)"
    ))
}

fn open(path: &Path) -> Result<PathBuf, CorpusError> {
    let opened = fs::canonicalize(path).and_then(|directory| {
        fs::read_dir(&directory)?;
        Ok(directory)
    });
    opened.map_err(|error| explain(path, error))
}

pub(super) fn explain(path: &Path, source: io::Error) -> CorpusError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => CorpusError::Missing(path),
        io::ErrorKind::NotADirectory => CorpusError::NotADirectory(path),
        _ => CorpusError::Unreadable { path, source },
    }
}

fn check_unique(sources: &[Source]) -> Result<(), CorpusError> {
    let mut seen = HashMap::new();
    for source in sources {
        if let Some(first) = seen.insert(&source.name, source) {
            return Err(CorpusError::Duplicate {
                package: String::from_utf8_lossy(&first.name).into_owned(),
                first: first.directory.clone(),
                second: source.directory.clone(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree(directories: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for directory in directories {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        root
    }

    fn names(sources: &[Source]) -> Vec<&[u8]> {
        sources
            .iter()
            .map(|source| source.name.as_slice())
            .collect()
    }

    #[test]
    fn a_source_has_the_name_of_its_directory() {
        let root = tree(&["b_1.0/inner", "a"]);
        symlink("b_1.0", root.path().join("link")).unwrap();
        let paths = ["link", "b_1.0/inner/..", "a/"].map(|path| root.path().join(path));
        for path in &paths[..2] {
            let found = sources(std::slice::from_ref(path), false).unwrap();
            assert_eq!(names(&found), [b"b_1.0"]);
            assert_eq!(
                found[0].directory,
                fs::canonicalize(root.path()).unwrap().join("b_1.0")
            );
        }
        assert_eq!(
            names(&sources(&paths[1..], false).unwrap()),
            [&b"b_1.0"[..], b"a"]
        );
        assert_eq!(sources(&[], true).unwrap(), []);
    }

    #[test]
    fn each_takes_the_directories_inside_in_order_of_name() {
        let root = tree(&["one/b", "one/a", "one/.git", "one/B", "two/c"]);
        fs::write(root.path().join("one/file"), "").unwrap();
        symlink("a", root.path().join("one/link")).unwrap();
        fs::create_dir(root.path().join("one").join(OsStr::from_bytes(b"\xff"))).unwrap();
        let paths = ["two", "one"].map(|path| root.path().join(path));
        let found = sources(&paths, true).unwrap();
        assert_eq!(names(&found), [&b"c"[..], b"B", b"a", b"b", b"\xff"]);
    }

    #[test]
    fn each_says_what_it_leaves_out_beside_the_packages() {
        let root = tree(&["p/a", "p/.git", "p/.cache", "p/out", "p/index"]);
        let at = |path: &str| root.path().join("p").join(path);
        fs::write(at(".gitignore"), "out\n*.o\n").unwrap();
        fs::write(at("x.o"), "").unwrap();
        fs::write(at("README"), "").unwrap();
        fs::write(at("index/lock"), "a Trawl index's lock.\n").unwrap();
        symlink("a", at("link")).unwrap();
        let paths = [root.path().join("p")];
        let found = packages(&paths, true, false).unwrap();
        assert_eq!(names(&found.sources), [b"a"]);
        let parent = fs::canonicalize(&paths[0]).unwrap();
        assert_eq!(found.parents.first(), Some(&parent));
        let beside = found.beside.iter().map(|it| {
            let path = Path::new(OsStr::from_bytes(&it.path));
            let path = path.strip_prefix(&parent).unwrap().display();
            format!("{path}: {}", it.reason)
        });
        let expected = [
            ".cache: a hidden directory beside the packages",
            ".git: git's own data",
            ".gitignore: a file beside the packages, in none of them",
            "README: a file beside the packages, in none of them",
            "index: an index of Trawl",
            "link: a symbolic link",
            "out: excluded by .gitignore:1:out",
            "x.o: excluded by .gitignore:2:*.o",
        ];
        assert_eq!(beside.collect::<Vec<_>>(), expected);
        let all = packages(&paths, true, true).unwrap();
        assert_eq!(names(&all.sources), [&b"a"[..], b"out"]);
    }

    #[test]
    fn a_source_without_files_is_an_error() {
        let root = tree(&["void/inner", "void/.git/objects", "full"]);
        fs::write(root.path().join("void/.git/HEAD"), "").unwrap();
        fs::write(root.path().join("full/x"), "").unwrap();
        let error = packages(&[root.path().join("void")], false, false).unwrap_err();
        let text = error.to_string();
        assert!(text.ends_with("void: contains no file to index"), "{text}");
        packages(&[root.path().join("full")], false, false).unwrap();
    }

    fn check_error(path: &Path, each: bool, expected: &str) {
        let error = sources(&[path.to_owned()], each).unwrap_err().to_string();
        assert_eq!(error, format!("{}: {expected}", path.display()));
    }

    #[test]
    fn errors_name_the_path() {
        let root = tree(&["empty/.hidden"]);
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        check_error(&root.path().join("none"), false, "no such directory");
        check_error(&root.path().join("none"), true, "no such directory");
        check_error(&file, false, "not a directory");
        check_error(&file.join("below"), false, "not a directory");
        let no_packages = "contains no directory that could be a package";
        check_error(&root.path().join("empty"), true, no_packages);
        let no_name =
            "the root directory cannot be a package, which needs a name; name a directory below it";
        check_error(Path::new("/"), false, no_name);
    }

    #[test]
    fn rejects_two_sources_of_one_name() {
        let root = tree(&["x/foo_1.0", "y/foo_1.0", "y/foo-1.0"]);
        let at = |path: &str| fs::canonicalize(root.path()).unwrap().join(path);
        for second in ["x/foo_1.0", "y/foo_1.0"] {
            let error = sources(&[at("x/foo_1.0"), at(second)], false)
                .unwrap_err()
                .to_string();
            let (first, second) = (at("x/foo_1.0"), at(second));
            let (first, second) = (first.display(), second.display());
            let expected = "two sources are the same package, `foo_1.0`: ";
            assert_eq!(error, format!("{expected}{first} and {second}"));
        }
        sources(&[at("x/foo_1.0"), at("y/foo-1.0")], false).unwrap();
    }
}
