//! Corpus as one caller sees it, and alternatives to names without a match: similar words, packages
//! and files, versions of a package, and reasons for skipped files.

use crate::model::LeftOut;
use crate::problem::Problem;
use frontend::{Coordinator, FileError, Listing, Scope, entry_name, similar};
use schema::message::{
    FileReply, FileRequest, IndexedRepository, ListEntry, ListKind, ListRequest,
};
use schema::name::package_name;

const SIMILAR_MAX: usize = 3;

const SIBLINGS_MAX: u32 = 1000;

/// Each has about a thousand packages: enough for a distribution's packages with one first letter,
/// and a wrong name costs little.
const LISTS_MAX: usize = 4;

/// Bound of listed versions: about what a backend sends at once.
const VERSIONS_MAX: u32 = 1000;

/// Compared entries of a list of skipped files.
const SKIPPED_MAX: u32 = 100;

#[derive(Clone, Copy)]
pub struct Corpus<'a> {
    /// Frontend that is asked.
    pub coordinator: &'a Coordinator,
    /// Packages visible to the caller.
    pub scope: &'a Scope,
}

impl Corpus<'_> {
    pub(crate) async fn file(self, request: &FileRequest) -> Result<FileReply, FileError> {
        self.coordinator.file(self.scope, request).await
    }

    pub(crate) async fn listing(self, request: &ListRequest) -> Result<Listing, FileError> {
        self.coordinator.listing(self.scope, request).await
    }

    pub(crate) async fn parts(
        self,
        mut request: ListRequest,
        parts_max: usize,
    ) -> Result<Listing, FileError> {
        let mut whole = Listing::default();
        for _ in 0..parts_max {
            let part = self.listing(&request).await?;
            whole.entries.extend(part.entries);
            whole.more = part.more;
            whole.unreachable = part.unreachable;
            match whole.entries.last().filter(|_| part.more) {
                Some(last) => request.after = entry_name(request.kind, last),
                None => break,
            }
        }
        Ok(whole)
    }

    /// The package itself, or all versions of a name without one, ordered by name. A package is
    /// its directory, such as `i3-wm_4.22`; users call it `i3-wm`.
    pub(crate) async fn versions(self, name: &[u8]) -> Result<Vec<ListEntry>, Problem> {
        let request = ListRequest::new(ListKind::Packages, name, b"", VERSIONS_MAX);
        let mut list = self.listing(&request).await?;
        if list.entries.iter().any(|entry| entry.package == name) {
            list.entries.retain(|entry| entry.package == name);
        }
        if list.entries.is_empty() {
            list = list.whole().map(|_| Default::default())?;
        }
        Ok(list.entries)
    }

    /// `None` if the package is not a repository.
    pub(crate) async fn indexed_repository(
        self,
        package: &[u8],
    ) -> Result<Option<IndexedRepository>, Problem> {
        let request = ListRequest::new(ListKind::Repositories, b"", package, 1);
        let list = self.listing(&request).await?;
        let mut entries = list.entries.into_iter();
        let found = entries.find(|entry| entry.package == package);
        Ok(found.and_then(|entry| entry.repository))
    }

    /// Visible packages with a similar name and the same first letter.
    pub(crate) async fn near_packages(self, name: &[u8]) -> Result<Vec<Vec<u8>>, Problem> {
        let first = &name[..name.len().min(1)];
        let request = ListRequest::new(ListKind::Packages, b"", first, u32::MAX);
        let list = self.parts(request, LISTS_MAX).await?;
        let names = list.entries.iter().map(|entry| entry.name().to_vec());
        let mut similar = similar(package_name(name), names);
        similar.truncate(SIMILAR_MAX);
        Ok(similar)
    }

    /// In the same directory.
    pub(crate) async fn near_files(
        self,
        package: &[u8],
        path: &[u8],
    ) -> Result<Vec<Vec<u8>>, Problem> {
        let slash = path.iter().rposition(|&byte| byte == b'/');
        let (directory, name) = path.split_at(slash.map_or(0, |at| at + 1));
        let request = ListRequest::new(ListKind::Children, package, directory, SIBLINGS_MAX);
        let list = self.coordinator.list(self.scope, request).await?;
        // Only a faulty backend sends entries of other directories.
        let names = list.entries.iter();
        let names =
            names.filter_map(|entry| entry.path.strip_prefix(directory).map(<[u8]>::to_vec));
        let near = similar(name, names).into_iter().take(SIMILAR_MAX);
        Ok(near.map(|name| [directory, &name].concat()).collect())
    }

    /// Reason why the index skipped a file: a rule, or a skipped directory above it. `None` if it
    /// did not.
    pub(crate) async fn why_left_out(self, package: &[u8], path: &[u8]) -> Option<Problem> {
        let is_at_or_below = |directory: &[u8]| {
            let rest = path.strip_prefix(directory);
            rest.is_some_and(|rest| rest.is_empty() || directory.is_empty() || rest[0] == b'/')
        };
        let request = ListRequest::new(ListKind::Skipped, package, path, SKIPPED_MAX);
        let list = self.listing(&request).await.ok()?;
        let mut entries = list.entries.iter();
        let entry = entries.find(|entry| is_at_or_below(&entry.path))?;
        let [package, path] = [package, path].map(String::from_utf8_lossy);
        let words = LeftOut::from(entry).words;
        let detail = format!("{package}/{path} is not indexed: {words}");
        Some(Problem::missing(detail))
    }
}
