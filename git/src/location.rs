//! Location of a repository, confined to its allowed directories.
//!
//! **Invariant:** every file that gix opens on its own is a regular file below one of the roots,
//! with links resolved: git directory, common directory, object directories of alternates, and
//! packs. References are checked when read.

use crate::error::{LookupError, Result, refused, unreadable};
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

const NAME_BYTES_MAX: usize = 1_024;

/// Bytes of a file that points to a directory.
const POINTER_BYTES_MAX: u64 = 64 << 10;

/// `FETCH_HEAD` has a line per branch.
const SMALL_FILE_BYTES_MAX: u64 = 4 << 20;

const ALTERNATES_MAX: usize = 32;

/// Files that gix reads by itself.
const FILES: [&str; 8] = [
    "HEAD",
    "config",
    "config.worktree",
    "packed-refs",
    "shallow",
    "info/grafts",
    "commondir",
    "gitdir",
];

/// Directories that gix enters by itself.
const DIRECTORIES: [&str; 6] = [
    "objects",
    "refs",
    "refs/heads",
    "refs/tags",
    "refs/remotes",
    "refs/replace",
];

#[derive(Debug, Clone)]
pub(crate) struct Location {
    pub(crate) roots: Roots,
    pub(crate) git_dir: PathBuf,
    /// Directory with `objects` and `refs`; another one in an additional work tree.
    pub(crate) common_dir: PathBuf,
    /// Object directories, its own first.
    pub(crate) objects: Vec<PathBuf>,
}

/// Canonical directories that may hold a repository.
#[derive(Debug, Clone)]
pub(crate) struct Roots {
    directories: Vec<PathBuf>,
    outside: &'static str,
}

impl Roots {
    pub(crate) fn of_repositories(root: &Path) -> Roots {
        Roots {
            directories: vec![root.to_owned()],
            outside: "lies outside the directory of repositories",
        }
    }

    /// Directories allowed for objects while indexing.
    pub(crate) fn of_source(directories: Vec<PathBuf>) -> Roots {
        Roots {
            directories,
            outside: "lies outside the repository and the directory that holds it; if you trust it, \
                      allow the directory with --alternates-root",
        }
    }

    fn contain(&self, path: &Path) -> bool {
        self.directories.iter().any(|root| path.starts_with(root))
    }

    /// Relative to the first root, which only the operator may know.
    fn shown(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.directories[0]).unwrap_or(path);
        shown.display().to_string()
    }
}

/// `root` is canonical.
pub(crate) fn locate(root: &Path, name: &str) -> Result<Option<Location>> {
    check_name(name)?;
    let path = root.join(name);
    let mut bare = path.clone().into_os_string();
    bare.push(".git");
    let roots = Roots::of_repositories(root);
    let work_tree = path.join(".git");
    if name.ends_with(".git") {
        // A bare repository has one name, since access is decided by name.
        return locate_among(&roots, [work_tree]);
    }
    locate_among(&roots, [work_tree, path, PathBuf::from(bare)])
}

pub(crate) fn locate_at(roots: &Roots, path: &Path) -> Result<Option<Location>> {
    locate_among(roots, [path.join(".git"), path.to_owned()])
}

fn locate_among(
    roots: &Roots,
    candidates: impl IntoIterator<Item = PathBuf>,
) -> Result<Option<Location>> {
    for candidate in candidates {
        if let Some(git_dir) = git_dir(roots, &candidate)? {
            return confine(roots, git_dir).map(Some);
        }
    }
    Ok(None)
}

pub(crate) fn is_git_dir(path: &Path) -> bool {
    let is_dir = |name: &str| path.join(name).is_dir();
    path.join("HEAD").symlink_metadata().is_ok()
        && ((is_dir("objects") && is_dir("refs")) || path.join("commondir").is_file())
}

