//! Order of a query with a phrase: a naive tier of each line, then as without.

use crate::best_first::{NamedText, best, build_index, by_document};
use crate::cases;
use crate::corpus::Build;
use crate::found::{Found, How, find, find_best_first};
use crate::wants::{self, Match, matches};
use backend::CompiledQuery;
use index::ContentCodec;
use proptest::collection::vec;
use proptest::prelude::*;
use schema::message::{Expr, Pattern, Syntax};
use std::path::Path;

const LINES: [&str; 18] = [
    "if x return",
    "if (x) return",
    "if  x",
    "if\tx\treturn",
    "x if",
    "if",
    "x",
    "return x",
    "return (x)",
    "\"x\" return",
    "ifx",
    "elif x",
    "If X",
    "x return if",
    "int if(x)",
    "if x y",
    "",
    "other",
];

const PATHS: [&str; 5] = ["x.c", "src/if.c", "tests/x.c", "README", "return.py"];

const WORDS: [&str; 3] = ["if", "x", "return"];

fn packages() -> impl Strategy<Value = Vec<(f32, Vec<NamedText>)>> {
    let text = |lines: Vec<usize>| -> Vec<u8> {
        let lines = lines.into_iter().map(|line| format!("{}\n", LINES[line]));
        lines.collect::<String>().into_bytes()
    };
    let file = (0..PATHS.len(), vec(0..LINES.len(), 0..14))
        .prop_map(move |(path, lines)| (PATHS[path].as_bytes().to_vec(), text(lines)));
    vec(
        (prop::sample::select(vec![0.0, 0.4, 1.0]), vec(file, 0..6)),
        1..5,
    )
}

/// Two or three words, in any order.
fn words() -> impl Strategy<Value = Vec<&'static str>> {
    (Just(WORDS.to_vec()).prop_shuffle(), 2..4_usize)
        .prop_map(|(words, count)| words.into_iter().take(count).collect())
}

fn pattern(text: String, syntax: Syntax, ignore_case: bool) -> Pattern {
    Pattern {
        text,
        syntax,
        ignore_case,
        ..Pattern::default()
    }
}

