//! The oracle: searches of random corpora equal naive scans.
//!
//! `\B` is left to ripgrep. In ripgrep and Trawl the position between `\r` and `\n` belongs to the
//! line, so `\B` finds "a\r\n" but not "a\n". A scan of lines without ends cannot.

use crate::corpus::{Build, Built, Corpus, LONG_LINE_BYTES, builds, corpora};
use crate::filter::{self, Filter, filters};
use crate::found::{Batch, Found, How, Line, Matches, find};
use crate::naive::{self, Document, compile};
use crate::query::{Query, Recipe, recipes};
use crate::revisions;
use crate::wants;
use backend::LINE_BYTES_MAX;
use backend::compiled_query::{CompiledQuery, Strategy};
use backend::line_matcher::RANGES_MAX;
use index::ContentCodec;
use index::shard::{BlockId, Candidates, DocId, PackageId, Shard, Text};
use proptest::prelude::*;
use regex::bytes::Regex;
use schema::message::{Expr, Field, Pattern, Reading, ShardEnd, Syntax, TextOrder, Want};
use schema::order::{RankKey, document_hash};
use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::sync::Arc;

type ByDocument = BTreeMap<(Vec<u8>, Vec<u8>, Vec<u8>), Vec<Batch>>;

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn finds_what_a_naive_scan_finds(
        corpus in corpora(LONG_LINE_BYTES),
        how in builds(),
        recipes in prop::collection::vec((recipes(), filters()), 12),
    ) {
        check_all(&Built::new(&corpus, how), recipes);
    }
}

proptest! {
    #![proptest_config(crate::cases(6))]

    #[test]
    fn finds_what_a_naive_scan_finds_in_lines_of_5_mb(
        corpus in corpora(5 << 20),
        how in builds(),
        recipes in prop::collection::vec((recipes(), filters()), 4),
    ) {
        check_all(&Built::new(&corpus, how), recipes);
    }
}

proptest! {
    #![proptest_config(crate::cases(24))]

    /// Superseded and removed packages are dead; texts shared with live ones are not.
    #[test]
    fn finds_what_a_naive_scan_finds_in_live_packages(
        corpus in corpora(LONG_LINE_BYTES),
        how in builds(),
        dead in prop::collection::vec(any::<bool>(), 4),
        recipes in prop::collection::vec((recipes(), filters()), 6),
    ) {
        let mut built = Built::new(&corpus, how);
        let is_dead = |directory: &[u8]| dead[usize::from(directory[1] - b'0')];
        for shard in &mut built.index.shards {
            let packages = (0..shard.package_count()).map(PackageId);
            let packages = packages.filter(|id| is_dead(shard.package(*id).unwrap().directory));
            *shard = Arc::new(shard.with_dead(packages.map(|id| id.0).collect()).unwrap());
        }
        let mut documents = naive::documents(&built.source());
        documents.retain(|document| !is_dead(&document.package));
        check_documents(&built, &documents, recipes);
    }
}

proptest! {
    #![proptest_config(crate::cases(16))]

    /// Packages are directories or repositories, with documents in some revisions or none, partly
    /// in two shards.
    #[test]
    fn finds_what_a_naive_scan_finds_in_revisions(
        corpus in corpora(LONG_LINE_BYTES),
        more in corpora(LONG_LINE_BYTES),
        how in builds(),
        seed in any::<u64>(),
        recipes in prop::collection::vec((recipes(), filters()), 8),
    ) {
        let (built, documents) = revisions::built(&[&corpus, &more], how, seed);
        check_documents(&built, &documents, recipes);
    }
}

fn check_all(built: &Built, recipes: Vec<((Recipe, bool), Vec<Filter>)>) {
    let documents = naive::documents(&built.source());
    check_documents(built, &documents, recipes);
}

fn check_documents(
    built: &Built,
    documents: &[Document],
    recipes: Vec<((Recipe, bool), Vec<Filter>)>,
) {
    for ((recipe, ignore_case), filters) in recipes {
        let query = recipe.query(documents, ignore_case);
        if !query.naive.contains(r"\B") {
            check(built, documents, &query, &filters);
        }
    }
}

