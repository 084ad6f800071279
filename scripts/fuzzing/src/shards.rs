//! Shards and manifests of an index directory.

use backend::CompiledQuery;
use backend::search::{Cancel, Request, Sink, Stopped};
use index::ContentCodec;
use index::corpus;
use index::file::Bytes;
use index::format::Section;
use index::indexing::{BuildOptions, Progress, build};
use index::manifest::{Manifest, Options};
use index::shard::{BlockId, PackageId, Shard, ShardError, TextCache};
use index::trigram::Trigram;
use schema::message::{self, Expr, Field, Filter, Pattern, Reading, Search, Syntax, Want};
use std::fs;
use std::path::Path;
use std::slice;
use std::sync::{Arc, OnceLock};

const FORMAT_1: &[u8] = include_bytes!("../../../index/testdata/format-1/64c55d5884a87e97.shard");

/// Has gap lists.
const FORMAT_3: &[u8] = include_bytes!("../../../index/testdata/format-3/5c34f2ab4a12984f.shard");

pub(crate) const MANIFEST_1: &[u8] = include_bytes!("../../../index/testdata/format-1/manifest");

/// Their plans have every form.
const PATTERNS: [&str; 4] = [
    "needle",
    "(main|int)[^x]*(a|b;|n.*y)|puts",
    "$",
    "(?i)ass?ert",
];

/// Reads all tables and texts, and searches, with corrected checksums.
pub(crate) fn shard(data: &[u8]) {
    let mut bytes = data.to_vec();
    correct_checksums(&mut bytes);
    let Ok(shard) = Shard::from_bytes(Path::new("fuzzed.shard"), Bytes::Owned(bytes)) else {
        return;
    };
    let _ = shard.verify();
    let _ = packages(&shard);
    let _ = blocks(&shard);
    let _ = shard.find(b"alpha_1.0", b"src/main.c");
    if let Ok(skipped) = shard.skipped() {
        let inside = |file: &index::shard::SkippedFile| file.package.0 < shard.package_count();
        assert!(skipped.iter().all(inside));
    }
    let shard = Arc::new(shard);
    compiled()
        .iter()
        .for_each(|compiled| search_all(&shard, compiled));
    for dead in [vec![0], vec![1], vec![0, 2]] {
        if let Ok(shard) = shard.with_dead(dead) {
            search_all(&Arc::new(shard), &compiled()[1]);
        }
    }
}

fn packages(shard: &Shard) -> Result<(), ShardError> {
    let texts = TextCache::default();
    for id in 0..shard.package_count() {
        let package = shard.package(PackageId(id))?;
        assert!(package.texts.end <= shard.text_count());
        for document in shard.documents_of(&package)? {
            assert!(document.0 < shard.document_count());
            let document = shard.document(document)?;
            assert!(document.blocks.end <= shard.block_count());
            let _ = shard.package_of(document.id);
            let _ = shard.static_rank_bound(document.id);
            let _ = shard.text(shard.text_range(document.blocks)?, &texts)?;
        }
    }
    Ok(())
}

fn blocks(shard: &Shard) -> Result<(), ShardError> {
    let texts = TextCache::default();
    for block in 0..shard.block_count() {
        let text = shard.text_of(BlockId(block))?;
        assert!(text.0 < shard.text_count());
        let text = shard.text_entry(text)?;
        assert!(text.documents.end <= shard.document_count());
        let _ = shard.first_line(BlockId(block))?;
        let text = shard.text(shard.text_range(block..block + 1)?, &texts)?;
        for bytes in text.windows(3).take(100) {
            let trigram = Trigram::of([bytes[0], bytes[1], bytes[2]]);
            if let Some(Ok(blocks)) = trigram.map(|trigram| shard.blocks_with(trigram)) {
                assert!(blocks.is_sorted());
            }
        }
    }
    Ok(())
}

/// Expressions on lines, documents and names, with and without filters.
fn compiled() -> &'static [CompiledQuery] {
    static COMPILED: OnceLock<Vec<CompiledQuery>> = OnceLock::new();
    COMPILED.get_or_init(|| {
        let mut exprs = Vec::new();
        for pattern in PATTERNS.map(pattern) {
            exprs.push((pattern.clone(), false));
            exprs.push((Expr::all([pattern].into_iter().chain(filters())), false));
        }
        let [first, second, third, fourth] = PATTERNS.map(pattern);
        let across = pattern(r"a\n|(?s)int.*;");
        let either = Expr::any(filters().into_iter().chain([second.clone()]));
        exprs.push((Expr::all([first.clone(), fourth.negated()]), false));
        exprs.push((Expr::all([either, third]), false));
        exprs.push((Expr::all([across, first.negated()]), false));
        exprs.push((second, true));
        let compile = |(expr, names): &(Expr, bool)| CompiledQuery::new(expr, *names);
        let compiled = exprs.iter().map(compile).collect::<Result<_, _>>();
        compiled.expect("the expressions are valid")
    })
}

fn pattern(text: &str) -> Expr {
    Expr::Pattern(Pattern {
        text: text.to_owned(),
        syntax: Syntax::Regexp,
        ..Pattern::default()
    })
}

fn filters() -> [Expr; 2] {
    let filter = |field, reading, text: &str| {
        Expr::Filter(Filter {
            field,
            reading,
            text: text.to_owned(),
        })
    };
    [
        filter(Field::Package, Reading::Regexp, "a.p|b"),
        filter(Field::Path, Reading::Exact, "src/empty.h").negated(),
    ]
}

/// Decodes only the envelope.
#[derive(Default)]
struct Frames(usize);

