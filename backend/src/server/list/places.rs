//! Places of a resolved symbol, and texts with resolved symbols.
//!
//! **Invariant:** only places in visible packages are listed; without text if the document changed.

use super::ReplyBuilder;
use crate::live::Generation;
use crate::server::file::{self, FileVersion};
use index::precise::{Place, Precise};
use index::shard::ShardError;
use schema::message::{
    FileRange, FileReply, FileRequest, ListEntry, ListKind, ListReply, ListRequest, ListedPlace,
};
use schema::name::package_name;
use std::collections::{BTreeMap, BTreeSet};

const LINE_BYTES_MAX: usize = 512;

pub(super) fn read(
    generation: &Generation,
    request: &ListRequest,
) -> Result<ListReply, ShardError> {
    let Some(precise) = &generation.precise else {
        return Ok(ListReply::default());
    };
    let reply = match request.kind {
        ListKind::Resolved => Ok(resolved(precise, request)),
        _ => places(generation, precise, request),
    };
    Ok(precise.intact(reply?).unwrap_or_default())
}

fn resolved(precise: &Precise, request: &ListRequest) -> ListReply {
    let (hashes, _) = request.prefix.as_chunks::<32>();
    let known = hashes.iter().filter(|hash| precise.has_text(&hash[..]));
    let entry = |hash: &[u8; 32]| ListEntry {
        hash: hash.to_vec(),
        ..ListEntry::default()
    };
    ListReply {
        entries: known.map(entry).collect(),
        more: false,
    }
}

fn places(
    generation: &Generation,
    precise: &Precise,
    request: &ListRequest,
) -> Result<ListReply, ShardError> {
    let wants_definitions = request.kind == ListKind::SymbolDefinitions;
    let packages = VisiblePackages::of(generation)?;
    let documentation = if wants_definitions {
        precise.documentation(&request.package)
    } else {
        &[]
    };
    let mut reply = ReplyBuilder::new(request);
    let places = precise.places(&request.package);
    for place in places.filter(|it| it.is_definition == wants_definitions) {
        for package in packages.with(place.package) {
            if request.prefix.is_empty() || package == request.prefix {
                let name = ListEntry::place_name(package, place.path, place.line, place.column);
                let bytes = name.len() + LINE_BYTES_MAX + documentation.len();
                reply.entry(&name, bytes, || (package, place));
            }
        }
    }
    let mut last = LastDocument {
        generation,
        revision: &request.revision,
        last: None,
    };
    reply.finish(|(package, place)| {
        let read = last.read(package, place)?;
        Ok(ListEntry {
            package: package.to_vec(),
            path: place.path.to_vec(),
            language: read.language,
            hash: read.hash,
            place: Some(ListedPlace {
                line: place.line,
                column: place.column,
                text: shown(&read.text, place.column as usize).to_vec(),
                commit: read.commit,
                documentation: documentation.to_vec(),
            }),
            ..ListEntry::default()
        })
    })
}

/// Line without its end, cut around the column if long.
fn shown(line: &[u8], column: usize) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() <= LINE_BYTES_MAX {
        return line;
    }
    let start = column.saturating_sub(LINE_BYTES_MAX / 2).min(line.len());
    &line[start..line.len().min(start + LINE_BYTES_MAX)]
}

/// Directories, also by package name.
struct VisiblePackages<'g> {
    directories: BTreeSet<&'g [u8]>,
    versions: BTreeMap<&'g [u8], BTreeSet<&'g [u8]>>,
}

impl<'g> VisiblePackages<'g> {
    fn of(generation: &'g Generation) -> Result<Self, ShardError> {
        let mut packages = VisiblePackages {
            directories: BTreeSet::new(),
            versions: BTreeMap::new(),
        };
        for shard in generation.files() {
            for id in shard.live_packages() {
                let package = shard.package(id)?;
                packages.directories.insert(package.directory);
                let versions = packages.versions.entry(package.name).or_default();
                versions.insert(package.directory);
            }
            shard.intact()?;
        }
        Ok(packages)
    }

    /// The package, else its other versions.
    fn with(&self, directory: &[u8]) -> impl Iterator<Item = &'g [u8]> {
        let own = self.directories.get(directory);
        let versions = match own {
            Some(_) => None,
            None => self.versions.get(package_name(directory)),
        };
        own.into_iter()
            .chain(versions.into_iter().flatten())
            .copied()
    }
}

/// Cache of one document: places come by document.
struct LastDocument<'g> {
    generation: &'g Generation,
    revision: &'g str,
    last: Option<(Vec<u8>, Vec<u8>, Option<FileVersion<'g>>)>,
}

impl LastDocument<'_> {
    /// Empty if the document has another text.
    fn read(&mut self, package: &[u8], place: Place<'_>) -> Result<FileReply, ShardError> {
        let range = FileRange::Lines {
            first: place.line,
            count: 1,
        };
        let request = FileRequest::new(package, place.path, self.revision, range);
        let is_last = |(of, path, _): &(Vec<u8>, Vec<u8>, _)| of == package && path == place.path;
        if !self.last.as_ref().is_some_and(is_last) {
            let found = file::find(self.generation, &request)?.best;
            self.last = Some((package.to_vec(), place.path.to_vec(), found));
        }
        let version = self.last.as_ref().and_then(|(_, _, found)| found.as_ref());
        let read = version.map(|version| version.read(&request)).transpose()?;
        Ok(read.filter(|it| it.hash == place.text).unwrap_or_default())
    }
}
