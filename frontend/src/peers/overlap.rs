//! Packages on several backends, counted once.
//!
//! Shards of one index may each hold a part of one *build* of a package. Backends do not know of
//! each other, so the frontend compares announced names. The newest build is searched; ties go to
//! more parts, then to the greatest ids. Other shards search as if they lacked the package.
//!
//! **Invariant:** the choice depends only on the shards and their grouping into indexes, not on
//! arrival order or connections.

use super::visible::{PackageInfo, ShardPackages, VisiblePackages};
use results::{OverlappingPackage, Overlaps, ShardId};
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Announced<'a> {
    pub(crate) backend: &'a str,
    pub(crate) shard: ShardId,
    /// Latest reported time; copies may differ.
    pub(crate) indexed: u64,
    pub(crate) packages: &'a ShardPackages,
    /// `None`: all.
    pub(crate) visible: Option<&'a VisiblePackages>,
}

impl<'a> Announced<'a> {
    fn packages(&self) -> impl Iterator<Item = &'a PackageInfo> + use<'a> {
        let visible = self.visible;
        let packages = self.packages.packages.iter();
        packages.filter(move |package| visible.is_none_or(|visible| visible.has(package.number)))
    }
}

/// Not searched, because a newer build exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Superseded {
    pub(crate) shards: BTreeMap<ShardId, SupersededPackages>,
    pub(crate) overlaps: Overlaps,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SupersededPackages {
    pub(crate) numbers: Vec<u32>,
    pub(crate) documents: u32,
    /// The shard has no others.
    pub(crate) is_all: bool,
}

pub(crate) fn superseded<'a>(announced: impl IntoIterator<Item = Announced<'a>>) -> Superseded {
    let announced: Vec<Announced<'a>> = announced.into_iter().collect();
    let shards = distinct(&announced);
    let newest = newest_builds(&announced, &shards);
    let mut found = Superseded::default();
    let mut overlapping: BTreeMap<&[u8], Vec<&str>> = BTreeMap::new();
    let mut superseded_bytes = 0_u64;
    for build in shards.values() {
        let mut superseded = SupersededPackages::default();
        for package in build.packages() {
            if !newest[&package.name[..]].shards.contains(&build.shard) {
                superseded.numbers.push(package.number);
                superseded.documents = superseded.documents.saturating_add(package.documents);
                superseded_bytes = superseded_bytes.saturating_add(package.text_bytes);
                let backends = overlapping.entry(&package.name).or_default();
                backends.push(build.backend);
            }
        }
        if !superseded.numbers.is_empty() {
            superseded.is_all = superseded.numbers.len() == build.packages().count();
            superseded.numbers.sort_unstable();
            found.shards.insert(build.shard, superseded);
        }
    }
    let describe = |(name, mut backends): (&[u8], Vec<&str>)| {
        // A backend may have several parts.
        backends.sort_unstable();
        backends.dedup();
        OverlappingPackage {
            package: name.to_vec(),
            searched: newest[name].backend.to_owned(),
            superseded: backends.into_iter().map(str::to_owned).collect(),
        }
    };
    let numbers = found
        .shards
        .values()
        .map(|shard| shard.numbers.len() as u64);
    found.overlaps = Overlaps {
        superseded: numbers.sum(),
        superseded_bytes,
        packages: overlapping.into_iter().map(describe).collect(),
    };
    found
}

#[derive(Clone, Debug)]
struct Build<'a> {
    indexed: u64,
    shards: Vec<ShardId>,
    /// First backend by name that has all of them.
    backend: &'a str,
}

impl Build<'_> {
    /// The greatest key is searched.
    fn key(&self) -> (u64, usize, &[ShardId]) {
        (self.indexed, self.shards.len(), &self.shards)
    }
}

fn newest_builds<'a>(
    announced: &[Announced<'a>],
    shards: &BTreeMap<ShardId, Announced<'a>>,
) -> HashMap<&'a [u8], Build<'a>> {
    let mut builds: BTreeMap<(&[u8], &str), Build<'a>> = BTreeMap::new();
    for Announced { backend, shard, .. } in announced {
        let Announced { indexed, .. } = shards[shard];
        for package in shards[shard].packages() {
            let build = builds.entry((&package.name, backend)).or_insert(Build {
                indexed,
                shards: Vec::new(),
                backend,
            });
            build.indexed = build.indexed.max(indexed);
            build.shards.push(*shard);
        }
    }
    let mut newest: HashMap<&[u8], Build<'a>> = HashMap::new();
    // Of equal builds, the first backend by name is kept.
    for ((name, _), mut build) in builds {
        build.shards.sort_unstable();
        build.shards.dedup();
        match newest.get_mut(name) {
            Some(kept) if kept.key() < build.key() => *kept = build,
            Some(_) => {}
            None => drop(newest.insert(name, build)),
        }
    }
    newest
}

