//! `trawl inspect --trigram BYTES`: the blocks that contain three bytes, and how their posting list is
//! stored.

use super::limited::print_rest;
use crate::terminal::escaped;
use crate::{exit, units};
use anyhow::{Context, Result, bail};
use index::directory::Index;
use index::posting::{Codec, PostingList};
use index::shard::{BlockId, Shard};
use index::trigram::Trigram;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

pub(super) fn show(
    index: &Index,
    typed: &OsStr,
    limit: usize,
    out: &mut impl Write,
) -> Result<ExitCode> {
    let trigram = parse(typed.as_bytes())?;
    let mut found = false;
    for shard in &index.shards {
        if let Some(list) = shard.postings(trigram)? {
            found = true;
            show_list(shard, trigram, &list, limit, out)?;
        }
    }
    if found {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("trawl: {trigram:?}: no block contains this trigram");
    Ok(exit::found(false))
}

fn show_list(
    shard: &Shard,
    trigram: Trigram,
    list: &PostingList<'_>,
    limit: usize,
    out: &mut impl Write,
) -> Result<()> {
    let stored = match list.codec() {
        None => "in the dictionary".to_owned(),
        Some(codec) => {
            let name = match codec {
                Codec::EliasFano => "Elias-Fano",
                Codec::Bitmap => "bitmap",
            };
            let bits = 8.0 * list.bytes() as f64 / f64::from(list.len());
            let bytes = units::plural(list.bytes() as u64, "byte");
            format!("{name}, {bytes} ({bits:.1} bits a block)")
        }
    };
    let share = units::share(list.len().into(), shard.block_count().into());
    writeln!(out, "{}", shard.path().display())?;
    writeln!(out, "  {trigram:?} in blocks: {share}; {stored}")?;
    let blocks = shard.blocks_with(trigram)?;
    let dead = u64::from(list.len()) - blocks.len() as u64;
    if dead > 0 {
        let dead = units::plural(dead, "block");
        writeln!(out, "  {dead} of packages that were replaced or removed")?;
    }
    for &block in blocks.iter().take(limit) {
        show_block(shard, block, out)?;
    }
    Ok(print_rest(blocks.len(), limit, 2, out)?)
}

fn show_block(shard: &Shard, block: BlockId, out: &mut impl Write) -> Result<()> {
    let document = shard.document(shard.document_of(block)?)?;
    let package = shard.package(shard.package_of(document.id)?)?.directory;
    let (package, path) = (escaped(package), escaped(document.path));
    let line = shard.first_line(block)?;
    writeln!(out, "  block {}, from {package}/{path}:{line} on", block.0)?;
    Ok(())
}

/// Parses three bytes. They may be escaped as in Rust, which is how plans show them.
fn parse(typed: &[u8]) -> Result<Trigram> {
    let shown = escaped(typed);
    let Some(bytes) = unescape(typed) else {
        bail!(
            "--trigram {shown}: a backslash must be followed by one of \\ ' \" t r n, or by x and two hex \
             digits"
        );
    };
    let Ok(bytes) = <[u8; 3]>::try_from(&bytes[..]) else {
        let count = units::plural(bytes.len() as u64, "byte");
        bail!("--trigram {shown}: a trigram has three bytes, not {count}");
    };
    Trigram::of(bytes)
        .with_context(|| format!("--trigram {shown}: trigrams with a line feed are not indexed"))
}

/// Reverses [`slice::escape_ascii`].
fn unescape(typed: &[u8]) -> Option<Vec<u8>> {
    let mut rest = typed.iter().copied();
    let mut bytes = Vec::new();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next()? {
            b't' => b'\t',
            b'r' => b'\r',
            b'n' => b'\n',
            same @ (b'\\' | b'\'' | b'"') => same,
            b'x' => hex_digit(rest.next()?)? << 4 | hex_digit(rest.next()?)?,
            _ => return None,
        });
    }
    Some(bytes)
}

fn hex_digit(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_trigrams_as_they_are_shown() {
        for a in 0..=u8::MAX {
            for bytes in [[a, b'x', b'y'], [b'\\', a, b'"'], [0, 0xff, a]] {
                let Some(trigram) = Trigram::of(bytes) else {
                    continue;
                };
                let shown = trigram.bytes().escape_ascii().to_string();
                assert_eq!(parse(shown.as_bytes()).unwrap(), trigram, "{shown}");
            }
        }
    }

    #[test]
    fn rejects_everything_but_three_bytes() {
        for typed in [
            "", "ab", "abcd", r"\x0", r"\xg0a", r"\qab", r"a\n", r"ab\n", "ab\\",
        ] {
            assert!(parse(typed.as_bytes()).is_err(), "{typed}");
        }
    }
}
