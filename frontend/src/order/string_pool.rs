//! Package names as small numbers, for pointers.

use rustc_hash::FxHashMap;

/// Package names, each stored once. Grows with packages, not with matches.
#[derive(Debug, Default)]
pub(crate) struct StringPool {
    ids: FxHashMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
}

impl StringPool {
    pub(crate) fn id(&mut self, name: &[u8]) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).expect("a query has fewer than 2^32 packages");
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    pub(crate) fn name(&self, id: u32) -> &[u8] {
        &self.names[id as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }
}
