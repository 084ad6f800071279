//! Gives documents revisions: some packages become repositories, with documents in some revisions
//! or none, perhaps in several shards.
//!
//! All repositories have the same revisions, with different defaults.

use crate::corpus::{Build, Built, Corpus, build_index, write_package};
use crate::found::Batch;
use crate::naive::{self, Document};
use index::directory::{self, Index, MANIFEST};
use index::manifest::Manifest;
use index::revisions::{CURRENT, ObjectId, SUPERSEDED, TableBuilder, short_name};
use index::shard::{DocId, Shard};
use schema::message::{Commit, Recorded, RecordedRepository, RecordedRevision, Signature};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Full names.
pub(crate) const REVISIONS: [&str; 5] = [
    "refs/heads/main",
    "refs/heads/feature/x",
    "refs/tags/v1.0",
    "refs/tags/v1.1",
    "refs/remotes/origin/main",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    File,
    /// Bits of revisions; 0: superseded.
    Revisions(u8),
}

pub(crate) fn default_of(package: &[u8]) -> &'static str {
    REVISIONS[usize::from(package[1] % 2) * 3]
}

fn commit_of(revision: &str) -> String {
    let number = REVISIONS.iter().position(|known| *known == revision);
    (number.unwrap() + 1).to_string().repeat(40)
}

impl State {
    /// Revisions of a document, the default first, the rest by short name.
    pub(crate) fn revisions(&self, package: &[u8]) -> Vec<&'static str> {
        let State::Revisions(bits) = self else {
            return Vec::new();
        };
        let numbered = REVISIONS.into_iter().enumerate();
        let own = numbered.filter(|(number, _)| bits >> number & 1 == 1);
        let mut names: Vec<_> = own.map(|(_, name)| name).collect();
        names.sort_by_key(|name| (*name != default_of(package), short(name)));
        names
    }

    /// True if a search reaches the document, with or without a filter of revisions.
    pub(crate) fn is_reached(&self, package: &[u8], all_revisions: bool) -> bool {
        let names = self.revisions(package);
        match self {
            State::File => true,
            State::Revisions(_) if all_revisions => !names.is_empty(),
            State::Revisions(_) => names.contains(&default_of(package)),
        }
    }

    pub(crate) fn check(&self, package: &[u8], batch: &Batch) {
        let names = self.revisions(package);
        let texts: Vec<_> = names.iter().map(|name| short(name)).collect();
        assert_eq!(batch.revisions, texts);
        assert_eq!(batch.revision_count as usize, names.len());
        let commit = names.first().map_or(String::new(), |name| commit_of(name));
        assert_eq!(batch.commit, commit);
    }
}

fn short(name: &str) -> &str {
    str::from_utf8(short_name(name.as_bytes())).unwrap()
}

/// Builds an index of corpora, each with parts of the packages, and revisions by seed. Returns its
/// documents.
pub(crate) fn built(corpora: &[&Corpus], how: Build, seed: u64) -> (Built, Vec<Document>) {
    let (home, documents) = build(corpora, how, |name| random_state(name, seed));
    (Built::open(home), documents)
}

/// Like [`built`], with revisions from `state`. The index is in `out`.
pub(crate) fn build(
    corpora: &[&Corpus],
    how: Build,
    state: impl Fn(&Name) -> State,
) -> (tempfile::TempDir, Vec<Document>) {
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("out");
    let (mut documents, mut manifests) = (Vec::new(), Vec::new());
    for (number, corpus) in corpora.iter().enumerate() {
        let source = home.path().join(format!("source{number}"));
        for (package, files) in corpus.iter().enumerate() {
            write_package(&source.join(format!("p{package}_1")), files);
        }
        let part = home.path().join(format!("out{number}"));
        build_index(&source, &part, how);
        documents.extend(naive::documents(&source));
        manifests.push((directory::read_manifest(&part).unwrap(), part));
    }
    fs::create_dir(&out).unwrap();
    let mut manifest = manifests[0].0.clone();
    manifest.shards.clear();
    for (part, from) in manifests {
        for shard in part.shards {
            // Equal corpora have equal shards.
            if manifest.shards.iter().all(|known| known.id != shard.id) {
                fs::copy(from.join(&shard.file), out.join(&shard.file)).unwrap();
                manifest.shards.push(shard);
            }
        }
    }
    let states = give_revisions(&out, manifest, state);
    // A document of two parts is current in the first.
    let mut known = BTreeSet::new();
    documents.retain(|document| known.insert(document.name()));
    for document in &mut documents {
        document.state = states[&document.name()].clone();
        document.is_of_repository = true;
    }
    (home, documents)
}

