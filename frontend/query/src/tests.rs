//! Properties of queries in all languages.

mod property;
mod spec;

use super::limits::QUERY_BYTES_MAX;
use super::*;
use crate::scope::{PackageNames, Scope};
use expect_test::{Expect, expect};
use schema::message::{ATOMS_MAX, Expr, Field, Pattern, TextOrder, Want};
use std::sync::Arc;

fn parse(mode: &str, q: &str) -> Result<Query, BadQuery> {
    let typed = QueryInput {
        q,
        mode: Some(mode),
        ..QueryInput::default()
    };
    Query::parse(&typed).map(|parsed| parsed.query)
}

fn check(mode: &str, q: &str, expected: Expect) {
    let out = match parse(mode, q) {
        Ok(query) => query.interpreted_as(),
        Err(BadQuery { at, reason, .. }) => format!("{at:?}: {reason}"),
    };
    expected.assert_eq(&out);
}

#[test]
fn terms_that_must_hold_are_known_by_their_place() {
    let check = |q: &str, expected: &[&str]| {
        let typed = QueryInput {
            q,
            ..QueryInput::default()
        };
        let parsed = Query::parse(&typed).unwrap();
        let terms: Vec<&str> = parsed.terms.iter().map(|term| &q[term.clone()]).collect();
        assert_eq!(terms, expected);
    };
    check(" a  -b ", &["a", "-b"]);
    check(
        r#"errno and "a b" lang:c case:yes"#,
        &["errno", r#""a b""#, "lang:c", "case:yes"],
    );
    check("(a or b) not c", &["(a or b)", "not c"]);
    check("a b or c lang:c", &["a b or c lang:c"]);
    check("line:(a b) /x y/i", &["line:(a b)", "/x y/i"]);
    check("std::string ü", &["std::string", "ü"]);
}

#[test]
fn pasted_text_is_never_refused() {
    let long = "for (i = 0; i < n; i++) { a[i] = \"x\"; } ".repeat(40);
    let many: String = (0..100).map(|number| format!("word{number} ")).collect();
    let deep = "(".repeat(200) + "x";
    for q in [
        &long[..],
        &many,
        &deep,
        "if (a) { return \"b",
        "}) || (c",
        "'",
        "\"\"\"docstring",
        "#define X(a) \\",
        "a && !b || c",
        "SELECT * FROM t WHERE a IS NOT NULL OR",
        "-Wall -Wextra",
        "- name: x",
        "type: object",
        "path: /usr/lib",
        "line:42: error",
        "content:\"",
        "/* comment */",
        "/** @file */",
        "a / (b / c",
        "$(echo \"x\"",
        "git commit -m \"x",
        "<a href='x'>it's</a>",
    ] {
        let parsed = parse("keyword", q);
        assert!(parsed.is_ok(), "{q}: {parsed:?}");
    }
}

#[test]
fn words_side_by_side_are_a_phrase() {
    let check = |q: &str, expected: Expect| {
        let phrase = parse("keyword", q).unwrap().search().phrase;
        let texts = phrase.into_iter().map(|pattern| pattern.text);
        expected.assert_eq(&texts.collect::<Vec<_>>().join(" | "));
    };
    check(
        "return  NULL;",
        expect![[r#"\b{start-half}return[ \t]+NULL; | (?i:return)[ \t"'()]+(?-i:NULL;)"#]],
    );
    check(
        "import \"fmt\" lang:go -x",
        expect![[r#"\b{start-half}import[ \t]+"fmt" | (?i:import)[ \t"'()]+(?i:fmt)"#]],
    );
    check(
        "if (x) case:yes",
        expect![[r#"\b{start-half}if[ \t]+\(x\) | (?-i:if)[ \t"'()]+(?-i:x)"#]],
    );
    check(
        "a and b",
        expect![[r#"\b{start-half}a[ \t]+and[ \t]+b\b{end-half} | (?i:a)[ \t"'()]+(?i:b)"#]],
    );
    check(
        "a or b",
        expect![[r"\b{start-half}a[ \t]+or[ \t]+b\b{end-half}"]],
    );
    check(
        "for (i = 0;",
        expect![[
            r#"\b{start-half}for[ \t]+\(i[ \t]+=[ \t]+0; | (?i:for)[ \t"'()]+(?i:\(i)[ \t"'()]+(?-i:=)[ \t"'()]+(?-i:0;)"#
        ]],
    );
    for q in [
        "foo",
        "\"foo bar\"",
        "foo lang:c",
        "foo -bar",
        "/a/ b",
        "line:(a b)",
        "(a or b) c",
        "a b type:path",
    ] {
        check(q, expect![""]);
    }
    assert!(
        parse("literal", "return NULL;")
            .unwrap()
            .search()
            .phrase
            .is_empty()
    );
    assert_ne!(
        parse("keyword", "\"a\" b").unwrap(),
        parse("keyword", "a b").unwrap(),
        "the phrase is a part of the query"
    );
}

#[test]
fn literal_and_regexp_modes_render_in_the_native_language() {
    check(
        "literal",
        "errno == EINTR",
        expect![[r#""errno == EINTR""#]],
    );
    check(
        "literal",
        r#"say "\n""#,
        expect![[r#""say \"\\n\"" case:yes"#]],
    );
    check("literal", "fopen(", expect![[r#""fopen(" case:yes"#]]);
    check(
        "regexp",
        r"fopen\(.*r",
        expect![[r#"/fopen\(.*r/ case:yes"#]],
    );
    check("regexp", r"(?-u)\xff", expect![[r#"/(?-u)\xff/ case:yes"#]]);
    let ignoring = QueryInput {
        q: "x",
        case: Some("no"),
        ..QueryInput::default()
    };
    expect!["x"].assert_eq(&Query::parse(&ignoring).unwrap().query.interpreted_as());
}

#[test]
fn errors_have_position_and_reason() {
    check("literal", "", expect!["None: the query is empty"]);
    check("fuzzy", "x", expect!["None: mode=fuzzy is not valid"]);
    check(
        "regexp",
        "a(b",
        expect!["Some(1): invalid regular expression: unclosed group"],
    );
    check(
        "regexp",
        "ü[z-a]",
        expect![
            "Some(3): invalid regular expression: invalid character class range, the start must be <= the end"
        ],
    );
    check(
        "regexp",
        r"\p{Nonsense}",
        expect!["Some(0): invalid regular expression: Unicode property not found"],
    );
    check(
        "literal",
        &"x".repeat(QUERY_BYTES_MAX + 1),
        expect!["None: the query has 4097 bytes, the limit is 4096"],
    );
    for context in ["11", "-1", "two"] {
        let typed = QueryInput {
            q: "x",
            context: Some(context),
            ..QueryInput::default()
        };
        assert!(Query::parse(&typed).is_err(), "context {context}");
    }
    assert!(parse("regexp", &"(".repeat(2000)).is_err());
}

#[test]
fn identity_covers_everything_that_changes_the_matches() {
    let base = parse("literal", "x").unwrap();
    let everything = Scope::everything();
    let names = Arc::new(PackageNames::new([&b"p"[..]]));
    let scoped = |visible: &[usize]| Scope::of(&names, visible.iter().copied().collect());
    let mut ids = vec![
        base.identity(&everything, "g"),
        base.identity(&everything, "h"),
    ];
    ids.push(base.identity(&scoped(&[]), "g"));
    ids.push(base.identity(&scoped(&[0]), "g"));
    ids.push(parse("regexp", "x").unwrap().identity(&everything, "g"));
    ids.push(parse("literal", "y").unwrap().identity(&everything, "g"));
    let mut other = base.clone();
    other.0.context_lines = 0;
    ids.push(other.identity(&everything, "g"));
    let mut other = base.clone();
    other.0.expr = Expr::Pattern(Pattern {
        text: "x".to_owned(),
        ignore_case: true,
        ..Pattern::default()
    });
    ids.push(other.identity(&everything, "g"));
    for (want, limit) in [
        (Want::Matches, 1),
        (Want::Documents, 0),
        (Want::Documents, 1),
        (Want::Count, 0),
    ] {
        let other = base.clone().wanting(want, limit).unwrap();
        ids.push(other.identity(&everything, "g"));
    }
    for other in [
        base.clone().with_first_range(),
        base.clone().with_text(TextOrder::Ranked),
        base.clone().with_text(TextOrder::Found),
    ] {
        ids.push(other.identity(&everything, "g"));
        assert_eq!(Query::decode(&other.encode()), Some(other));
    }
    let counted = base.clone().wanting(Want::Count, 0).unwrap();
    assert_eq!(counted.clone().with_text(TextOrder::Found), counted);
    for (field, _) in filter::FIELDS {
        // Only these may be regular expressions; others are always exact.
        let exact = ["=a", "-=a"]
            .iter()
            .take_while(|_| matches!(field, Field::Package | Field::Path | Field::Name));
        let values = match field {
            Field::Kind => ["tests", "-tests", "test"],
            Field::Type => ["diff", "-diff", "commit"],
            Field::Before | Field::After => ["2024", "-2024", "2025"],
            _ => ["a", "-a", "b"],
        };
        for typed in values.iter().chain(exact) {
            let short = [(field, *typed)];
            let long = [(field, *typed), (Field::Path, "c")];
            ids.push(filtered(&short).identity(&everything, "g"));
            ids.push(filtered(&long).identity(&everything, "g"));
        }
    }
    let distinct: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len());
    assert!(ids.iter().all(|id| id.len() == 16));
}

fn filtered(filters: &[(Field, &str)]) -> Query {
    let of_history = filters.iter().any(|(field, _)| *field > Field::Type);
    let typed = QueryInput {
        q: if of_history { "x type:diff" } else { "x" },
        filters,
        ..QueryInput::default()
    };
    Query::parse(&typed).unwrap().query
}

#[test]
fn want_and_limit_are_part_of_the_query() {
    let check = |want, limit, expected: Expect| {
        let typed = QueryInput {
            q: "x",
            want,
            limit,
            ..QueryInput::default()
        };
        let out = match Query::parse(&typed) {
            Ok(ParsedQuery { query, .. }) => {
                format!("{} context {}", query.interpreted_as(), query.context_lines)
            }
            Err(bad) => bad.reason,
        };
        expected.assert_eq(&out);
    };
    check(Some("matches"), Some("0"), expect!["x context 2"]);
    check(
        Some("documents"),
        Some("100"),
        expect!["x count:100 context 2"],
    );
    // A count sends no lines: context does not matter.
    check(Some("count"), None, expect!["x context 0"]);
    check(
        Some("count"),
        Some("9"),
        expect!["a count cannot have a limit"],
    );
    check(Some("files"), None, expect!["want=files is not valid"]);
    check(
        None,
        Some("10001"),
        expect!["a limit of 10001, the maximum is 10000"],
    );
    check(None, Some("-1"), expect!["limit=-1 is not valid"]);
}

#[test]
fn order_and_repetition_of_filters_do_not_matter() {
    let filters = [
        (Field::Language, "C"),
        (Field::Path, "-vendor/"),
        (Field::Package, "=i3-wm"),
        (Field::Path, "^src/"),
    ];
    let query = filtered(&filters);
    expect!["x package:=i3-wm path:^src/ -path:vendor/ lang:C"].assert_eq(&query.interpreted_as());
    let mut others = filters.to_vec();
    others.rotate_left(1);
    others.push(filters[0]);
    assert_eq!(filtered(&others), query);
    let bounds = [
        ("x".repeat(QUERY_BYTES_MAX), 1),
        ("y".to_owned(), ATOMS_MAX + 1),
    ];
    for (text, times) in bounds {
        let typed = QueryInput {
            q: "x",
            filters: &vec![(Field::Path, &text[..]); times],
            ..QueryInput::default()
        };
        let bad = Query::parse(&typed).unwrap_err();
        assert!(bad.reason.contains("the limit is"), "{bad}");
    }
}

#[test]
fn text_is_found_in_other_forms_unless_it_is_exact() {
    let parsed = |q: &str, mode, exact| {
        let input = QueryInput {
            q,
            mode,
            exact,
            ..QueryInput::default()
        };
        Query::parse(&input).unwrap()
    };
    let only = |q, mode, exact| match &parsed(q, mode, exact).query.expr {
        Expr::Pattern(pattern) => pattern.text.clone(),
        other => panic!("{other:?}"),
    };
    let literal = Some("literal");
    assert_eq!(only("a(\r\nb\nc", literal, None), r"a\(\r?\nb\r?\nc");
    assert_eq!(only("a\r\nb", literal, Some("yes")), "a\r\nb");
    assert_eq!(only("é exact:no", None, Some("yes")), r"(?:é|e\u{301})");
    assert_eq!(only("é\nb", Some("regexp"), None), "é\nb");

    let several = parsed("“a\nb” é \u{ff76}\u{ff9e} ü", None, None);
    let reasons = several.notices.iter().map(|notice| &notice.reason[..9]);
    assert!(reasons.eq(["typograph", "line ends", "letters a"]));
    let phrase = &parsed("é b’s", None, None).query.phrase;
    let side_by_side = r#"(?i:(?:é|e\u{301}))[ \t"'()]+(?i:b(?:’|')s)"#;
    assert_eq!(phrase[1].text, side_by_side);

    let lines = "x\n".repeat(2000);
    assert_eq!(only(&lines, literal, None), lines);
    assert_eq!(parsed(&lines, literal, None).notices.len(), 1);
}
