//! Index: packages, directories, files left out, and backends.

use super::bytes::{hex, readable_owned};
use super::page::Overlaps;
use schema::message::{IndexedRevision, ListEntry};
use std::time::UNIX_EPOCH;

shapes! {
    /// List of packages, or a part of it.
    struct IndexPackages {
        /// True if all backends have answered.
        complete: bool,
        missing: Vec<Unreachable>,
        packages: Vec<IndexPackage>,
        /// Value of `after` for the rest; null at the end.
        next: Option<String>,
    }

    /// Backend without an answer.
    struct Unreachable {
        backend: String,
        reason: String,
    }

    /// Indexed package.
    struct IndexPackage {
        /// Package, named after its directory.
        package / package_base64: String,
        /// Name without the version.
        name / name_base64: String,
        documents: u32,
        bytes: u64,
        lines: u64,
        /// Time of indexing, in seconds since 1970.
        indexed: u64,
    }

    /// Entries of a directory.
    struct Tree {
        /// Package, named after its directory.
        package / package_base64: String,
        /// Path of the directory, with a slash at its end; empty: the package itself.
        path / path_base64: String,
        /// Time of indexing, in seconds since 1970.
        indexed: u64,
        entries: Vec<TreeEntry>,
        /// Value of `after` for the rest; null at the end.
        #[schema(required)]
        next: Option<String>,
    }

    /// File, or directory with the sums of its files.
    struct TreeEntry {
        kind: TreeEntryKind,
        name / name_base64: String,
        path / path_base64: String,
        /// Present for a directory.
        documents?: u32,
        bytes: u64,
        lines: u64,
        /// Present for a file; empty if unknown.
        language?: String,
        /// Present for a file: BLAKE3 of its text.
        hash?: String,
    }

    enum TreeEntryKind {
        File,
        Directory,
    }

    /// State of a package or path in the index.
    #[derive(Default)]
    struct Why {
        /// Requested package, or the directory that has it.
        package? / package_base64: String,
        /// Requested path.
        path? / path_base64: String,
        /// Present if a package or path was requested.
        state?: PackageState,
        /// Present for a document.
        bytes?: u64,
        /// Present for a document.
        lines?: u64,
        /// Present for a document; empty if unknown.
        language?: String,
        /// Present for a document: BLAKE3 of its text.
        hash?: String,
        /// Present for a document: time of indexing, in seconds since 1970.
        indexed?: u64,
        /// Indexed versions of the package.
        versions: Vec<IndexPackage>,
        /// Files left out: of the package, or at the path or its directory.
        skipped: Vec<LeftOut>,
        /// Similar names.
        similar: Vec<String>,
        /// Backends without an answer, which may know more.
        missing: Vec<Unreachable>,
        /// Value of `after` for the rest; null at the end.
        #[schema(required)]
        next: Option<String>,
    }

    /// State of a package or path.
    #[schema(as = Known)]
    enum PackageState {
        Indexed,
        Skipped,
        Unknown,
    }

    /// File left out of the index, with a reason.
    struct LeftOut {
        package / package_base64: String,
        path / path_base64: String,
        /// Fixed name, such as `binary` or `ignored`.
        reason: String,
        /// Reason in words.
        words: String,
        /// Present for an ignored file: the rule and its file.
        rule?: String,
    }

    /// State of the index and its backends.
    struct Status {
        version: String,
        generation: String,
        /// True if all backends and visible packages are searched.
        complete: bool,
        /// Present if access to packages is unknown, so that they are left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        missing: Vec<Unreachable>,
        shards: u64,
        packages: u64,
        documents: u64,
        bytes: u64,
        /// Time of the oldest index, in seconds since 1970.
        updated: Option<u64>,
        /// Age of the oldest index.
        age_s: Option<u64>,
        backends: Vec<BackendStatus>,
        /// Packages on several backends, if any.
        overlaps?: Overlaps,
        /// First indexed git repositories, by name; absent without any.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[schema(required = false)]
        repositories: Vec<RepositoryStatus>,
        /// Present and true if there are more.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[schema(required = false)]
        more_repositories: bool,
    }

    /// Indexed git repository.
    struct RepositoryStatus {
        /// Package of the repository.
        package / package_base64: String,
        /// Short name of the default revision.
        default: String,
        /// Time of the last fetch, in seconds since 1970; null without any.
        #[schema(required)]
        fetched: Option<u64>,
        /// Time of indexing, in seconds since 1970.
        indexed: u64,
        /// Age of the index.
        age_s: u64,
        /// Reason for the failure of the last update.
        problem?: String,
        /// First revisions; the default one leads.
        revisions: Vec<RevisionStatus>,
        /// Number of indexed revisions.
        revision_count: u32,
    }

    /// Indexed revision.
    struct RevisionStatus {
        /// Full name, such as `refs/heads/main`.
        name: String,
        /// Indexed commit.
        commit: String,
        /// Commit time, in seconds since 1970.
        committed: i64,
        /// Commits missing in the index, at most 1,000; null if the repository is slow or
        /// unreadable.
        #[schema(required)]
        behind: Option<u32>,
    }

    /// Indexed data of a backend.
    struct BackendStatus {
        name: String,
        connected: bool,
        /// Reason for not searching it: not connected, or other semantics than the frontend's.
        reason: Option<String>,
        shards: usize,
        packages: u64,
        documents: u64,
        bytes: u64,
        updated: Option<u64>,
        age_s: Option<u64>,
    }
}

impl From<(String, String)> for Unreachable {
    fn from((backend, reason): (String, String)) -> Self {
        Unreachable { backend, reason }
    }
}

copied! {
    entry: ListEntry => IndexPackage {
        documents,
        bytes: entry.text_bytes,
        lines,
        indexed;
        package / package_base64, name / name_base64: entry.name()
    }
    entry: ListEntry => LeftOut {
        reason,
        words: words(&entry.reason, &entry.detail),
        rule: (entry.reason == "ignored").then(|| entry.detail.clone());
        package / package_base64, path / path_base64
    }
    revision: IndexedRevision => RevisionStatus { name, commit, committed, behind }
    backend: frontend::BackendStatus => BackendStatus {
        name,
        connected,
        reason,
        shards,
        packages,
        documents,
        bytes: backend.text_bytes,
        updated,
        age_s: backend.updated.map(age_s)
    }
}

impl From<&ListEntry> for TreeEntry {
    fn from(entry: &ListEntry) -> Self {
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
            language: (!is_directory).then(|| entry.language.clone()),
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

/// Age of a time in seconds since 1970.
pub(crate) fn age_s(time: u64) -> u64 {
    let now = UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    now.saturating_sub(time)
}

impl RepositoryStatus {
    /// `None` if the entry is not a repository.
    pub(crate) fn new(entry: ListEntry) -> Option<Self> {
        let repository = entry.repository?;
        let (package, package_base64) = readable_owned(&entry.package);
        Some(RepositoryStatus {
            package,
            package_base64,
            default: repository.default,
            fetched: Some(repository.fetched).filter(|&fetched| fetched > 0),
            indexed: entry.indexed,
            age_s: age_s(entry.indexed),
            problem: Some(repository.problem).filter(|problem| !problem.is_empty()),
            revisions: repository.revisions.iter().map(Into::into).collect(),
            revision_count: repository.revision_count,
        })
    }
}
