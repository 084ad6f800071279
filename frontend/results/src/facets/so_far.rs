//! Counts of a running search, for the values with the most matches so far.

use super::{Facets, ordered};
use crate::order::StringPool;
use rustc_hash::FxHashMap;
use schema::message::{Facet, SpoolFacets};
use std::cmp::Reverse;

/// Values per kind that a stream publishes: more than pages show, since a value low on one
/// backend may be high overall.
const PUBLISHED_MAX: usize = 64;

/// Counts so far, only of the most frequent values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FacetsSoFar {
    /// Packages, most matches first.
    pub packages: Vec<Facet>,
    /// Languages, kinds and directories.
    pub others: SpoolFacets,
}

impl FacetsSoFar {
    /// Counts of one stream; `matches` is indexed by package id in `names`.
    pub fn of_stream(facets: &Facets, matches: &[u64], names: &StringPool) -> FacetsSoFar {
        FacetsSoFar {
            packages: most(names.names().zip(matches.iter().copied())),
            others: SpoolFacets {
                languages: of_names(&facets.languages),
                directories: of_names(&facets.directories),
                other_directories: facets.other_directories,
                kinds: facets.kinds,
            },
        }
    }

    /// Sum over streams.
    pub fn sum(streams: impl Iterator<Item = FacetsSoFar>) -> FacetsSoFar {
        let mut sums: [FxHashMap<Box<[u8]>, u64>; 3] = Default::default();
        let mut others = SpoolFacets::default();
        for stream in streams {
            let lists = [
                stream.packages,
                stream.others.languages,
                stream.others.directories,
            ];
            for (sum, list) in sums.iter_mut().zip(lists) {
                for (name, count) in list {
                    *sum.entry(name.into_boxed_slice()).or_default() += count;
                }
            }
            others.other_directories += stream.others.other_directories;
            for (sum, count) in others.kinds.iter_mut().zip(stream.others.kinds) {
                *sum += count;
            }
        }
        let [packages, languages, directories] = sums.map(ordered);
        FacetsSoFar {
            packages,
            others: SpoolFacets {
                languages,
                directories,
                ..others
            },
        }
    }
}

fn of_names(counts: &FxHashMap<Box<[u8]>, u64>) -> Vec<Facet> {
    most(counts.iter().map(|(name, &count)| (&**name, count)))
}

/// Values with the most matches, most first, then by name.
fn most<'a>(counts: impl Iterator<Item = (&'a [u8], u64)>) -> Vec<Facet> {
    let key = |&(name, count): &(&'a [u8], u64)| (Reverse(count), name);
    let mut counts: Vec<_> = counts.collect();
    if counts.len() > PUBLISHED_MAX {
        counts.select_nth_unstable_by_key(PUBLISHED_MAX, key);
        counts.truncate(PUBLISHED_MAX);
    }
    counts.sort_unstable_by_key(key);
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(name, count)| (name.to_vec(), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::CountedDocument;
    use super::*;
    use schema::message::DocumentKind;

    #[test]
    fn the_counts_of_all_streams_are_added() {
        let mut names = StringPool::default();
        let (a, b) = (names.id(b"a"), names.id(b"b"));
        assert_eq!((a, b), (0, 1));
        let mut facets = Facets::default();
        let document = CountedDocument {
            language: "C",
            kind: DocumentKind::Tests,
            path: b"src/x.c",
        };
        facets.add(document, 5);
        let one = FacetsSoFar::of_stream(&facets, &[2, 3], &names);
        let sum = FacetsSoFar::sum([one.clone(), one].into_iter());
        let facet = |name: &str, count| (name.as_bytes().to_vec(), count);
        assert_eq!(sum.packages, [facet("b", 6), facet("a", 4)]);
        assert_eq!(sum.others.languages, [facet("C", 10)]);
        assert_eq!(sum.others.directories, [facet("src", 10)]);
        assert_eq!(sum.others.kinds, [0, 0, 10, 0]);
    }

    #[test]
    fn a_stream_publishes_the_values_with_the_most_matches() {
        let mut names = StringPool::default();
        let matches: Vec<u64> = (0..200).collect();
        for number in &matches {
            names.id(format!("{number:03}").as_bytes());
        }
        let so_far = FacetsSoFar::of_stream(&Facets::default(), &matches, &names);
        assert_eq!(so_far.packages.len(), PUBLISHED_MAX);
        assert_eq!(so_far.packages[0], (b"199".to_vec(), 199));
        assert!(so_far.packages.is_sorted_by(|a, b| a.1 > b.1));
    }
}
