use super::*;
use proptest::prelude::*;

/// `pattern` as codesearch's table writes queries: a space is AND, `|` OR, `+` all, `-` none.
fn planned(pattern: &str) -> String {
    plan(pattern, false).unwrap().to_string()
}

fn check(pattern: &str, expected: &str) {
    assert_eq!(planned(pattern), expected, "{pattern}");
}

#[test]
fn what_patterns_need() {
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
fn what_says_nothing_is_all() {
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
    let Query::And(parts) = plan("[0-9]{3}-[0-9]{4}", false).unwrap() else {
        panic!("an AND")
    };
    let sizes: Vec<usize> = parts
        .iter()
        .map(|part| {
            if let Query::Or(list) = part {
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

/// Whether a line satisfies a query, by looking for the trigrams themselves.
fn satisfies(line: &[u8], query: &Query) -> bool {
    match query {
        Query::All => true,
        Query::None => false,
        Query::Trigram(trigram) => line
            .windows(3)
            .any(|window| window.to_ascii_lowercase() == trigram.bytes()),
        Query::And(parts) => parts.iter().all(|part| satisfies(line, part)),
        Query::Or(parts) => parts.iter().any(|part| satisfies(line, part)),
    }
}

/// Patterns over a small alphabet, so that lines over it match often.
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
}
