//! Answers LIST: packages, children of a directory, and skipped files.
//!
//! Shards order by rank, so all names are read and the first kept ([`ReplyBuilder`]); costlier
//! details are read only for those.
//!
//! **Invariant:** only live packages are listed, with documents of default revisions or, for
//! children, of the requested one. A reply has everything between any two of its entries, from all
//! shards with a part of the package.

mod places;
mod reply_builder;
mod repositories;

use super::visible;
use crate::live::{Generation, LiveShards};
use crate::lookup::git_repositories::read_first;
use crate::lookup::{LookUp, WantedFile};
use index::corpus::SkipReason;
use index::revisions::RevisionRef;
use index::shard::{DocId, Document, Package, PackageId, Shard, ShardError};
use reply_builder::ReplyBuilder;
use schema::message::{
    Failure, ListEntry, ListKind, ListReply, ListRequest, Recorded, RecordedRepository,
};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::UNIX_EPOCH;

/// Bytes of a reason's detail: a rule, or a system message.
const DETAIL_BYTES_MAX: usize = 4 << 10;

pub(super) fn read(
    live: &LiveShards,
    given: Option<&dyn LookUp>,
    request: &ListRequest,
) -> Result<ListReply, Failure> {
    let of_repositories = |_: &[u8]| request.kind == ListKind::Repositories;
    let generation = || visible::generation(live, request.visible.as_deref(), of_repositories);
    let reply = match request.kind {
        ListKind::Repositories => repositories::read(&generation()?.recorded, given, request),
        ListKind::Packages => packages(generation()?.as_ref(), request),
        ListKind::Children => {
            let generation = generation()?;
            match unindexed_children(&generation, given, request) {
                Some(reply) => Ok(reply),
                None => children(&generation, request),
            }
        }
        ListKind::Skipped => skipped(generation()?.as_ref(), request),
        ListKind::SymbolDefinitions | ListKind::SymbolUses | ListKind::Resolved => {
            places::read(generation()?.as_ref(), request)
        }
        ListKind::Shard => {
            // It may be of an earlier generation.
            let id = <[u8; 32]>::try_from(&request.package[..]).unwrap_or_default();
            let shard = visible::served(live, &id, "the shard")?;
            shard_packages(&shard, &generation()?.recorded, request)
        }
    };
    reply.map_err(visible::unavailable)
}

/// Lists live packages. Reads at most the first and last document record of each.
fn shard_packages(
    shard: &Shard,
    recorded: &Recorded,
    request: &ListRequest,
) -> Result<ListReply, ShardError> {
    let mut reply = ReplyBuilder::new(request);
    for id in shard.live_packages() {
        let package = shard.package(id)?;
        reply.entry(package.directory, package.directory.len(), || id);
    }
    shard.intact()?;
    let indexed = indexed(shard);
    reply.finish(|id| {
        let package = shard.package(id)?;
        let mut entry = ListEntry {
            package: package.directory.to_vec(),
            number: id.0,
            is_repository: recorded.repository(package.directory).is_some(),
            has_own_name: has_own_name(&package),
            documents: package.documents,
            text_bytes: shard.package_text_bytes(&package)?,
            indexed,
            ..ListEntry::default()
        };
        if shard.revisions().is_some() {
            (entry.documents, entry.text_bytes) = (0, 0);
            add_documents(&mut entry, shard, id)?;
        }
        shard.intact()?;
        Ok(entry)
    })
}

fn packages(generation: &Generation, request: &ListRequest) -> Result<ListReply, ShardError> {
    let mut reply = ReplyBuilder::new(request);
    for shard in &generation.shards {
        for id in shard.live_packages() {
            let package = shard.package(id)?;
            let directory = package.directory;
            if directory.starts_with(&request.prefix) && is_requested(&package, request) {
                let parts = reply.entry(directory, directory.len(), Vec::new);
                if let Some(parts) = parts {
                    parts.push((&**shard, id));
                }
            }
        }
        shard.intact()?;
    }
    reply.finish(|parts| {
        let mut entry = ListEntry::default();
        for (shard, id) in parts {
            let package = shard.package(id)?;
            entry.package = package.directory.to_vec();
            entry.has_own_name = has_own_name(&package);
            entry.indexed = entry.indexed.max(indexed(shard));
            add_documents(&mut entry, shard, id)?;
            shard.intact()?;
        }
        Ok(entry)
    })
}

fn add_documents(entry: &mut ListEntry, shard: &Shard, id: PackageId) -> Result<(), ShardError> {
    if shard.is_history() {
        return Ok(());
    }
    for document in default_documents(shard, id)? {
        count_document(entry, shard, &shard.document(document)?)?;
    }
    Ok(())
}

