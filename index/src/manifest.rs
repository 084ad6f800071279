//! Manifest: the shards of an index, their packages, and the dead ones. Parses and renders text;
//! reads no file.
//!
//! ```text
//! trawl-index 1
//! options 4096 ignore
//! shard 5c7e...(64 digits) 5c7e0123456789ab.shard
//! package 00f1d2c3b4a59687 i3-wm_4.22
//! dead 2a7be1c55d18f790 sed_4.9
//! shard 91d0...(64 digits) 91d0fedcba987654.shard
//! package 7b00112233445566 sed_4.10
//! end 1a2b3c4d
//! ```
//!
//! One record per line, space-separated. `options`: block size, and git's rules applied (`ignore`)
//! or not (`no-ignore`). `shard` is followed by its packages: `package`, or `dead` if removed or
//! superseded. The number of a package is its signature
//! ([`corpus::signature`](crate::corpus::signature) and popularity).
//!
//! Names escape all but ASCII letters, digits and `.+-_~` as `%` and two hex digits. `end`: CRC-32C
//! of the lines before.
//!
//! Version 2 adds `beside`: reason and path of entries beside packages. Version 3 adds files with
//! their BLAKE3: `revisions`, the table of a shard, and `repositories`, the records of sources.
//! Version 4 adds `own`: a live package with an unversioned name like `log4j-2`. Version 5 adds
//! `precise`, the precise places. Version 6 adds `history`: a `shard` of commits and changes. The
//! earliest sufficient version is written.
//!
//! **Invariant:** no file is named twice. Live packages of one name are parts of one package: both
//! shards have a table of revisions.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

pub const VERSION: u32 = 6;

const TITLE: &str = "trawl-index ";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub options: Options,
    pub shards: Vec<ShardEntry>,
    pub beside: Vec<Beside>,
    pub recorded: Option<NamedFile>,
    pub precise: Option<NamedFile>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// BLAKE3 of the file.
    pub hash: [u8; 32],
    pub file: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// Absolute.
    pub path: Vec<u8>,
    pub reason: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub block_bytes: usize,
    /// Includes files that git excludes.
    pub no_ignore: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardEntry {
    pub id: [u8; 32],
    pub file: String,
    pub packages: Vec<PackageEntry>,
    /// Table of revisions; without it all live documents are current.
    pub revisions: Option<NamedFile>,
    pub is_history: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageEntry {
    /// Signature of its source, when read.
    pub signature: u64,
    pub directory: Vec<u8>,
    /// Removed or superseded.
    pub is_dead: bool,
    /// Unversioned name that looks versioned; unset for dead packages.
    pub has_own_name: bool,
}

impl ShardEntry {
    /// Entry after a round trip: dead packages lose `has_own_name`.
    pub(crate) fn as_parsed(&self) -> ShardEntry {
        let mut entry = self.clone();
        for package in &mut entry.packages {
            package.has_own_name &= !package.is_dead;
        }
        entry
    }

    pub fn dead(&self) -> Vec<u32> {
        self.numbers(|package| package.is_dead)
    }

    pub(crate) fn own_names(&self) -> Vec<u32> {
        self.numbers(|package| !package.is_dead && package.has_own_name)
    }

    pub(crate) fn numbers(&self, mut is: impl FnMut(&PackageEntry) -> bool) -> Vec<u32> {
        let numbered = (0..).zip(&self.packages);
        let found = numbered.filter(|(_, package)| is(package));
        found.map(|(number, _)| number).collect()
    }

    pub fn live(&self) -> impl Iterator<Item = &PackageEntry> {
        self.packages.iter().filter(|package| !package.is_dead)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    #[error("not the manifest of a Trawl index")]
    NotAManifest,
    #[error(
        "an index of format {0}; this version of Trawl reads format {VERSION}: update Trawl, or \
         build the index again"
    )]
    Newer(u32),
    #[error("a damaged manifest (line {line}): build the index again")]
    Corrupt {
        /// From 1.
        line: usize,
    },
}

