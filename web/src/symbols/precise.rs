//! Places of a resolved symbol, listed by the backends.

use crate::model::{PlaceReason, SymbolPlace, hex, readable_owned};
use crate::problem::Problem;
use crate::suggest::Corpus;
use frontend::{Document, DocumentRevisions, Listing};
use language::name;
use schema::message::{FileRequest, ListEntry, ListKind, ListRequest, Role};
use schema::name::is_local_symbol;
use std::collections::HashSet;
use std::iter;
use std::sync::Arc;

pub(super) type Found = (SymbolPlace, Arc<Document>);

/// Replies of a list. Each has hundreds of places.
const PARTS_MAX: usize = 8;

#[derive(Default)]
pub(super) struct PrecisePlaces {
    /// Without their reasons.
    pub(super) found: Vec<Found>,
    /// True if all places are listed.
    pub(super) is_whole: bool,
    /// True if no guess can be another place of the symbol.
    pub(super) is_answer: bool,
}

/// Lists places of a symbol with these roles in the file's package, then in others.
pub(super) async fn places(
    corpus: Corpus<'_>,
    file: &FileRequest,
    symbol: &[u8],
    roles: &[Role],
    limit: usize,
) -> Result<PrecisePlaces, Problem> {
    if symbol.is_empty() {
        return Ok(PrecisePlaces::default());
    }
    let is_local = is_local_symbol(symbol);
    let (mut entries, mut is_whole) = (Vec::new(), true);
    for role in roles {
        let list = listed(corpus, file, symbol, *role, limit).await?;
        is_whole &= !list.more && list.unreachable.is_empty();
        entries.extend(list.entries);
    }
    if is_local {
        entries.retain(|entry| entry.path == file.path);
    }
    // Without a hash the text has changed.
    entries.retain(|entry| !entry.hash.is_empty());
    let is_known = is_local || (roles == [Role::Definition] && !entries.is_empty());
    Ok(PrecisePlaces {
        found: entries.into_iter().filter_map(row).collect(),
        is_whole,
        is_answer: is_whole && is_known,
    })
}

async fn listed(
    corpus: Corpus<'_>,
    file: &FileRequest,
    symbol: &[u8],
    role: Role,
    limit: usize,
) -> Result<Listing, Problem> {
    let kind = match role {
        Role::Definition => ListKind::SymbolDefinitions,
        Role::Any | Role::Use => ListKind::SymbolUses,
    };
    let request = |prefix, revision: &str| ListRequest {
        revision: revision.to_owned(),
        ..ListRequest::new(kind, symbol, prefix, limit as u32)
    };
    let near = request(&file.package, &file.revision);
    let near = corpus.parts(near, PARTS_MAX).await?;
    if is_local_symbol(symbol) {
        return Ok(near);
    }
    let all = corpus.parts(request(b"", ""), PARTS_MAX).await?;
    let others = all.entries.into_iter();
    let others = others.filter(|entry| entry.package != file.package);
    Ok(Listing {
        entries: near.entries.into_iter().chain(others).collect(),
        more: near.more || all.more,
        unreachable: all.unreachable,
    })
}

/// Removes guesses in texts that a SCIP file resolved.
pub(super) async fn retain_unresolved(
    corpus: Corpus<'_>,
    guesses: &mut Vec<Found>,
) -> Result<(), Problem> {
    let hashes: HashSet<&[u8]> = guesses.iter().map(|(_, it)| &it.hash[..]).collect();
    let hashes = Vec::from_iter(hashes).concat();
    let request = ListRequest::new(ListKind::Resolved, b"", &hashes, u32::MAX);
    let resolved = corpus.listing(&request).await?.entries.into_iter();
    let resolved: HashSet<Vec<u8>> = resolved.map(|entry| entry.hash).collect();
    guesses.retain(|(_, document)| !resolved.contains(&document.hash));
    Ok(())
}

fn row(entry: ListEntry) -> Option<Found> {
    let place = entry.place?;
    let (package, package_base64) = readable_owned(&entry.package);
    let (path, path_base64) = readable_owned(&entry.path);
    let (text, text_base64) = readable_owned(&place.text);
    let documentation = String::from_utf8_lossy(&place.documentation);
    let name = name::at(&place.text, place.column as usize, iter::empty());
    let row = SymbolPlace {
        reason: PlaceReason::Elsewhere,
        package,
        package_base64,
        path,
        path_base64,
        commit: Some(place.commit.clone()).filter(|commit| !commit.is_empty()),
        line: place.line,
        column: place.column.into(),
        end_line: None,
        kind: None,
        parent: None,
        parent_base64: None,
        declaration: None,
        text,
        text_base64,
        ranges: name.iter().map(|it| [it.start, it.end]).collect(),
        window: None,
        hash: hex(&entry.hash),
        precise: true,
        documentation: Some(documentation.into_owned()).filter(|it| !it.is_empty()),
    };
    let document = Document {
        package: entry.package,
        path: entry.path,
        language: entry.language,
        hash: entry.hash,
        revisions: DocumentRevisions {
            commit: place.commit,
            ..DocumentRevisions::default()
        },
        change: None,
    };
    Some((row, document.into()))
}
