//! Finds and lists branches, tags and other references, as git does.
//!
//! Gix reads each file; this module decides which. Irregular files, and links out of the directory
//! of repositories, are not opened.

use crate::error::{LookupError, Result, refused, unreadable};
use crate::location::{self, Location};
use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::refs::{FullName, Target};
use schema::message::ReferenceKind;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Chain of symbolic references, as in git.
const SYMBOLIC_MAX: usize = 5;

const REFERENCES_MAX: usize = 500_000;

const DEPTH_MAX: usize = 64;

pub(crate) fn kind(name: &[u8]) -> ReferenceKind {
    if name.starts_with(b"refs/heads/") {
        ReferenceKind::Branch
    } else if name.starts_with(b"refs/tags/") {
        ReferenceKind::Tag
    } else {
        ReferenceKind::Other
    }
}

/// Ids by name, and peeled ids if known.
type Listed = BTreeMap<BString, (ObjectId, Option<ObjectId>)>;

pub(crate) enum Found {
    /// With the full name of the reference.
    Object(ObjectId, BString),
    Nothing,
    /// Leads nowhere. The reason is for people.
    Broken(String),
}

pub(crate) enum Head {
    /// Full name of a branch, perhaps without a commit.
    Branch(BString),
    Detached,
}

impl Head {
    pub(crate) fn name(&self) -> Option<&BStr> {
        match self {
            Head::Branch(name) => Some(name.as_bstr()),
            Head::Detached => None,
        }
    }
}

pub(crate) struct References<'r> {
    repo: &'r gix::Repository,
    location: &'r Location,
}

