use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn planned(pattern: &str) -> String {
    plan(pattern, false).unwrap().to_string()
}

fn check(pattern: &str, expected: &str) {
    assert_eq!(planned(pattern), expected, "{pattern}");
}

#[test]
fn patterns_require_their_trigrams() {
    check("Abcdef", r#""abc" "bcd" "cde" "def""#);
    check("(abc)(def)", r#""abc" "bcd" "cde" "def""#);
    check("abc.*(def|ghi)", r#""abc" ("def" | "ghi")"#);
    check(
        "abc(def|ghi)",
        r#""abc" ("bcd" "cde" "def" | "bcg" "cgh" "ghi")"#,
    );
    check("a+hello", r#""ahe" "ell" "hel" "llo""#);
    check(
        "(a+hello|b+world)",
        r#"("ahe" "ell" "hel" "llo" | "bwo" "orl" "rld" "wor")"#,
    );
    check("a*bbb", r#""bbb""#);
    check("a?bbb", r#""bbb""#);
    check("(bbb)a?", r#""bbb""#);
    check("(bbb)a*", r#""bbb""#);
    check("^abc", r#""abc""#);
    check("abc$", r#""abc""#);
    check(r"\babc\b", r#""abc""#);
    check("ab\\bc", r#""abc""#);
    check("ab[cde]f", r#"("abc" "bcf" | "abd" "bdf" | "abe" "bef")"#);
    check("(abc|bac)de", r#""cde" ("abc" "bcd" | "acd" "bac")"#);
    check(
        "[ab][cd][ef]",
        r#"("ace" | "acf" | "ade" | "adf" | "bce" | "bcf" | "bde" | "bdf")"#,
    );
    check("(?i)abcd", r#""abc" "bcd""#);
    check("(?i)a~~", r#""a~~""#);
    check("abc|def", r#"("abc" | "def")"#);
    check("(abc){2}", r#""abc" "bca" "cab""#);
    check("x{3,}", r#""xxx""#);
    assert!(planned(r"[a-z]+foobar\d+").starts_with(r#""bar" "foo" "oba" "oob" ("#));
}

#[test]
fn patterns_without_trigrams_plan_to_all() {
    for pattern in [
        "ab[^cde]f",
        "ab.f",
        ".",
        "()",
        "(?s).",
        r"\b",
        "ab",
        "a|bcd",
        "(a|b|c|d)(ef|g|hi|j)",
        "a{0,9}",
        "x*",
    ] {
        check(pattern, "all");
    }
    check(r"[^\s\S]", "none");
}

#[test]
fn digits_are_enumerated() {
    let TrigramQuery::And(parts) = plan("[0-9]{3}-[0-9]{4}", false).unwrap() else {
        panic!("an AND")
    };
    let sizes: Vec<usize> = parts
        .iter()
        .map(|part| {
            if let TrigramQuery::Or(list) = part {
                list.len()
            } else {
                1
            }
        })
        .collect();
    assert_eq!(sizes, [100, 100, 100], "d-d, dd- and -dd");
}

#[test]
fn unicode_folds_as_ripgrep_does() {
    assert_eq!(
        plan("task", true).unwrap().to_string(),
        plan("(?i)task", false).unwrap().to_string()
    );
    let query = planned("(?i)task");
    assert!(
        query.contains(r#""ask" "tas""#) && query.contains(r"\xc5\xbf"),
        "{query}"
    );
    assert!(
        planned("(?i)kkk").contains(r"\xe2\x84\xaa"),
        "the Kelvin sign"
    );
}

#[test]
fn errors_say_where() {
    let error = plan("foo(bar", false).unwrap_err();
    assert_eq!(
        (error.at, error.reason.as_str()),
        (Some(3), "unclosed group")
    );
    let error = plan(r"a\p{Nope}", false).unwrap_err();
    assert_eq!(error.at, Some(1));
}

/// Requirements of codesearch's test table, folded: `;` AND, then `|` OR, then space AND; empty for
/// none.
const CODESEARCH: &[(&str, &str)] = &[
    ("Abcdef", "abc bcd cde def"),
    ("(abc)(def)", "abc bcd cde def"),
    ("abc.*(def|ghi)", "abc ; def | ghi"),
    ("abc(def|ghi)", "abc ; bcd cde def | bcg cgh ghi"),
    ("a+hello", "ahe ell hel llo"),
    ("(a+hello|b+world)", "ahe ell hel llo | bwo orl rld wor"),
    ("a*bbb", "bbb"),
    ("a?bbb", "bbb"),
    ("(bbb)a?", "bbb"),
    ("(bbb)a*", "bbb"),
    ("^abc", "abc"),
    ("abc$", "abc"),
    ("ab[cde]f", "abc bcf | abd bdf | abe bef"),
    ("(abc|bac)de", "cde ; abc bcd | acd bac"),
    ("ab[^cde]f", ""),
    ("ab.f", ""),
    (".", ""),
    ("()", ""),
    ("(abc|abc)", "abc"),
    ("(ab|ab)c", "abc"),
    ("ab(cab|cat)", "abc bca ; cab | cat"),
    ("(z*(abc|def)z*)(z*(abc|def)z*)", "abc | def"),
    ("(z*abcz*defz*)|(z*abcz*defz*)", "abc def"),
    (
        "(z*abcz*defz*(ghi|jkl)z*)|(z*abcz*defz*(mno|prs)z*)",
        "abc def ; ghi | jkl | mno | prs",
    ),
    (
        "(z*(abcz*def)|(ghiz*jkl)z*)|(z*(mnoz*prs)|(tuvz*wxy)z*)",
        "abc def | ghi jkl | mno prs | tuv wxy",
    ),
    ("(z*abcz*defz*)(z*(ghi|jkl)z*)", "abc def ; ghi | jkl"),
    ("(z*abcz*defz*)|(z*(ghi|jkl)z*)", "ghi | jkl | abc def"),
    (
        "[ab][cd][ef]",
        "ace | acf | ade | adf | bce | bcf | bde | bdf",
    ),
    ("ab[cd]e", "abc bce | abd bde"),
    ("(a|ab)cde", "cde ; abc bcd | acd"),
    ("(a|b|c|d)(ef|g|hi|j)", ""),
    ("(?s).", ""),
    ("(?i)a~~", "a~~"),
    ("(?i)ab~", "ab~"),
    ("(?i)abc", "abc"),
    ("(?i)abc|def", "abc | def"),
    ("(?i)abcd", "abc bcd"),
    ("(?i)abc|abc", "abc"),
    (r"\b", ""),
    (r"\B", ""),
    (r"\babc", "abc"),
    (r"\Babc", "abc"),
    (r"abc\b", "abc"),
    (r"abc\B", "abc"),
    (r"ab\bc", "abc"),
    (r"ab\Bc", "abc"),
];

fn ways(query: &TrigramQuery) -> Vec<BTreeSet<[u8; 3]>> {
    match query {
        TrigramQuery::All => vec![BTreeSet::new()],
        TrigramQuery::None => vec![],
        TrigramQuery::Trigram(trigram) => vec![[trigram.bytes()].into()],
        TrigramQuery::Or(parts) => parts.iter().flat_map(ways).collect(),
        TrigramQuery::And(parts) => parts.iter().fold(vec![BTreeSet::new()], |all, part| {
            let part = ways(part);
            all.iter()
                .flat_map(|a| part.iter().map(move |b| a | b))
                .collect()
        }),
    }
}

#[test]
fn requires_at_least_what_codesearch_requires() {
    for (pattern, required) in CODESEARCH {
        for way in ways(&plan(pattern, false).unwrap()) {
            let has_all = |all: &str| {
                let mut trigrams = all.split_whitespace();
                trigrams.all(|trigram| way.contains(trigram.as_bytes()))
            };
            let required = required.split(';').all(|any| any.split('|').any(has_all));
            assert!(required, "{pattern}: {way:?}");
        }
    }
    assert_eq!(plan(r"[^\s\S]", false).unwrap(), TrigramQuery::None);
}

fn satisfies(line: &[u8], query: &TrigramQuery) -> bool {
    match query {
        TrigramQuery::All => true,
        TrigramQuery::None => false,
        TrigramQuery::Trigram(trigram) => line
            .windows(3)
            .any(|window| window.to_ascii_lowercase() == trigram.bytes()),
        TrigramQuery::And(parts) => parts.iter().all(|part| satisfies(line, part)),
        TrigramQuery::Or(parts) => parts.iter().any(|part| satisfies(line, part)),
    }
}

/// Small alphabet, so that random lines match.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[abkst]{1,4}",
        Just(r"[abc]".to_owned()),
        Just(r"[^a]".to_owned()),
        Just(r"\w".to_owned()),
        Just(r"\s".to_owned()),
        Just(r"\b".to_owned()),
        Just(".".to_owned()),
        Just("^".to_owned()),
        Just("$".to_owned()),
        Just("ſ".to_owned()),
        Just(r"(?-u:\xff)".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            proptest::collection::vec(inner.clone(), 1..4)
                .prop_map(|parts| format!("({})", parts.join("|"))),
            (
                inner.clone(),
                prop_oneof![
                    Just("*"),
                    Just("+"),
                    Just("?"),
                    Just("{2}"),
                    Just("{1,3}"),
                    Just("{3,}"),
                    Just("{0}")
                ]
            )
                .prop_map(|(inner, times)| format!("(?:{inner}){times}")),
            inner.prop_map(|inner| format!("(?i:{inner})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_match_satisfies_its_query(
        pattern in patterns(),
        lines in proptest::collection::vec("[abkstABKST ſ\u{212a}\r]{0,12}", 8),
        ignore_case in any::<bool>(),
    ) {
        let query = plan(&pattern, ignore_case).unwrap();
        let regex = regex::bytes::RegexBuilder::new(&pattern)
            .multi_line(true)
            .crlf(true)
            .case_insensitive(ignore_case)
            .build()
            .unwrap();
        for line in &lines {
            if regex.is_match(line.as_bytes()) {
                prop_assert!(satisfies(line.as_bytes(), &query), "{pattern:?} {line:?} {query}");
            }
        }
    }

    /// Literal plans equal regular expression plans or are slightly weaker: satisfying lines
    /// contain the trigrams in some case.
    #[test]
    fn texts_are_planned_as_they_match(
        text in "[abkstABKST_.]{1,8}",
        line in "[abkstABKST_. ſ\u{212a}]{0,16}",
        ignore_case in any::<bool>(),
    ) {
        let escaped = regex_syntax::escape(&text);
        let (query, exact) = (plan_literal(&text, ignore_case).unwrap(), plan(&escaped, ignore_case).unwrap());
        let regex = regex::RegexBuilder::new(&escaped).case_insensitive(ignore_case).build().unwrap();
        let is_match = regex.is_match(&line);
        let line = line.as_bytes();
        prop_assert!(!is_match || satisfies(line, &query), "{text:?} {query}");
        prop_assert!(!satisfies(line, &exact) || satisfies(line, &query), "{text:?} {exact} {query}");
        if !ignore_case || !text.bytes().any(|byte| other_case(byte).is_some()) {
            prop_assert_eq!(query, exact);
        }
    }
}
