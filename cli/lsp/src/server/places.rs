//! Documents behind URIs: files of packages on disk, copies in the cache, `trawl://package/path`.

use super::cache::TextCache;
use crate::{Corpus, Found, Workspace};
use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const SCHEME: &str = "trawl://";

/// Files of a response that are copied into the cache. Later ones get a URI that few editors open.
pub(super) const COPIES_MAX: usize = 64;

/// Text of a file that is read. Longer ones are data.
pub(super) const TEXT_BYTES_MAX: u64 = 32 << 20;

/// Characters that stay as they are in the path of a URI.
const IN_PATH: AsciiSet = NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'-')
    .remove(b'_');
const IN_COMPONENT: AsciiSet = IN_PATH.add(b'/').remove(b'+');

/// Document of the corpus.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) package: Vec<u8>,
    pub(super) path: Vec<u8>,
}

/// Document that an editor names.
#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    /// `None` for another URI.
    pub(super) file: Option<PathBuf>,
    /// `None` outside of the corpus.
    pub(super) place: Option<Place>,
}

pub(super) struct Places {
    packages: Vec<(Vec<u8>, PathBuf)>,
    cache: Option<TextCache>,
}

impl Places {
    pub(super) fn new(workspace: Workspace) -> Places {
        Places {
            packages: workspace.packages,
            cache: workspace.cache.map(TextCache::new),
        }
    }

    pub(super) fn document(&self, uri: &str) -> Document {
        if let Some(rest) = uri.strip_prefix(SCHEME) {
            let place = rest.split_once('/').map(|(package, path)| Place {
                package: percent_decode_str(package).collect(),
                path: percent_decode_str(path).collect(),
            });
            return Document { file: None, place };
        }
        let file = file(uri);
        let place = file.as_deref().and_then(|file| {
            let resolved = file.canonicalize();
            let resolved = resolved.as_deref().unwrap_or(file);
            self.place_of(file).or_else(|| self.place_of(resolved))
        });
        Document { file, place }
    }

    fn place_of(&self, file: &Path) -> Option<Place> {
        if let Some((package, path)) = self.cache.as_ref().and_then(|cache| cache.split(file)) {
            let package = package.as_os_str().as_bytes();
            return Some(Place {
                package: percent_encoding::percent_decode(package).collect(),
                path: path.as_os_str().as_bytes().to_vec(),
            });
        }
        let below = |(package, root): &(Vec<u8>, PathBuf)| {
            let path = file.strip_prefix(root).ok()?.as_os_str().as_bytes();
            let depth = root.as_os_str().len();
            Some((
                depth,
                Place {
                    package: package.clone(),
                    path: path.to_vec(),
                },
            ))
        };
        let below = self.packages.iter().filter_map(below);
        below
            .max_by_key(|(depth, _)| *depth)
            .map(|(_, place)| place)
    }

    /// File on disk of a document, if there is one.
    pub(super) fn file_of(&self, place: &Place) -> Option<PathBuf> {
        let path = relative(&place.path)?;
        let named = |(package, _): &&(Vec<u8>, PathBuf)| *package == place.package;
        let mut files = self
            .packages
            .iter()
            .filter(named)
            .map(|(_, root)| root.join(path));
        files.find(|file| file.is_file())
    }

    /// URI that an editor can open: a file on disk, else a copy if `copies` are left.
    pub(super) fn uri(
        &self,
        found: &Found,
        corpus: &dyn Corpus,
        copies: &mut usize,
    ) -> Option<Uri> {
        let place = Place::of(found);
        if let Some(file) = self.file_of(&place) {
            return file_uri(&file);
        }
        let copy = self.cache.as_ref().and_then(|cache| {
            let package = percent_encode(&place.package, &IN_COMPONENT).to_string();
            let name = relative(package.as_bytes())?.join(relative(&place.path)?);
            cache.get_or_write(&name, &found.hash, || {
                *copies = copies.checked_sub(1)?;
                corpus.text(&place.package, &place.path).ok()?
            })
        });
        copy.map_or_else(|| place.uri(), |file| file_uri(&file))
    }
}

impl Place {
    pub(super) fn of(found: &Found) -> Place {
        Place {
            package: found.package.clone(),
            path: found.path.clone(),
        }
    }

    fn uri(&self) -> Option<Uri> {
        let package = percent_encode(&self.package, &IN_COMPONENT);
        let path = percent_encode(&self.path, &IN_PATH);
        format!("{SCHEME}{package}/{path}").parse().ok()
    }
}

/// Path of names alone: relative, without `.`, `..` and NUL. `None` for others.
fn relative(path: &[u8]) -> Option<&Path> {
    let parsed = Path::new(OsStr::from_bytes(path));
    let is_plain = |name: &[u8]| !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
    let is_normal = parsed
        .components()
        .all(|it| matches!(it, Component::Normal(_)));
    (is_normal && path.split(|&byte| byte == b'/').all(is_plain)).then_some(parsed)
}

fn file(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let bytes: Vec<u8> = percent_decode_str(path).collect();
    let is_path = bytes.starts_with(b"/") && !bytes.contains(&0);
    is_path.then(|| PathBuf::from(OsStr::from_bytes(&bytes)))
}

pub(super) fn file_uri(file: &Path) -> Option<Uri> {
    let path = percent_encode(file.as_os_str().as_bytes(), &IN_PATH);
    format!("file://{path}").parse().ok()
}

/// Reads a regular file; `None` if that fails, or for a long one.
pub(super) fn read(file: &Path) -> Option<Vec<u8>> {
    let is_file = file.metadata().ok()?.is_file();
    let opened = is_file.then(|| std::fs::File::open(file).ok()).flatten()?;
    let mut text = Vec::new();
    let read = opened.take(TEXT_BYTES_MAX + 1).read_to_end(&mut text);
    (read.is_ok() && text.len() as u64 <= TEXT_BYTES_MAX).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CorpusError;

    struct Evil;

    impl Corpus for Evil {
        fn search(&self, _: &str, _: usize) -> Result<Vec<Found>, CorpusError> {
            Ok(Vec::new())
        }

        fn text(&self, _: &[u8], _: &[u8]) -> Result<Option<Vec<u8>>, CorpusError> {
            Ok(Some(b"evil".to_vec()))
        }
    }

    #[test]
    fn no_copy_leaves_the_cache() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("a/b/cache");
        let cache = Some(root.clone());
        let places = Places::new(Workspace {
            cache,
            ..Workspace::default()
        });
        let check = |package: &[u8], path: &[u8]| {
            let found = Found {
                package: package.to_vec(),
                path: path.to_vec(),
                ..Found::default()
            };
            let uri = places.uri(&found, &Evil, &mut 1).unwrap();
            let document = places.document(uri.as_str());
            assert_eq!(document.place, Some(Place::of(&found)), "{}", uri.as_str());
            document
                .file
                .is_some_and(|file| file.starts_with(&root) && file.is_file())
        };
        for path in [
            "../x",
            "/etc/x",
            "a/../../x",
            "a/./x",
            "a//x",
            "x\0",
            "",
            "..",
            "a/",
        ] {
            assert!(!check(b"p", path.as_bytes()), "{path:?}");
            assert!(!check(path.as_bytes(), b"..") && !check(b"..", b"x") && !check(b"", b"x"));
        }
        for (package, path) in [("group/x", "a b/%41#?.c"), ("../..", "x"), ("%2e", "ü/\n")] {
            assert!(check(package.as_bytes(), path.as_bytes()), "{package}");
        }
        let outside = std::fs::read_dir(directory.path().join("a"))
            .unwrap()
            .count();
        assert_eq!(outside, 1);
    }
}
