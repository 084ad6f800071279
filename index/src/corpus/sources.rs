//! Turns directories to packages.
//!
//! A package has the name of its directory. Two packages of the same name and version could not be
//! distinguished in a result, so they are an error, which is found before anything is indexed.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::CorpusError;
use schema::name::split_version;

/// A directory that is to be indexed as a package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Source {
    /// Absolute and canonical: no link, no `..`.
    pub directory: PathBuf,
    /// The last component of the directory. May be any bytes but `/` and NUL.
    pub name: Vec<u8>,
}

/// Returns the packages at `paths`, in the same order.
///
/// Each path is a package; with `each`, every directory directly inside it is one, in order of name,
/// except hidden directories (`.git`) and symbolic links. A path may be a link itself; the package
/// then has the name of the link's target.
///
/// # Errors
/// A path that is missing, not a directory, not readable or without a name; with `each`, a path
/// without a directory inside; two packages of the same name and version.
pub fn sources(paths: &[PathBuf], each: bool) -> Result<Vec<Source>, CorpusError> {
    let mut found = Vec::new();
    for path in paths {
        let directory = open(path)?;
        if each {
            found.extend(inside(path, &directory)?);
        } else {
            found.push(Source::new(directory, path)?);
        }
    }
    check_unique(&found)?;
    Ok(found)
}

impl Source {
    fn new(directory: PathBuf, given: &Path) -> Result<Source, CorpusError> {
        let name = directory.file_name().map(|name| name.as_bytes().to_vec());
        let name = name.ok_or_else(|| CorpusError::NoName(given.to_owned()))?;
        Ok(Source { directory, name })
    }

    /// Returns the absolute path of a file or directory of the package.
    pub(super) fn absolute(&self, path: &[u8]) -> PathBuf {
        if path.is_empty() {
            // `join` of an empty path would add a slash.
            return self.directory.clone();
        }
        self.directory.join(OsStr::from_bytes(path))
    }
}

/// Returns the canonical path of a directory that can be listed.
fn open(path: &Path) -> Result<PathBuf, CorpusError> {
    let opened = fs::canonicalize(path).and_then(|directory| {
        fs::read_dir(&directory)?;
        Ok(directory)
    });
    opened.map_err(|error| explain(path, error))
}

/// Converts the error of listing `path`.
pub(super) fn explain(path: &Path, source: io::Error) -> CorpusError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => CorpusError::Missing(path),
        io::ErrorKind::NotADirectory => CorpusError::NotADirectory(path),
        _ => CorpusError::Unreadable { path, source },
    }
}

/// Returns the packages directly inside `directory`, which was given as `given`.
fn inside(given: &Path, directory: &Path) -> Result<Vec<Source>, CorpusError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).map_err(|error| explain(given, error))? {
        let entry = entry.map_err(|error| explain(given, error))?;
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && !entry.file_name().as_bytes().starts_with(b".") {
            found.push(Source::new(entry.path(), given)?);
        }
    }
    if found.is_empty() {
        return Err(CorpusError::NoPackages(given.to_owned()));
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// Fails when two sources are the same package, such as `foo_1.0` and `foo-1.0`.
fn check_unique(sources: &[Source]) -> Result<(), CorpusError> {
    let mut seen = HashMap::new();
    for source in sources {
        if let Some(first) = seen.insert(split_version(&source.name), source) {
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

    /// Creates a directory with these directories inside.
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
    fn rejects_two_sources_of_one_name_and_version() {
        let root = tree(&["x/foo_1.0", "y/foo_1.0", "y/foo-1.0", "y/foo-2.0"]);
        let at = |path: &str| fs::canonicalize(root.path()).unwrap().join(path);
        for second in ["x/foo_1.0", "y/foo_1.0", "y/foo-1.0"] {
            let error = sources(&[at("x/foo_1.0"), at(second)], false)
                .unwrap_err()
                .to_string();
            let (first, second) = (at("x/foo_1.0"), at(second));
            let (first, second) = (first.display(), second.display());
            let expected = "two sources are the same package, `foo_1.0`: ";
            assert_eq!(error, format!("{expected}{first} and {second}"));
        }
        sources(&[at("x/foo_1.0"), at("y/foo-2.0")], false).unwrap();
    }
}