impl Sink for Frames {
    fn frames(&mut self, frames: Vec<u8>, _: &message::Progress) -> Result<(), Stopped> {
        let mut rest = &frames[..];
        while let Some(frame) = schema::frame::decode(rest).expect("frames") {
            rest = &rest[frame.bytes..];
            self.0 += 1;
        }
        assert!(rest.is_empty(), "whole frames");
        Ok(())
    }
}

fn search_all(shard: &Arc<Shard>, compiled: &CompiledQuery) {
    for (workers, want, limit) in [
        (1, Want::Matches, 0),
        (2, Want::Matches, 3),
        (1, Want::Documents, 1),
        (2, Want::Count, 0),
    ] {
        let request = Request {
            shards: slice::from_ref(shard),
            query: compiled,
            search: &Search {
                want,
                limit,
                context_lines: 2,
                first_range: want == Want::Documents,
                ..Search::default()
            },
            workers,
            cancel: &Cancel::default(),
        };
        let plan = request.plan(true).expect("nothing cancels the search");
        let mut frames = Frames::default();
        let ends = request
            .run(plan, &mut frames)
            .expect("nothing cancels the search");
        assert!(frames.0 as u64 <= ends[0].matches + ends[0].skipped);
    }
}

/// Corrects the file length, too.
fn correct_checksums(bytes: &mut [u8]) {
    const PAGE_BYTES: usize = 4096;
    let is_version_1 = bytes.get(8) == Some(&1);
    // Offsets of file length, last section, and checksum of checksums.
    let [file_bytes_at, checksums_at, checksums_crc_at] = if is_version_1 {
        [72, 80 + 16 * 8, 224]
    } else {
        [88, 104 + 16 * Section::Checksums as usize, 96]
    };
    let length = bytes.len() as u64;
    let Some((header, pages)) = bytes.split_at_mut_checked(PAGE_BYTES) else {
        return;
    };
    header[file_bytes_at..][..8].copy_from_slice(&length.to_le_bytes());
    let number = |at: usize| {
        let bytes = header[at..at + 8].try_into().expect("8 bytes");
        usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX)
    };
    let (start, length) = (number(checksums_at), number(checksums_at + 8));
    let start = start.saturating_sub(PAGE_BYTES);
    if let Some((pages, table)) = pages.split_at_mut_checked(start)
        && let Some(table) = table.get_mut(..length)
    {
        for (page, checksum) in pages.chunks(PAGE_BYTES).zip(table.chunks_exact_mut(4)) {
            checksum.copy_from_slice(&crc32c::crc32c(page).to_le_bytes());
        }
        header[checksums_crc_at..][..4].copy_from_slice(&crc32c::crc32c(table).to_le_bytes());
    }
    let (header, checksum) = header.split_at_mut(PAGE_BYTES - 4);
    checksum.copy_from_slice(&crc32c::crc32c(header).to_le_bytes());
}

pub(crate) fn shard_seeds() -> Vec<Vec<u8>> {
    vec![
        small_shard(ContentCodec::Raw),
        small_shard(ContentCodec::Zstd),
        FORMAT_1.to_vec(),
        FORMAT_3.to_vec(),
    ]
}

/// Has more blocks and posting lists than [`FORMAT_1`], in five kilobytes.
fn small_shard(content: ContentCodec) -> Vec<u8> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let source = directory.path().join("source");
    let files = [
        (
            "alpha_1.0/src/main.c",
            "int main;\nint needle;\r\n\n/* mainly */\nint b",
        ),
        ("alpha_1.0/x.bin", "\0"),
        ("beta-2/README", "needle na\u{ef}ve\nassert\n"),
        (
            "beta-2/many.c",
            "int needle_1 = needle_0;\nint needle_2 = needle_1;\nint needle_3 = needle_2;\n",
        ),
        ("gamma_3/gone.c", "needle"),
        ("gamma_3/src/copy.md", "needle na\u{ef}ve\nassert\n"),
    ];
    for (path, text) in files {
        let path = source.join(path);
        fs::create_dir_all(path.parent().expect("a package")).expect("it is writable");
        fs::write(path, text).expect("it is writable");
    }
    let options = BuildOptions {
        options: Options {
            block_bytes: match content {
                ContentCodec::Raw => 16,
                // Shorter blocks are not compressed.
                ContentCodec::Zstd => 128,
            },
            no_ignore: true,
        },
        jobs: 1,
        content: Some(content),
        ..BuildOptions::default()
    };
    let out = directory.path().join("out");
    let sources = corpus::sources(&[source], true).expect("packages");
    build(sources, &out, &options, &Progress::default()).expect("the sources are valid");
    let manifest = index::directory::read_manifest(&out).expect("the build wrote it");
    fs::read(out.join(&manifest.shards[0].file)).expect("the build wrote it")
}

/// Rendering and parsing again must give the same manifest.
///
/// The first input byte selects checksum correction.
pub(crate) fn manifest(data: &[u8]) {
    let Some((&how, text)) = data.split_first() else {
        return;
    };
    let mut text = text.to_vec();
    if how % 2 == 1 {
        correct_manifest(&mut text);
    }
    if let Ok(manifest) = Manifest::parse(&text) {
        assert_eq!(Manifest::parse(manifest.render().as_bytes()), Ok(manifest));
    }
}

pub(crate) fn correct_manifest(text: &mut Vec<u8>) {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let end = body.iter().rposition(|&byte| byte == b'\n');
    text.truncate(end.map_or(0, |end| end + 1));
    let checksum = crc32c::crc32c(text);
    text.extend_from_slice(format!("end {checksum:08x}\n").as_bytes());
}

pub(crate) fn manifest_seeds() -> Vec<Vec<u8>> {
    [0, 1].map(|how| [&[how], MANIFEST_1].concat()).into()
}
