//! Links to the parents of a file or directory, and to the entries of a directory: beside a file,
//! and as a page.
//!
//! Directories come before files. A long directory is shown in parts.

use super::{filters, visible};
use crate::http::links::FileAddress;
use crate::problem::Problem;
use crate::search::params::position;
use crate::suggest::Corpus;
use schema::message::{ListEntry, ListKind, ListRequest};

pub(super) const ENTRIES_MAX: u32 = 1000;

pub(super) struct TreeView {
    pub(super) entries: Vec<TreeItem>,
    pub(super) more: Option<String>,
}

pub(super) struct TreeItem {
    pub(super) name: String,
    pub(super) href: String,
    pub(super) is_directory: bool,
    pub(super) is_current: bool,
    pub(super) entry: ListEntry,
}

/// `current` is the shown file.
pub(super) async fn list(
    corpus: Corpus<'_>,
    (package, revision): (&[u8], &str),
    directory: &[u8],
    after: Vec<u8>,
    current: &[u8],
) -> Result<TreeView, Problem> {
    let request = ListRequest {
        after,
        revision: revision.to_owned(),
        ..ListRequest::new(ListKind::Children, package, directory, ENTRIES_MAX)
    };
    let list = corpus.coordinator.list(corpus.scope, request).await?;
    let last = list.entries.last().filter(|_| list.more);
    let more = last.map(|last| {
        let page = FileAddress::current(package, directory).at(revision);
        let page = page.directory_href();
        let separator = if revision.is_empty() { "?" } else { "&" };
        format!("{page}{separator}after={}", position(&last.path))
    });
    let within = |entry: &&ListEntry| {
        entry.path.len() > directory.len() && entry.path.starts_with(directory)
    };
    let item = |entry: &ListEntry| {
        let address = FileAddress::current(package, &entry.path).at(revision);
        let is_directory = entry.path.ends_with(b"/");
        TreeItem {
            name: visible::plain(&entry.path[directory.len()..]),
            href: if is_directory {
                address.directory_href()
            } else {
                address.show_href(0)
            },
            is_directory,
            is_current: entry.path == current,
            entry: entry.clone(),
        }
    };
    let mut entries: Vec<_> = list.entries.iter().filter(within).map(item).collect();
    // Stable: names stay in order.
    entries.sort_by_key(|entry| !entry.is_directory);
    Ok(TreeView { entries, more })
}

impl TreeView {
    /// Of revisions that are not indexed only names are known.
    pub(super) fn is_indexed(&self) -> bool {
        self.entries.iter().any(|item| item.entry.documents > 0)
    }

    /// Documents, lines and bytes.
    pub(super) fn sums(&self) -> (u32, u64, u64) {
        let entries = || self.entries.iter().map(|item| &item.entry);
        (
            entries().map(|entry| entry.documents).sum(),
            entries().map(|entry| entry.lines).sum(),
            entries().map(|entry| entry.text_bytes).sum(),
        )
    }
}

impl TreeItem {
    pub(super) fn about(&self) -> String {
        let bytes = filters::sized(self.entry.text_bytes);
        let count = match self.entry.documents {
            0 => return String::new(),
            files if self.is_directory => filters::counted(files.into(), "file"),
            _ => filters::counted(self.entry.lines, "line"),
        };
        format!("{count}, {bytes}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) above: Vec<(String, String)>,
    /// Last name; of an empty path the package.
    pub(super) name: String,
}

impl Place {
    /// Directories end with `/`.
    pub(super) fn new(package: &[u8], path: &[u8], revision: &str) -> Place {
        let href = |path| {
            let directory = FileAddress::current(package, path).at(revision);
            directory.directory_href()
        };
        let whole = path.strip_suffix(b"/").unwrap_or(path);
        let (mut above, mut name, mut start) = (Vec::new(), visible::plain(package), 0);
        let slashes = (0..whole.len()).filter(|&at| whole[at] == b'/');
        let ends = slashes.chain([whole.len()]);
        for end in ends.filter(|_| !whole.is_empty()) {
            above.push((name, href(&whole[..start])));
            name = visible::plain(&whole[start..end]);
            start = end + 1;
        }
        Place { above, name }
    }
}

/// Directory of a path, with `/`; empty: the package.
pub(super) fn directory_of(path: &[u8]) -> &[u8] {
    let slash = path.iter().rposition(|&byte| byte == b'/');
    &path[..slash.map_or(0, |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_directory_above_a_path_is_a_link() {
        let place = Place::new(b"p_1", b"src/<a>/x.c", "");
        let above: Vec<_> = (place.above.iter())
            .map(|(name, href)| (&name[..], &href[..]))
            .collect();
        assert_eq!(
            above,
            [
                ("p_1", "/p/p_1/"),
                ("src", "/p/p_1/src/"),
                ("<a>", "/p/p_1/src/%3Ca%3E/")
            ]
        );
        assert_eq!(place.name, "x.c");
        let place = Place::new(b"p_1", b"src/", "v1");
        assert_eq!(
            (&place.above[0].1[..], &place.name[..]),
            ("/p/p_1/?rev=v1", "src")
        );
        let place = Place::new(b"p_1", b"", "");
        assert_eq!((place.above.len(), &place.name[..]), (0, "p_1"));
        assert_eq!(directory_of(b"a/b/c"), b"a/b/");
        assert_eq!(directory_of(b"c"), b"");
    }
}
