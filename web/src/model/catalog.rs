//! Index: packages, directories, files left out, and backends.

use super::bytes::{hex, readable_owned};
use super::page::Overlaps;
use frontend::{Listing, Served};
use schema::message::{IndexedRevision, ListEntry};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A list of packages, or a part of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexPackages {
    /// Whether all backends have answered.
    pub complete: bool,
    pub missing: Vec<Unreachable>,
    pub packages: Vec<IndexPackage>,
    /// The value of `after` for the rest; null if this is all.
    pub next: Option<String>,
}

/// A backend that could not be asked.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Unreachable {
    pub backend: String,
    pub reason: String,
}

/// A package of the index.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct IndexPackage {
    /// The package, as its directory was named.
    pub package: String,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// The package's name without the version.
    pub name: String,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name_base64: Option<String>,
    pub documents: u32,
    pub bytes: u64,
    pub lines: u64,
    /// When it was indexed, in seconds since 1970.
    pub indexed: u64,
}

/// The entries of a directory.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Tree {
    /// The package, as its directory was named.
    pub package: String,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// The path of the directory, with a slash at its end; empty: the package itself.
    pub path: String,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// When the package was indexed, in seconds since 1970.
    pub indexed: u64,
    pub entries: Vec<TreeEntry>,
    /// The value of `after` for the rest; null if this is all.
    #[schema(required)]
    pub next: Option<String>,
}

/// A file, or a directory with the sums of its files.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TreeEntry {
    pub kind: TreeEntryKind,
    pub name: String,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub name_base64: Option<String>,
    pub path: String,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// Only of a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub documents: Option<u32>,
    pub bytes: u64,
    pub lines: u64,
    /// Only of a file; empty if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<String>,
    /// Only of a file: BLAKE3 of its text.
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

/// Why a package or a path is found, or is not.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Why {
    /// The requested package, or the directory that it was found in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package: Option<String>,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// The requested path.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path: Option<String>,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// Present if a package or a path was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub state: Option<PackageState>,
    /// Only of a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub bytes: Option<u64>,
    /// Only of a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub lines: Option<u64>,
    /// Only of a document; empty if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub language: Option<String>,
    /// Only of a document: BLAKE3 of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hash: Option<String>,
    /// Only of a document: when it was indexed, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub indexed: Option<u64>,
    /// The indexed versions of the package.
    pub versions: Vec<IndexPackage>,
    /// What was left out of the index: of the package; of the path, it or its directory.
    pub skipped: Vec<LeftOut>,
    /// Similar names.
    pub similar: Vec<String>,
    /// Backends that could not be asked, and may know more.
    pub missing: Vec<Unreachable>,
    /// The value of `after` for the rest; null if this is all.
    #[schema(required)]
    pub next: Option<String>,
}

/// Whether a package or a path can be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Known)]
pub enum PackageState {
    Indexed,
    Skipped,
    Unknown,
}

/// A file that was left out of the index, and why.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct LeftOut {
    pub package: String,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    pub path: String,
    /// Present if it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path_base64: Option<String>,
    /// A fixed name, such as `binary` or `ignored`.
    pub reason: String,
    /// The reason in words.
    pub words: String,
    /// Only of an ignored file: by which rule of which file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub rule: Option<String>,
}

/// What is searched, and which backends have it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Status {
    pub version: String,
    pub generation: String,
    /// Whether all backends are searched, and all packages that the caller may see.
    pub complete: bool,
    /// Present if packages are left out because it is not known whether the caller may see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub missing: Vec<Unreachable>,
    pub shards: u64,
    pub packages: u64,
    pub documents: u64,
    pub bytes: u64,
    /// When the oldest index was written, in seconds since 1970.
    pub updated: Option<u64>,
    /// How long ago that is.
    pub age_s: Option<u64>,
    pub backends: Vec<BackendStatus>,
    /// Present if several backends have the same package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub overlaps: Option<Overlaps>,
    /// The first git repositories that are indexed, by name. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub repositories: Vec<RepositoryStatus>,
    /// Present and true if there are more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub more_repositories: bool,
}

/// A git repository that is indexed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RepositoryStatus {
    /// The package.
    pub package: String,
    /// Present if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub package_base64: Option<String>,
    /// The short name of the default revision.
    pub default: String,
    /// When it was fetched, in seconds since 1970; null if it never was.
    #[schema(required)]
    pub fetched: Option<u64>,
    /// When it was indexed, in seconds since 1970.
    pub indexed: u64,
    /// How long ago that is.
    pub age_s: u64,
    /// Why it could not be brought up to date the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub problem: Option<String>,
    /// The first revisions, the default one before all others.
    pub revisions: Vec<RevisionStatus>,
    /// How many revisions are indexed.
    pub revision_count: u32,
}

/// A revision that is indexed.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RevisionStatus {
    /// In full, such as `refs/heads/main`.
    pub name: String,
    /// The commit at which it was indexed.
    pub commit: String,
    /// When that was committed, in seconds since 1970.
    pub committed: i64,
    /// How many commits the name has now that the index has not, at most 1,000; null if that is unknown, because
    /// no backend can read the repository, or because it is slow.
    #[schema(required)]
    pub behind: Option<u32>,
}

/// What a backend has.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BackendStatus {
    pub name: String,
    pub connected: bool,
    /// Why it is not searched: it is not connected, or has other semantics than the frontend.
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