/// Many units, a document in several, and long lines.
#[test]
fn workers_do_not_change_the_matches_of_a_large_document() {
    let lines = (0..6_000).map(|line| match line % 7 {
        0 => format!("task {line}\r\n"),
        1 if line % 70 == 1 => format!("{}ask{}\n", "x".repeat(line / 2), " task".repeat(2000)),
        _ => format!("int {line};\n"),
    });
    let text: String = lines.collect();
    let others: Vec<_> = (0..400)
        .map(|file| {
            (
                format!("{file:03}.c").into_bytes(),
                b"a task\n\nint\n".to_vec(),
            )
        })
        .collect();
    let corpus: Corpus = vec![others, vec![(b"large.c".to_vec(), text.into_bytes())]];
    let (raw, zstd) = (ContentCodec::Raw, ContentCodec::Zstd);
    for (block_bytes, shard_bytes, content) in [(64, u64::MAX, raw), (4096, 1, zstd)] {
        let how = Build {
            block_bytes,
            shard_bytes,
            content,
        };
        let built = Built::new(&corpus, how);
        let documents = naive::documents(&built.source());
        for text in ["task", "int [0-9]*7;", ".", "^$", "ask$", r"999\b|\Aint\z"] {
            let pattern = Pattern {
                text: text.to_owned(),
                syntax: Syntax::Regexp,
                ignore_case: false,
                ..Pattern::default()
            };
            let naive = text.to_owned();
            check(&built, &documents, &Query { pattern, naive }, &[]);
        }
    }
}

/// A text is verified once, with matches for every document, by package.
#[test]
fn copies_of_a_text_are_verified_once_and_all_found() {
    let text = "int task;\nint other;\n".repeat(20).into_bytes();
    let package = |files: u32| -> Vec<_> {
        let name = |file| format!("{file:02}.c").into_bytes();
        (0..files).map(|file| (name(file), text.clone())).collect()
    };
    let how = Build {
        block_bytes: 64,
        shard_bytes: u64::MAX,
        content: ContentCodec::Zstd,
    };
    let built = Built::new(&vec![package(3), package(1), package(2)], how);
    let shard = &built.index.shards[0];
    assert_eq!((shard.text_count(), shard.document_count()), (1, 6));
    let pattern = Expr::Pattern(Pattern {
        text: "task".to_owned(),
        ..Pattern::default()
    });
    let compiled = CompiledQuery::new(&pattern, false).unwrap();
    let found = find(slice::from_ref(shard), &compiled, How::all(0));
    let end = &found.ends[0];
    assert_eq!(
        (end.matches, end.documents, end.matched_documents),
        (120, 6, 6)
    );
    assert_eq!(end.verified_bytes, text.len() as u64);
    let mut names: Vec<_> = found
        .batches()
        .into_iter()
        .map(|batch| [&batch.package[..], b"/", &batch.path].concat())
        .collect();
    names.dedup();
    let expected = [
        "p0_1/00.c",
        "p0_1/01.c",
        "p0_1/02.c",
        "p1_1/00.c",
        "p2_1/00.c",
        "p2_1/01.c",
    ];
    assert_eq!(names, expected.map(|name| name.as_bytes().to_vec()));
}

fn text_of(shard: &Shard, block: u32) -> Text<'_> {
    shard.text_with(BlockId(block)).unwrap()
}

/// Other packages are excluded before reading blocks.
#[test]
fn package_filter_costs_only_that_package() {
    let package = |number: u32, files: u32| -> Vec<_> {
        (0..files)
            .map(|file| {
                let text = format!("int task;\nint {file}{number};\n").repeat(40);
                (format!("{file:03}.c").into_bytes(), text.into_bytes())
            })
            .collect()
    };
    let mut corpus: Corpus = vec![package(0, 200), package(1, 3), package(2, 200)];
    corpus[1][2].1 = corpus[0][77].1.clone();
    let how = Build {
        block_bytes: 64,
        shard_bytes: u64::MAX,
        content: ContentCodec::Zstd,
    };
    let built = Built::new(&corpus, how);
    let [shard] = &built.index.shards[..] else {
        panic!("one shard")
    };
    let p1 = Expr::Filter(schema::message::Filter {
        field: Field::Package,
        reading: Reading::Exact,
        text: "p1".to_owned(),
    });
    let packages = shard.live_packages().map(|id| shard.package(id).unwrap());
    let package = { packages }
        .find(|package| package.directory == b"p1_1")
        .unwrap();
    let documents = shard.documents_of(&package).unwrap();
    let blocks = documents
        .into_iter()
        .flat_map(|id| shard.document(id).unwrap().blocks);
    let blocks = blocks.count() as u64;
    for (text, matches) in [
        (".", 240),
        ("task", 120),
        ("int [0-9]", 120),
        ("nowhere", 0),
    ] {
        let pattern = Pattern {
            text: text.to_owned(),
            syntax: Syntax::Regexp,
            ignore_case: false,
            ..Pattern::default()
        };
        let expr = Expr::all([Expr::Pattern(pattern), p1.clone()]);
        let compiled = CompiledQuery::new(&expr, false).unwrap();
        let found = find(slice::from_ref(shard), &compiled, How::all(0));
        let end = &found.ends[0];
        assert_eq!(end.matches, matches, "{text}");
        assert!(end.candidates <= blocks, "{text}: {end:?} of {blocks}");
        assert!(end.blocks > 100 * blocks && end.documents <= 3, "{text}");
    }
}

