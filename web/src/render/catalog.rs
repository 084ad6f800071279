//! What there is, for programs: packages, directories, what is not searchable, and the backends.

use super::json::{bytes, hex};
use super::shapes::IndexPackageSchema;
use frontend::{BackendStatus, Served};
use schema::message::ListEntry;
use schema::name::package_name;
use serde::ser::{Serialize, SerializeMap, Serializer};
use utoipa::ToSchema;

/// A list, or a part of it.
#[derive(Debug, serde::Serialize, ToSchema)]
#[schema(as = IndexPackages)]
pub(crate) struct PackagesJson {
    /// Whether all backends are in it.
    pub(crate) complete: bool,
    pub(crate) missing: Vec<UnreachableJson>,
    #[schema(value_type = Vec<IndexPackageSchema>)]
    pub(crate) packages: Vec<PackageJson>,
    /// What to give as `after` for the rest; none when this is all.
    pub(crate) next: Option<String>,
}

/// A backend that could not be asked.
#[derive(Debug, serde::Serialize, ToSchema)]
#[schema(as = Unreachable)]
pub(crate) struct UnreachableJson {
    backend: String,
    reason: String,
}

impl From<(String, String)> for UnreachableJson {
    fn from((backend, reason): (String, String)) -> Self {
        UnreachableJson { backend, reason }
    }
}

/// A package of the index.
#[derive(Debug)]
pub(crate) struct PackageJson(pub(crate) ListEntry);

impl Serialize for PackageJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PackageJson(entry) = self;
        let mut map = serializer.serialize_map(None)?;
        bytes(&mut map, "package", "package_base64", &entry.package)?;
        let name = package_name(&entry.package);
        bytes(&mut map, "name", "name_base64", name)?;
        sums(&mut map, entry)?;
        map.serialize_entry("indexed", &entry.indexed)?;
        map.end()
    }
}

/// Documents, bytes and lines of what has more than one document.
fn sums<M: SerializeMap>(map: &mut M, entry: &ListEntry) -> Result<(), M::Error> {
    map.serialize_entry("documents", &entry.documents)?;
    map.serialize_entry("bytes", &entry.text_bytes)?;
    map.serialize_entry("lines", &entry.lines)
}

/// A directory of a package.
#[derive(Debug)]
pub(crate) struct TreeJson {
    pub(crate) package: Vec<u8>,
    pub(crate) path: Vec<u8>,
    pub(crate) indexed: u64,
    pub(crate) entries: Vec<ListEntry>,
    pub(crate) next: Option<String>,
}

impl Serialize for TreeJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries: Vec<_> = self.entries.iter().map(ChildJson).collect();
        let mut map = serializer.serialize_map(None)?;
        bytes(&mut map, "package", "package_base64", &self.package)?;
        bytes(&mut map, "path", "path_base64", &self.path)?;
        map.serialize_entry("indexed", &self.indexed)?;
        map.serialize_entry("entries", &entries)?;
        map.serialize_entry("next", &self.next)?;
        map.end()
    }
}

/// A file or a directory, with what is in it.
struct ChildJson<'a>(&'a ListEntry);

impl Serialize for ChildJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ChildJson(entry) = self;
        let path = &entry.path[..];
        let inside = path.strip_suffix(b"/");
        let last = |path: &[u8]| path.iter().rposition(|&byte| byte == b'/');
        let name = inside.unwrap_or(path);
        let name = &name[last(name).map_or(0, |at| at + 1)..];
        let mut map = serializer.serialize_map(None)?;
        let kind = inside.map_or("file", |_| "directory");
        map.serialize_entry("kind", kind)?;
        bytes(&mut map, "name", "name_base64", name)?;
        bytes(&mut map, "path", "path_base64", path)?;
        match inside {
            Some(_) => sums(&mut map, entry)?,
            None => document(&mut map, entry)?,
        }
        map.end()
    }
}

/// What is known of a document.
fn document<M: SerializeMap>(map: &mut M, entry: &ListEntry) -> Result<(), M::Error> {
    map.serialize_entry("bytes", &entry.text_bytes)?;
    map.serialize_entry("lines", &entry.lines)?;
    map.serialize_entry("language", &entry.language)?;
    map.serialize_entry("hash", &hex(&entry.hash))
}

/// Why something is found, or is not.
#[derive(Debug, Default)]
pub(crate) struct WhyJson {
    /// The package as it was asked for, or its directory.
    pub(crate) package: Option<Vec<u8>>,
    pub(crate) path: Option<Vec<u8>>,
    pub(crate) state: Option<State>,
    /// The versions of the package that are indexed.
    pub(crate) versions: Vec<ListEntry>,
    /// What is not searchable of what was asked for; of a path, it or the directory that it is in.
    pub(crate) skipped: Vec<ListEntry>,
    /// What may have been meant.
    pub(crate) similar: Vec<Vec<u8>>,
    /// Backends that could not be asked, and might have more.
    pub(crate) missing: Vec<(String, String)>,
    pub(crate) next: Option<String>,
}

