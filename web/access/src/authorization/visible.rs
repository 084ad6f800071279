//! Names of all packages, split into public and private ones.

use super::globs::NameGlobs;
use frontend::{NameSet, PackageNames, Scope};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) struct NameSplit {
    names: Arc<PackageNames>,
    public: NameSet,
    /// Indexes, ascending.
    private: Vec<usize>,
    pub(super) hash: [u8; 16],
    /// Scope without private names.
    pub(super) public_scope: Scope,
    /// The same, undecided.
    pub(super) undecided_scope: Scope,
}

impl fmt::Debug for NameSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} names, {} of them not public",
            self.names.len(),
            self.private.len()
        )
    }
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

    pub(super) fn is_of(&self, names: &Arc<PackageNames>) -> bool {
        Arc::ptr_eq(&self.names, names)
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

    /// Place among the private names.
    pub(super) fn private_position(&self, name: &[u8]) -> Option<usize> {
        let number = self.names.position(name)?;
        self.private.binary_search(&number).ok()
    }

    /// Public names, and private ones for which `sees` holds, given place and name.
    fn scope(&self, sees: impl Fn(usize, &[u8]) -> bool) -> Scope {
        let mut visible = self.public.clone();
        let private = self.private_names().into_iter().enumerate();
        for (place, name) in private {
            if sees(place, name) {
                visible.insert(self.private[place]);
            }
        }
        Scope::of(&self.names, visible)
    }
}

/// Latest split, for background refreshes: names may change after their request.
#[derive(Debug, Default)]
pub(super) struct LastSplit(Mutex<Option<Arc<NameSplit>>>);

impl LastSplit {
    /// Calls `make` for new names.
    pub(super) fn get_or_make(
        &self,
        names: &Arc<PackageNames>,
        make: impl FnOnce() -> NameSplit,
    ) -> Arc<NameSplit> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(split) if split.is_of(names) => Arc::clone(split),
            _ => Arc::clone(last.insert(Arc::new(make()))),
        }
    }

    pub(super) fn get(&self) -> Option<Arc<NameSplit>> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[derive(Default)]
pub(super) struct Remembered(Mutex<Option<(Arc<PackageNames>, Scope)>>);

impl fmt::Debug for Remembered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Remembered")
    }
}

impl Remembered {
    /// Recomputed if the names have changed.
    pub(super) fn get_or_make(
        &self,
        split: &NameSplit,
        sees: impl Fn(usize, &[u8]) -> bool,
    ) -> Scope {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((names, scope)) if split.is_of(names) => scope.clone(),
            _ => {
                let scope = split.scope(sees);
                *last = Some((Arc::clone(&split.names), scope.clone()));
                scope
            }
        }
    }
}