/// Documents searched without a filter of revisions.
fn default_documents(shard: &Shard, id: PackageId) -> Result<Vec<DocId>, ShardError> {
    let mut documents = shard.documents_of(&shard.package(id)?)?;
    if let Some(revisions) = shard.revisions() {
        documents.retain(|document| revisions.is_default(document.0));
    }
    Ok(documents)
}

fn count_document(
    entry: &mut ListEntry,
    shard: &Shard,
    document: &Document<'_>,
) -> Result<(), ShardError> {
    let text = shard.text_range(document.blocks.clone())?;
    entry.documents += 1;
    entry.lines += u64::from(document.lines);
    entry.text_bytes += text.end - text.start;
    Ok(())
}

/// Time of the shard's file, in seconds since 1970, or 0.
fn indexed(shard: &Shard) -> u64 {
    let written = std::fs::metadata(shard.path()).and_then(|about| about.modified());
    let since = written
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_secs())
}

/// Lists a directory of the package with this directory name, else of its greatest version. A
/// shard's error counts only if no other has it.
fn children(generation: &Generation, request: &ListRequest) -> Result<ListReply, ShardError> {
    let mut result = Ok(ListReply::default());
    let mut found: Vec<NamedPackage<'_>> = Vec::new();
    for shard in generation.files() {
        match find_package(shard, &request.package) {
            Ok(other) => found.extend(other),
            Err(error) => result = Err(error),
        }
    }
    let Some(key) = found.iter().map(|package| package.key).max() else {
        return result;
    };
    found.retain(|package| package.key == key);
    children_of(&found, request)
}

struct NamedPackage<'a> {
    shard: &'a Shard,
    id: PackageId,
    /// True for an exact directory name, and the directory. The greatest key wins.
    key: (bool, &'a [u8]),
}

fn find_package<'a>(shard: &'a Shard, name: &[u8]) -> Result<Option<NamedPackage<'a>>, ShardError> {
    let mut found = Vec::new();
    for id in shard.live_packages() {
        let package = shard.package(id)?;
        let directory = package.directory;
        if has_name(&package, name) {
            let key = (directory == name, directory);
            found.push(NamedPackage { shard, id, key });
        }
    }
    shard.intact()?;
    Ok(found.into_iter().max_by_key(|it| it.key))
}

fn is_requested(package: &Package<'_>, request: &ListRequest) -> bool {
    request.package.is_empty() || has_name(package, &request.package)
}

fn has_name(package: &Package<'_>, name: &[u8]) -> bool {
    package.directory == name || package.name == name
}

fn has_own_name(package: &Package<'_>) -> bool {
    package.name == package.directory
}

