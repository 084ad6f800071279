//! `trawl inspect --document PACKAGE/PATH`: what the tables of a shard say of a document.

use crate::exit;
use crate::terminal::escaped;
use anyhow::{Result, bail};
use index::directory::Index;
use index::document::{classify, language};
use index::manifest::hex;
use index::shard::{DocId, Shard};
use std::ffi::OsStr;
use std::io::Write;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

pub(super) fn show(index: &Index, name: &OsStr, out: &mut impl Write) -> Result<ExitCode> {
    let name = name.as_bytes();
    let Some(slash) = name.iter().position(|&byte| byte == b'/') else {
        bail!("--document {}: expected PACKAGE/PATH", escaped(name));
    };
    let (package, path) = (&name[..slash], &name[slash + 1..]);
    for shard in &index.shards {
        if let Some(document) = shard.find(package, path)? {
            show_document(shard, document, out)?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    let reason = why_not(index, package, path)?;
    eprintln!("trawl: {}: {reason}", escaped(name));
    Ok(exit::found(false))
}

fn show_document(shard: &Shard, document: DocId, out: &mut impl Write) -> Result<()> {
    let package = shard.package(shard.package_of(document)?)?.directory;
    let document = shard.document(document)?;
    let text = shard.text_range(document.blocks.clone())?;
    let rows = [
        ("shard", shard.path().display().to_string()),
        (
            "document",
            numbers(&(document.id.0..document.id.0 + 1), shard.document_count()),
        ),
        ("blocks", numbers(&document.blocks, shard.block_count())),
        ("lines", document.lines.to_string()),
        ("bytes", (text.end - text.start).to_string()),
        (
            "language",
            language(document.path).unwrap_or("unknown").to_owned(),
        ),
        (
            "class",
            format!("{:?}", classify(document.path)).to_lowercase(),
        ),
        ("static rank", document.static_rank.to_string()),
        ("BLAKE3", hex(document.hash)),
    ];
    writeln!(out, "{}/{}", escaped(package), escaped(document.path))?;
    for (name, value) in rows {
        writeln!(out, "  {name:<12} {}", escaped(&value))?;
    }
    Ok(())
}

/// A range of ids among `count`: `17 to 20 of 0 to 99 (4)`.
fn numbers(range: &Range<u32>, count: u32) -> String {
    let last = count.saturating_sub(1);
    match range.len() {
        0 => "none".to_owned(),
        1 => format!("{} of 0 to {last}", range.start),
        many => format!(
            "{} to {} of 0 to {last} ({many})",
            range.start,
            range.end - 1
        ),
    }
}

/// Why the index does not have the document.
fn why_not(index: &Index, package: &[u8], path: &[u8]) -> Result<String> {
    let mut has_package = false;
    for shard in &index.shards {
        for file in shard.skipped()? {
            if file.path == path && shard.package(file.package)?.directory == package {
                return Ok(format!("left out of the index: {}", escaped(&file.reason)));
            }
        }
        for id in shard.live_packages() {
            has_package |= shard.package(id)?.directory == package;
        }
    }
    let reason = if has_package {
        "the package has no such document"
    } else {
        "the index has no package of this name; --packages lists all"
    };
    Ok(reason.to_owned())
}
