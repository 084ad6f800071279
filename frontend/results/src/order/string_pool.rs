//! Package names as small numbers, for pointers.

use rustc_hash::FxHashMap;

/// Package names, each stored once. Grows with packages, not with matches.
#[derive(Debug, Default)]
pub struct StringPool {
    ids: FxHashMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
}

impl StringPool {
    /// Number of a name, new if unknown.
    pub fn id(&mut self, name: &[u8]) -> u32 {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).expect("a query has fewer than 2^32 packages");
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// Name with this number.
    pub fn name(&self, id: u32) -> &[u8] {
        &self.names[id as usize]
    }

    /// Number of names.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// All names, by number.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }
}
