//! Index: packages, directories, files left out, and backends.

use super::bytes::{hex, readable_owned};
use super::page::Overlaps;
use frontend::{Listing, Served};
use schema::message::{IndexedRevision, ListEntry};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// List of packages, or a part of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexPackages {
    /// True if all backends have answered.
    pub complete: bool,
    pub missing: Vec<Unreachable>,
    pub packages: Vec<IndexPackage>,
    /// Value of `after` for the rest; null at the end.
    pub next: Option<String>,
}

/// Backend without an answer.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Unreachable {
    pub backend: String,
    pub reason: String,
}

/// Indexed package.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexPackage {
    /// Package, named after its directory.
    pub package: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// Name without the version.
    pub name: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name_base64: Option<String>,
    pub documents: u32,
    pub bytes: u64,
    pub lines: u64,
    /// Time of indexing, in seconds since 1970.
    pub indexed: u64,
}

/// Entries of a directory.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Tree {
    /// Package, named after its directory.
    pub package: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// Path of the directory, with a slash at its end; empty: the package itself.
    pub path: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// Time of indexing, in seconds since 1970.
    pub indexed: u64,
    pub entries: Vec<TreeEntry>,
    /// Value of `after` for the rest; null at the end.
    #[schema(required)]
    pub next: Option<String>,
}

/// File, or directory with the sums of its files.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TreeEntry {
    pub kind: TreeEntryKind,
    pub name: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name_base64: Option<String>,
    pub path: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// Present for a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub documents: Option<u32>,
    pub bytes: u64,
    pub lines: u64,
    /// Present for a file; empty if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<String>,
    /// Present for a file: BLAKE3 of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hash: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TreeEntryKind {
    File,
    Directory,
}

/// State of a package or path in the index.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Why {
    /// Requested package, or the directory that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// Requested path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path: Option<String>,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// Present if a package or path was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub state: Option<PackageState>,
    /// Present for a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub bytes: Option<u64>,
    /// Present for a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lines: Option<u64>,
    /// Present for a document; empty if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<String>,
    /// Present for a document: BLAKE3 of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hash: Option<String>,
    /// Present for a document: time of indexing, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub indexed: Option<u64>,
    /// Indexed versions of the package.
    pub versions: Vec<IndexPackage>,
    /// Files left out: of the package, or at the path or its directory.
    pub skipped: Vec<LeftOut>,
    /// Similar names.
    pub similar: Vec<String>,
    /// Backends without an answer, which may know more.
    pub missing: Vec<Unreachable>,
    /// Value of `after` for the rest; null at the end.
    #[schema(required)]
    pub next: Option<String>,
}

/// State of a package or path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Known)]
pub enum PackageState {
    Indexed,
    Skipped,
    Unknown,
}

/// File left out of the index, with a reason.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LeftOut {
    pub package: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    pub path: String,
    /// Present if not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// Fixed name, such as `binary` or `ignored`.
    pub reason: String,
    /// Reason in words.
    pub words: String,
    /// Present for an ignored file: the rule and its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub rule: Option<String>,
}

/// State of the index and its backends.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Status {
    pub version: String,
    pub generation: String,
    /// True if all backends and visible packages are searched.
    pub complete: bool,
    /// Present if access to packages is unknown, so that they are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub missing: Vec<Unreachable>,
    pub shards: u64,
    pub packages: u64,
    pub documents: u64,
    pub bytes: u64,
    /// Time of the oldest index, in seconds since 1970.
    pub updated: Option<u64>,
    /// Age of the oldest index.
    pub age_s: Option<u64>,
    pub backends: Vec<BackendStatus>,
    /// Packages on several backends, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub overlaps: Option<Overlaps>,
    /// First indexed git repositories, by name; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub repositories: Vec<RepositoryStatus>,
    /// Present and true if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub more_repositories: bool,
}