/// Package, path and text hash.
pub(crate) type Name = (Vec<u8>, Vec<u8>, Vec<u8>);

type States = BTreeMap<Name, State>;

fn give_revisions(out: &Path, mut manifest: Manifest, state: impl Fn(&Name) -> State) -> States {
    let mut states = States::new();
    let (mut packages, mut files) = (BTreeSet::new(), BTreeSet::new());
    for entry in &mut manifest.shards {
        let shard = Shard::open(&out.join(&entry.file)).unwrap();
        let mut table = TableBuilder::new(shard.file_id(), shard.document_count());
        for id in (0..shard.document_count()).map(DocId) {
            let document = shard.document(id).unwrap();
            let directory = shard.package(document.package).unwrap().directory;
            let name = (
                directory.to_vec(),
                document.path.to_vec(),
                document.hash.to_vec(),
            );
            let mut state = state(&name);
            // A directory has one text at a path.
            if state == State::File && !files.insert((name.0.clone(), name.1.clone())) {
                state = State::Revisions(0);
            }
            if states.contains_key(&name) {
                table.entry(SUPERSEDED, ObjectId::NONE);
                continue;
            }
            let names = state.revisions(directory);
            let set = match state {
                State::File => CURRENT,
                State::Revisions(_) => table.set(names.iter().map(|name| name.as_bytes())),
            };
            table.entry(set, ObjectId::new(&document.hash[..20]).unwrap());
            states.insert(name, state);
        }
        for _ in shard.skipped().unwrap() {
            table.entry(CURRENT, ObjectId::NONE);
        }
        entry.revisions = Some(directory::write_revisions(out, &table.finish()).unwrap().0);
        packages.extend(
            entry
                .packages
                .iter()
                .map(|package| package.directory.clone()),
        );
    }
    let repositories = packages.into_iter().map(repository).collect();
    let recorded = Recorded {
        repositories,
        ..Recorded::default()
    };
    manifest.recorded = Some(directory::write_recorded(out, &recorded).unwrap().0);
    fs::write(out.join(MANIFEST), manifest.render()).unwrap();
    let index = Index::open(out).unwrap();
    let is_default = |(name, state): &(&Name, &State)| state.is_reached(&name.0, false);
    let counted: u32 = index
        .shards
        .iter()
        .map(|shard| shard.live_counts().documents)
        .sum();
    assert_eq!(counted as usize, states.iter().filter(is_default).count());
    let counted: u32 = index
        .shards
        .iter()
        .map(|shard| shard.live_counts().packages)
        .sum();
    assert_eq!(counted as usize, recorded.repositories.len());
    states
}

fn repository(package: Vec<u8>) -> RecordedRepository {
    let mut revisions: Vec<_> = (REVISIONS.iter().zip(0..))
        .map(|(name, seconds)| RecordedRevision {
            name: name.as_bytes().to_vec(),
            commit: Commit {
                id: commit_of(name),
                committer: Signature {
                    seconds,
                    ..Signature::default()
                },
                ..Commit::default()
            },
        })
        .collect();
    revisions.sort_by(|a, b| a.name.cmp(&b.name));
    RecordedRepository {
        default: default_of(&package).as_bytes().to_vec(),
        package,
        revisions,
        ..RecordedRepository::default()
    }
}

/// A quarter of packages are directories; half of the other documents are in the default revision.
fn random_state((package, path, hash): &Name, seed: u64) -> State {
    let random = |parts: &[&[u8]]| {
        let hash = blake3::hash(&[&seed.to_le_bytes()[..], &parts.concat()].concat());
        u16::from_le_bytes([hash.as_bytes()[0], hash.as_bytes()[1]])
    };
    if random(&[package]).is_multiple_of(4) {
        return State::File;
    }
    let bits = random(&[package, path, hash]);
    let default = REVISIONS
        .iter()
        .position(|name| *name == default_of(package))
        .unwrap();
    match bits >> 8 & 7 {
        0 => State::Revisions(0),
        1..=3 => State::Revisions((bits & 0x1f) as u8 | 1 << default),
        _ => State::Revisions((bits & 0x1f) as u8),
    }
}
