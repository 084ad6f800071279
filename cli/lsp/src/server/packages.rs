//! Packages with a directory: known, or learned from files of the editor.

use super::files::{file, read, relative};
use crate::{Corpus, Found, Place};
use lsp_types::InitializeParams;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};

const SUFFIXES_MAX: usize = 32;
const CANDIDATES_MAX: usize = 200;

const PACKAGES_MAX: usize = 1000;
const OTHERS_MAX: usize = 10_000;

pub(super) struct Packages {
    list: RwLock<Vec<(Vec<u8>, PathBuf)>>,
    is_whole: bool,
    folders: RwLock<Vec<PathBuf>>,
    /// Files without a document.
    others: Mutex<HashSet<PathBuf>>,
}

impl Packages {
    pub(super) fn new(known: Vec<(Vec<u8>, PathBuf)>) -> Packages {
        Packages {
            is_whole: !known.is_empty(),
            list: RwLock::new(known),
            folders: RwLock::default(),
            others: Mutex::default(),
        }
    }

    pub(super) fn set_folders(&self, params: &InitializeParams) {
        let folders = params.workspace_folders.iter().flatten().map(|it| &it.uri);
        #[expect(deprecated, reason = "older editors send it")]
        let folders = folders.chain(&params.root_uri).take(PACKAGES_MAX);
        let folders = folders.filter_map(|uri| file(uri.as_str())?.canonicalize().ok());
        *(self.folders.write()).unwrap_or_else(PoisonError::into_inner) = folders.collect();
    }

    /// Only document with the text of a file, or with its path in a package named like a directory
    /// around it.
    pub(super) fn locate(&self, file: &Path, text: &[u8], corpus: &dyn Corpus) -> Option<Place> {
        let others = || self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_whole || others().contains(file) {
            return None;
        }
        let found = match &suffixes(file)[..] {
            [] => Vec::new(),
            paths => corpus.search(&paths.join(" "), CANDIDATES_MAX).ok()?,
        };
        let hash = hash(text);
        let rated = found.into_iter().filter_map(|it| {
            let root = root_of(file, &it.place.path)?;
            let (is_same, is_named) = (it.hash == hash, is_named(root, &it.place.package));
            let rate = (is_same, is_named, it.place.path.len());
            (is_same || is_named).then_some((rate, it.place, root))
        });
        let mut rated: Vec<_> = rated.collect();
        rated.sort_by(|a, b| (a.0, &a.1.package).cmp(&(b.0, &b.1.package)));
        let best = rated.pop();
        let is_clear = |rate: (bool, bool, usize)| rate.1 || rated.iter().all(|it| it.0 != rate);
        let Some((_, place, root)) = best.filter(|(rate, ..)| is_clear(*rate)) else {
            let mut others = others();
            if others.len() < OTHERS_MAX {
                others.insert(file.to_owned());
            }
            return None;
        };
        self.learn(&place.package, root);
        Some(place)
    }

    fn learn(&self, package: &[u8], root: &Path) {
        let (packages, new) = (self.list.write(), (package.to_owned(), root.to_owned()));
        let mut packages = packages.unwrap_or_else(PoisonError::into_inner);
        if packages.len() < PACKAGES_MAX && !packages.contains(&new) {
            packages.push(new);
        }
    }

    /// File with the text of a match, in a folder of the editor.
    pub(super) fn same_file(&self, found: &Found) -> Option<PathBuf> {
        let folders = self.folders.read().unwrap_or_else(PoisonError::into_inner);
        let (package, path) = (relative(&found.place.package), relative(&found.place.path)?);
        let below = folders.iter().filter_map(|it| Some(it.join(package?)));
        let roots = folders.iter().cloned().chain(below);
        let is_same =
            |root: &PathBuf| read(&root.join(path)).is_some_and(|text| hash(&text) == found.hash);
        let root = roots.filter(|_| !self.is_whole).find(is_same)?;
        self.learn(&found.place.package, &root);
        Some(root.join(path))
    }

    pub(super) fn place_of(&self, file: &Path) -> Option<Place> {
        let packages = self.list.read().unwrap_or_else(PoisonError::into_inner);
        let below = packages.iter().filter(|(_, root)| file.starts_with(root));
        let (package, root) = below.max_by_key(|(_, root)| root.as_os_str().len())?;
        let path = file.strip_prefix(root).ok()?.as_os_str().as_bytes();
        Some(Place {
            package: package.clone(),
            path: path.to_vec(),
        })
    }