/// Indexed git repository.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RepositoryStatus {
    /// Package of the repository.
    pub package: String,
    /// Present if not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// Short name of the default revision.
    pub default: String,
    /// Time of the last fetch, in seconds since 1970; null without any.
    #[schema(required)]
    pub fetched: Option<u64>,
    /// Time of indexing, in seconds since 1970.
    pub indexed: u64,
    /// Age of the index.
    pub age_s: u64,
    /// Reason for the failure of the last update.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<String>,
    /// First revisions; the default one leads.
    pub revisions: Vec<RevisionStatus>,
    /// Number of indexed revisions.
    pub revision_count: u32,
}

/// Indexed revision.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RevisionStatus {
    /// Full name, such as `refs/heads/main`.
    pub name: String,
    /// Indexed commit.
    pub commit: String,
    /// Commit time, in seconds since 1970.
    pub committed: i64,
    /// Commits missing in the index, at most 1,000; null if the repository is slow or unreadable.
    #[schema(required)]
    pub behind: Option<u32>,
}

/// Indexed data of a backend.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BackendStatus {
    pub name: String,
    pub connected: bool,
    /// Reason for not searching it: not connected, or other semantics than the frontend's.
    pub reason: Option<String>,
    pub shards: usize,
    pub packages: u64,
    pub documents: u64,
    pub bytes: u64,
    pub updated: Option<u64>,
    pub age_s: Option<u64>,
}

impl From<(String, String)> for Unreachable {
    fn from((backend, reason): (String, String)) -> Self {
        Unreachable { backend, reason }
    }
}

impl From<ListEntry> for IndexPackage {
    fn from(entry: ListEntry) -> Self {
        let (package, package_base64) = readable_owned(&entry.package);
        let (name, name_base64) = readable_owned(entry.name());
        IndexPackage {
            package,
            package_base64,
            name,
            name_base64,
            documents: entry.documents,
            bytes: entry.text_bytes,
            lines: entry.lines,
            indexed: entry.indexed,
        }
    }
}

impl Tree {
    /// Entries of the directory `path`.
    pub(crate) fn new(
        package: &ListEntry,
        path: &[u8],
        entries: Vec<ListEntry>,
        next: Option<String>,
    ) -> Self {
        let indexed = package.indexed;
        let (package, package_base64) = readable_owned(&package.package);
        let (path, path_base64) = readable_owned(path);
        Tree {
            package,
            package_base64,
            path,
            path_base64,
            indexed,
            entries: entries.into_iter().map(Into::into).collect(),
            next,
        }
    }
}

impl From<ListEntry> for TreeEntry {
    fn from(entry: ListEntry) -> Self {
        let directory = entry.path.strip_suffix(b"/");
        let name = directory.unwrap_or(&entry.path);
        let slash = name.iter().rposition(|&byte| byte == b'/');
        let (name, name_base64) = readable_owned(&name[slash.map_or(0, |at| at + 1)..]);
        let (path, path_base64) = readable_owned(&entry.path);
        let is_directory = directory.is_some();
        TreeEntry {
            kind: if is_directory {
                TreeEntryKind::Directory
            } else {
                TreeEntryKind::File
            },
            name,
            name_base64,
            path,
            path_base64,
            documents: is_directory.then_some(entry.documents),
            bytes: entry.text_bytes,
            lines: entry.lines,
            hash: (!is_directory).then(|| hex(&entry.hash)),
            language: (!is_directory).then_some(entry.language),
        }
    }
}

impl Why {
    pub(crate) fn of_package(mut self, package: &[u8], state: PackageState) -> Self {
        let (package, package_base64) = readable_owned(package);
        (self.package, self.package_base64) = (Some(package), package_base64);
        self.state = Some(state);
        self
    }

    pub(crate) fn of_path(mut self, path: &[u8]) -> Self {
        let (path, path_base64) = readable_owned(path);
        (self.path, self.path_base64) = (Some(path), path_base64);
        self
    }

    /// Adds the data of a searchable document.
    pub(crate) fn of_document(mut self, entry: ListEntry) -> Self {
        self.bytes = Some(entry.text_bytes);
        self.lines = Some(entry.lines);
        self.hash = Some(hex(&entry.hash));
        self.language = Some(entry.language);
        self.indexed = Some(entry.indexed);
        self
    }
}

