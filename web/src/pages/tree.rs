//! Entries of a directory as links: beside a file, and as a page.
//!
//! Directories come before files. A long directory is shown in parts.

use super::filters;
use super::visible;
use crate::http::links::FileAddress;
use crate::problem::Problem;
use crate::state::App;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use frontend::Scope;
use schema::message::{ListEntry, ListKind, ListRequest};

pub(super) const ENTRIES_MAX: u32 = 1000;

pub(super) struct TreeView {
    pub(super) entries: Vec<TreeItem>,
    pub(super) more: Option<String>,
}

pub(super) struct TreeItem {
    pub(super) path: Vec<u8>,
    pub(super) name: String,
    pub(super) href: String,
    pub(super) is_directory: bool,
    pub(super) is_current: bool,
    pub(super) documents: u32,
    pub(super) lines: u64,
    pub(super) bytes: u64,
}

/// Lists a directory after the name `after`. `current` is the shown file.
pub(super) async fn list(
    app: &App,
    scope: &Scope,
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
    let list = app.coordinator.list(scope, request).await?;
    let last = list.entries.last().filter(|_| list.more);
    let more = last.map(|last| {
        let page = FileAddress::current(package, directory).at(revision);
        let page = page.directory_href();
        let separator = if revision.is_empty() { "?" } else { "&" };
        format!("{page}{separator}after={}", BASE64.encode(&last.path))
    });
    let within = |entry: &&ListEntry| {
        entry.path.len() > directory.len() && entry.path.starts_with(directory)
    };
    let entries = list.entries.iter().filter(within);
    let mut entries: Vec<_> = entries
        .map(|entry| TreeItem::new((package, revision), directory, entry, current))
        .collect();
    // Stable: names stay in order.
    entries.sort_by_key(|entry| !entry.is_directory);
    Ok(TreeView { entries, more })
}

impl TreeView {
    /// Of revisions that are not indexed only names are known.
    pub(super) fn is_indexed(&self) -> bool {
        self.entries.iter().any(|entry| entry.documents > 0)
    }

    /// Documents, lines and bytes.
    pub(super) fn sums(&self) -> (u32, u64, u64) {
        let entries = self.entries.iter();
        entries.fold((0, 0, 0), |(documents, lines, bytes), entry| {
            (
                documents + entry.documents,
                lines + entry.lines,
                bytes + entry.bytes,
            )
        })
    }
}

impl TreeItem {
    fn new(
        (package, revision): (&[u8], &str),
        directory: &[u8],
        entry: &ListEntry,
        current: &[u8],
    ) -> TreeItem {
        let address = FileAddress::current(package, &entry.path).at(revision);
        let is_directory = entry.path.ends_with(b"/");
        TreeItem {
            path: entry.path.clone(),
            name: visible::plain(&entry.path[directory.len()..]),
            href: if is_directory {
                address.directory_href()
            } else {
                address.show_href(0)
            },
            is_directory,
            is_current: entry.path == current,
            documents: entry.documents,
            lines: entry.lines,
            bytes: entry.text_bytes,
        }
    }

    pub(super) fn about(&self) -> String {
        if self.documents == 0 {
            return String::new();
        }
        let bytes = filters::sized(self.bytes);
        if self.is_directory {
            let files = filters::counted(self.documents.into(), "file");
            format!("{files}, {bytes}")
        } else {
            format!("{}, {bytes}", filters::counted(self.lines, "line"))
        }
    }
}