fn queries(words: &[&str], ignore_case: bool) -> [CompiledQuery; 2] {
    let word = |word: &&str| pattern((*word).to_owned(), Syntax::Literal, ignore_case);
    let expr = Expr::all(words.iter().map(|it| Expr::Pattern(word(it))));
    let exact = format!(r"\b{{start-half}}{}\b{{end-half}}", words.join(r"[ \t]+"));
    let near = words.join(r#"[ \t"'()]+"#);
    let phrase = [
        pattern(exact, Syntax::Regexp, false),
        pattern(near, Syntax::Regexp, ignore_case),
    ];
    let query = || CompiledQuery::new(&expr, false).unwrap();
    [query(), query().preferring(&phrase)]
}

/// Tier of a line, as defined in `docs/ranking.md`.
fn naive_tier(lines: &[&str], at: usize, words: &[&str], ignore_case: bool) -> i32 {
    let folded = |line: &str| {
        if ignore_case {
            line.to_lowercase()
        } else {
            line.to_owned()
        }
    };
    let has_all = |text: &str| words.iter().all(|word| folded(text).contains(word));
    let squeezed = |line: &str, gaps: &str| {
        let parts = line.split(|letter| gaps.contains(letter));
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    };
    let phrase = words.join(" ");
    let exact = format!(" {} ", squeezed(lines[at], " \t"));
    // Parentheses and quotes also end a word.
    let is_end = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    let is_exact = exact.match_indices(&phrase).any(|(start, found)| {
        is_end(exact[..start].chars().last()) && is_end(exact[start + found.len()..].chars().next())
    });
    let around = lines[at.saturating_sub(3)..lines.len().min(at + 4)].join("\n");
    match () {
        () if is_exact => 4,
        () if folded(&squeezed(lines[at], " \t\"'()")).contains(&phrase) => 3,
        () if has_all(lines[at]) => 2,
        () if has_all(&around) => 1,
        () => 0,
    }
}

/// Checks matches by those of the query without a phrase.
fn check_tiers(source: &Path, plain: &Found, found: &Found, words: &[&str], ignore_case: bool) {
    let (plain, found) = (matches(plain), matches(found));
    assert_eq!(plain.len(), found.len());
    for (plain, found) in plain.iter().zip(&found) {
        assert_eq!(plain.place(), found.place());
        let text = std::fs::read_to_string(source.join(found.name())).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let tier = naive_tier(&lines, found.line() as usize - 1, words, ignore_case);
        let difference = i32::from(plain.score()) - i32::from(found.score());
        let expected = tier * 2 * 4096;
        assert!(
            (difference - expected).abs() <= 1,
            "{words:?}: {} of {}: {difference}, not {expected}",
            found.line(),
            text
        );
    }
}

fn on_one_line<'a>(best: impl Iterator<Item = &'a Match>) -> usize {
    let line = u16::MAX - 5 * 4096;
    best.filter(|one| one.score() <= line).count()
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn matches_are_ordered_by_tier_and_then_as_without_a_phrase(
        packages in packages(),
        block_bytes in prop::sample::select(vec![16, 256, 4096]),
        shard_bytes in prop_oneof![3 => Just(u64::MAX), 1 => Just(1)],
        content in prop::sample::select(vec![ContentCodec::Raw, ContentCodec::Zstd]),
        queries_of in vec((words(), any::<bool>()), 8),
    ) {
        let (directory, index) = build_index(&packages, Build { block_bytes, shard_bytes, content });
        let source = directory.path().join("source");
        for (words, ignore_case) in queries_of {
            let [plain, phrase] = queries(&words, ignore_case);
            let search = |query: &CompiledQuery, how| find(&index.shards, query, how);
            let all = search(&phrase, How::all(1));
            check_tiers(&source, &search(&plain, How::all(1)), &all, &words, ignore_case);
            wants::check(&all, |want, limit| {
                search(&phrase, How { want, limit, workers: 2, ..How::all(1) })
            });
            let expected = best(&all);
            for limit in [1, 3, 20] {
                let how = How { limit, ..How::all(1) };
                let found = find_best_first(&index.shards, &phrase, how, 0);
                let there = expected.len().min(limit as usize);
                prop_assert_eq!(found.is_some(), on_one_line(expected.iter()) >= limit as usize);
                if let Some(found) = found {
                    prop_assert_eq!(&best(&found)[..], &expected[..there], "{:?}", words);
                }
            }
            let all = by_document(&all);
            for (limit, matches) in [(1, 1), (3, 2), (10, 3)] {
                let how = How { limit, ..How::all(1) };
                let found = find_best_first(&index.shards, &phrase, how, matches as u32);
                let firsts = all.iter().map(|of_one| &of_one[0]);
                prop_assert_eq!(found.is_some(), on_one_line(firsts) >= limit as usize);
                let found = found.map(|found| by_document(&found)).unwrap_or_default();
                for (found, all) in found.iter().zip(&all) {
                    prop_assert_eq!(found[0].score(), all[0].score());
                    prop_assert_eq!(found[0].document(), all[0].document());
                    prop_assert!(found.len() <= matches);
                    prop_assert!(found.iter().all(|each| all.contains(each)));
                }
            }
        }
    }

    #[test]
    fn alternatives_with_a_phrase_are_found_best_first(packages in packages(), limit in 1..12_u64) {
        let how = Build { block_bytes: 256, shard_bytes: u64::MAX, content: ContentCodec::Raw };
        let (_directory, index) = build_index(&packages, how);
        let word = |word: &str| Expr::Pattern(pattern(word.to_owned(), Syntax::Literal, false));
        let expr = Expr::any([word("if"), word("return")]);
        let phrase = [pattern("x return if".to_owned(), Syntax::Regexp, false)];
        let query = CompiledQuery::new(&expr, false).unwrap().preferring(&phrase);
        let all = find(&index.shards, &query, How::all(1));
        let expected = best(&all);
        let how = How { limit, ..How::all(1) };
        let found = find_best_first(&index.shards, &query, how, 0);
        let there = expected.len().min(limit as usize);
        prop_assert_eq!(&best(&found.expect("few blocks"))[..], &expected[..there]);
        let all = by_document(&all);
        let found = find_best_first(&index.shards, &query, how, 2);
        let found = by_document(&found.expect("few blocks"));
        prop_assert_eq!(found.len(), all.len().min(limit as usize));
        for (found, all) in found.iter().zip(&all) {
            prop_assert_eq!(&found[0], &all[0]);
        }
    }
}