/// Err: an irregular or too large file, or a link out of the roots.
pub(crate) fn is_file_below(roots: &Roots, base: &Path, name: &Path) -> Result<bool> {
    let mut path = base.to_owned();
    let mut has_link = false;
    let mut last: Option<Metadata> = None;
    for part in name.components() {
        path.push(part);
        match path.symlink_metadata() {
            Ok(metadata) => {
                has_link |= metadata.is_symlink();
                last = Some(metadata);
            }
            Err(error) if is_absent(&error) => return Ok(false),
            Err(error) => return Err(unreadable(&path, &error)),
        }
    }
    let Some(mut metadata) = last else {
        return Ok(false);
    };
    if has_link {
        let Some(real) = real_path(roots, &path)? else {
            return Ok(false);
        };
        metadata = real.metadata().map_err(|error| unreadable(&path, &error))?;
    }
    if metadata.is_dir() {
        return Ok(false);
    }
    check_file(&path, &metadata, SMALL_FILE_BYTES_MAX)?;
    Ok(true)
}

fn check_name(name: &str) -> Result<()> {
    let refused = |why: &str| {
        let shown: String = name.chars().take(200).collect();
        Err(refused!("{shown:?} is no name of a repository: {why}"))
    };
    let has = |is_bad: fn(&str) -> bool| name.split('/').any(is_bad);
    let is_normal = |part| matches!(part, Component::Normal(_));
    if name.is_empty() {
        refused("it is empty")
    } else if name.len() > NAME_BYTES_MAX {
        refused("it is too long")
    } else if name.contains('\0') {
        refused("it has a NUL")
    } else if has(|part| matches!(part, "" | "." | "..")) {
        refused("a part between slashes is empty, `.` or `..`")
    } else if has(|part| part.eq_ignore_ascii_case(".git")) {
        refused("`.git` is no part of a name")
    } else if !Path::new(name).components().all(is_normal) {
        refused("it is no relative path")
    } else {
        Ok(())
    }
}

/// The path itself, or named by a file `.git`.
fn git_dir(roots: &Roots, path: &Path) -> Result<Option<PathBuf>> {
    let Some(real) = real_path(roots, path)? else {
        return Ok(None);
    };
    if real.is_dir() {
        return Ok(is_git_dir(&real).then_some(real));
    }
    if path.file_name().is_none_or(|name| name != ".git") {
        return Ok(None);
    }
    let text = read_pointer(&real)?.unwrap_or_default();
    let Some(target) = text.strip_prefix("gitdir: ") else {
        return Ok(None);
    };
    let target = real.parent().unwrap_or(path).join(target);
    let real = real_path(roots, &target)?;
    Ok(real.filter(|real| is_git_dir(real)))
}

fn confine(roots: &Roots, git_dir: PathBuf) -> Result<Location> {
    check_entries(roots, &git_dir)?;
    let common_dir = match read_pointer(&git_dir.join("commondir"))? {
        None => git_dir.clone(),
        Some(common) => {
            let common = real_path(roots, &git_dir.join(common))?;
            common.ok_or_else(|| {
                unreadable!("the repository that this work tree belongs to does not exist")
            })?
        }
    };
    if common_dir != git_dir {
        check_entries(roots, &common_dir)?;
    }
    let objects = object_directories(roots, common_dir.join("objects"))?;
    Ok(Location {
        roots: roots.clone(),
        git_dir,
        common_dir,
        objects,
    })
}

fn check_entries(roots: &Roots, git_dir: &Path) -> Result<()> {
    for name in FILES {
        let path = git_dir.join(name);
        let Some(real) = real_path(roots, &path)? else {
            continue;
        };
        let metadata = real.metadata().map_err(|error| unreadable(&path, &error))?;
        let most = match name {
            // Mapped.
            "packed-refs" | "shallow" | "info/grafts" => u64::MAX,
            _ => SMALL_FILE_BYTES_MAX,
        };
        check_file(&path, &metadata, most)?;
    }
    for name in DIRECTORIES {
        real_path(roots, &git_dir.join(name))?;
    }
    Ok(())
}

