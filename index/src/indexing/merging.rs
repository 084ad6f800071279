//! Merges shards: small ones when they are many, and those of which most is dead.
//!
//! What is merged is read from the shards, not from the directories that they were made of, which
//! may be gone. It is written by the same pipeline in the same order, so that the new shard is the
//! one, byte for byte, that would have been built of the directories.

use super::present::{Held, Present};
use super::{BuildError, BuildOptions, Older, Origin, Package, Progress, sort, write};
use crate::document::Popularity;
use crate::shard::PackageId;

/// As many small shards may be there: each costs every query a look into its dictionary, some
/// microseconds.
const SMALL_SHARDS_MAX: usize = 8;

/// A shard is small when it has less than this part of the text that a shard should have.
const SMALL_SHARE: u64 = 8;

/// How much text a shard has.
#[derive(Clone, Copy, Debug)]
struct Size {
    live_bytes: u64,
    bytes: u64,
}

/// Merges what is due.
pub(super) fn merge(
    present: &mut Present<'_>,
    options: &BuildOptions,
    progress: &Progress,
) -> Result<(), BuildError> {
    let sizes: Vec<Size> = present.shards.iter().map(Size::of).collect();
    let chosen = choose(&sizes, options.shard_bytes);
    if chosen.is_empty() {
        return Ok(());
    }
    let mut packages = Vec::new();
    for &index in &chosen {
        packages.extend(packages_of(&present.shards[index])?);
    }
    sort(&mut packages);
    let written = write(&packages, present.directory, options, progress)?;
    let mut index = 0;
    present.shards.retain(|_| {
        index += 1;
        chosen.binary_search(&(index - 1)).is_err()
    });
    present.report.merged = written.packages;
    present.add(written.shards, written.file_bytes)
}

impl Size {
    fn of(held: &Held) -> Size {
        Size {
            live_bytes: held.shard.live_counts().text_bytes,
            bytes: held.shard.text_bytes(),
        }
    }

    fn is_mostly_dead(self) -> bool {
        self.live_bytes < self.bytes / 2
    }
}

/// The numbers of the shards to be merged, ascending.
fn choose(sizes: &[Size], shard_bytes: u64) -> Vec<usize> {
    let of_small = choose_small(sizes, shard_bytes);
    let numbered = sizes.iter().enumerate();
    let chosen = numbered.filter(|(index, size)| size.is_mostly_dead() || of_small.contains(index));
    chosen.map(|(index, _)| index).collect()
}

/// When small shards are too many: as many of them, from the smallest on, as are not larger than
/// all that are smaller together. So text is written again only when what it is in doubles at
/// least, or when nothing else makes the shards few enough.
fn choose_small(sizes: &[Size], shard_bytes: u64) -> Vec<usize> {
    let mut small: Vec<(u64, usize)> = (0..)
        .zip(sizes)
        .filter(|(_, size)| !size.is_mostly_dead() && size.live_bytes < shard_bytes / SMALL_SHARE)
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

fn packages_of(held: &Held) -> Result<Vec<Package>, BuildError> {
    let shard = &held.shard;
    let mut skipped = shard.skipped()?.into_iter().peekable();
    let mut packages = Vec::new();
    for id in shard.live_packages() {
        let package = shard.package(id)?;
        let of_package = std::iter::from_fn(|| skipped.next_if(|file| file.package == id));
        let of_package = of_package.map(|file| (file.path, file.reason));
        packages.push(Package {
            name: package.directory.to_vec(),
            popularity: Popularity {
                inst: package.inst,
                rdep: package.rdep,
            },
            origin: Origin::Shard(Older {
                shard: shard.clone(),
                id,
                signature: held.signature(id),
                skipped: of_package.collect(),
            }),
        });
    }
    shard.intact()?;
    Ok(packages)
}

impl Held {
    /// The signature of a package, of which the manifest has as many as the shard.
    fn signature(&self, id: PackageId) -> u64 {
        self.entry.packages[id.0 as usize].signature
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sizes: &[(u64, u64)], expected: &[usize]) {
        let size = |&(live_bytes, bytes): &(u64, u64)| Size { live_bytes, bytes };
        let sizes: Vec<Size> = sizes.iter().map(size).collect();
        assert_eq!(choose(&sizes, 8_000), expected, "{sizes:?}");
    }

    #[test]
    fn few_shards_stay() {
        check(&[], &[]);
        check(&[(1, 1); SMALL_SHARDS_MAX], &[]);
        check(&[(1_000, 1_000); 20], &[]);
        check(&[(0, 0); 3], &[]);
    }

    #[test]
    fn many_small_shards_are_merged() {
        check(&[(1, 1); 9], &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let with_large = [&[(5_000, 5_000)][..], &[(7, 7); 9]].concat();
        check(&with_large, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn a_shard_that_is_far_larger_than_the_rest_is_not_written_again() {
        let one_larger = [&[(900, 900)][..], &[(7, 7); 8]].concat();
        check(&one_larger, &[1, 2, 3, 4, 5, 6, 7, 8]);
        let doubling: Vec<(u64, u64)> = (0..9).map(|power| (3 << power, 3 << power)).collect();
        check(&doubling, &[0, 1]);
    }

    #[test]
    fn what_is_mostly_dead_is_written_again() {
        check(&[(3_000, 6_000), (2_999, 6_000), (0, 0)], &[1]);
    }
}
