//! Answers LIST: packages, what is in a directory of one, and what is not searchable.
//!
//! Nothing here is sorted in a shard: packages and documents stand in the order of their rank. So all
//! names are looked at, and the first of those that were asked for are kept, at most as many as fit
//! into a reply ([`ReplyBuilder`]); what costs more than a name is read of those alone.
//! **Invariant:** only live packages are listed, and a reply never leaves out what lies between two of
//! its entries.

mod reply_builder;

use crate::live_shards::Generation;
use index::corpus::SkipReason;
use index::document::language;
use index::shard::{DocId, Document, Package, PackageId, Shard, ShardError};
use reply_builder::ReplyBuilder;
use schema::message::{ListEntry, ListKind, ListReply, ListRequest};
use schema::name::package_name;
use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

/// Bytes of what a reason's key does not say: a rule, or words of the operating system.
const DETAIL_BYTES_MAX: usize = 4 << 10;

/// What is asked for.
pub(super) fn read(snapshot: &Generation, request: &ListRequest) -> Result<ListReply, ShardError> {
    match request.kind {
        ListKind::Packages => packages(snapshot, request),
        ListKind::Children => children(snapshot, request),
        ListKind::Skipped => skipped(snapshot, request),
    }
}

fn packages(snapshot: &Generation, request: &ListRequest) -> Result<ListReply, ShardError> {
    let mut first = ReplyBuilder::new(request);
    for shard in &snapshot.shards {
        for id in shard.live_packages() {
            let directory = shard.package(id)?.directory;
            if directory.starts_with(&request.prefix) && is_asked_for(directory, request) {
                first.entry(directory, directory.len(), || (&**shard, id));
            }
        }
        shard.intact()?;
    }
    first.finish(|(shard, id)| {
        let entry = describe_package(shard, id)?;
        shard.intact()?;
        Ok(entry)
    })
}

fn describe_package(shard: &Shard, id: PackageId) -> Result<ListEntry, ShardError> {
    let package = shard.package(id)?;
    let mut entry = ListEntry {
        package: package.directory.to_vec(),
        documents: package.documents.end - package.documents.start,
        indexed: indexed(shard),
        ..ListEntry::default()
    };
    for document in package.documents {
        let document = shard.document(DocId(document))?;
        entry.lines += u64::from(document.lines);
        entry.text_bytes += text_bytes(shard, &document)?;
    }
    Ok(entry)
}

fn text_bytes(shard: &Shard, document: &Document<'_>) -> Result<u64, ShardError> {
    let text = shard.text_range(document.blocks.clone())?;
    Ok(text.end - text.start)
}

/// When the shard's file was written, in seconds since 1970; 0 when that cannot be told.
fn indexed(shard: &Shard) -> u64 {
    let written = std::fs::metadata(shard.path()).and_then(|about| about.modified());
    let since = written
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_secs())
}

/// Of the package that goes by the name: the one with that directory, else the last of its versions.
/// A shard that cannot be read matters only when no other one has such a package.
fn children(snapshot: &Generation, request: &ListRequest) -> Result<ListReply, ShardError> {
    let mut result = Ok(ListReply::default());
    let mut best: Option<NamedPackage<'_>> = None;
    for shard in &snapshot.shards {
        match named(shard, &request.package) {
            Ok(found) => best = best.into_iter().chain(found).max_by_key(NamedPackage::key),
            Err(error) => result = Err(error),
        }
    }
    match best {
        Some(package) => children_of(package.shard, package.id, request),
        None => result,
    }
}

/// A package that goes by a name.
struct NamedPackage<'a> {
    shard: &'a Shard,
    id: PackageId,
    directory: Vec<u8>,
    is_exact: bool,
}

impl NamedPackage<'_> {
    /// The greatest is meant.
    fn key(&self) -> (bool, Vec<u8>) {
        (self.is_exact, self.directory.clone())
    }
}

fn named<'a>(shard: &'a Shard, name: &[u8]) -> Result<Option<NamedPackage<'a>>, ShardError> {
    let mut found = Vec::new();
    for id in shard.live_packages() {
        let directory = shard.package(id)?.directory;
        if goes_by(directory, name) {
            found.push(NamedPackage {
                shard,
                id,
                directory: directory.to_vec(),
                is_exact: directory == name,
            });
        }
    }
    shard.intact()?;
    Ok(found.into_iter().max_by_key(NamedPackage::key))
}

fn is_asked_for(directory: &[u8], request: &ListRequest) -> bool {
    request.package.is_empty() || goes_by(directory, &request.package)
}

/// Whether a name is that of the directory, or what stands before the version there.
fn goes_by(directory: &[u8], name: &[u8]) -> bool {
    directory == name || package_name(directory) == name
}