/// Searches in all ways, and compares with a naive scan of filtered documents.
fn check(built: &Built, documents: &[Document], query: &Query, filters: &[Filter]) {
    let Some(regex) = compile(&query.naive, query.pattern.ignore_case) else {
        return;
    };
    let pattern = Expr::Pattern(query.pattern.clone());
    let expr = Expr::all(
        [pattern]
            .into_iter()
            .chain(filters.iter().map(filter::sent)),
    );
    let compiled =
        CompiledQuery::new(&expr, false).unwrap_or_else(|bad| panic!("{query:?}: {bad}"));
    let left: Vec<&Document> = documents
        .iter()
        .filter(|document| filter::leave(filters, document))
        .collect();
    for context_lines in [0, 2] {
        let how = How::all(context_lines);
        let all = find_alike(built, &compiled, how);
        check_order_and_ends(built, &compiled, &all);
        let examined: u64 = all.ends.iter().map(|end| end.documents).sum();
        let mut found = ByDocument::new();
        for batch in all.batches() {
            found.entry(batch.name()).or_default().push(batch);
        }
        for document in &left {
            let batches = found.remove(&document.name()).unwrap_or_default();
            check_document(document, &regex, &batches, context_lines);
        }
        assert!(
            found.is_empty(),
            "{query:?} {filters:?}: unexpected documents: {found:?}"
        );
        assert!(
            examined <= left.len() as u64,
            "{filters:?}: filtered documents are not examined"
        );
        if context_lines == 0 {
            continue;
        }
        wants::check(&all, |want, limit| {
            let how = How { want, limit, ..how };
            let found = find_alike(built, &compiled, how);
            let batches = found.batches();
            for batches in batches.chunk_by(|a, b| (a.shard, a.document) == (b.shard, b.document)) {
                let is_it = |document: &&&Document| document.name() == batches[0].name();
                let document = left.iter().find(is_it).expect("a known document");
                let lines = document.lines();
                for batch in batches {
                    check_batch((document, &lines), &regex, batch, context_lines);
                }
            }
            found
        });
    }
}

/// Smaller shards are searched, and fewer shards planned, by one thread.
const PARALLEL_BLOCKS_MIN: u32 = 128;
const PARALLEL_SHARDS_MIN: usize = 4;

/// Searches with one, two and four workers, with equal results.
pub(crate) fn find_alike(built: &Built, compiled: &CompiledQuery, how: How) -> Found {
    let shards = &built.index.shards;
    let [one, more @ ..] = [1, 2, 4].map(|workers| How { workers, ..how });
    let one = find(shards, compiled, one);
    let is_large = |shard: &Arc<Shard>| shard.block_count() >= PARALLEL_BLOCKS_MIN;
    if shards.len() >= PARALLEL_SHARDS_MIN || shards.iter().any(is_large) {
        for more in more {
            assert!(find(shards, compiled, more) == one, "{more:?}");
        }
    }
    check_first_ranges(built, compiled, how, &one);
    check_text(built, compiled, how, &one);
    one
}

/// Checks searches for text, in both orders.
fn check_text(built: &Built, compiled: &CompiledQuery, how: How, all: &Found) {
    if how.want != Want::Matches || how.limit > 0 || how.context_lines > 0 {
        return;
    }
    let frames = all.matches();
    let keys = |frames: &[Matches]| {
        let keys = frames.iter().map(|frame| (frame.shard(), frame.keys()));
        let each = keys.flat_map(|(shard, keys)| keys.into_iter().map(move |key| (shard, key)));
        each.collect::<Vec<_>>()
    };
    for text in [TextOrder::Ranked, TextOrder::Found] {
        let how = How { text, ..how };
        let found = find(&built.index.shards, compiled, how);
        assert_eq!(found.ends, all.ends, "{how:?}");
        let as_text = found.matches();
        assert_eq!(keys(&as_text), keys(&frames), "{how:?}");
        let is_ranked = text == TextOrder::Ranked;
        let found = String::from_utf8_lossy(&rendered(as_text.iter(), is_ranked)).into_owned();
        let expected = rendered(frames.iter(), is_ranked);
        assert_eq!(found, String::from_utf8_lossy(&expected), "{how:?}");
    }
}

