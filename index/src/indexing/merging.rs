//! Merges shards: small ones if many, mostly dead ones, and those without symbols.
//!
//! Packages are read from shards, since their directories may be gone. The result equals, byte for
//! byte, a shard of the directories.

use super::current::{CurrentIndex, CurrentShard};
use super::interface::{BuildError, BuildOptions, Progress};
use super::mark::OldSets;
use super::package::{InputPackage, Origin, ShardPackage, SkippedEntry, sort};
use super::pipeline::write;
use super::task::{shard_tables, table_bytes};
use crate::directory;
use std::path::Path;
use std::sync::Arc;

/// Each costs every query a dictionary lookup, some microseconds.
const SMALL_SHARDS_MAX: usize = 8;

/// Reciprocal of the live share of a full shard (text, and memory for tables) below which a shard
/// is small.
const SMALL_SHARE: u64 = 8;

/// Text rewritten for symbols by an update: ten seconds.
const UPGRADED_BYTES_MAX: u64 = 1 << 30;

#[derive(Clone, Copy, Debug)]
struct ShardSize {
    live_bytes: u64,
    bytes: u64,
    /// Full with a few times as many files, despite little text.
    has_many_files: bool,
    has_symbols: bool,
}

pub(super) fn merge(
    current: &mut CurrentIndex,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<(), BuildError> {
    let tables = shard_tables(options);
    let sizes = current
        .shards
        .iter()
        .map(|shard| ShardSize::of(shard, tables));
    let sizes: Vec<ShardSize> = sizes.collect();
    let chosen = choose_each(&sizes, &current.shards, options.shard_bytes);
    if chosen.is_empty() {
        return Ok(());
    }
    let mut packages = Vec::new();
    for &index in &chosen {
        packages.extend(packages_of(&current.directory, &current.shards[index])?);
    }
    sort(&mut packages);
    join_parts(&mut packages);
    let written = write(&packages, &current.directory, options, progress)?;
    let mut index = 0;
    current.shards.retain(|_| {
        index += 1;
        chosen.binary_search(&(index - 1)).is_err()
    });
    let upgraded = chosen.iter().filter(|&&index| !sizes[index].has_symbols);
    current.report.upgraded = upgraded.count() as u64;
    current.report.merged = written.stats.packages;
    current.add(written.shards, written.file_bytes)
}

impl ShardSize {
    fn of(CurrentShard { shard, .. }: &CurrentShard, tables: u64) -> ShardSize {
        let live = shard.live_counts();
        let live_tables = table_bytes(u64::from(live.documents), live.text_bytes);
        ShardSize {
            live_bytes: live.unique_bytes,
            bytes: shard.content_bytes(),
            has_many_files: live_tables >= tables / SMALL_SHARE,
            has_symbols: shard.has_symbols(),
        }
    }

    fn is_small(self, shard_bytes: u64) -> bool {
        !self.has_many_files && self.live_bytes < shard_bytes / SMALL_SHARE
    }

    fn is_mostly_dead(self) -> bool {
        self.live_bytes < self.bytes / 2
    }
}

/// Histories have shards of their own.
fn choose_each(sizes: &[ShardSize], shards: &[CurrentShard], shard_bytes: u64) -> Vec<usize> {
    let mut chosen: Vec<usize> = [false, true]
        .into_iter()
        .flat_map(|is_history| {
            let mut of_kind: Vec<usize> = (0..sizes.len()).collect();
            of_kind.retain(|&index| shards[index].entry.is_history == is_history);
            let sizes: Vec<ShardSize> = of_kind.iter().map(|&index| sizes[index]).collect();
            let chosen = choose(&sizes, shard_bytes).into_iter();
            chosen.map(move |place| of_kind[place])
        })
        .collect();
    chosen.sort_unstable();
    chosen
}

fn choose(sizes: &[ShardSize], shard_bytes: u64) -> Vec<usize> {
    let mut chosen = choose_small(sizes, shard_bytes);
    chosen.extend(choose_outdated(sizes));
    let dead = sizes.iter().enumerate();
    let dead = dead.filter(|(_, size)| size.is_mostly_dead());
    chosen.extend(dead.map(|(index, _)| index));
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// At least one, the smallest.
fn choose_outdated(sizes: &[ShardSize]) -> Vec<usize> {
    let outdated = (0..).zip(sizes).filter(|(_, size)| !size.has_symbols);
    let mut outdated: Vec<_> = outdated.map(|(at, size)| (size.live_bytes, at)).collect();
    outdated.sort_unstable();
    let mut sum = 0;
    let fits = |&(bytes, _): &(u64, usize)| {
        sum += bytes;
        sum == bytes || sum <= UPGRADED_BYTES_MAX
    };
    let chosen = outdated.into_iter().take_while(fits);
    chosen.map(|(_, index)| index).collect()
}

/// If too many: the smallest, up to the last not larger than all smaller ones together. A shard is
/// rewritten only if it doubles.
fn choose_small(sizes: &[ShardSize], shard_bytes: u64) -> Vec<usize> {
    let mut small: Vec<(u64, usize)> = (0..)
        .zip(sizes)
        .filter(|(_, size)| !size.is_mostly_dead() && size.is_small(shard_bytes))
        .map(|(index, size)| (size.live_bytes, index))
        .collect();
    if small.len() <= SMALL_SHARDS_MAX {
        return Vec::new();
    }
    small.sort_unstable();
    let (mut sum, mut count) = (0, small.len() + 1 - SMALL_SHARDS_MAX);
    for (before, &(bytes, _)) in small.iter().enumerate() {
        if bytes <= sum {
            count = count.max(before + 1);
        }
        sum += bytes;
    }
    small[..count].iter().map(|&(_, index)| index).collect()
}

fn packages_of(directory: &Path, current: &CurrentShard) -> Result<Vec<InputPackage>, BuildError> {
    let CurrentShard { shard, entry } = current;
    let table = entry.revisions.as_ref();
    let table = table.map(|named| directory::read_revisions(directory, named).map(Arc::new));
    let table = table.transpose()?;
    let mut sets = OldSets::default();
    let mut files = shard.skipped()?.into_iter().peekable();
    let mut packages = Vec::new();
    for id in shard.live_packages() {
        let package = shard.package(id)?;
        let of_package = std::iter::from_fn(|| files.next_if(|file| file.package == id));
        let skipped = of_package.map(|file| SkippedEntry {
            mark: (table.as_ref())
                .map(|table| sets.mark(table, table.entries[file.entry as usize]))
                .unwrap_or_default(),
            path: file.path,
            reason: file.reason,
            key: None,
        });
        packages.push(InputPackage::new(
            package.directory.to_vec(),
            package.name == package.directory,
            package.popularity,
            Origin::Shards(vec![ShardPackage {
                shard: shard.clone(),
                id,
                // Package counts were compared at open.
                signature: entry.packages[id.0 as usize].signature,
                skipped: skipped.collect(),
                table: table.clone(),
            }]),
        ));
    }
    shard.intact()?;
    Ok(packages)
}

fn join_parts(packages: &mut Vec<InputPackage>) {
    packages.dedup_by(|later, first| {
        if later.name != first.name || later.is_history() != first.is_history() {
            return false;
        }
        if let (Origin::Shards(first), Origin::Shards(later)) =
            (&mut first.origin, &mut later.origin)
        {
            first.append(later);
        }
        true
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: &[(u64, u64)], expected: &[usize]) {
        let size = |&(live_bytes, bytes): &(u64, u64)| ShardSize {
            live_bytes,
            bytes,
            has_many_files: false,
            has_symbols: true,
        };
        let sizes: Vec<ShardSize> = sizes.iter().map(size).collect();
        assert_eq!(choose(&sizes, 8_000), expected, "{sizes:?}");
    }

    #[test]
    fn keeps_few_shards() {
        check(&[], &[]);
        check(&[(1, 1); SMALL_SHARDS_MAX], &[]);
        check(&[(1_000, 1_000); 20], &[]);
        check(&[(0, 0); 3], &[]);
    }

    #[test]
    fn merges_many_small_shards() {
        check(&[(1, 1); 9], &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let with_large = [&[(5_000, 5_000)][..], &[(7, 7); 9]].concat();
        check(&with_large, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn keeps_shards_that_memory_has_ended() {
        let size = |has_many_files| ShardSize {
            live_bytes: 7,
            bytes: 7,
            has_many_files,
            has_symbols: true,
        };
        assert!(choose(&[size(true); 20], 8_000).is_empty());
        let mixed = [&[size(true); 20][..], &[size(false); 9]].concat();
        assert_eq!(choose(&mixed, 8_000), Vec::from_iter(20..29));
    }

    #[test]
    fn keeps_a_shard_far_larger_than_the_rest() {
        let one_larger = [&[(900, 900)][..], &[(7, 7); 8]].concat();
        check(&one_larger, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let doubling: Vec<(u64, u64)> = (0..9).map(|power| (3 << power, 3 << power)).collect();
        check(&doubling, &[0, 1]);
    }

    #[test]
    fn upgrades_shards_without_symbols_some_a_run() {
        let size = |(live_bytes, has_symbols)| ShardSize {
            live_bytes,
            bytes: live_bytes,
            has_many_files: false,
            has_symbols,
        };
        let check = |sizes: &[(u64, bool)], expected: &[usize]| {
            let sizes: Vec<ShardSize> = sizes.iter().copied().map(size).collect();
            assert_eq!(choose(&sizes, 8_000), expected);
        };
        const HALF: u64 = UPGRADED_BYTES_MAX / 2;
        check(
            &[(HALF, false), (HALF, true), (0, false), (HALF, false)],
            &[0, 2, 3],
        );
        check(&[(HALF, false), (HALF + 1, false), (HALF, false)], &[0, 2]);
        check(&[(9 * HALF, false), (8 * HALF, false)], &[1]);
    }

    #[test]
    fn merges_shards_that_are_mostly_dead() {
        check(&[(3_000, 6_000), (2_999, 6_000), (0, 0)], &[1]);
    }
}