fn children_of(
    shard: &Shard,
    package: PackageId,
    request: &ListRequest,
) -> Result<ListReply, ShardError> {
    let Package {
        directory,
        documents,
        ..
    } = shard.package(package)?;
    let mut first = ReplyBuilder::new(request);
    for document in documents {
        let document = shard.document(DocId(document))?;
        let Some(name) = child(document.path, &request.prefix) else {
            continue;
        };
        let bytes = directory.len() + name.len();
        let new = || ListEntry {
            package: directory.to_vec(),
            path: name.to_vec(),
            ..ListEntry::default()
        };
        if let Some(entry) = first.entry(name, bytes, new) {
            add(entry, shard, &document)?;
        }
    }
    let indexed = indexed(shard);
    let reply = first.finish(|entry| Ok(ListEntry { indexed, ..entry }));
    shard.intact()?;
    reply
}

/// What is in a directory on the way to a path: the path itself, or a directory with a `/` at its end.
fn child<'a>(path: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    let below = path.strip_prefix(directory)?;
    let end = memchr::memchr(b'/', below).map_or(path.len(), |at| directory.len() + at + 1);
    Some(&path[..end])
}

/// Adds a document to the entry that is it, or that it is in.
fn add(entry: &mut ListEntry, shard: &Shard, document: &Document<'_>) -> Result<(), ShardError> {
    entry.documents += 1;
    entry.lines += u64::from(document.lines);
    entry.text_bytes += text_bytes(shard, document)?;
    if entry.path == document.path {
        language(document.path)
            .unwrap_or_default()
            .clone_into(&mut entry.language);
        entry.hash = document.hash.to_vec();
    }
    Ok(())
}

fn skipped(snapshot: &Generation, request: &ListRequest) -> Result<ListReply, ShardError> {
    let mut first = ReplyBuilder::new(request);
    for shard in &snapshot.shards {
        skipped_in(shard, request, &mut first)?;
    }
    first.finish(Ok)
}

fn skipped_in(
    shard: &Shard,
    request: &ListRequest,
    first: &mut ReplyBuilder<ListEntry>,
) -> Result<(), ShardError> {
    let mut directories = BTreeMap::new();
    for id in shard.live_packages() {
        let directory = shard.package(id)?.directory;
        if is_asked_for(directory, request) {
            directories.insert(id, directory);
        }
    }
    let indexed = indexed(shard);
    let files = shard.skipped_where(|package, path| {
        directories.contains_key(&package) && is_about(path, &request.prefix)
    })?;
    for file in files {
        let directory = directories[&file.package];
        let name = [directory, &file.path].join(&b'/');
        let (reason, detail) = reason(file.reason);
        let bytes = name.len() + detail.len();
        first.entry(&name, bytes, || ListEntry {
            package: directory.to_vec(),
            path: file.path,
            indexed,
            reason,
            detail,
            ..ListEntry::default()
        });
    }
    shard.intact()
}

/// Whether what is not searchable has a path that begins with the prefix, or lies on the way to it.
fn is_about(path: &[u8], prefix: &[u8]) -> bool {
    let is_above = || {
        let below = prefix.strip_prefix(path);
        below.is_some_and(|below| path.is_empty() || below.first() == Some(&b'/'))
    };
    path.starts_with(prefix) || is_above()
}

/// The key of a reason, and what it does not say. Words of a later version are their own detail.
fn reason(words: String) -> (String, String) {
    let (key, mut detail) = match SkipReason::from_words(&words) {
        Some(reason) => (reason.key(), reason.detail().to_owned()),
        None => ("other", words),
    };
    detail.truncate(detail.floor_char_boundary(DETAIL_BYTES_MAX));
    (key.to_owned(), detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_a_file_or_the_next_directory() {
        let table: [(&str, &str, Option<&str>); 7] = [
            ("a/b/c.c", "", Some("a/")),
            ("a/b/c.c", "a/", Some("a/b/")),
            ("a/b/c.c", "a/b/", Some("a/b/c.c")),
            ("c.c", "", Some("c.c")),
            ("c.c", "a/", None),
            ("ab/c", "a/", None),
            ("a", "a/", None),
        ];
        for (path, directory, expected) in table {
            let found = child(path.as_bytes(), directory.as_bytes());
            assert_eq!(found, expected.map(str::as_bytes), "{path} in {directory}");
        }
    }

    #[test]
    fn what_is_skipped_may_lie_on_the_way() {
        let table = [
            ("a/b", "a/b", true),
            ("a/b", "a/b/c.c", true),
            ("a/b", "a/bc", false),
            ("a/b", "a", true),
            ("", "a/b", true),
            ("b", "a/b", false),
        ];
        for (path, prefix, expected) in table {
            let found = is_about(path.as_bytes(), prefix.as_bytes());
            assert_eq!(found, expected, "{path} for {prefix}");
        }
    }

    #[test]
    fn words_of_a_later_version_are_kept() {
        let of = |words: &str| reason(words.to_owned());
        assert_eq!(of("binary"), ("binary".to_owned(), String::new()));
        assert_eq!(of("excluded by a:1:*.o").1, "a:1:*.o");
        assert_eq!(
            of("too green"),
            ("other".to_owned(), "too green".to_owned())
        );
        assert_eq!(of(&"ü".repeat(DETAIL_BYTES_MAX)).1.len(), DETAIL_BYTES_MAX);
    }
}