/// What is known of a package or a path.
#[derive(Debug)]
pub(crate) enum State {
    /// The package is searchable, or a directory in it.
    Indexed,
    /// The document is searchable.
    Document(ListEntry),
    /// It was left out.
    Skipped,
    /// There is no such thing.
    Unknown,
}

impl State {
    fn word(&self) -> &'static str {
        match self {
            State::Indexed | State::Document(_) => "indexed",
            State::Skipped => "skipped",
            State::Unknown => "unknown",
        }
    }
}

impl Serialize for WhyJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(package) = &self.package {
            bytes(&mut map, "package", "package_base64", package)?;
        }
        if let Some(path) = &self.path {
            bytes(&mut map, "path", "path_base64", path)?;
        }
        if let Some(state) = &self.state {
            map.serialize_entry("state", state.word())?;
        }
        if let Some(State::Document(entry)) = &self.state {
            document(&mut map, entry)?;
            map.serialize_entry("indexed", &entry.indexed)?;
        }
        let versions: Vec<_> = self.versions.iter().cloned().map(PackageJson).collect();
        map.serialize_entry("versions", &versions)?;
        let skipped: Vec<_> = self.skipped.iter().map(SkippedJson).collect();
        map.serialize_entry("skipped", &skipped)?;
        let similar: Vec<_> = self.similar.iter().map(|name| lossy(name)).collect();
        map.serialize_entry("similar", &similar)?;
        let missing = self.missing.iter().cloned().map(UnreachableJson::from);
        map.serialize_entry("missing", &missing.collect::<Vec<_>>())?;
        map.serialize_entry("next", &self.next)?;
        map.end()
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Something that was left out.
struct SkippedJson<'a>(&'a ListEntry);

impl Serialize for SkippedJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SkippedJson(entry) = self;
        let mut map = serializer.serialize_map(None)?;
        bytes(&mut map, "package", "package_base64", &entry.package)?;
        bytes(&mut map, "path", "path_base64", &entry.path)?;
        map.serialize_entry("reason", &entry.reason)?;
        map.serialize_entry("words", &words(&entry.reason, &entry.detail))?;
        if entry.reason == "ignored" {
            map.serialize_entry("rule", &entry.detail)?;
        }
        map.end()
    }
}

/// A reason for people; one that is not known here in its own words.
fn words(key: &str, detail: &str) -> String {
    let plain = match key {
        "git" => "git's own data",
        "ignored" => return format!("excluded by {detail}"),
        "index" => "an index of Trawl",
        "symlink" => "a symbolic link",
        "not-regular" => "a pipe, socket or device",
        "binary" => "binary",
        "unreadable" => return format!("cannot be read: {detail}"),
        "changed" => "changed while it was read",
        other if detail.is_empty() => other,
        _ => detail,
    };
    plain.to_owned()
}

/// What is searched, and who has it.
#[derive(Debug, serde::Serialize, ToSchema)]
#[schema(as = Status)]
pub(crate) struct StatusJson {
    version: &'static str,
    generation: String,
    /// Whether all backends are connected.
    complete: bool,
    shards: u64,
    packages: u64,
    documents: u64,
    bytes: u64,
    /// When the oldest of their indexes was written, in seconds since 1970, and how long ago that is.
    updated: Option<u64>,
    age_s: Option<u64>,
    backends: Vec<BackendJson>,
}

#[derive(Debug, serde::Serialize, ToSchema)]
#[schema(as = BackendStatus)]
struct BackendJson {
    name: String,
    connected: bool,
    /// Why it is not connected.
    reason: Option<String>,
    shards: usize,
    packages: u64,
    documents: u64,
    bytes: u64,
    updated: Option<u64>,
    age_s: Option<u64>,
}

impl StatusJson {
    /// At `now`, in seconds since 1970.
    pub(crate) fn new(served: Served, backends: Vec<BackendStatus>, now: u64) -> Self {
        let age = |updated: Option<u64>| updated.map(|updated| now.saturating_sub(updated));
        let backend = |backend: BackendStatus| BackendJson {
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
        StatusJson {
            version: env!("CARGO_PKG_VERSION"),
            generation: served.generation,
            complete: backends.iter().all(|backend| backend.connected),
            shards: served.shards,
            packages: served.packages,
            documents: served.documents,
            bytes: served.text_bytes,
            updated: served.updated,
            age_s: age(served.updated),
            backends: backends.into_iter().map(backend).collect(),
        }
    }
}