fn children_of(parts: &[NamedPackage<'_>], request: &ListRequest) -> Result<ListReply, ShardError> {
    let mut reply = ReplyBuilder::new(request);
    let mut latest = 0;
    let documents = documents_of(parts, request.revision.as_bytes())?;
    for (&NamedPackage { shard, key, .. }, documents) in parts.iter().zip(documents) {
        let (_, directory) = key;
        for document in documents {
            let document = shard.document(document)?;
            let Some(name) = child(document.path, &request.prefix) else {
                continue;
            };
            let bytes = directory.len() + name.len();
            let new = || ListEntry {
                package: directory.to_vec(),
                path: name.to_vec(),
                ..ListEntry::default()
            };
            if let Some(entry) = reply.entry(name, bytes, new) {
                count_document(entry, shard, &document)?;
                if entry.path == document.path {
                    entry.language = shard.language(&document)?.into();
                    entry.hash = document.hash.to_vec();
                }
            }
        }
        latest = latest.max(indexed(shard));
        shard.intact()?;
    }
    let indexed = latest;
    reply.finish(|entry| Ok(ListEntry { indexed, ..entry }))
}

/// Documents of each part in a revision. The most direct name wins.
fn documents_of(
    parts: &[NamedPackage<'_>],
    revision: &[u8],
) -> Result<Vec<Vec<DocId>>, ShardError> {
    if revision.is_empty() {
        let all = parts.iter();
        return all
            .map(|part| default_documents(part.shard, part.id))
            .collect();
    }
    let mut best = u8::MAX;
    let mut all = Vec::new();
    for &NamedPackage { shard, id, .. } in parts {
        let named = |document: DocId| {
            let revisions = shard.revisions_of(document);
            let named_by = revisions.iter().filter_map(|each| each.named_by(revision));
            Some((document, named_by.min()?))
        };
        let documents = shard.documents_of(&shard.package(id)?)?.into_iter();
        let named: Vec<_> = documents.filter_map(named).collect();
        best = named.iter().fold(best, |best, (_, by)| best.min(*by));
        all.push(named);
    }
    let of_best = |named: Vec<(DocId, u8)>| {
        let named = named.into_iter().filter(|(_, by)| *by == best);
        named.map(|(document, _)| document).collect()
    };
    Ok(all.into_iter().map(of_best).collect())
}

/// Child of `directory` on `path`. A directory ends with `/`.
fn child<'a>(path: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    let below = path.strip_prefix(directory)?;
    let end = memchr::memchr(b'/', below).map_or(path.len(), |at| directory.len() + at + 1);
    Some(&path[..end])
}

/// Lists a directory of an unindexed revision from the repository, without reading files. `None`
/// without a repository, or for an indexed revision.
fn unindexed_children(
    generation: &Generation,
    given: Option<&dyn LookUp>,
    request: &ListRequest,
) -> Option<ListReply> {
    let recorded = generation.recorded.repository(&request.package)?;
    if request.revision.is_empty() || is_indexed(recorded, request.revision.as_bytes()) {
        return None;
    }
    // Names of repositories are text.
    str::from_utf8(&request.package).ok()?;
    let names = read_first(given, &request.package, Some(recorded), |it, repository| {
        let names = it.directory(&WantedFile {
            repository,
            revision: &request.revision,
            path: &request.prefix,
            bytes_max: 0,
        });
        Some(names).filter(|names| !names.is_empty())
    })?;
    let mut reply = ReplyBuilder::new(request);
    for name in names {
        let path = [&request.prefix[..], &name].concat();
        let bytes = request.package.len() + path.len();
        reply.entry(&path, bytes, || path.clone());
    }
    let entry = |path| {
        Ok::<_, Infallible>(ListEntry {
            package: request.package.clone(),
            path,
            ..ListEntry::default()
        })
    };
    let Ok(reply) = reply.finish(entry);
    Some(reply)
}

fn is_indexed(recorded: &RecordedRepository, name: &[u8]) -> bool {
    recorded.revisions.iter().any(|revision| {
        let revision = RevisionRef {
            name: &revision.name,
            text: "",
            commit: &revision.commit.id,
            committed: 0,
            is_default: revision.name == recorded.default,
        };
        revision.is_named(name)
    })
}

fn skipped(generation: &Generation, request: &ListRequest) -> Result<ListReply, ShardError> {
    let mut reply = ReplyBuilder::new(request);
    for shard in generation.files() {
        let mut directories = BTreeMap::new();
        for id in shard.live_packages() {
            let package = shard.package(id)?;
            if is_requested(&package, request) {
                directories.insert(id, package.directory);
            }
        }
        let indexed = indexed(shard);
        let files = shard.skipped_where(|package, path| {
            directories.contains_key(&package) && is_related(path, &request.prefix)
        })?;
        let is_default = |entry| {
            let revisions = shard.revisions();
            revisions.is_none_or(|revisions| revisions.is_default(entry))
        };
        for file in files.into_iter().filter(|file| is_default(file.entry)) {
            let directory = directories[&file.package];
            let name = [directory, &file.path].join(&b'/');
            let (reason, detail) = reason(file.reason);
            reply.entry(&name, name.len() + detail.len(), || ListEntry {
                package: directory.to_vec(),
                path: file.path,
                indexed,
                reason,
                detail,
                ..ListEntry::default()
            });
        }
        shard.intact()?;
    }
    reply.finish(Ok)
}

/// `path` begins with `prefix`, or is a directory above.
fn is_related(path: &[u8], prefix: &[u8]) -> bool {
    let is_above = || {
        let below = prefix.strip_prefix(path);
        below.is_some_and(|below| path.is_empty() || below.first() == Some(&b'/'))
    };
    path.starts_with(prefix) || is_above()
}

/// An unknown reason becomes the detail.
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
    fn child_is_a_file_or_the_next_directory() {
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
    fn skipped_directories_above_the_prefix_are_listed() {
        let table = [
            ("a/b", "a/b", true),
            ("a/b", "a/b/c.c", true),
            ("a/b", "a/bc", false),
            ("a/b", "a", true),
            ("", "a/b", true),
            ("b", "a/b", false),
        ];
        for (path, prefix, expected) in table {
            let found = is_related(path.as_bytes(), prefix.as_bytes());
            assert_eq!(found, expected, "{path} for {prefix}");
        }
    }

    #[test]
    fn reasons_of_later_versions_are_kept() {
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
