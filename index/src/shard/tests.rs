//! Shared fixture, and a dump of a shard.

mod content;
mod damage;
mod filtered;
mod golden;
mod languages;
mod revisions;
mod views;

use super::*;
use crate::codec::ContentCodec;
use crate::corpus;
use crate::directory::{self, Index, MANIFEST};
use crate::document::Popularity;
use crate::filter::{FilterExpr, Filters, NamePattern, Predicate};
use crate::indexing::{BuildOptions, Progress, build};
use crate::manifest::{Options, hex};
use crate::plan::plan;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

type File<'a> = (&'a str, &'a str, &'a [u8]);

/// Empty, binary, multi-block, non-UTF-8 files, and copies within and across packages.
const FIXTURE: [File<'_>; 9] = [
    ("alpha_1", "src/empty.h", b""),
    ("alpha_1", "src/logo.c", b"\x7fELF\0"),
    (
        "alpha_1",
        "src/main.c",
        b"int main;\nint a;\r\n\n/* mainly */\nint b",
    ),
    ("alpha_1", "tests/t.c", b"MAIN\n"),
    ("alpha_1", "vendor/empty.c", b""),
    ("beta-2", "README", b"na\xefve\n"),
    ("beta-2", "main.c", b"MAIN\n"),
    ("gamma-3", "README", b"na\xefve\n"),
    ("gamma-3", "t.c", b"MAIN\n"),
];

fn index(there: &Path, files: &[File<'_>], block_bytes: usize, shard_bytes: u64) -> PathBuf {
    index_with(there, files, block_bytes, shard_bytes, ContentCodec::Raw)
}

fn index_with(
    there: &Path,
    files: &[File<'_>],
    block_bytes: usize,
    shard_bytes: u64,
    content: ContentCodec,
) -> PathBuf {
    let source = there.join("source");
    for (package, path, bytes) in files {
        let path = source.join(package).join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let popularity = Popularity {
        inst: 0.5,
        rdep: 0.25,
    };
    let options = BuildOptions {
        options: Options {
            block_bytes,
            no_ignore: true,
        },
        shard_bytes,
        content: Some(content),
        popularity: [(b"alpha".to_vec(), popularity)].into(),
        ..BuildOptions::default()
    };
    let out = there.join("out");
    let sources = corpus::sources(&[source], true).unwrap();
    build(sources, &out, &options, &Progress::default()).unwrap();
    out
}

fn shard_bytes(files: &[File<'_>], block_bytes: usize) -> Vec<u8> {
    shard_bytes_with(files, block_bytes, ContentCodec::Raw)
}

fn shard_bytes_with(files: &[File<'_>], block_bytes: usize, content: ContentCodec) -> Vec<u8> {
    let there = tempfile::tempdir().unwrap();
    let out = index_with(there.path(), files, block_bytes, u64::MAX, content);
    let manifest = directory::read_manifest(&out).unwrap();
    assert_eq!(manifest.shards.len(), 1);
    fs::read(out.join(&manifest.shards[0].file)).unwrap()
}

const NAME: &str = "some.shard";

fn open(bytes: &[u8]) -> Result<Shard, ShardError> {
    Shard::from_bytes(Path::new(NAME), Bytes::Owned(bytes.to_vec()))
}

fn dump(shard: &Shard) -> Result<String, ShardError> {
    let layout = &shard.file.header;
    let mut out = format!(
        "version {}, blocks of {}, id {}\n",
        shard.version(),
        shard.block_bytes(),
        hex(&shard.id()[..8]),
    );
    let (unique, text) = (shard.content_bytes(), shard.text_bytes());
    let file = shard.file_bytes();
    let _ = writeln!(
        out,
        "{unique} bytes of texts, {text} of documents, {file} of file"
    );
    for section in Section::ALL {
        let Range { start, end } = layout.extent(section);
        let may_be_absent = [
            Section::Decoded,
            Section::Frames,
            Section::Languages,
            Section::Symbols,
        ];
        if may_be_absent.contains(&section) && end == 0 {
            continue;
        }
        let _ = writeln!(out, "{section:?} at {start}, {} bytes", end - start);
    }
    for id in 0..shard.text_count() {
        dump_text(shard, shard.text_entry(TextId(id))?, &mut out)?;
    }
    dump_packages(shard, &mut out)?;
    dump_dictionary(shard, &mut out)?;
    for file in shard.skipped()? {
        let (path, reason) = (file.path.escape_ascii(), file.reason);
        let _ = writeln!(out, "skipped: {:?} {path}: {reason}", file.package);
    }
    Ok(out)
}

fn dump_text(shard: &Shard, text: Text<'_>, out: &mut String) -> Result<(), ShardError> {
    let Text {
        id,
        documents,
        blocks,
        lines,
        hash,
    } = text;
    let hash = hex(&hash[..4]);
    let _ = writeln!(
        out,
        "text {}: {lines} lines, {hash}, documents {documents:?}",
        id.0
    );
    for block in blocks {
        assert_eq!(shard.text_of(BlockId(block))?, id);
        let text = shard.text(shard.text_range(block..block + 1)?, &TextCache::default())?;
        let (line, text) = (shard.first_line(BlockId(block))?, text.escape_ascii());
        let _ = writeln!(out, "    block {block} from line {line}: {text}");
    }
    Ok(())
}

fn dump_packages(shard: &Shard, out: &mut String) -> Result<(), ShardError> {
    for id in 0..shard.package_count() {
        let package = shard.package(PackageId(id))?;
        let (name, inst, rdep) = (
            package.directory.escape_ascii(),
            package.popularity.inst,
            package.popularity.rdep,
        );
        let (texts, bytes) = (&package.texts, shard.package_text_bytes(&package)?);
        let _ = writeln!(
            out,
            "package {id} {name}: texts {texts:?}, {bytes} bytes, inst {inst}, rdep {rdep}"
        );
        let documents = shard.documents_of(&package)?;
        assert_eq!(documents.len(), package.documents as usize);
        for document in documents {
            let document = shard.document(document)?;
            assert_eq!(document.package, package.id);
            assert_eq!(shard.package_of(document.id)?, package.id);
            let Document { id, text, .. } = document;
            let (path, rank) = (document.path.escape_ascii(), document.static_rank);
            let _ = writeln!(
                out,
                "  document {} {path}: text {}, rank {rank}",
                id.0, text.0
            );
        }
    }
    Ok(())
}

fn dump_dictionary(shard: &Shard, out: &mut String) -> Result<(), ShardError> {
    for entry in 0..shard.trigram_count() as u32 {
        let trigram = shard.trigram(entry)?;
        let blocks: Vec<u32> = shard.blocks_with(trigram)?.iter().map(|id| id.0).collect();
        let _ = writeln!(out, "{trigram:?} in {blocks:?}");
    }
    Ok(())
}

fn add(filters: &mut Filters, test: Predicate, negated: bool) {
    let tree = FilterExpr::Predicate(test);
    filters.add(if negated {
        FilterExpr::Not(Box::new(tree))
    } else {
        tree
    });
}

fn candidates(shard: &Shard, pattern: &str) -> Result<Candidates, ShardError> {
    shard.candidates(&plan(pattern, true).unwrap())
}

fn filtered(shard: &Shard, pattern: &str, filters: &Filters) -> Result<Candidates, ShardError> {
    let query = plan(pattern, true).unwrap();
    let candidates = shard.filtered_candidates(&query, filters, &|| false)?;
    Ok(candidates.expect("stop never returns true"))
}