/// Renders matches as text, in total order or as they come.
pub(crate) fn rendered<'a>(frames: impl Iterator<Item = &'a Matches>, is_ranked: bool) -> Vec<u8> {
    let mut parts = Vec::new();
    let place = |shard, document, hash, rank, number| {
        let RankKey { score, place } = RankKey::of(rank);
        ((score, hash, shard, document), (place, number))
    };
    for frame in frames {
        match frame {
            Matches::Batch(batch) => {
                let is_revision = batch.revision_count > 0;
                let text = is_revision.then_some(&batch.hash[..]);
                let hash = document_hash(&batch.package, &batch.path, text);
                for line in batch.matches() {
                    let key = place(batch.shard, batch.document, hash, line.rank, line.number);
                    parts.push((key, as_text(batch, line)));
                }
            }
            Matches::Text(text) => parts.extend(text.runs.iter().map(|(run, bytes)| {
                let key = place(text.shard, text.document, text.hash, run.rank, run.number);
                (key, bytes.clone())
            })),
        }
    }
    if is_ranked {
        parts.sort_by_key(|(key, _)| *key);
    }
    parts.into_iter().flat_map(|(_, text)| text).collect()
}

fn as_text(batch: &Batch, line: &Line) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, text) in (line.number..).zip(line.text.split(|&byte| byte == b'\n')) {
        out.extend([&batch.package[..], b"/", &batch.path].concat());
        if number > 0 {
            out.extend(format!(":{number}:").bytes().chain(text.iter().copied()));
        }
        out.push(b'\n');
    }
    out
}

fn check_first_ranges(built: &Built, compiled: &CompiledQuery, how: How, all: &Found) {
    let how = How {
        first_range: true,
        ..how
    };
    let first = find(&built.index.shards, compiled, how);
    let mut expected = all.batches();
    let lines = expected.iter_mut().flat_map(|batch| &mut batch.lines);
    lines.for_each(|line| line.ranges.truncate(1));
    assert_eq!(first.batches(), expected, "{how:?}");
    assert_eq!(first.ends, all.ends, "{how:?}");
}

fn check_order_and_ends(built: &Built, compiled: &CompiledQuery, found: &Found) {
    let batches = found.batches();
    assert!(batches.is_sorted_by_key(|batch| batch.shard));
    for (index, shard) in (0..).zip(&built.index.shards) {
        let batches = batches.iter().filter(|batch| batch.shard == index);
        let end = expected_end(shard, index, compiled, batches);
        assert_eq!(found.ends[index as usize], end);
    }
    assert_eq!(found.ends.len(), built.index.shards.len());
}

