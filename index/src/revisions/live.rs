//! A table of revisions with the records of the repositories: what searches ask.
//!
//! Documents of one package in one set have the same revisions: they are of one *class*. A document takes
//! 4 bytes, the number of its class; everything else is kept for each class, package or name.
//! **Invariant:** each name of a set is a recorded revision of the package. Dead packages have no record
//! and no current document.

use super::{CURRENT, RevisionTable, SUPERSEDED, TableError, is_branch, ranges, short_name};
use schema::message::{Recorded, RecordedRepository};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Digits of a commit id that name a revision, at least: as many as git shows.
pub const COMMIT_DIGITS_MIN: usize = 7;

/// Which revisions the documents of a shard are in.
#[derive(Debug)]
pub struct Revisions {
    /// Differs between any two of them in this process.
    serial: u64,
    /// The hash of the table's file.
    table: [u8; 32],
    /// A hash of the records that are used.
    records: [u8; 32],
    names: Vec<Name>,
    sets: Vec<Vec<Range<u32>>>,
    /// By package; `None` when it is no repository.
    packages: Vec<Option<PackageRevisions>>,
    /// The first one is that of all superseded documents.
    classes: Vec<Class>,
    /// The class of each document.
    documents: Vec<u32>,
    /// The class of each skipped file.
    skipped: Vec<u32>,
    is_all_default: bool,
    is_all_indexed: bool,
}

/// The name of a ref.
#[derive(Debug)]
struct Name {
    full: Box<[u8]>,
    /// The short name, for people.
    text: Box<str>,
}

/// The revisions of a package.
#[derive(Debug)]
struct PackageRevisions {
    /// The index of the default one's name.
    default: u32,
    /// The commit of each revision; the key is the index of the revision's name.
    commits: HashMap<u32, IndexedCommit>,
}

/// The commit at which a revision was indexed.
#[derive(Debug)]
struct IndexedCommit {
    id: Box<str>,
    /// When it was committed, in seconds since 1970.
    committed: i64,
}

/// Documents of one package in one set.
#[derive(Clone, Copy, Debug)]
struct Class {
    package: u32,
    set: u32,
    is_default: bool,
}

/// A revision that has a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevisionRef<'a> {
    /// Its full name, such as `refs/heads/main`.
    pub name: &'a [u8],
    /// Its short name, for people.
    pub text: &'a str,
    /// The id of the commit at which it was indexed.
    pub commit: &'a str,
    /// When that was committed, in seconds since 1970.
    pub committed: i64,
    /// Whether it is the default one of its repository.
    pub is_default: bool,
}

impl RevisionRef<'_> {
    /// Its short name.
    pub fn short_name(&self) -> &[u8] {
        short_name(self.name)
    }

    /// Whether it is a branch.
    pub fn is_branch(&self) -> bool {
        is_branch(self.name)
    }

    /// Whether `name` means it: its full name, with or without `refs/`, its short name, the beginning of
    /// its commit id, or `HEAD` if it is the default one.
    pub fn is_named(&self, name: &[u8]) -> bool {
        self.named_by(name).is_some()
    }

    /// Returns how directly `name` means it, 0 the most: of several revisions that a name may mean, git
    /// takes a tag before a branch, and that before a commit id.
    pub fn named_by(&self, name: &[u8]) -> Option<u8> {
        let is_short = name == self.short_name();
        if name == self.name || (name == b"HEAD" && self.is_default) {
            Some(0)
        } else if self.name.strip_prefix(b"refs/") == Some(name) {
            Some(1)
        } else if is_short && self.name.starts_with(b"refs/tags/") {
            Some(2)
        } else if is_short && self.name.starts_with(b"refs/heads/") {
            Some(3)
        } else if is_short {
            Some(4)
        } else {
            is_commit(self.commit, name).then_some(5)
        }
    }
}

/// Whether the id of a commit begins with these digits, of which there are enough.
fn is_commit(id: &str, digits: &[u8]) -> bool {
    let beginning = id.as_bytes().get(..digits.len());
    digits.len() >= COMMIT_DIGITS_MIN
        && beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(digits))
}

/// The revisions of one document: none for those of directories, and in a shard without a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentRevisions<'a>(Option<(&'a Revisions, u32)>);