impl Manifest {
    pub fn render(&self) -> String {
        let ignore = if self.options.no_ignore {
            "no-ignore"
        } else {
            "ignore"
        };
        let (version, block_bytes) = (self.version(), self.options.block_bytes);
        let mut text = format!("{TITLE}{version}\noptions {block_bytes} {ignore}\n");
        for shard in &self.shards {
            let kind = if shard.is_history { "history" } else { "shard" };
            let _ = writeln!(text, "{kind} {} {}", hex(&shard.id), shard.file);
            for package in &shard.packages {
                let kind = match package {
                    PackageEntry { is_dead: true, .. } => "dead",
                    PackageEntry { has_own_name, .. } if *has_own_name => "own",
                    _ => "package",
                };
                let (signature, name) = (package.signature, escape(&package.directory));
                let _ = writeln!(text, "{kind} {signature:016x} {name}");
            }
            if let Some(NamedFile { hash, file }) = &shard.revisions {
                let _ = writeln!(text, "revisions {} {file}", hex(hash));
            }
        }
        for Beside { path, reason } in &self.beside {
            let (reason, path) = (escape(reason.as_bytes()), escape(path));
            let _ = writeln!(text, "beside {reason} {path}");
        }
        if let Some(NamedFile { hash, file }) = &self.recorded {
            let _ = writeln!(text, "repositories {} {file}", hex(hash));
        }
        if let Some(NamedFile { hash, file }) = &self.precise {
            let _ = writeln!(text, "precise {} {file}", hex(hash));
        }
        let crc = crc32c::crc32c(text.as_bytes());
        let _ = writeln!(text, "end {crc:08x}");
        text
    }

    fn version(&self) -> u32 {
        let has_revisions = self.shards.iter().any(|shard| shard.revisions.is_some());
        if self.shards.iter().any(|shard| shard.is_history) {
            VERSION
        } else if self.precise.is_some() {
            5
        } else if self.live().any(|package| package.has_own_name) {
            4
        } else if has_revisions || self.recorded.is_some() {
            3
        } else if self.beside.is_empty() {
            1
        } else {
            2
        }
    }

    pub fn files(&self) -> impl Iterator<Item = &str> {
        let shards = self.shards.iter().map(|shard| &*shard.file);
        let tables = self
            .shards
            .iter()
            .filter_map(|shard| shard.revisions.as_ref());
        let others = tables.chain(&self.recorded).chain(&self.precise);
        let others = others.map(|named| &*named.file);
        shards.chain(others)
    }

    pub fn parse(text: &[u8]) -> Result<Manifest, ManifestError> {
        let text = str::from_utf8(text).map_err(|_| ManifestError::NotAManifest)?;
        let title = text.lines().next().unwrap_or_default();
        let version = title.strip_prefix(TITLE);
        let version = version.and_then(|version| version.parse().ok());
        let version = version.ok_or(ManifestError::NotAManifest)?;
        if version > VERSION {
            return Err(ManifestError::Newer(version));
        }
        let lines = text.lines().count();
        let body = checked_body(text).ok_or(ManifestError::Corrupt { line: lines })?;
        let mut manifest = Manifest::default();
        for (index, line) in body.lines().enumerate().skip(1) {
            manifest
                .parse_record(line)
                .ok_or(ManifestError::Corrupt { line: index + 1 })?;
        }
        if !manifest.is_consistent() {
            return Err(ManifestError::Corrupt { line: lines });
        }
        Ok(manifest)
    }

    pub fn live(&self) -> impl Iterator<Item = &PackageEntry> {
        self.shards.iter().flat_map(ShardEntry::live)
    }

    fn is_consistent(&self) -> bool {
        let (mut files, mut directories) = (HashSet::new(), HashMap::new());
        let is_known_once = |(number, shard): (usize, &ShardEntry)| {
            let has_table = shard.revisions.is_some();
            shard.live().all(|package| {
                let part = (package.directory.clone(), shard.is_history);
                let known = directories.insert(part, (number, has_table));
                known.is_none_or(|(other, other_has)| other != number && has_table && other_has)
            })
        };
        self.options.block_bytes > 0
            && self.files().all(|file| files.insert(file))
            && self.shards.iter().enumerate().all(is_known_once)
    }

