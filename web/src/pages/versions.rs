//! Menu of the versions of a file or directory.

use super::filters::{self, day, short_name, subject};
use super::visible;
use crate::diff::{AskedDiff, Side};
use crate::http::links::{FileAddress, encode};
use crate::http::site::Site;
use crate::suggest::Corpus;
use askama::Template;
use frontend::DocumentRevisions;
use futures_util::future::join3;
use schema::message::{FileRange, FileRequest, LookupOf, Reference, ReferenceKind};
use schema::name::package_name;

const REFERENCES_MAX: usize = 100;

const NAMED_MAX: usize = 3;

const READ_MAX: u32 = 1000;

const COMMITS_MAX: u32 = 10;

pub(super) struct Shown<'a> {
    pub(super) address: FileAddress<'a>,
    pub(super) commit: &'a str,
    pub(super) lines: &'a str,
}

#[derive(Default)]
pub(super) struct RevisionLinks {
    pub(super) names: Vec<(String, String)>,
    pub(super) more: u32,
}

impl RevisionLinks {
    pub(super) fn of(revisions: &DocumentRevisions, file: FileAddress<'_>) -> RevisionLinks {
        let (names, more) = revisions.first(NAMED_MAX);
        let link = |name: &String| {
            let href = file.at(name).show_href(0);
            (visible::plain(name.as_bytes()), href)
        };
        RevisionLinks {
            names: names.iter().map(link).collect(),
            more,
        }
    }
}

#[derive(Template)]
#[template(path = "versions.html")]
struct VersionsMenu {
    current: String,
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
    compare: Option<String>,
}

pub(super) async fn menu(site: &Site, corpus: Corpus<'_>, shown: Shown<'_>) -> String {
    let (references, versions, commits) = join3(
        shown.references(corpus),
        shown.versions(corpus),
        shown.commits(corpus),
    )
    .await;
    let names = |kind| references.iter().filter(move |it| it.kind == kind);
    let named = |kind| {
        let entry = |it: &Reference| {
            let name = String::from_utf8_lossy(&it.name);
            shown.revision(short_name(&name), &name, &it.id)
        };
        names(kind).map(entry).collect()
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
    let is_current = |group: &Group| group.entries.iter().any(|entry| entry.is_current);
    let open = groups.iter().position(is_current).unwrap_or(0);
    if let Some(group) = groups.get_mut(open) {
        group.is_open = true;
    }
    if groups.is_empty() {
        return String::new();
    }
    site.render(&VersionsMenu {
        current: shown.name(),
        groups,
        is_file: shown.is_file(),
    })
}

impl Group {
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

    fn name(&self) -> String {
        match (self.address.revision, self.commit) {
            ("", "") => visible::plain(self.address.package),
            (revision, commit) if revision.is_empty() || revision == commit => {
                filters::short_id(commit)
            }
            (revision, _) => visible::plain(revision.as_bytes()),
        }
    }

    fn side(&self) -> Side {
        Side {
            package: self.address.package.to_vec(),
            revision: self.commit.to_owned(),
        }
    }

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

    fn revision(&self, short: &str, full: &str, id: &str) -> Entry {
        let revision = self.address.revision;
        Entry {
            is_current: match revision {
                "" => id == self.commit,
                revision => short == revision || full == revision,
            },
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
        let compared = AskedDiff {
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
