//! A table of revisions joined with the records of the repositories, for searches.
//!
//! Documents of one package in one set have the same revisions: they form a *class*. A document
//! takes 4 bytes, its class number.
//! **Invariant:** each name of a set is a recorded revision of the package. Dead packages have
//! neither a record nor a current document.

use super::{CURRENT, RevisionTable, SUPERSEDED, TableError, ranges, short_name};
use schema::message::{Recorded, RecordedRepository};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Minimum length of a commit id as a revision name: as many digits as git shows.
pub const COMMIT_DIGITS_MIN: usize = 7;

#[derive(Debug)]
pub struct Revisions {
    /// Unique in this process.
    serial: u64,
    /// Hash of the table file.
    pub(crate) table: [u8; 32],
    /// Hash of the records: names, commits and defaults.
    pub(crate) records: [u8; 32],
    names: Vec<Name>,
    sets: Vec<Vec<Range<u32>>>,
    /// By package; `None` if not a repository.
    packages: Vec<Option<PackageRevisions>>,
    /// Index 0: all superseded documents.
    classes: Vec<Class>,
    /// Class of each document, then of each skipped file.
    entries: Vec<u32>,
    pub(crate) is_all_default: bool,
    pub(crate) is_all_indexed: bool,
}

#[derive(Debug)]
struct Name {
    full: Box<[u8]>,
    text: Box<str>,
}

#[derive(Debug)]
struct PackageRevisions {
    default: u32,
    /// Ids and times of commits, by index of the revision name.
    commits: HashMap<u32, (Box<str>, i64)>,
}

#[derive(Clone, Copy, Debug)]
struct Class {
    package: u32,
    set: u32,
    is_default: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RevisionRef<'a> {
    /// Full name, such as `refs/heads/main`.
    pub name: &'a [u8],
    pub text: &'a str,
    pub commit: &'a str,
    /// Commit time, seconds since 1970.
    pub committed: i64,
    pub is_default: bool,
}

impl RevisionRef<'_> {
    pub fn short_name(&self) -> &[u8] {
        short_name(self.name)
    }

    /// Accepts its full name (with or without `refs/`), short name, commit id prefix, and `HEAD`
    /// for the default.
    pub fn is_named(&self, name: &[u8]) -> bool {
        self.named_by(name).is_some()
    }

    /// Precedence of `name`, 0 first: as in git a tag, a branch, a commit id.
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

/// True if `id` begins with enough digits.
fn is_commit(id: &str, digits: &[u8]) -> bool {
    let beginning = id.as_bytes().get(..digits.len());
    digits.len() >= COMMIT_DIGITS_MIN
        && beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(digits))
}

/// Empty for directories and without a table.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentRevisions<'a>(Option<(&'a Revisions, u32)>);

impl<'a> DocumentRevisions<'a> {
    pub fn is_empty(self) -> bool {
        self.0.is_none()
    }

    /// Iterates, default first, then by short name.
    pub fn iter(self) -> impl Iterator<Item = RevisionRef<'a>> {
        let of = self.0.map(|(all, class)| all.of_class(class));
        of.into_iter().flatten()
    }

    /// Equal for documents with the same revisions only.
    pub(crate) fn key(self) -> Option<(u64, u32)> {
        self.0.map(|(all, class)| (all.serial, class))
    }
}

impl Revisions {
    /// Joins a table (file hash `hash`) with the records. `packages`: names, `None` if dead;
    /// `of_entries`: the package of each document and skipped file.
    pub fn new(
        table: RevisionTable,
        hash: [u8; 32],
        recorded: &Recorded,
        packages: &[Option<&[u8]>],
        of_entries: &[u32],
    ) -> Result<Revisions, TableError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut revisions = Revisions {
            serial: NEXT.fetch_add(1, Ordering::Relaxed),
            table: hash,
            records: Revisions::digest(recorded, packages),
            names: (table.names.iter())
                .map(|full| Name {
                    full: full.clone(),
                    text: String::from_utf8_lossy(short_name(full)).into(),
                })
                .collect(),
            sets: Vec::new(),
            packages: Vec::new(),
            classes: vec![Class {
                package: 0,
                set: SUPERSEDED,
                is_default: false,
            }],
            entries: Vec::with_capacity(table.entries.len()),
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
        for (entry, &package) in table.entries.iter().zip(of_entries) {
            let is_dead = packages[package as usize].is_none();
            let set = if is_dead { SUPERSEDED } else { entry.set };
            let class = revisions.class(package, set, &mut numbers)?;
            revisions.entries.push(class);
        }
        let documents = &revisions.entries[..table.documents as usize];
        revisions.is_all_indexed = !documents.contains(&0);
        let mut current = revisions.classes.iter().skip(1);
        revisions.is_all_default =
            revisions.is_all_indexed && current.all(|class| class.is_default);
        Ok(revisions)
    }

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

    /// Fails on an unrecorded revision.
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

    pub(crate) fn is_repository(&self, package: u32) -> bool {
        self.packages
            .get(package as usize)
            .is_some_and(Option::is_some)
    }

    /// Computes `records`; `None` for dead packages.
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

    /// Seen by queries without a revision filter: default, or current without revisions.
    pub fn is_default(&self, entry: u32) -> bool {
        self.classes[self.class_of(entry) as usize].is_default
    }

    /// Current in any revision.
    pub fn is_indexed(&self, entry: u32) -> bool {
        self.class_of(entry) != 0
    }

    /// Superseded past the end: a file that is cut while in use may show more skipped files.
    fn class_of(&self, entry: u32) -> u32 {
        self.entries
            .get(entry as usize)
            .copied()
            .unwrap_or_default()
    }

    pub fn of(&self, document: u32) -> DocumentRevisions<'_> {
        let class = self.entries[document as usize];
        let set = self.classes[class as usize].set;
        DocumentRevisions((set != SUPERSEDED && set != CURRENT).then_some((self, class)))
    }

    fn of_class(&self, class: u32) -> impl Iterator<Item = RevisionRef<'_>> {
        let Class {
            package,
            set,
            is_default,
        } = self.classes[class as usize];
        // Validated with the class.
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
        let (commit, committed) = of.commits.get(&name)?;
        let Name { full, text } = &self.names[name as usize];
        Some(RevisionRef {
            name: full,
            text,
            commit,
            committed: *committed,
            is_default: name == of.default,
        })
    }
}

impl PackageRevisions {
    /// `known`: numbers of the names in the table.
    fn new(record: &RecordedRepository, known: &HashMap<&[u8], u32>) -> PackageRevisions {
        let commit = |revision: &schema::message::RecordedRevision| {
            let number = *known.get(&revision.name[..])?;
            let id = revision.commit.id.clone().into();
            Some((number, (id, revision.commit.committer.seconds)))
        };
        PackageRevisions {
            default: known.get(&record.default[..]).copied().unwrap_or(u32::MAX),
            commits: record.revisions.iter().filter_map(commit).collect(),
        }
    }
}