/// An object directory and its alternates, each checked.
pub(crate) fn object_directories(roots: &Roots, own: PathBuf) -> Result<Vec<PathBuf>> {
    check_object_directory(roots, &own)?;
    let mut directories = vec![own.clone()];
    let mut index = 0;
    while let Some(directory) = directories.get(index) {
        let path = directory.join("info/alternates");
        if let Some(real) = real_path(roots, &path)? {
            let metadata = real.metadata().map_err(|error| unreadable(&path, &error))?;
            check_file(&path, &metadata, POINTER_BYTES_MAX)?;
            let bytes = fs::read(&real).map_err(|error| unreadable(&path, &error))?;
            let damaged = |_| unreadable!("the file `objects/info/alternates` is damaged");
            let named = gix::odb::alternate::parse(&bytes).map_err(damaged)?;
            for alternate in named {
                // Gix resolves all from the repository's own directory.
                let alternate = own.join(alternate);
                let Some(real) = real_path(roots, &alternate)? else {
                    continue;
                };
                if !directories.contains(&real) {
                    check_object_directory(roots, &real)?;
                    directories.push(real);
                }
            }
        }
        index += 1;
        if directories.len() > ALTERNATES_MAX {
            return Err(refused!(
                "the repository takes objects from more than {ALTERNATES_MAX} others"
            ));
        }
    }
    Ok(directories)
}

/// Checks symbolic links, also of packs.
fn check_object_directory(roots: &Roots, directory: &Path) -> Result<()> {
    for directory in [
        directory.to_owned(),
        directory.join("pack"),
        directory.join("info"),
    ] {
        if real_path(roots, &directory)?.is_none() {
            continue;
        }
        let entries = fs::read_dir(&directory).map_err(|error| unreadable(&directory, &error))?;
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_symlink() {
                real_path(roots, &entry.path())?;
            } else if !kind.is_dir() && !kind.is_file() {
                return Err(no_file(&entry.path()));
            }
        }
    }
    Ok(())
}

/// Path without symbolic links, `None` if absent. Err: outside the roots.
fn real_path(roots: &Roots, path: &Path) -> Result<Option<PathBuf>> {
    match fs::canonicalize(path) {
        Ok(real) if roots.contain(&real) => Ok(Some(real)),
        Ok(_) => Err(refused!(
            "{} of the repository {}",
            roots.shown(path),
            roots.outside
        )),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn read_pointer(path: &Path) -> Result<Option<String>> {
    let metadata = match path.metadata() {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(unreadable(path, &error)),
    };
    check_file(path, &metadata, POINTER_BYTES_MAX)?;
    let text = fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}

fn check_file(path: &Path, metadata: &Metadata, bytes_max: u64) -> Result<()> {
    if !metadata.is_file() {
        return Err(no_file(path));
    }
    if metadata.len() > bytes_max {
        let name = file_name(path);
        return Err(unreadable!("{name} has more than {bytes_max} bytes"));
    }
    Ok(())
}

fn no_file(path: &Path) -> LookupError {
    unreadable!("{} of the repository is no regular file", file_name(path))
}

fn unreadable(path: &Path, error: &io::Error) -> LookupError {
    unreadable!("cannot read {} of the repository: {error}", file_name(path))
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// True if nothing is there; also for a link to itself.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename
    ) || error.raw_os_error() == Some(LOOP)
}

/// `ELOOP` of Linux.
const LOOP: i32 = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_relative_path_without_dots() {
        for name in ["a", "a/b", "foo.git", "..a", "a..b", "-x", "a b"] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        let long = "x".repeat(2_000);
        for name in [
            "", "/a", "a/", "a//b", ".", "..", "a/../b", "a\0b", ".git", "a/.GIT/b", &long,
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