fn distinct<'a>(announced: &[Announced<'a>]) -> BTreeMap<ShardId, Announced<'a>> {
    let mut shards = BTreeMap::new();
    for each in announced {
        let known = shards.entry(each.shard).or_insert(*each);
        known.indexed = known.indexed.max(each.indexed);
        known.backend = known.backend.min(each.backend);
    }
    shards
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    /// Finds overlaps of `backend shard time: packages`, in every arrival order.
    fn check(shards: &[&str], expected: Expect) {
        let mut shards = shards.to_vec();
        let first = describe(&shards);
        for _ in 0..shards.len() {
            shards.rotate_left(1);
            assert_eq!(describe(&shards), first);
        }
        shards.reverse();
        assert_eq!(describe(&shards), first);
        expected.assert_eq(&first);
    }

    fn describe(shards: &[&str]) -> String {
        let parse = |text: &str| {
            let (head, names) = text.split_once(':').unwrap();
            let mut head = head.split(' ');
            let backend = head.next().unwrap().to_owned();
            let shard = [head.next().unwrap().as_bytes()[0]; 32];
            let indexed = head.next().unwrap().parse().unwrap();
            let package = |(number, name): (u32, &str)| PackageInfo {
                name: name.as_bytes().into(),
                number,
                documents: 10,
                text_bytes: 100,
                is_repository: false,
                has_own_name: false,
            };
            let packages = (0..).zip(names.split_whitespace()).map(package).collect();
            (backend, shard, ShardPackages { indexed, packages })
        };
        let parsed: Vec<_> = shards.iter().map(|text| parse(text)).collect();
        let found = superseded(parsed.iter().map(|(backend, shard, packages)| Announced {
            backend,
            shard: *shard,
            indexed: packages.indexed,
            packages,
            visible: None,
        }));
        let mut out = String::new();
        for (
            shard,
            SupersededPackages {
                numbers,
                documents,
                is_all,
            },
        ) in &found.shards
        {
            let all = if *is_all { ", all" } else { "" };
            let shard = char::from(shard[0]);
            out += &format!("{shard} without {numbers:?}, {documents} documents{all}\n");
        }
        let bytes = found.overlaps.superseded_bytes;
        assert_eq!(bytes, 100 * found.overlaps.superseded);
        for package in &found.overlaps.packages {
            let name = String::from_utf8_lossy(&package.package);
            out += &format!(
                "{name}: {} not {:?}\n",
                package.searched, package.superseded
            );
        }
        out
    }

    #[test]
    fn the_newer_build_of_a_package_is_searched() {
        check(
            &["a 1 100: p q r", "b 2 200: q s", "c 3 50: r t"],
            expect![[r#"
                1 without [1], 10 documents
                3 without [0], 10 documents
                q: b not ["a"]
                r: a not ["c"]
            "#]],
        );
    }

    #[test]
    fn the_greater_shard_wins_if_builds_are_equally_new() {
        check(
            &["a 1 7: p q", "b 2 7: p", "c 3 7: p"],
            expect![[r#"
                1 without [0], 10 documents
                2 without [0], 10 documents, all
                p: c not ["a", "b"]
            "#]],
        );
    }

    /// An updated repository has its package in a large shard and small ones.
    #[test]
    fn the_parts_of_a_package_in_one_index_are_no_copies() {
        check(&["a 1 7: p q", "a 2 9: p"], expect![""]);
    }

    #[test]
    fn a_package_with_parts_on_two_backends_is_searched_on_one() {
        check(
            &["a 1 7: p q", "a 2 9: p", "b 3 8: p", "b 4 6: p r"],
            expect![[r#"
                3 without [0], 10 documents, all
                4 without [0], 10 documents
                p: a not ["b"]
            "#]],
        );
        // Both have the large shard, only one the small one.
        check(&["a 1 7: p q", "b 1 7: p q", "b 2 9: p"], expect![""]);
        // Both were updated at once, differently.
        check(
            &["a 1 7: p", "a 2 9: p", "b 1 7: p", "b 3 9: p"],
            expect![[r#"
                2 without [0], 10 documents, all
                p: b not ["a"]
            "#]],
        );
    }

    #[test]
    fn a_shard_on_two_backends_is_no_overlap() {
        check(&["a 1 7: p q", "b 1 9: p q"], expect![""]);
        // It is as new as its latest copy.
        check(
            &["a 1 7: p q", "b 1 9: p q", "c 2 8: p"],
            expect![[r#"
                2 without [0], 10 documents, all
                p: a not ["c"]
            "#]],
        );
    }
}