impl<'a> DocumentRevisions<'a> {
    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.0.is_none()
    }

    /// Iterates over them, the default one first, the rest in the order of short names.
    pub fn iter(self) -> impl Iterator<Item = RevisionRef<'a>> {
        let of = self.0.map(|(all, class)| all.of_class(class));
        of.into_iter().flatten()
    }

    /// Returns a number that is the same for documents with the same revisions alone; `None` when there
    /// are no revisions.
    pub(crate) fn key(self) -> Option<(u64, u32)> {
        self.0.map(|(all, class)| (all.serial, class))
    }
}

impl Revisions {
    /// Joins a table, whose file has the hash `hash`, with what is recorded of repositories. `packages`
    /// are the names of the shard's packages, `None` for dead ones; the numbers of those of each document
    /// and each skipped file follow.
    pub fn new(
        table: RevisionTable,
        hash: [u8; 32],
        recorded: &Recorded,
        packages: &[Option<&[u8]>],
        of_documents: &[u32],
        of_skipped: &[u32],
    ) -> Result<Revisions, TableError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut revisions = Revisions {
            serial: NEXT.fetch_add(1, Ordering::Relaxed),
            table: hash,
            records: Revisions::digest(recorded, packages),
            names: table.names.iter().map(|name| Name::new(name)).collect(),
            sets: Vec::new(),
            packages: Vec::new(),
            classes: vec![Class {
                package: 0,
                set: SUPERSEDED,
                is_default: false,
            }],
            documents: Vec::with_capacity(table.documents().len()),
            skipped: Vec::with_capacity(table.skipped().len()),
            is_all_default: false,
            is_all_indexed: false,
        };
        let known: HashMap<&[u8], u32> = table.names.iter().map(|name| &**name).zip(0..).collect();
        for name in packages {
            let record = name.and_then(|name| recorded.repository(name));
            let of_package = record.map(|record| PackageRevisions::new(record, &known));
            revisions.packages.push(of_package);
        }
        revisions.sets = table.sets.clone();
        let mut numbers = HashMap::new();
        let set = |set: u32, package: u32| match packages[package as usize] {
            Some(_) => set,
            None => SUPERSEDED,
        };
        for (entry, &package) in table.documents().iter().zip(of_documents) {
            let class = revisions.class(package, set(entry.set, package), &mut numbers)?;
            revisions.documents.push(class);
        }
        for (entry, &package) in table.skipped().iter().zip(of_skipped) {
            let class = revisions.class(package, set(entry.set, package), &mut numbers)?;
            revisions.skipped.push(class);
        }
        revisions.is_all_indexed = !revisions.documents.contains(&0);
        let mut current = revisions.classes.iter().skip(1);
        revisions.is_all_default =
            revisions.is_all_indexed && current.all(|class| class.is_default);
        Ok(revisions)
    }

    /// Returns the class of a package's documents in a set.
    fn class(
        &mut self,
        package: u32,
        set: u32,
        numbers: &mut HashMap<(u32, u32), u32>,
    ) -> Result<u32, TableError> {
        if set == SUPERSEDED {
            return Ok(0);
        }
        if let Some(&known) = numbers.get(&(package, set)) {
            return Ok(known);
        }
        let class = Class {
            package,
            set,
            is_default: set == CURRENT || self.has_default(package, set)?,
        };
        let number = self.classes.len() as u32;
        self.classes.push(class);
        numbers.insert((package, set), number);
        Ok(number)
    }

    /// Whether a set has the default revision of a package. Fails when it has one that is not recorded.
    fn has_default(&self, package: u32, set: u32) -> Result<bool, TableError> {
        let unknown = TableError {
            offset: 0,
            what: "a revision that is not recorded",
        };
        let of_package = self.packages[package as usize].as_ref().ok_or(unknown)?;
        let mut names = ranges(&self.sets, set).iter().cloned().flatten();
        if !names.all(|name| of_package.commits.contains_key(&name)) {
            return Err(unknown);
        }
        let mut ranges = ranges(&self.sets, set).iter();
        Ok(ranges.any(|range| range.contains(&of_package.default)))
    }

    /// Whether a live package is a repository.
    pub(crate) fn is_repository(&self, package: u32) -> bool {
        self.packages
            .get(package as usize)
            .is_some_and(Option::is_some)
    }

    /// The hash of the table's file.
    pub fn table(&self) -> [u8; 32] {
        self.table
    }

    /// A hash of what is recorded of the repositories: names of revisions, their commits, and which is
    /// the default one.
    pub fn records(&self) -> [u8; 32] {
        self.records
    }

    /// Computes [`records`](Self::records) for a shard with these packages, `None` for dead ones.
    pub(crate) fn digest(recorded: &Recorded, packages: &[Option<&[u8]>]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let mut text = |bytes: &[u8]| {
            hasher
                .update(&(bytes.len() as u64).to_le_bytes())
                .update(bytes);
        };
        let dead = (0_u32..).zip(packages).filter(|(_, name)| name.is_none());
        for (number, _) in dead {
            text(b"dead");
            text(&number.to_le_bytes());
        }
        let live = packages.iter().flatten();
        for record in live.filter_map(|name| recorded.repository(name)) {
            text(&record.package);
            text(&record.default);
            text(&(record.revisions.len() as u64).to_le_bytes());
            for revision in &record.revisions {
                text(&revision.name);
                text(revision.commit.id.as_bytes());
            }
        }
        *hasher.finalize().as_bytes()
    }

    /// Number of documents.
    pub fn document_count(&self) -> u32 {
        self.documents.len() as u32
    }

    /// Whether a query without a filter of revisions searches the document: it is in the default
    /// revision of its repository, or current without revisions.
    pub fn is_default(&self, document: u32) -> bool {
        self.classes[self.documents[document as usize] as usize].is_default
    }

    /// Whether the document is current, in whatever revision.
    pub fn is_indexed(&self, document: u32) -> bool {
        self.documents[document as usize] != 0
    }

    /// Whether a skipped file, by its number in the shard, is in the default revision of its repository,
    /// or current without revisions.
    pub fn is_default_skipped(&self, number: u32) -> bool {
        let class = self.skipped.get(number as usize).copied();
        self.classes[class.unwrap_or_default() as usize].is_default
    }

    /// Whether a skipped file is current, in whatever revision.
    pub fn is_indexed_skipped(&self, number: u32) -> bool {
        self.skipped
            .get(number as usize)
            .is_some_and(|&class| class != 0)
    }

    /// Whether all documents are default.
    pub(crate) fn is_all_default(&self) -> bool {
        self.is_all_default
    }

    /// Whether all documents are indexed.
    pub(crate) fn is_all_indexed(&self) -> bool {
        self.is_all_indexed
    }

    /// Returns the revisions of a document.
    pub fn of(&self, document: u32) -> DocumentRevisions<'_> {
        let class = self.documents[document as usize];
        let set = self.classes[class as usize].set;
        DocumentRevisions((set != SUPERSEDED && set != CURRENT).then_some((self, class)))
    }

    /// Iterates over the revisions of a class, the default one first.
    fn of_class(&self, class: u32) -> impl Iterator<Item = RevisionRef<'_>> {
        let Class {
            package,
            set,
            is_default,
        } = self.classes[class as usize];
        // Checked when the class was made.
        let of_package = self.packages[package as usize].as_ref();
        of_package.into_iter().flat_map(move |of_package| {
            let first = is_default.then_some(of_package.default);
            let others = ranges(&self.sets, set).iter().cloned().flatten();
            let others = others.filter(move |&name| name != of_package.default);
            let names = first.into_iter().chain(others);
            names.filter_map(move |name| self.revision(of_package, name))
        })
    }

    fn revision<'a>(&'a self, of: &'a PackageRevisions, name: u32) -> Option<RevisionRef<'a>> {
        let commit = of.commits.get(&name)?;
        let Name { full, text } = &self.names[name as usize];
        Some(RevisionRef {
            name: full,
            text,
            commit: &commit.id,
            committed: commit.committed,
            is_default: name == of.default,
        })
    }
}

impl Name {
    fn new(full: &[u8]) -> Name {
        Name {
            full: full.into(),
            text: String::from_utf8_lossy(short_name(full)).into(),
        }
    }
}

impl PackageRevisions {
    /// `known` are the numbers of the names in the table.
    fn new(record: &RecordedRepository, known: &HashMap<&[u8], u32>) -> PackageRevisions {
        let commit = |revision: &schema::message::RecordedRevision| {
            let number = *known.get(&revision.name[..])?;
            let commit = IndexedCommit {
                id: revision.commit.id.clone().into(),
                committed: revision.commit.committer.seconds,
            };
            Some((number, commit))
        };
        PackageRevisions {
            // No document is in a revision whose name the table lacks.
            default: known.get(&record.default[..]).copied().unwrap_or(u32::MAX),
            commits: record.revisions.iter().filter_map(commit).collect(),
        }
    }
}