    fn parse_record(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        let (first, second) = rest.split_once(' ')?;
        match kind {
            "options" => {
                self.options = Options {
                    block_bytes: first.parse().ok()?,
                    no_ignore: match second {
                        "no-ignore" => true,
                        "ignore" => false,
                        _ => return None,
                    },
                };
            }
            "shard" | "history" => self.shards.push(ShardEntry {
                id: *blake3::Hash::from_hex(first).ok()?.as_bytes(),
                file: file_name(second, ".shard")?,
                packages: Vec::new(),
                revisions: None,
                is_history: kind == "history",
            }),
            "revisions" => {
                let table = named_file(first, second, ".revisions")?;
                let known = self.shards.last_mut()?.revisions.replace(table);
                return known.is_none().then_some(());
            }
            "repositories" => {
                let recorded = named_file(first, second, ".repositories")?;
                return self.recorded.replace(recorded).is_none().then_some(());
            }
            "precise" => {
                let precise = named_file(first, second, ".precise")?;
                return self.precise.replace(precise).is_none().then_some(());
            }
            "package" | "own" | "dead" => self.shards.last_mut()?.packages.push(PackageEntry {
                signature: u64::from_str_radix(first, 16).ok()?,
                directory: unescape(second)?,
                is_dead: kind == "dead",
                has_own_name: kind == "own",
            }),
            "beside" => self.beside.push(Beside {
                reason: String::from_utf8(unescape(first)?).ok()?,
                path: unescape(second)?,
            }),
            _ => return None,
        }
        Some(())
    }
}

/// Lines before a correct `end`.
fn checked_body(text: &str) -> Option<&str> {
    let (body, crc) = text.strip_suffix('\n')?.rsplit_once("\nend ")?;
    let body = &text[..body.len() + 1];
    let crc = u32::from_str_radix(crc, 16).ok()?;
    (crc32c::crc32c(body.as_bytes()) == crc).then_some(body)
}

fn named_file(hash: &str, name: &str, suffix: &str) -> Option<NamedFile> {
    Some(NamedFile {
        hash: *blake3::Hash::from_hex(hash).ok()?.as_bytes(),
        file: file_name(name, suffix)?,
    })
}

