//! Counts matches by language, kind, kind of symbol and directory: the first one of the path, or
//! below the `path:^DIRECTORY/` that the query selects.
//!
//! Only directories with the smallest name hashes are listed, so arrival order does not matter. The
//! rest is one number, so the sum is exact.

use crate::order::StringPool;
use fnv::FnvHasher;
use query::Query;
use rustc_hash::FxHashMap;
use schema::message::{DocumentKind, Facet, SYMBOL_KINDS_MAX, SpoolFacets};
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::hash::Hasher;

/// Counted languages; about 800 are known.
const LANGUAGES_MAX: usize = 1024;

const DIRECTORIES_MAX: usize = 2048;

/// Bytes of a listed name, as in file systems. All names fit in a frame.
const NAME_BYTES_MAX: usize = 255;

/// Values per kind that a stream publishes: more than pages show, since a value low on one
/// backend may be high overall.
const PUBLISHED_MAX: usize = 64;

/// Counts of matches by language, kind and directory.
#[derive(Debug, Default)]
pub struct Facets {
    languages: FxHashMap<Box<[u8]>, u64>,
    directories: FxHashMap<Box<[u8]>, u64>,
    by_hash: BTreeSet<(u64, Box<[u8]>)>,
    other_directories: u64,
    kinds: [u64; DocumentKind::ALL.len()],
    symbols: [u64; SYMBOL_KINDS_MAX],
    /// Directory (with slash) below which to count; empty for the package's root.
    below: Vec<u8>,
}

/// Language (empty if unknown), kind, and path within the package.
pub type CountedDocument<'a> = (&'a str, DocumentKind, &'a [u8]);

impl Facets {
    /// Counts nothing yet. Directories are those below the one that the query selects.
    pub fn of_query(query: &Query) -> Facets {
        Facets {
            below: query.directory().unwrap_or_default(),
            ..Facets::default()
        }
    }

    pub fn add(&mut self, (language, kind, path): CountedDocument<'_>, matches: u64) {
        self.add_language(language.as_bytes(), matches);
        self.kinds[kind as usize] += matches;
        self.add_directory(directory(path, self.below.len()), matches);
    }

    pub fn add_symbols(&mut self, kinds: u32) {
        for_each_bit(kinds, |kind| self.symbols[kind] += 1);
    }

    pub fn remove_symbols(&mut self, kinds: u32) {
        for_each_bit(kinds, |kind| {
            self.symbols[kind] = self.symbols[kind].saturating_sub(1)
        });
    }

    fn add_language(&mut self, language: &[u8], matches: u64) {
        let is_listed = language.len() <= NAME_BYTES_MAX;
        let language = if is_listed { language } else { b"" };
        if let Some(count) = self.languages.get_mut(language) {
            *count += matches;
        } else if self.languages.len() < LANGUAGES_MAX {
            self.languages.insert(language.into(), matches);
        } else {
            *self.languages.entry(Box::default()).or_default() += matches;
        }
    }

    fn add_directory(&mut self, name: &[u8], matches: u64) {
        if let Some(count) = self.directories.get_mut(name) {
            *count += matches;
            return;
        }
        if name.len() > NAME_BYTES_MAX {
            self.other_directories += matches;
            return;
        }
        let key = (hash(name), name.into());
        if self.directories.len() == DIRECTORIES_MAX {
            let last = self.by_hash.last().expect("the list is full");
            if key > *last {
                self.other_directories += matches;
                return;
            }
            let (_, last) = self.by_hash.pop_last().expect("the list is full");
            self.other_directories += self.directories.remove(&last).unwrap_or(0);
        }
        self.by_hash.insert(key);
        self.directories.insert(name.into(), matches);
    }

    pub fn remove(&mut self, (language, kind, path): CountedDocument<'_>, matches: u64) {
        let less = |count: &mut u64| *count = count.saturating_sub(matches);
        let language = language.as_bytes();
        let languages = &mut self.languages;
        let known = languages.contains_key(language);
        let language = if known { language } else { b"" };
        if let Some(count) = languages.get_mut(language) {
            less(count);
        }
        less(&mut self.kinds[kind as usize]);
        let name = directory(path, self.below.len());
        let listed = self.directories.get_mut(name);
        less(listed.unwrap_or(&mut self.other_directories));
    }

    /// Adds the counts of another stream.
    pub fn merge(&mut self, other: Facets) {
        for (name, count) in &other.languages {
            self.add_language(name, *count);
        }
        for (name, count) in &other.directories {
            self.add_directory(name, *count);
        }
        self.other_directories += other.other_directories;
        add_all(&mut self.kinds, &other.kinds);
        add_all(&mut self.symbols, &other.symbols);
    }

    pub fn finish(self) -> SpoolFacets {
        SpoolFacets {
            languages: ordered(self.languages),
            directories: ordered(self.directories),
            other_directories: self.other_directories,
            kinds: self.kinds,
            symbols: self.symbols,
        }
    }
}

fn add_all(sums: &mut [u64], counts: &[u64]) {
    for (sum, count) in sums.iter_mut().zip(counts) {
        *sum += count;
    }
}

