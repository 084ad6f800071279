//! Names of all packages, split into public and private ones by globs over names without version.
//!
//! In `--public` and in claims of tokens, `*` and `?` match within a part of a name, `**` also
//! across the slashes of `group/project`.

use frontend::{NameSet, PackageNames, Scope};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct NameSplit {
    names: Arc<PackageNames>,
    public: NameSet,
    /// Indexes, ascending.
    private: Vec<usize>,
    pub(super) hash: [u8; 16],
    pub(super) public_scope: Scope,
    /// The same, undecided.
    pub(super) undecided_scope: Scope,
}

impl NameSplit {
    pub(super) fn new(names: Arc<PackageNames>, globs: &NameGlobs) -> NameSplit {
        let (mut public, mut private) = (NameSet::default(), Vec::new());
        let mut hasher = blake3::Hasher::new();
        for (number, name) in names.iter().enumerate() {
            if globs.matches(name) {
                public.insert(number);
                continue;
            }
            private.push(number);
            hasher.update(&(name.len() as u64).to_le_bytes());
            hasher.update(name);
        }
        let mut hash = [0; 16];
        hasher.finalize_xof().fill(&mut hash);
        let public_scope = Scope::of(&names, public.clone());
        NameSplit {
            names,
            public,
            private,
            hash,
            undecided_scope: public_scope.undecided(),
            public_scope,
        }
    }

    pub(super) fn private_names(&self) -> Vec<&[u8]> {
        let mut numbers = self.private.iter().peekable();
        let names = self.names.iter().enumerate();
        let is_private = |(number, name)| numbers.next_if(|&&next| next == number).map(|_| name);
        names.filter_map(is_private).collect()
    }

    pub(super) fn private_len(&self) -> usize {
        self.private.len()
    }

    pub(super) fn private_position(&self, name: &[u8]) -> Option<usize> {
        let number = self.names.position(name)?;
        self.private.binary_search(&number).ok()
    }

    /// Public names, and private ones for which `sees` holds, given place and name.
    pub(super) fn scope(&self, last: &Last<Scope>, sees: impl Fn(usize, &[u8]) -> bool) -> Scope {
        last.get_or_make(&self.names, || {
            let mut visible = self.public.clone();
            for (place, name) in self.private_names().into_iter().enumerate() {
                if sees(place, name) {
                    visible.insert(self.private[place]);
                }
            }
            Scope::of(&self.names, visible)
        })
    }
}

/// Value made of the latest names. These may change after a request.
pub(super) struct Last<T>(Mutex<Option<(Arc<PackageNames>, T)>>);

impl<T> Default for Last<T> {
    fn default() -> Last<T> {
        Last(Mutex::default())
    }
}

impl<T: Clone> Last<T> {
    pub(super) fn get_or_make(&self, names: &Arc<PackageNames>, make: impl FnOnce() -> T) -> T {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, value)) if Arc::ptr_eq(known, names) => value.clone(),
            _ => last.insert((Arc::clone(names), make())).1.clone(),
        }
    }

    pub(super) fn get(&self) -> Option<T> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|(_, value)| value.clone())
    }
}

/// Few enough to match all of them.
const GLOBS_MAX: usize = 1000;

const GLOB_BYTES_MAX: usize = 1 << 10;

#[derive(Clone, Debug)]
pub(crate) struct NameGlobs(GlobSet);

impl NameGlobs {
    /// The error names a malformed glob.
    pub(crate) fn new<T: AsRef<str>>(globs: &[T]) -> Result<NameGlobs, String> {
        if globs.len() > GLOBS_MAX {
            return Err(format!(
                "{} globs; at most {GLOBS_MAX} may be given",
                globs.len()
            ));
        }
        let mut set = GlobSetBuilder::new();
        for glob in globs.iter().map(AsRef::as_ref) {
            if glob.is_empty() {
                return Err("a glob is empty; write ** for all names".to_owned());
            }
            if glob.len() > GLOB_BYTES_MAX {
                return Err(format!("a glob has more than {GLOB_BYTES_MAX} bytes"));
            }
            let compiled = GlobBuilder::new(glob).literal_separator(true).build();
            set.add(compiled.map_err(|error| error.to_string())?);
        }
        set.build()
            .map(NameGlobs)
            .map_err(|error| error.to_string())
    }

    /// `name` has no version.
    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        self.0.is_match(OsStr::from_bytes(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_whole_names() {
        let globs = NameGlobs::new(&["lib*", "team/**", "i3-{wm,lock}", "a?"]).unwrap();
        for name in ["libc", "lib", "team/x", "team/x/y", "i3-wm", "ab"] {
            assert!(globs.matches(name.as_bytes()), "{name}");
        }
        for name in ["glib", "lib/x", "team", "i3", "abc", "", "LIBC"] {
            assert!(!globs.matches(name.as_bytes()), "{name}");
        }
        assert!(globs.matches(b"lib\xff"));
        assert!(!NameGlobs::new::<&str>(&[]).unwrap().matches(b"x"));
        assert!(NameGlobs::new(&["**"]).unwrap().matches(b"a/b"));
    }

    #[test]
    fn malformed_globs_are_refused() {
        for bad in ["", "[", "{a", "a\\"] {
            assert!(NameGlobs::new(&[bad]).is_err(), "{bad}");
        }
        assert!(NameGlobs::new(&vec!["x"; GLOBS_MAX + 1]).is_err());
        assert!(NameGlobs::new(&["x".repeat(GLOB_BYTES_MAX + 1)]).is_err());
    }
}
