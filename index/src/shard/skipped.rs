//! The list of files that were left out of the index.

use super::error::ShardError;
use super::{PackageId, Shard};
use crate::format::Section;
use crate::posting::decode_varint;

/// A file that was left out of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedFile {
    /// Its package.
    pub package: PackageId,
    /// Its path within the package.
    pub path: Vec<u8>,
    /// Why it was left out.
    pub reason: String,
}

impl Shard {
    /// Returns the files that were left out of live packages, in the order of the packages.
    pub fn skipped(&self) -> Result<Vec<SkippedFile>, ShardError> {
        self.skipped_where(|_, _| true)
    }

    /// Returns the files that were left out of live packages and whose package and path `keep`
    /// accepts; the others are not copied. `keep` sees bytes before [`intact`](Self::intact) was
    /// asked; when the file turns out to be damaged, what it decided is dropped.
    pub fn skipped_where(
        &self,
        mut keep: impl FnMut(PackageId, &[u8]) -> bool,
    ) -> Result<Vec<SkippedFile>, ShardError> {
        let all = 0..self.section_bytes(Section::Skipped);
        let mut rest = self.file.slice(Section::Skipped, all)?;
        let mut files = Vec::new();
        while !rest.is_empty() {
            let (package, path, reason) = parse_entry(&mut rest)
                .filter(|(package, ..)| package.0 < self.package_count())
                .ok_or_else(|| self.corrupt(Section::Skipped, "an entry"))?;
            if self.is_live(package) && keep(package, path) {
                // Copied before it is validated: the mapping could change between the two.
                let reason = String::from_utf8(reason.to_vec());
                files.push(SkippedFile {
                    package,
                    path: path.to_vec(),
                    reason: reason.map_err(|_| self.corrupt(Section::Skipped, "an entry"))?,
                });
            }
        }
        self.intact()?;
        Ok(files)
    }
}

/// Takes one entry from the front of `rest`: package, path, reason.
fn parse_entry<'a>(rest: &mut &'a [u8]) -> Option<(PackageId, &'a [u8], &'a [u8])> {
    let package = PackageId(u32::try_from(decode_varint(rest)?).ok()?);
    let path_bytes = usize::try_from(decode_varint(rest)?).ok()?;
    let path = rest.split_off(..path_bytes)?;
    let reason_bytes = usize::try_from(decode_varint(rest)?).ok()?;
    let reason = rest.split_off(..reason_bytes)?;
    Some((package, path, reason))
}