/// Accepts only names inside the index directory.
fn file_name(name: &str, suffix: &str) -> Option<String> {
    (name.ends_with(suffix) && !name.contains('/')).then(|| name.to_owned())
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn escape(name: &[u8]) -> String {
    name.iter().fold(String::new(), |mut text, &byte| {
        match byte {
            b'.' | b'+' | b'-' | b'_' | b'~' => text.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            _ => drop(write!(text, "%{byte:02x}")),
        }
        text
    })
}

fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        bytes.push(match byte {
            b'%' => u8::from_str_radix(str::from_utf8(rest.split_off(..2)?).ok()?, 16).ok()?,
            _ => byte,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(directory: &[u8], signature: u64, is_dead: bool) -> PackageEntry {
        PackageEntry {
            signature,
            directory: directory.to_vec(),
            is_dead,
            has_own_name: false,
        }
    }

    fn shard(byte: u8, packages: Vec<PackageEntry>) -> ShardEntry {
        ShardEntry {
            id: [byte; 32],
            file: format!("{byte:02x}.shard"),
            packages,
            revisions: None,
            is_history: false,
        }
    }

    fn manifest() -> Manifest {
        let first = vec![
            package(b"sed_4.9", 1, true),
            package(b"i3-wm_4.22", 7, false),
            package(b"gone", 2, true),
        ];
        let second = vec![
            package(b"a b%\n\xff", u64::MAX, false),
            package(b"sed_4.9", 3, false),
        ];
        Manifest {
            options: Options {
                block_bytes: 4096,
                no_ignore: true,
            },
            shards: vec![shard(0xab, first), shard(0xcd, second)],
            beside: vec![Beside {
                path: b"/srv/a file".to_vec(),
                reason: "excluded by .gitignore:1:*".to_owned(),
            }],
            recorded: None,
            precise: None,
        }
    }

    #[test]
    fn parses_what_it_rendered() {
        let text = manifest().render();
        for line in [
            "dead 0000000000000001 sed_4.9\n",
            "package ffffffffffffffff a%20b%25%0a%ff\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert_eq!(Manifest::parse(text.as_bytes()), Ok(manifest()));
        let mut without = manifest();
        assert!(without.render().starts_with("trawl-index 2\n"));
        without.beside.clear();
        assert!(without.render().starts_with("trawl-index 1\n"));
        let with = with_revisions();
        assert!(with.render().starts_with("trawl-index 3\n"));
        assert_eq!(Manifest::parse(with.render().as_bytes()), Ok(with));
        let mut own = manifest();
        own.shards[0].packages[1].has_own_name = true;
        let text = own.render();
        assert!(text.starts_with("trawl-index 4\n"), "{text}");
        assert!(text.contains("own 0000000000000007 i3-wm_4.22\n"), "{text}");
        assert_eq!(Manifest::parse(text.as_bytes()), Ok(own.clone()));
        own.precise = named(4, ".precise");
        let text = own.render();
        assert!(text.starts_with("trawl-index 5\n"), "{text}");
        assert_eq!(Manifest::parse(text.as_bytes()), Ok(own.clone()));
        own.precise = None;
        own.shards[0].packages[1].is_dead = true;
        assert!(own.render().starts_with("trawl-index 2\n"));
    }

    fn named(byte: u8, suffix: &str) -> Option<NamedFile> {
        Some(NamedFile {
            hash: [byte; 32],
            file: format!("{byte:02x}{suffix}"),
        })
    }

    fn with_revisions() -> Manifest {
        let mut manifest = manifest();
        manifest.shards[0].revisions = named(1, ".revisions");
        manifest.shards[1].revisions = named(2, ".revisions");
        manifest.recorded = named(3, ".repositories");
        manifest
    }

    #[test]
    fn a_package_may_be_in_two_shards_that_have_tables_of_revisions() {
        let mut parts = with_revisions();
        parts.shards[0].packages[0].is_dead = false;
        assert_eq!(
            Manifest::parse(parts.render().as_bytes()),
            Ok(parts.clone())
        );
        parts.shards[1].revisions = None;
        check_corrupt(&parts);
        let mut twice = with_revisions();
        twice.shards[1].packages.push(package(b"sed_4.9", 3, false));
        check_corrupt(&twice);
    }

    #[test]
    fn dead_packages_have_ids_and_are_not_live() {
        let manifest = manifest();
        assert_eq!(manifest.shards[0].dead(), [0, 2]);
        assert_eq!(manifest.shards[1].dead(), []);
        let live: Vec<_> = manifest.live().map(|package| package.signature).collect();
        assert_eq!(live, [7, u64::MAX, 3]);
    }

    #[test]
    fn rejects_text_that_is_no_manifest() {
        assert_eq!(Manifest::parse(b""), Err(ManifestError::NotAManifest));
        assert_eq!(
            Manifest::parse(b"hello\n"),
            Err(ManifestError::NotAManifest)
        );
        assert_eq!(
            Manifest::parse(b"trawl-index 7\nwhatever\n"),
            Err(ManifestError::Newer(7))
        );
    }

    #[test]
    fn rejects_every_truncation_and_every_flipped_bit() {
        let manifest = with_revisions;
        let text = manifest().render().into_bytes();
        for length in 0..text.len() {
            assert!(Manifest::parse(&text[..length]).is_err(), "cut at {length}");
        }
        for bit in 0..text.len() * 8 {
            let mut broken = text.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let same = Manifest::parse(&broken);
            assert!(same.is_err() || same == Ok(manifest()), "bit {bit}");
        }
    }

    fn check_corrupt(manifest: &Manifest) {
        let text = manifest.render();
        let parsed = Manifest::parse(text.as_bytes());
        assert!(
            matches!(parsed, Err(ManifestError::Corrupt { .. })),
            "{text}"
        );
    }

    #[test]
    fn rejects_a_shard_outside_the_directory() {
        let mut manifest = manifest();
        manifest.shards[0].file = "../x.shard".to_owned();
        check_corrupt(&manifest);
    }

    #[test]
    fn rejects_contradictions() {
        let mut twice = manifest();
        twice.shards[1].file = twice.shards[0].file.clone();
        check_corrupt(&twice);
        let mut both_live = manifest();
        both_live.shards[0].packages[0].is_dead = false;
        check_corrupt(&both_live);
        let mut same_table = with_revisions();
        same_table.shards[1].revisions = named(1, ".revisions");
        check_corrupt(&same_table);
        let mut outside = with_revisions();
        outside.recorded = named(1, "/../x.repositories");
        check_corrupt(&outside);
        let mut no_blocks = manifest();
        no_blocks.options.block_bytes = 0;
        check_corrupt(&no_blocks);
    }

    /// Forged, with correct checksums.
    #[test]
    fn rejects_forged_records() {
        for records in [
            "options 4096 perhaps\n",
            "options -1 ignore\n",
            "package 0000000000000001 before-any-shard\n",
            "dead 0000000000000001 before-any-shard\n",
            "shard abab ab.shard\n",
            "revisions 0000 before-any-shard.revisions\n",
            "repositories 0000 00.repositories\n",
            "options 4096\n",
            "\n",
            "",
        ] {
            let body = format!("{TITLE}{VERSION}\n{records}");
            let text = format!("{body}end {:08x}\n", crc32c::crc32c(body.as_bytes()));
            let parsed = Manifest::parse(text.as_bytes());
            assert!(
                matches!(parsed, Err(ManifestError::Corrupt { .. })),
                "{text}"
            );
        }
    }
}
