//! Lists packages, files and skipped files.

use super::Document;
use schema::message::{ListEntry, ListKind, ListReply, ListRequest, VisibleShard};
use std::collections::BTreeMap;

/// Returns the first names. `*.bin` and everything in `.git` count as skipped.
pub(crate) fn reply<'a>(
    documents: impl IntoIterator<Item = &'a Document>,
    request: &ListRequest,
) -> ListReply {
    let mut entries = BTreeMap::new();
    for document in documents {
        let Some((name, entry)) = entry(document, request) else {
            continue;
        };
        let entry = entries.entry(name).or_insert(entry);
        entry.documents += 1;
        entry.lines += document.lines.len() as u64;
    }
    let after = entries
        .into_iter()
        .filter(|(name, _)| *name > request.after);
    let mut entries: Vec<_> = after.map(|(_, entry)| entry).collect();
    let more = entries.len() > request.count as usize;
    entries.truncate(request.count as usize);
    ListReply { entries, more }
}

/// Sorted; the position is the number.
pub(crate) fn packages(documents: &[Document]) -> Vec<&[u8]> {
    let mut names: Vec<_> = documents.iter().map(|it| &it.package[..]).collect();
    names.sort_unstable();
    names.dedup();
    names
}

pub(crate) fn visible(all: Option<&[VisibleShard]>, id: u8, documents: &[Document]) -> Vec<bool> {
    let names = packages(documents);
    let is_visible = |document: &Document| {
        let Some(all) = all else {
            return true;
        };
        let number = names.binary_search(&&document.package[..]);
        let number = number.expect("all packages have a name") as u32;
        let shard = all.iter().find(|shard| shard.shard == [id; 32]);
        shard.is_some_and(|shard| shard.sees(number))
    };
    documents.iter().map(is_visible).collect()
}

pub(crate) fn all_visible<'a>(
    all: Option<&[VisibleShard]>,
    shards: &'a [(u8, Vec<Document>)],
) -> impl Iterator<Item = &'a Document> {
    shards.iter().flat_map(move |(id, documents)| {
        let visible = visible(all, *id, documents);
        let shown = documents.iter().zip(visible);
        shown.filter_map(|(document, visible)| visible.then_some(document))
    })
}

pub(crate) fn shard(documents: &[Document]) -> ListReply {
    let entry = |(number, name): (u32, &[u8])| ListEntry {
        package: name.to_vec(),
        number,
        documents: documents.iter().filter(|it| it.package == name).count() as u32,
        indexed: 1_700_000_000,
        ..ListEntry::default()
    };
    ListReply {
        entries: (0..).zip(packages(documents)).map(entry).collect(),
        more: false,
    }
}

fn entry(document: &Document, request: &ListRequest) -> Option<(Vec<u8>, ListEntry)> {
    let Document { package, path, .. } = document;
    let name = package.split(|&byte| byte == b'_').next().unwrap();
    let (asked, prefix) = (&request.package, &request.prefix[..]);
    let is_asked_for = asked.is_empty() || package == asked || name == asked;
    let is_skipped = path.ends_with(b".bin") || path == b".git";
    let entry = ListEntry {
        package: package.clone(),
        indexed: 1_700_000_000,
        ..ListEntry::default()
    };
    match request.kind {
        _ if !is_asked_for => None,
        ListKind::Packages if package.starts_with(prefix) => Some((package.clone(), entry)),
        ListKind::Children if path.starts_with(prefix) && !is_skipped => {
            let slash = path[prefix.len()..].iter().position(|&byte| byte == b'/');
            let end = slash.map_or(path.len(), |at| prefix.len() + at + 1);
            let path = path[..end].to_vec();
            let is_file = !path.ends_with(b"/");
            let hash = if is_file {
                document.hash().to_vec()
            } else {
                Vec::new()
            };
            let language = "C".to_owned();
            let of_file = ListEntry {
                path: path.clone(),
                language,
                hash,
                ..entry
            };
            Some((path, of_file))
        }
        ListKind::Skipped if is_skipped => {
            let is_above = prefix.starts_with(path) && prefix[path.len()..].starts_with(b"/");
            let reason = if path == b".git" { "git" } else { "ignored" };
            let skipped = ListEntry {
                path: path.clone(),
                reason: reason.to_owned(),
                detail: ".gitignore:1:*.bin".to_owned(),
                ..entry
            };
            (path.starts_with(prefix) || is_above)
                .then(|| ([&package[..], path].join(&b'/'), skipped))
        }
        _ => None,
    }
}

/// Names outside the requested directory.
pub(crate) fn astray(package: &[u8]) -> [ListEntry; 3] {
    [&b""[..], b"x", b"other/b.c"].map(|path| ListEntry {
        package: package.to_vec(),
        path: path.to_vec(),
        ..ListEntry::default()
    })
}
