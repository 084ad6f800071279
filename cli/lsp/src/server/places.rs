//! Documents behind URIs: files of packages on disk, copies in the cache, `trawl://package/path`.

use super::cache::TextCache;
use super::files::{IN_PATH, file, file_uri, relative};
use super::packages::Packages;
use crate::{Corpus, Found, Place, Workspace};
use lsp_types::Uri;
use percent_encoding::{AsciiSet, percent_decode_str, percent_encode};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const SCHEME: &str = "trawl://";

/// Files of a response that are copied into the cache. Later ones get a URI that few editors open.
pub(super) const COPIES_MAX: usize = 64;

const IN_COMPONENT: AsciiSet = IN_PATH.add(b'/').remove(b'+');

#[derive(Clone, Debug, Default)]
pub(super) struct Document {
    /// `None` for another URI.
    pub(super) file: Option<PathBuf>,
    /// `None` outside of the corpus.
    pub(super) place: Option<Place>,
}

pub(super) struct Places {
    pub(super) packages: Packages,
    cache: Option<TextCache>,
}

impl Places {
    pub(super) fn new(workspace: Workspace) -> Places {
        Places {
            packages: Packages::new(workspace.packages),
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
        self.packages.place_of(file)
    }

    /// URI that an editor can open: a file on disk, else a copy if `copies` are left.
    pub(super) fn uri(
        &self,
        found: &Found,
        corpus: &dyn Corpus,
        copies: &mut usize,
    ) -> Option<Uri> {
        let place = &found.place;
        let packages = &self.packages;
        let file = packages
            .file_of(place)
            .or_else(|| packages.same_file(found));
        if let Some(file) = file {
            return file_uri(&file);
        }
        let copy = self.cache.as_ref().and_then(|cache| {
            let package = percent_encode(&place.package, &IN_COMPONENT).to_string();
            let name = relative(package.as_bytes())?.join(relative(&place.path)?);
            cache.get_or_write(&name, &found.hash, || {
                *copies = copies.checked_sub(1)?;
                corpus.text(place).ok()?
            })
        });
        copy.map_or_else(|| own_uri(place), |file| file_uri(&file))
    }
}

fn own_uri(place: &Place) -> Option<Uri> {
    let package = percent_encode(&place.package, &IN_COMPONENT);
    let path = percent_encode(&place.path, &IN_PATH);
    format!("{SCHEME}{package}/{path}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::packages::tests::{Evil, found};

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
            let found = found(package, path, "");
            let uri = places.uri(&found, &Evil::default(), &mut 1).unwrap();
            let document = places.document(uri.as_str());
            assert_eq!(document.place, Some(found.place), "{}", uri.as_str());
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