impl From<ListEntry> for LeftOut {
    fn from(entry: ListEntry) -> Self {
        let (package, package_base64) = readable_owned(&entry.package);
        let (path, path_base64) = readable_owned(&entry.path);
        LeftOut {
            package,
            package_base64,
            path,
            path_base64,
            words: words(&entry.reason, &entry.detail),
            rule: (entry.reason == "ignored").then_some(entry.detail),
            reason: entry.reason,
        }
    }
}

impl LeftOut {
    /// Renders a reason without its detail. Unknown reasons stay as they are.
    pub(crate) fn kind(reason: &str) -> &str {
        match reason {
            "git" => "git's own data",
            "ignored" => "excluded by a rule",
            "index" => "an index of Trawl",
            "symlink" => "a symbolic link",
            "not-regular" => "a pipe, socket or device",
            "binary" => "binary",
            "unreadable" => "cannot be read",
            "changed" => "changed while it was read",
            "hidden" => "a hidden directory beside the packages",
            "loose" => "a file beside the packages, in none of them",
            "submodule" => "a submodule",
            "lfs" => "a pointer of Git LFS",
            "too-large" => "too large",
            "path" => "its path would leave the repository",
            other => other,
        }
    }
}

/// Renders a reason with its detail.
fn words(reason: &str, detail: &str) -> String {
    match reason {
        "ignored" => format!("excluded by {detail}"),
        "submodule" => format!("a submodule at commit {detail}"),
        "lfs" => format!("a pointer of Git LFS to {detail}"),
        "unreadable" | "too-large" => format!("{}: {detail}", LeftOut::kind(reason)),
        "other" => detail.to_owned(),
        _ => LeftOut::kind(reason).to_owned(),
    }
}

impl RepositoryStatus {
    /// `None` if the entry is not a repository.
    fn new(entry: ListEntry, now: u64) -> Option<Self> {
        let repository = entry.repository?;
        let (package, package_base64) = readable_owned(&entry.package);
        let revision = |revision: IndexedRevision| RevisionStatus {
            name: revision.name,
            commit: revision.commit,
            committed: revision.committed,
            behind: revision.behind,
        };
        Some(RepositoryStatus {
            package,
            package_base64,
            default: repository.default,
            fetched: Some(repository.fetched).filter(|&fetched| fetched > 0),
            indexed: entry.indexed,
            age_s: now.saturating_sub(entry.indexed),
            problem: Some(repository.problem).filter(|problem| !problem.is_empty()),
            revisions: repository.revisions.into_iter().map(revision).collect(),
            revision_count: repository.revision_count,
        })
    }
}

impl Status {
    /// `now` is in seconds since 1970.
    pub(crate) fn new(
        served: Served,
        undecided: Option<(String, String)>,
        backends: Vec<frontend::BackendStatus>,
        overlaps: &frontend::Overlaps,
        repositories: Listing,
        now: u64,
    ) -> Self {
        let age = |updated: Option<u64>| updated.map(|updated| now.saturating_sub(updated));
        let backend = |backend: frontend::BackendStatus| BackendStatus {
            name: backend.name,
            connected: backend.connected,
            reason: backend.reason,
            shards: backend.shards,
            packages: backend.packages,
            documents: backend.documents,
            bytes: backend.text_bytes,
            updated: backend.updated,
            age_s: age(backend.updated),
        };
        Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            generation: served.generation,
            complete: undecided.is_none() && backends.iter().all(|backend| backend.is_searched()),
            missing: undecided.into_iter().map(Into::into).collect(),
            shards: served.shards,
            packages: served.packages,
            documents: served.documents,
            bytes: served.text_bytes,
            updated: served.updated,
            age_s: age(served.updated),
            backends: backends.into_iter().map(backend).collect(),
            overlaps: Overlaps::of(overlaps),
            more_repositories: repositories.more,
            repositories: repositories
                .entries
                .into_iter()
                .filter_map(|entry| RepositoryStatus::new(entry, now))
                .collect(),
        }
    }
}