fn expected_end<'b>(
    shard: &Shard,
    index: u32,
    compiled: &CompiledQuery,
    batches: impl Iterator<Item = &'b Batch>,
) -> ShardEnd {
    let mut keys = Vec::new();
    for batch in batches {
        let document = shard.document(DocId(batch.document)).unwrap();
        assert_eq!(&batch.path[..], document.path);
        assert_eq!(&batch.hash, document.hash);
        keys.extend(batch.matches().map(|line| (batch.document, line.number)));
    }
    assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
    let Strategy::Lines { query, .. } = &compiled.strategy else {
        panic!("not a query of lines")
    };
    let candidates = shard.filtered_candidates(query, &compiled.filters, &|| false);
    let candidates: Vec<u32> = match candidates.unwrap().expect("not cancelled") {
        Candidates::Ranges(ranges) => ranges.into_iter().flatten().collect(),
        Candidates::Blocks(blocks) => blocks,
    };
    let bytes_of = |&block: &u32| {
        let range = shard.text_range(block..block + 1).unwrap();
        range.end - range.start
    };
    let (mut examined, mut verified) = (0, 0);
    for own in candidates.chunk_by(|a, b| text_of(shard, *a).id == text_of(shard, *b).id) {
        let documents = text_of(shard, own[0]).documents;
        let is_accepted = |id: &u32| shard.is_accepted(&compiled.filters, DocId(*id)).unwrap();
        // Large texts are verified for each document, others for some at a time.
        let some = if own.len() > 64 {
            1
        } else {
            (1024 / own.len()).min(256) as u32
        };
        let first = documents.start;
        let accepted: Vec<u32> = documents.filter(is_accepted).collect();
        examined += accepted.len() as u64;
        let times = accepted.chunk_by(|a, b| (a - first) / some == (b - first) / some);
        verified += times.count() as u64 * own.iter().map(bytes_of).sum::<u64>();
    }
    let block_of = |&(document, line): &(u32, u32)| {
        let document = shard.document(DocId(document)).unwrap();
        let is_before = |block: &u32| shard.first_line(BlockId(*block)).unwrap() <= line;
        document.blocks.take_while(is_before).last()
    };
    let count = |set: BTreeSet<Option<u32>>| set.len() as u64;
    ShardEnd {
        shard: index,
        matches: keys.len() as u64,
        found: keys.len() as u64,
        documents: examined,
        matched_documents: count(keys.iter().map(|key| Some(key.0)).collect()),
        blocks: u64::from(shard.live_counts().blocks),
        candidates: candidates.len() as u64,
        matched_blocks: count(keys.iter().map(block_of).collect()),
        verified_bytes: verified,
        hash: keys.iter().fold(0, |hash, &(document, line)| {
            ShardEnd::key_hash(hash, document, line)
        }),
        skipped: 0,
        failure: String::new(),
    }
}

fn check_document(document: &Document, regex: &Regex, batches: &[Batch], context_lines: u32) {
    let lines = document.lines();
    let matches: Vec<u32> = (1..)
        .zip(&lines)
        .filter(|(_, line)| regex.is_match(line.body))
        .map(|(number, _)| number)
        .collect();
    let sent: Vec<u32> = batches
        .iter()
        .flat_map(Batch::matches)
        .map(|line| line.number)
        .collect();
    assert_eq!(sent, matches, "{regex:?} in {document:?}");
    for batch in batches {
        check_batch((document, &lines), regex, batch, context_lines);
    }
}

fn check_batch(
    (document, lines): (&Document, &[naive::Line<'_>]),
    regex: &Regex,
    batch: &Batch,
    context_lines: u32,
) {
    assert_eq!(batch.hash, blake3::hash(&document.text).as_bytes());
    document.state.check(&document.package, batch);
    for line in &batch.lines {
        check_line(line, lines[line.number as usize - 1], regex);
    }
    let numbers: Vec<u32> = batch.lines.iter().map(|line| line.number).collect();
    let mut expected = BTreeSet::new();
    for line in batch.matches() {
        let last = lines.len() as u32;
        let first = line.number.saturating_sub(context_lines).max(1);
        expected.extend(first..=last.min(line.number + context_lines));
    }
    let expected: Vec<u32> = expected.into_iter().collect();
    assert_eq!(
        numbers, expected,
        "each line once, with {context_lines} of context"
    );
}

/// Checks a line, whole or a window, and its ranges.
fn check_line(line: &Line, expected: naive::Line<'_>, regex: &Regex) {
    let (start, end) = (line.start as usize, line.start as usize + line.text.len());
    assert_eq!(line.offset, expected.offset as u64);
    assert_eq!(line.line_bytes, expected.text.len() as u64);
    assert!(
        line.text == expected.text[start..end],
        "line {}",
        line.number
    );
    let whole = start == 0 && end == expected.text.len();
    // Long lines are windows around the first range, or without text for context.
    let window = if line.is_match() { LINE_BYTES_MAX } else { 0 };
    assert!(
        whole || (line.text.len() == window && expected.text.len() > LINE_BYTES_MAX),
        "only long lines are cut"
    );
    if !line.is_match() {
        assert_eq!(line.rank, 0.0);
        return;
    }
    assert!(line.rank >= 1.0);
    let mut ranges = naive::ranges(regex, expected, RANGES_MAX);
    assert!(
        start <= ranges[0].start && ranges[0].start <= end,
        "the first range is sent"
    );
    if !whole {
        ranges.retain(|range| range.start < end || range.start == range.end);
        ranges.retain(|range| range.start <= end);
        ranges
            .iter_mut()
            .for_each(|range| range.end = range.end.min(end));
    }
    assert_eq!(line.ranges, ranges, "{regex:?} in line {}", line.number);
}
