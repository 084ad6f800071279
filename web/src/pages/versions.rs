//! Menu of the versions of a file or directory: branches, tags, versions of the package, and
//! commits that changed it.
//!
//! Links name the shown version in `from`, so that its lines can be found in the other one.

use super::commit::{day, subject};
use super::directory::short_name;
use super::{filters, visible};
use crate::diff::{Asked, Side};
use crate::http::links::{FileAddress, encode};
use crate::http::site::Site;
use crate::suggest::Corpus;
use askama::Template;
use futures_util::future::join3;
use schema::message::{FileRange, FileRequest, LookupOf, Reference, ReferenceKind};
use schema::name::package_name;

/// Branches or tags.
const REFERENCES_MAX: usize = 100;

/// Read to find branches and tags.
const READ_MAX: u32 = 1000;

const COMMITS_MAX: u32 = 10;

/// Shown version of a file, or of a directory, whose path ends with `/` or is empty.
pub(super) struct Shown<'a> {
    /// At the revision of the address.
    pub(super) address: FileAddress<'a>,
    /// Commit; empty outside of a repository.
    pub(super) commit: &'a str,
    /// Lines as a parameter, or empty.
    pub(super) lines: &'a str,
}

#[derive(Template)]
#[template(path = "versions.html")]
struct VersionsMenu {
    groups: Vec<Group>,
    is_file: bool,
}

struct Group {
    name: &'static str,
    entries: Vec<Entry>,
    is_open: bool,
    is_cut: bool,
}

struct Entry {
    name: String,
    about: String,
    href: String,
    is_current: bool,
    /// Differences from this version to the shown one.
    compare: Option<String>,
}

/// Empty without another version.
pub(super) async fn menu(site: &Site, corpus: Corpus<'_>, shown: Shown<'_>) -> String {
    let (references, versions, commits) = join3(
        shown.references(corpus),
        shown.versions(corpus),
        shown.commits(corpus),
    )
    .await;
    let names = |kind| references.iter().filter(move |it| it.kind == kind);
    let named = |kind| {
        let names = names(kind).map(|it| String::from_utf8_lossy(&it.name).into_owned());
        let entries = names.map(|name| shown.revision(short_name(&name), &name));
        entries.collect()
    };
    let groups = [
        ("Versions", versions),
        ("Branches", named(ReferenceKind::Branch)),
        ("Tags", named(ReferenceKind::Tag)),
        ("Changes", commits),
    ];
    let groups = groups
        .into_iter()
        .filter(|(_, entries)| entries.iter().any(|it| !it.is_current));
    let mut groups: Vec<Group> = groups
        .map(|(name, entries)| Group::new(name, entries))
        .collect();
    match groups
        .iter()
        .position(|group| group.entries.iter().any(|it| it.is_current))
    {
        Some(current) => groups[current].is_open = true,
        None => groups
            .iter_mut()
            .take(1)
            .for_each(|group| group.is_open = true),
    }
    if groups.is_empty() {
        return String::new();
    }
    site.render(&VersionsMenu {
        groups,
        is_file: shown.is_file(),
    })
}

impl Group {
    /// The current entry comes first.
    fn new(name: &'static str, mut entries: Vec<Entry>) -> Group {
        entries.sort_by_key(|entry| !entry.is_current);
        let is_cut = entries.len() > REFERENCES_MAX;
        entries.truncate(REFERENCES_MAX);
        Group {
            name,
            entries,
            is_open: false,
            is_cut,
        }
    }
}

impl Shown<'_> {
    fn is_file(&self) -> bool {
        let path = self.address.path;
        !path.is_empty() && !path.ends_with(b"/")
    }

    fn side(&self) -> Side {
        Side {
            package: self.address.package.to_vec(),
            revision: self.commit.to_owned(),
        }
    }

    /// Indexed ones if no repository can be read.
    async fn references(&self, corpus: Corpus<'_>) -> Vec<Reference> {
        let Ok(repo) = str::from_utf8(self.address.package) else {
            return Vec::new();
        };
        if self.commit.is_empty() {
            return Vec::new();
        }
        let list =
            corpus
                .coordinator
                .references(corpus.scope, repo.to_owned(), Vec::new(), READ_MAX);
        list.await
            .map_or_else(|_| Vec::new(), |list| list.references.clone())
    }

    async fn versions(&self, corpus: Corpus<'_>) -> Vec<Entry> {
        let FileAddress { package, path, .. } = self.address;
        let known = corpus
            .versions(package_name(package))
            .await
            .unwrap_or_default();
        let packages: Vec<Vec<u8>> = if self.is_file() {
            let range = FileRange::Lines { first: 1, count: 1 };
            let request = FileRequest::new(package, path, "", range);
            let found = corpus
                .in_versions(&request, known)
                .await
                .unwrap_or_default();
            found.into_iter().map(|found| found.package).collect()
        } else {
            let others = known.into_iter().map(|version| version.package);
            others.filter(|other| other != package).collect()
        };
        let newest_first = packages.iter().rev();
        newest_first
            .map(|package| self.entry(package, "", visible::plain(package)))
            .collect()
    }

    /// Commits that changed the file or directory.
    async fn commits(&self, corpus: Corpus<'_>) -> Vec<Entry> {
        let FileAddress { package, path, .. } = self.address;
        let (Ok(repo), false) = (str::from_utf8(package), self.commit.is_empty()) else {
            return Vec::new();
        };
        let of = LookupOf::Log {
            revision: self.commit.to_owned(),
            path: path.to_vec(),
            after: Vec::new(),
            count: COMMITS_MAX,
        };
        let Ok(log) = corpus
            .coordinator
            .log(corpus.scope, repo.to_owned(), of)
            .await
        else {
            return Vec::new();
        };
        let commit = |commit: &schema::message::Commit| Entry {
            about: day(&commit.author),
            ..self.entry(package, &commit.id, subject(commit))
        };
        log.commits.iter().map(commit).collect()
    }

    fn revision(&self, short: &str, full: &str) -> Entry {
        let revision = self.address.revision;
        Entry {
            is_current: !revision.is_empty() && (short == revision || full == revision),
            ..self.entry(
                self.address.package,
                short,
                visible::plain(short.as_bytes()),
            )
        }
    }

    fn entry(&self, package: &[u8], revision: &str, name: String) -> Entry {
        let other = FileAddress {
            package,
            revision,
            ..self.address
        };
        let from = match self.commit {
            "" => self.address.package,
            commit => commit.as_bytes(),
        };
        let is_current = package == self.address.package && revision == self.commit;
        let compared = Asked {
            from: Some(Side {
                package: package.to_vec(),
                revision: revision.to_owned(),
            }),
            to: self.side(),
            path: Vec::new(),
            from_path: Vec::new(),
        };
        Entry {
            name,
            about: String::new(),
            href: if self.is_file() {
                format!("{}&from={}{}", other.show_href(0), encode(from), self.lines)
            } else {
                other.directory_href()
            },
            is_current,
            compare: (!is_current).then(|| compared.href(self.address.path, b"")),
        }
    }
}
