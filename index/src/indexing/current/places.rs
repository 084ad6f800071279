//! Origins of indexed packages, and name conflicts with new sources.

use super::CurrentIndex;
use super::repositories::package_of;
use crate::corpus::Source;
use crate::indexing::error::BuildError;
use crate::indexing::options::Changes;
use crate::indexing::report::{Moved, SourcePlace};
use schema::message::SourceKind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

impl SourcePlace {
    fn repository(location: &[u8]) -> SourcePlace {
        SourcePlace {
            is_repository: true,
            location: location.to_vec(),
        }
    }

    fn directory(path: &Path) -> SourcePlace {
        SourcePlace {
            is_repository: false,
            location: path.as_os_str().as_bytes().to_vec(),
        }
    }

    /// Path of the work tree, or the location.
    fn path(&self) -> &Path {
        let location = &self.location[..];
        Path::new(OsStr::from_bytes(
            location.strip_suffix(b"/.git").unwrap_or(location),
        ))
    }

    fn is_there(&self) -> bool {
        !self.path().is_absolute() || self.path().exists()
    }
}

impl CurrentIndex<'_> {
    /// Returns moved packages, by name. Fails if the old place still exists (two sources would
    /// alternate under one name), unless `prune`.
    pub(in crate::indexing) fn moved(
        &self,
        sources: &[Source],
        changes: &Changes,
    ) -> Result<Vec<Moved>, BuildError> {
        let directories = sources.iter();
        let directories = directories.map(|it| (&it.name, SourcePlace::directory(&it.directory)));
        let repositories = changes.repositories.iter();
        let repositories = repositories.map(|it| (&it.name, SourcePlace::repository(&it.location)));
        let mut moved = Vec::new();
        for (package, now) in directories.chain(repositories) {
            let before = self.places(package);
            let same = before.iter().find(|place| place.path() == now.path());
            let Some(first) = same.or(before.first()) else {
                continue;
            };
            if same.is_none() && !changes.prune && before.iter().any(SourcePlace::is_there) {
                return Err(BuildError::SameName {
                    package: String::from_utf8_lossy(package).into_owned(),
                    known: first.to_string(),
                    given: now.to_string(),
                });
            }
            if *first != now {
                moved.push(Moved {
                    package: package.clone(),
                    before: first.clone(),
                    now,
                });
            }
        }
        moved.sort_by(|a, b| a.package.cmp(&b.package));
        Ok(moved)
    }

    /// Recorded places of an indexed package.
    fn places(&self, package: &[u8]) -> Vec<SourcePlace> {
        let recorded = &self.recorded.0;
        if let Some(repository) = recorded.repository(package) {
            return vec![SourcePlace::repository(&repository.location)];
        }
        if !self.before.contains(package) {
            return Vec::new();
        }
        let mut places = Vec::new();
        for source in &recorded.sources {
            let path = Path::new(OsStr::from_bytes(&source.location));
            let inside = path.join(OsStr::from_bytes(package));
            match source.kind {
                SourceKind::Directory if package_of(source).as_deref() == Some(package) => {
                    places.push(SourcePlace::directory(path));
                }
                SourceKind::Directories if inside.is_dir() => {
                    places.push(SourcePlace::directory(&inside));
                }
                _ => {}
            }
        }
        places
    }
}