fn for_each_bit(mut bits: u32, mut each: impl FnMut(usize)) {
    while bits > 0 {
        each(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// First directory of a path behind `below` bytes, without the slash; else the
/// directory that these bytes name.
fn directory(path: &[u8], below: usize) -> &[u8] {
    let rest = path.get(below..).unwrap_or_default();
    let slash = rest.iter().position(|&byte| byte == b'/');
    let end = match slash {
        Some(slash) => below + slash,
        None => below.saturating_sub(1),
    };
    path.get(..end).unwrap_or_default()
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(name);
    hasher.finish()
}

fn ordered(counts: FxHashMap<Box<[u8]>, u64>) -> Vec<Facet> {
    let facets = counts.into_iter().filter(|(_, count)| *count > 0);
    let facets = facets.map(|(name, count)| (name.into_vec(), count));
    let mut facets: Vec<Facet> = facets.collect();
    facets.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    facets
}

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
                symbols: facets.symbols,
            },
        }
    }

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
            add_all(&mut others.kinds, &stream.others.kinds);
            add_all(&mut others.symbols, &stream.others.symbols);
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
    use super::*;
    use query::QueryInput;

    fn document(path: &str) -> CountedDocument<'_> {
        ("C", DocumentKind::Tests, path.as_bytes())
    }

    #[test]
    fn counts_do_not_depend_on_arrival_order() {
        let paths: Vec<String> = (0..3 * DIRECTORIES_MAX)
            .map(|n| format!("{}/x", n % (2 * DIRECTORIES_MAX)))
            .collect();
        let count = |paths: &mut dyn Iterator<Item = &String>, streams: usize| {
            let mut all: Vec<Facets> = (0..streams).map(|_| Facets::default()).collect();
            for (n, path) in paths.enumerate() {
                all[n % streams].add(document(path), 2);
            }
            let mut sum = Facets::default();
            all.into_iter().for_each(|facets| sum.merge(facets));
            sum.finish()
        };
        let one = count(&mut paths.iter(), 1);
        assert_eq!(one, count(&mut paths.iter().rev(), 3));
        assert_eq!(one.languages, [(b"C".to_vec(), 6 * DIRECTORIES_MAX as u64)]);
        assert_eq!(one.directories.len(), DIRECTORIES_MAX);
        let listed: u64 = one.directories.iter().map(|(_, count)| count).sum();
        assert_eq!(listed + one.other_directories, 6 * DIRECTORIES_MAX as u64);
    }

    fn check_directories(filter: &str, expected: &[(&str, u64)]) {
        let q = format!("x {filter}");
        let typed = QueryInput {
            q: &q,
            ..QueryInput::default()
        };
        let mut facets = Facets::of_query(&Query::parse(&typed).unwrap().query);
        let paths = [
            "a.c",
            "src/a.c",
            "src/x/b.c",
            "src/x/y/c.c",
            "b.c",
            "doc/src/a",
        ];
        let selected = |path: &&str| filter.is_empty() || path.starts_with("src/");
        for path in paths.into_iter().filter(selected) {
            facets.add(document(path), 1);
        }
        let facets = facets.finish();
        let directories = facets.directories.iter();
        let directories: Vec<_> = directories
            .map(|(name, count)| (str::from_utf8(name).unwrap(), *count))
            .collect();
        assert_eq!(directories, expected, "{filter}");
        let sum = expected.iter().map(|(_, count)| count).sum();
        assert_eq!(facets.kinds, [0, 0, sum, 0]);
        assert_eq!(facets.languages, [(b"C".to_vec(), sum)]);
    }

    #[test]
    fn counts_the_first_directory_or_the_first_below_a_selected_one() {
        check_directories("", &[("src", 3), ("", 2), ("doc", 1)]);
        check_directories("path:^src/", &[("src/x", 2), ("src", 1)]);
        check_directories("path:^src/x?", &[("src", 3)]);
        check_directories("path:src/", &[("src", 3)]);
    }

    #[test]
    fn the_counts_of_all_streams_are_added() {
        let mut names = StringPool::default();
        let (a, b) = (names.id(b"a"), names.id(b"b"));
        assert_eq!((a, b), (0, 1));
        let mut facets = Facets::default();
        let document = document("src/x.c");
        facets.add(document, 5);
        facets.add_symbols(1 << 31 | 3);
        facets.add_symbols(2);
        facets.remove_symbols(1);
        let one = FacetsSoFar::of_stream(&facets, &[2, 3], &names);
        let sum = FacetsSoFar::sum([one.clone(), one].into_iter());
        let facet = |name: &str, count| (name.as_bytes().to_vec(), count);
        assert_eq!(sum.packages, [facet("b", 6), facet("a", 4)]);
        assert_eq!(sum.others.languages, [facet("C", 10)]);
        assert_eq!(sum.others.directories, [facet("src", 10)]);
        assert_eq!(sum.others.kinds, [0, 0, 10, 0]);
        assert_eq!(sum.others.symbols[..2], [0, 4]);
        assert_eq!(sum.others.symbols[31], 2);
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