impl<'r> References<'r> {
    pub(crate) fn new(repo: &'r gix::Repository, location: &'r Location) -> References<'r> {
        References { repo, location }
    }

    /// Resolves short and full names, in the order of gitrevisions(7).
    pub(crate) fn find(&self, name: &str) -> Result<Found> {
        let name = if name == "@" { "HEAD" } else { name };
        let is_full = name.starts_with("refs/")
            || (name.bytes()).all(|byte| byte.is_ascii_uppercase() || b"_-".contains(&byte));
        let prefixes = ["", "refs/", "refs/tags/", "refs/heads/", "refs/remotes/"];
        let names = prefixes.iter().map(|prefix| format!("{prefix}{name}"));
        let names = names.chain([format!("refs/remotes/{name}/HEAD")]);
        let mut broken = None;
        for full in names.skip(usize::from(!is_full)) {
            match self.follow(full.as_str().into())? {
                Found::Nothing => {}
                Found::Broken(reason) => broken = broken.or(Some(reason)),
                found => return Ok(found),
            }
        }
        Ok(broken.map_or(Found::Nothing, Found::Broken))
    }

    pub(crate) fn head(&self) -> Result<Head> {
        let damaged = |_| unreadable!("no HEAD of the repository");
        let name = FullName::try_from("HEAD").map_err(damaged)?;
        match self.read(&name)? {
            Ok(Some(Target::Symbolic(name))) => Ok(Head::Branch(name.as_bstr().to_owned())),
            Ok(Some(Target::Object(_))) => Ok(Head::Detached),
            Ok(None) => Err(unreadable!("the repository has no HEAD")),
            Err(reason) => Err(unreadable!("{reason}")),
        }
    }

    pub(crate) fn follow(&self, full: &BStr) -> Result<Found> {
        let Ok(mut name) = FullName::try_from(full) else {
            return Ok(Found::Nothing);
        };
        for step in 0..=SYMBOLIC_MAX {
            match self.read(&name)? {
                Ok(Some(Target::Object(id))) => return Ok(Found::Object(id, full.into())),
                Ok(Some(Target::Symbolic(next))) => name = next,
                Ok(None) if step == 0 => return Ok(Found::Nothing),
                Ok(None) => {
                    let reason = format!("{full} leads to {name}, which does not exist");
                    return Ok(Found::Broken(reason));
                }
                Err(reason) => return Ok(Found::Broken(reason)),
            }
        }
        Ok(Found::Broken(format!(
            "{full} leads through more than {SYMBOLIC_MAX} symbolic references, or to itself"
        )))
    }

    /// The inner error is the damage.
    fn read(&self, name: &FullName) -> Result<Result<Option<Target>, String>> {
        let text = name.as_bstr();
        let damaged =
            || format!("{text} holds neither the id of an object nor the name of a reference");
        let path = name.to_path().map_err(|_| refused!("{text} is no path"))?;
        let base = if text.starts_with(b"refs/") {
            &self.location.common_dir
        } else {
            &self.location.git_dir
        };
        if location::is_file_below(&self.location.roots, base, path)? {
            let found = self
                .repo
                .refs
                .try_find_loose(name.as_ref().as_partial_name());
            return Ok(match found {
                Ok(found) => Ok(found.filter(|it| it.name == *name).map(|it| it.target)),
                Err(_) => Err(damaged()),
            });
        }
        let Some(packed) = self
            .repo
            .refs
            .cached_packed_buffer()
            .map_err(damaged_packed)?
        else {
            return Ok(Ok(None));
        };
        let found = packed.try_find(name.as_ref().as_partial_name());
        let found = found.map_err(damaged_packed)?;
        let found = found.filter(|it| it.name == name.as_ref());
        Ok(Ok(found.map(|it| Target::Object(it.target()))))
    }

    /// References by name, peeled if `packed-refs` has that, without broken ones.
    pub(crate) fn list(&self, below: &str) -> Result<Listed> {
        let mut names = self.packed(below)?;
        for name in self.loose(below)? {
            // A broken reference affects no others.
            match self.follow(name.as_bstr()) {
                Ok(Found::Object(id, _)) => names.insert(name, (id, None)),
                _ => names.remove(&name),
            };
        }
        check_number(names.len())?;
        Ok(names)
    }

    pub(crate) fn names(&self, below: &str) -> Result<BTreeSet<BString>> {
        let mut names: BTreeSet<BString> = self.packed(below)?.into_keys().collect();
        names.extend(self.loose(below)?);
        check_number(names.len())?;
        Ok(names)
    }

    fn packed(&self, below: &str) -> Result<Listed> {
        let mut names = Listed::new();
        let Some(packed) = self
            .repo
            .refs
            .cached_packed_buffer()
            .map_err(damaged_packed)?
        else {
            return Ok(names);
        };
        let prefix = BString::from(format!("{below}/"));
        for reference in packed.iter_prefixed(prefix).map_err(damaged_packed)? {
            let reference = reference.map_err(damaged_packed)?;
            let peeled = reference.object.is_some().then(|| reference.object());
            let name = reference.name.as_bstr().to_owned();
            names.insert(name, (reference.target(), peeled));
            check_number(names.len())?;
        }
        Ok(names)
    }

    fn loose(&self, below: &str) -> Result<Vec<BString>> {
        let mut loose = Vec::new();
        let directory = self.location.common_dir.join(below);
        self.collect(&directory, below.as_bytes(), 0, &mut loose)?;
        Ok(loose)
    }

    /// Collects references that are files. Does not follow links to directories.
    fn collect(
        &self,
        directory: &Path,
        name: &[u8],
        depth: usize,
        names: &mut Vec<BString>,
    ) -> Result<()> {
        let Ok(entries) = std::fs::read_dir(directory) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let mut full = BString::from(name);
            full.push(b'/');
            full.extend_from_slice(entry.file_name().as_encoded_bytes());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < DEPTH_MAX => {
                    self.collect(&entry.path(), &full, depth + 1, names)?;
                }
                Ok(kind) if !kind.is_dir() && !full.ends_with(b".lock") => names.push(full),
                _ => {}
            }
            check_number(names.len())?;
        }
        Ok(())
    }
}

fn damaged_packed<E>(_: E) -> LookupError {
    unreadable!("the file `packed-refs` of the repository is damaged")
}

fn check_number(number: usize) -> Result<()> {
    if number > REFERENCES_MAX {
        return Err(refused!(
            "the repository has more than {REFERENCES_MAX} references"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_reference_follows_from_its_name() {
        assert_eq!(kind(b"refs/heads/a/b"), ReferenceKind::Branch);
        assert_eq!(kind(b"refs/tags/v1"), ReferenceKind::Tag);
        assert_eq!(kind(b"refs/remotes/o/HEAD"), ReferenceKind::Other);
    }
}
