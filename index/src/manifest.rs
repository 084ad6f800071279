//! The manifest: which shards an index consists of, and what they were made from. Text in, text
//! out.
//!
//! ```text
//! trawl-index 1
//! options 4096 ignore
//! shard 5c7e...(64 digits) 5c7e0123456789ab.shard
//! package 00f1d2c3b4a59687 i3-wm_4.22
//! end 1a2b3c4d
//! ```
//!
//! One record a line, fields separated by a space. `options` are the block size and whether git's
//! rules were obeyed (`ignore`) or not (`no-ignore`). A package's number is the signature of its
//! directory tree ([`corpus::signature`](crate::corpus::signature)); in its name every byte but
//! ASCII letters, digits and `.+-_~` is written as `%` and two hex digits. `end` has the CRC-32C
//! of all lines before it.

use std::fmt::Write;

/// The version of the manifest, and with it of the directory's layout.
pub const VERSION: u32 = 1;

/// The words of the first line, before the version.
const TITLE: &str = "trawl-index ";

/// What an index directory holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// How it was built.
    pub options: Options,
    /// Its shards.
    pub shards: Vec<ShardEntry>,
    /// Its packages, best first.
    pub packages: Vec<PackageEntry>,
}

/// The options that decide what is in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Size of a block that is aimed at, in bytes.
    pub block_bytes: usize,
    /// Whether files that git's rules exclude are in it.
    pub no_ignore: bool,
}

/// A shard of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardEntry {
    /// Its id, which its header must have too.
    pub id: [u8; 32],
    /// Its file in the directory.
    pub file: String,
}

/// A package of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageEntry {
    /// Hash of the names, sizes and times of its files, when it was read.
    pub signature: u64,
    /// Its directory's name.
    pub directory: Vec<u8>,
}

/// Why text is not a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It does not begin as one.
    #[error("not the manifest of a Trawl index")]
    NotAManifest,
    /// A later version's.
    #[error(
        "an index of format {0}; this version of Trawl reads format {VERSION}: update it, or \
         build the index again"
    )]
    Newer(u32),
    /// It was cut or changed.
    #[error("a damaged manifest (line {line}): build the index again")]
    Corrupt {
        /// The line, from 1.
        line: usize,
    },
}

impl Manifest {
    /// The manifest as text.
    pub fn render(&self) -> String {
        let ignore = if self.options.no_ignore {
            "no-ignore"
        } else {
            "ignore"
        };
        let mut text = format!(
            "{TITLE}{VERSION}\noptions {} {ignore}\n",
            self.options.block_bytes
        );
        for shard in &self.shards {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "shard {} {}", hex(&shard.id), shard.file);
        }
        for package in &self.packages {
            let name = escape(&package.directory);
            let _ = writeln!(text, "package {:016x} {name}", package.signature);
        }
        let crc = crc32c::crc32c(text.as_bytes());
        let _ = writeln!(text, "end {crc:08x}");
        text
    }

    /// Reads a manifest.
    pub fn parse(text: &[u8]) -> Result<Manifest, Error> {
        let text = str::from_utf8(text).map_err(|_| Error::NotAManifest)?;
        let title = text.lines().next().unwrap_or_default();
        let version = title
            .strip_prefix(TITLE)
            .and_then(|version| version.parse().ok());
        match version {
            None => return Err(Error::NotAManifest),
            Some(version) if version > VERSION => return Err(Error::Newer(version)),
            Some(_) => {}
        }
        let lines = text.lines().count();
        let body = checked_body(text).ok_or(Error::Corrupt { line: lines })?;
        let mut manifest = Manifest {
            options: Options {
                block_bytes: 0,
                no_ignore: false,
            },
            shards: Vec::new(),
            packages: Vec::new(),
        };
        for (index, line) in body.lines().enumerate().skip(1) {
            manifest
                .parse_record(line)
                .ok_or(Error::Corrupt { line: index + 1 })?;
        }
        Ok(manifest)
    }

    fn parse_record(&mut self, line: &str) -> Option<()> {
        let (kind, rest) = line.split_once(' ')?;
        let (first, second) = rest.split_once(' ')?;
        match kind {
            "options" => {
                let block_bytes = first.parse().ok()?;
                self.options = Options {
                    block_bytes,
                    no_ignore: second == "no-ignore",
                };
            }
            "shard" => self.shards.push(ShardEntry {
                id: parse_hex(first)?.try_into().ok()?,
                file: Some(second).filter(|file| is_file_name(file))?.to_owned(),
            }),
            "package" => self.packages.push(PackageEntry {
                signature: u64::from_str_radix(first, 16).ok()?,
                directory: unescape(second)?,
            }),
            _ => return None,
        }
        Some(())
    }
}

/// The lines before `end`, if their checksum is the one it has.
fn checked_body(text: &str) -> Option<&str> {
    let (body, crc) = text.strip_suffix('\n')?.rsplit_once("\nend ")?;
    let body = &text[..body.len() + 1];
    let crc = u32::from_str_radix(crc, 16).ok()?;
    (crc32c::crc32c(body.as_bytes()) == crc).then_some(body)
}

/// Whether a name stays in its directory.
fn is_file_name(name: &str) -> bool {
    name.ends_with(".shard") && !name.contains('/')
}

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok())
        .collect()
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

    fn manifest() -> Manifest {
        Manifest {
            options: Options {
                block_bytes: 4096,
                no_ignore: true,
            },
            shards: vec![ShardEntry {
                id: [0xab; 32],
                file: "abab.shard".to_owned(),
            }],
            packages: vec![
                PackageEntry {
                    signature: 7,
                    directory: b"i3-wm_4.22".to_vec(),
                },
                PackageEntry {
                    signature: u64::MAX,
                    directory: b"a b%\n\xff".to_vec(),
                },
            ],
        }
    }

    #[test]
    fn a_manifest_survives() {
        let text = manifest().render();
        assert!(
            text.contains("package ffffffffffffffff a%20b%25%0a%ff\n"),
            "{text}"
        );
        assert_eq!(Manifest::parse(text.as_bytes()), Ok(manifest()));
    }

    #[test]
    fn what_is_no_manifest_says_so() {
        assert_eq!(Manifest::parse(b""), Err(Error::NotAManifest));
        assert_eq!(Manifest::parse(b"hello\n"), Err(Error::NotAManifest));
        assert_eq!(
            Manifest::parse(b"trawl-index 2\nwhatever\n"),
            Err(Error::Newer(2))
        );
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_noticed() {
        let text = manifest().render().into_bytes();
        for length in 0..text.len() {
            assert!(Manifest::parse(&text[..length]).is_err(), "cut at {length}");
        }
        for bit in 0..text.len() * 8 {
            let mut broken = text.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            // The checksum's own digits may change case.
            let same = Manifest::parse(&broken);
            assert!(same.is_err() || same == Ok(manifest()), "bit {bit}");
        }
    }

    #[test]
    fn a_shard_outside_the_directory_is_refused() {
        let mut manifest = manifest();
        manifest.shards[0].file = "../x.shard".to_owned();
        assert!(matches!(
            Manifest::parse(manifest.render().as_bytes()),
            Err(Error::Corrupt { .. })
        ));
    }
}