    pub(super) fn file_of(&self, place: &Place) -> Option<PathBuf> {
        let path = relative(&place.path)?;
        let named = |(package, _): &&(Vec<u8>, PathBuf)| *package == place.package;
        let packages = self.list.read().unwrap_or_else(PoisonError::into_inner);
        let mut files = packages
            .iter()
            .filter(named)
            .map(|(_, root)| root.join(path));
        files.find(|file| file.is_file())
    }
}

fn hash(text: &[u8]) -> String {
    blake3::hash(text).to_hex().to_string()
}

/// Filters for paths of the file in a package.
fn suffixes(file: &Path) -> Vec<String> {
    let file = file
        .to_str()
        .filter(|it| !it.contains(['"', '\\', '\n', '\r']));
    let file = file.unwrap_or_default();
    let starts = file.rmatch_indices('/').take(SUFFIXES_MAX);
    starts
        .map(|(at, _)| format!("path:=\"{}\"", &file[at + 1..]))
        .collect()
}

fn root_of<'f>(file: &'f Path, path: &[u8]) -> Option<&'f Path> {
    let root = file.as_os_str().as_bytes().strip_suffix(path)?;
    let root = root.strip_suffix(b"/").filter(|it| !it.is_empty())?;
    Some(Path::new(OsStr::from_bytes(root)))
}

/// True for the name of the package, maybe without version.
fn is_named(root: &Path, package: &[u8]) -> bool {
    let name = root.file_name().unwrap_or_default().as_bytes();
    let rest = package.strip_prefix(name).filter(|_| !name.is_empty());
    rest.is_some_and(|rest| matches!(rest, [] | [b'_' | b'-', b'0'..=b'9', ..]))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{CorpusError, Named};

    #[derive(Default)]
    pub(in crate::server) struct Evil(Vec<Found>);

    impl Corpus for Evil {
        fn search(&self, _: &str, _: usize) -> Result<Vec<Found>, CorpusError> {
            Ok(self.0.clone())
        }

        fn named(&self, _: &Named<'_>, _: usize) -> Result<Vec<Found>, CorpusError> {
            Ok(Vec::new())
        }

        fn text(&self, _: &Place) -> Result<Option<Vec<u8>>, CorpusError> {
            Ok(Some(b"evil".to_vec()))
        }

        fn cancel(&self) {}
    }

    pub(in crate::server) fn found(package: &[u8], path: &[u8], text: &str) -> Found {
        let (package, path) = (package.to_vec(), path.to_vec());
        Found {
            place: Place { package, path },
            hash: hash(text.as_bytes()),
            ..Found::default()
        }
    }

    #[test]
    fn files_are_documents_with_their_text_or_path() {
        let documents = [
            ("curl_8.0", "lib/a.c"),
            ("curl_8.0", "a.c"),
            ("curly_1", "lib/a.c"),
            ("b", "lib/a.c"),
        ];
        let documents = documents.map(|(it, path)| found(it.as_bytes(), path.as_bytes(), it));
        let check = |file: &str, text: &str, expected: Option<(&str, &str)>| {
            let places = Packages::new(Vec::new());
            let corpus = Evil(documents.to_vec());
            let found = places.locate(Path::new(file), text.as_bytes(), &corpus);
            let place = |(package, path): (&str, &str)| Place {
                package: package.into(),
                path: path.into(),
            };
            assert_eq!(found, expected.map(place), "{file} {text:?}");
            assert_eq!(places.place_of(Path::new(file)), found);
        };
        check("/x/curl/lib/a.c", "edited", Some(("curl_8.0", "lib/a.c")));
        check("/x/curl/a.c", "edited", Some(("curl_8.0", "a.c")));
        check("/x/curl/lib/a.c", "b", Some(("b", "lib/a.c")));
        check("/x/lib/a.c", "curl_8.0", Some(("curl_8.0", "lib/a.c")));
        check("/lib/a.c", "b", None);
        check("/x/lib/a.c", "edited", None);
        check("/x/curl-new/lib/a.c", "edited", None);
    }
}
