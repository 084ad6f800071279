//! Packages of shards as listed by backends, and those visible within a scope, as bitmaps.
//!
//! **Invariant:** a shard without a visible package is absent, so it is neither asked nor counted.

use query::Scope;
use results::ShardId;
use schema::message::VisibleShard;
use schema::name::name_of;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub(crate) type PackagesByShard = HashMap<ShardId, Arc<ShardPackages>>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardPackages {
    /// Time of the shard's build, in seconds since 1970.
    pub(crate) indexed: u64,
    pub(crate) packages: Vec<PackageInfo>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageInfo {
    pub(crate) name: Box<[u8]>,
    pub(crate) number: u32,
    pub(crate) documents: u32,
    pub(crate) text_bytes: u64,
    pub(crate) is_repository: bool,
    /// No version is split from its name.
    pub(crate) has_own_name: bool,
}

impl PackageInfo {
    pub(crate) fn package_name(&self) -> &[u8] {
        name_of(&self.name, self.has_own_name || self.is_repository)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VisiblePackages {
    /// Bitmap by package number, lowest bit first.
    bits: Vec<u8>,
    is_all: bool,
    pub(crate) documents: u32,
    pub(crate) text_bytes: u64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct VisiblePeer {
    /// Shards in announced order; `None` until announced.
    pub(crate) shards: Option<Vec<VisibleShard>>,
    pub(crate) packages: u64,
    pub(crate) documents: u64,
    pub(crate) text_bytes: u64,
}

impl VisiblePackages {
    /// `None` without any.
    pub(crate) fn of(scope: &Scope, packages: &ShardPackages) -> Option<VisiblePackages> {
        let mut visible = VisiblePackages {
            bits: Vec::new(),
            is_all: true,
            documents: 0,
            text_bytes: 0,
        };
        for package in &packages.packages {
            if scope.sees_name(package.package_name()) {
                visible.add(package);
            } else {
                visible.is_all = false;
            }
        }
        (!visible.bits.is_empty()).then_some(visible)
    }

    fn add(&mut self, package: &PackageInfo) {
        let (byte, bit) = (package.number as usize / 8, package.number % 8);
        if byte >= self.bits.len() {
            self.bits.resize(byte + 1, 0);
        }
        self.bits[byte] |= 1 << bit;
        self.documents = self.documents.saturating_add(package.documents);
        self.text_bytes = self.text_bytes.saturating_add(package.text_bytes);
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        let byte = self.bits.get(number as usize / 8);
        byte.is_some_and(|byte| byte >> (number % 8) & 1 == 1)
    }

    pub(crate) fn without(&self, shard: ShardId, superseded: &[u32]) -> VisibleShard {
        let mut bits = self.bits.clone();
        for &number in superseded {
            if let Some(byte) = bits.get_mut(number as usize / 8) {
                *byte &= !(1 << (number % 8));
            }
        }
        let is_all = self.is_all && superseded.is_empty();
        VisibleShard {
            shard,
            packages: if is_all { Arc::default() } else { bits.into() },
            is_all,
        }
    }
}

pub(crate) fn visible_shards<'a>(
    scope: &Scope,
    announced: impl IntoIterator<Item = &'a PackagesByShard>,
) -> BTreeMap<ShardId, VisiblePackages> {
    let mut visible = BTreeMap::new();
    let mut looked_at = BTreeSet::new();
    for (id, packages) in announced.into_iter().flatten() {
        if looked_at.insert(*id)
            && let Some(packages) = VisiblePackages::of(scope, packages)
        {
            visible.insert(*id, packages);
        }
    }
    visible
}

#[cfg(test)]
mod tests {
    use super::*;
    use query::PackageNames;

    fn packages(names: &[(&str, u32)]) -> ShardPackages {
        let package = |&(name, number): &(&str, u32)| PackageInfo {
            name: name.as_bytes().into(),
            number,
            documents: 10,
            text_bytes: 100,
            is_repository: false,
            has_own_name: false,
        };
        ShardPackages {
            indexed: 0,
            packages: names.iter().map(package).collect(),
        }
    }

    fn check(
        names: &[(&str, u32)],
        visible: &[&str],
        superseded: &[u32],
    ) -> Option<(Vec<u8>, bool)> {
        let all = names
            .iter()
            .map(|(name, _)| name_of(name.as_bytes(), false));
        let all = Arc::new(PackageNames::new(all));
        let visible = visible.iter().map(|name| all.position(name.as_bytes()));
        let scope = Scope::of(&all, visible.map(Option::unwrap).collect());
        let found = VisiblePackages::of(&scope, &packages(names))?;
        assert!(superseded.iter().all(|&number| found.has(number)));
        let told = found.without([0; 32], superseded);
        Some((told.packages.to_vec(), told.is_all))
    }

    #[test]
    fn the_bitmap_has_the_numbers_of_visible_packages_unless_they_are_all() {
        let names = [("a_1", 9), ("b_1", 0), ("c_1", 3)];
        let some = |bits: &[u8]| Some((bits.to_vec(), false));
        let all = ["a", "b", "c"];
        assert_eq!(check(&names, &all, &[]), Some((Vec::new(), true)));
        assert_eq!(check(&names, &all, &[9]), some(&[9, 0]));
        assert_eq!(check(&names, &all, &[0, 3, 9]), some(&[0, 0]));
        assert_eq!(check(&names, &["a"], &[]), some(&[0, 2]));
        assert_eq!(check(&names, &["b", "c"], &[]), some(&[9]));
        assert_eq!(check(&names, &[], &[]), None);
    }
}
