//! Properties: any input parses or is refused, and parsed queries render to
//! text with the same meaning.

use crate::input::joined;
use crate::lex::Lexer;
use crate::regexp::check_syntax;
use crate::source_text::SourceText;
use crate::sourcegraph::{self, PatternType};
use crate::{ParsedQuery, Query, QueryInput, dcs, filter, github, revision_name, zoekt};
use language::symbols::Kind;
use proptest::prelude::*;
use schema::message::{
    DocumentKind, Expr, Field, Filter, Pattern, Place, Reading, Role, Syntax, Want,
};

fn check_again(query: &Query) {
    let text = query.interpreted_as();
    let typed = QueryInput {
        q: &text,
        ..QueryInput::default()
    };
    let again = match Query::parse(&typed) {
        Ok(parsed) => parsed.query,
        Err(bad) => panic!("{text:?}: {bad:?}\n{query:?}"),
    };
    let of = |query: &Query| (query.expr.clone(), query.names, query.limit);
    assert_eq!(of(&again), of(query), "{text:?}");
    assert_eq!(again.interpreted_as(), text);
}

fn check_offsets(q: &str, parsed: &ParsedQuery) {
    for notice in &parsed.notices {
        assert!(q.is_char_boundary(notice.at.unwrap()));
    }
    for atom in 0..parsed.query.expr.atoms().len() {
        let mut bad = crate::BadQuery::new("refused");
        bad.atom = Some(atom);
        let located = parsed.locate(bad);
        assert_eq!(located.atom, None);
        let filter = located.filter.as_deref();
        assert!(filter.unwrap_or(q).is_char_boundary(located.at.unwrap()));
    }
}

fn check_terms(typed: &QueryInput<'_>, parsed: &ParsedQuery) {
    let terms = parsed.terms.iter().map(|term| &typed.q[term.clone()]);
    let q = terms.collect::<Vec<_>>().join(" ");
    let again = Query::parse(&QueryInput { q: &q, ..*typed }).unwrap();
    let of = |parsed: &ParsedQuery| parsed.query.clone().preferring(Vec::new());
    assert_eq!(of(&again), of(parsed), "{q:?}");
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "B",
        "foo",
        "ü",
        "u\u{308}",
        "\r\n",
        "“",
        "”",
        "–",
        "exact:yes ",
        "1",
        " ",
        " ",
        "  ",
        "\t",
        "\u{3000}",
        "\"",
        "'",
        "/",
        "\\",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "-",
        "--",
        ":",
        "::",
        "=",
        ">",
        "*",
        "?",
        "+",
        ".",
        ".*",
        "|",
        "^",
        "$",
        "#",
        "&",
        "~",
        "\n",
        " or ",
        " and ",
        " not ",
        "or",
        "not",
        "package:",
        "path:",
        "lang:",
        "ext:",
        "name:",
        "content:",
        "line:(",
        "case:no",
        "case:yes ",
        "word:yes",
        "type:path",
        "count:3",
        "context:1",
        "timeout:1s",
        "http:",
        "g:",
        "i",
        "w",
        "c",
        "s",
        "\\Q",
        "\\E",
        "filetype:c",
        "f:a",
        "r:^a$ ",
        "sym:",
        "sym:=",
        "uses:",
        "in:comment ",
        "-in:string ",
        "kind:function ",
        "parent:",
        "type:symbol ",
        "-path:x ",
        "repo:a@b:",
        "rev:",
        "type:repo ",
        "repo:has.path(",
        "select:repo ",
        "patterntype:regexp ",
        "(?i)",
        "(?x)",
        "\\/",
        "\\\\",
        "\\\"",
        "\\w",
        "[[:alpha:]]",
        "{2}",
        "(a",
        "b)",
        "/x/",
        "\"x y\"",
    ]);
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => pieces(), 1 => any::<String>(), 2 => "[a-zA-Z_.]{1,6}"]
        .prop_filter("something", |text| !text.is_empty())
}

fn regexp() -> impl Strategy<Value = String> {
    let valid = |text: String| {
        let text = SourceText::plain(0, &text).into_regexp();
        let is_valid = check_syntax(text.as_str()).is_ok();
        is_valid.then(|| text.as_str().to_owned())
    };
    text().prop_filter_map("a regular expression", valid)
}

fn pattern(in_path: bool) -> impl Strategy<Value = Expr> {
    let literal = text().prop_map(|text| (text, Syntax::Literal));
    let regexp = regexp().prop_map(|text| (text, Syntax::Regexp));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (prop_oneof![literal, regexp], flags).prop_map(
        move |((text, syntax), (ignore_case, word, path))| {
            Expr::Pattern(Pattern {
                text,
                syntax,
                ignore_case,
                word,
                in_path: path && in_path,
                ..Pattern::default()
            })
        },
    )
}

/// Pattern in a place that a query can have.
fn placed() -> impl Strategy<Value = Expr> {
    let kinds = prop::sample::select(vec![0, 1, 6, 1 << 13, Kind::bits_of("type").unwrap()]);
    let parent = prop_oneof![Just(String::new()), regexp()];
    let definition = (pattern(false), kinds, parent).prop_map(|(pattern, kinds, parent)| {
        with_place(pattern, |_| Place {
            role: Role::Definition,
            kinds,
            parent,
            ..Place::default()
        })
    });
    let text = (pattern(false), 1..16_u32).prop_map(|(pattern, classes)| {
        with_place(pattern, |_| Place {
            classes,
            ..Place::default()
        })
    });
    let literal = pattern(false).prop_filter(
        "a literal",
        |pattern| matches!(pattern, Expr::Pattern(it) if it.syntax == Syntax::Literal),
    );
    let used = literal.prop_map(|pattern| {
        with_place(pattern, |pattern| {
            pattern.word = true;
            Place {
                role: Role::Use,
                classes: 1,
                ..Place::default()
            }
        })
    });
    prop_oneof![definition, text, used]
}

fn with_place(expr: Expr, place: impl FnOnce(&mut Pattern) -> Place) -> Expr {
    let Expr::Pattern(mut pattern) = expr else {
        return expr;
    };
    pattern.place = place(&mut pattern);
    Expr::Pattern(pattern)
}

fn filter_expr() -> impl Strategy<Value = Expr> {
    let name = prop::sample::select(vec![Field::Package, Field::Path, Field::Name]);
    let exact = prop::sample::select(vec![Reading::Exact, Reading::Glob]);
    let reading = prop::sample::select(vec![Reading::Regexp, Reading::RegexpIgnoringCase]);
    let regexp = (name.clone(), reading, regexp());
    let regexp = regexp.prop_map(|(field, reading, text)| (field, reading, text));
    let named = (name, exact, text());
    let language = text().prop_map(|text| (Field::Language, Reading::Exact, text));
    let extension = text()
        .prop_filter("an extension", |text| !text.contains(['.', '/', '*']))
        .prop_map(|text| (Field::Extension, Reading::Exact, text));
    let kind = prop::sample::select(DocumentKind::ALL.to_vec());
    let kind = kind.prop_map(|kind| (Field::Kind, Reading::Exact, kind.name().to_owned()));
    let of_history = prop::sample::select(vec!["commit", "diff"]);
    let of_history = of_history.prop_map(|value| (Field::Type, Reading::Exact, value.to_owned()));
    let revision = prop::sample::select(vec![Field::Revision, Field::Branch]);
    let reading = prop::sample::select(vec![Reading::Exact, Reading::Glob]);
    let revision =
        (revision, reading, text()).prop_filter("a revision", |(field, reading, text)| {
            let (field, reading, text) = (*field, *reading, text.clone());
            revision_name::check(&Filter {
                field,
                reading,
                text,
            })
            .is_ok()
        });
    prop_oneof![
        regexp, named, language, extension, kind, of_history, revision
    ]
    .prop_map(|(field, reading, text)| {
        Expr::Filter(Filter {
            field,
            reading,
            text,
        })
    })
}

fn tree(leaf: impl Strategy<Value = Expr> + 'static) -> impl Strategy<Value = Expr> {
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(joined),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::any),
            inner.prop_map(Expr::negated),
        ]
    })
}

fn query() -> impl Strategy<Value = Query> {
    let expr = |names| {
        let of_line = prop_oneof![3 => pattern(false), 1 => placed()];
        let line = tree(of_line).prop_map(|inner| Expr::Line(Box::new(inner)));
        tree(prop_oneof![4 => pattern(names), 2 => filter_expr(), 1 => line, 2 => placed()])
            .prop_map(move |expr| (expr, names))
    };
    let parts = (prop_oneof![expr(false), expr(true)], 0..4_u64);
    parts.prop_filter_map("a query", |((expr, names), limit)| {
        crate::checked::check_positive(&expr).ok()?;
        let query = Query::new(expr, 2).ok()?;
        let query = query.wanting(Want::Matches, limit).ok()?;
        Some(if names { query.of_names() } else { query })
    })
}

proptest! {
    #[test]
    fn rendered_queries_parse_to_the_same_query(query in query()) {
        check_again(&query);
    }

    #[test]
    fn any_input_is_parsed_or_refused(q in pieces(), filter in pieces()) {
        let fields = [Field::Path, Field::Language, Field::Extension, Field::Revision];
        for mode in [None, Some("literal"), Some("regexp")] {
            for filters in [&[][..], &[(fields[q.len() % 4], &filter[..])]] {
                let typed = QueryInput { q: &q, mode, filters, ..QueryInput::default() };
                match Query::parse(&typed) {
                    Ok(parsed) => {
                        check_again(&parsed.query);
                        check_offsets(&q, &parsed);
                        check_terms(&typed, &parsed);
                    }
                    Err(bad) => {
                        let text = bad.filter.as_ref().unwrap_or(&q);
                        prop_assert!(text.is_char_boundary(bad.at.unwrap_or(0)), "{bad:?}");
                        prop_assert_eq!(bad.atom, None);
                    }
                }
            }
        }
    }

    #[test]
    fn text_without_keys_and_slashes_is_never_refused(q in pieces()) {
        let q = q.replace([':', '/'], "");
        let typed = QueryInput { q: &q, ..QueryInput::default() };
        let parsed = Query::parse(&typed);
        prop_assert!(parsed.is_ok() || q.trim().is_empty(), "{:?}", parsed);
    }

    #[test]
    fn any_dcs_input_is_parsed_or_refused(q in pieces()) {
        for syntax in [Syntax::Literal, Syntax::Regexp] {
            match dcs::parse(&q, syntax) {
                Ok(parsed) => {
                    check_again(&parsed.query);
                    check_offsets(&q, &parsed);
                }
                Err(bad) => prop_assert!(q.is_char_boundary(bad.at.unwrap_or(0)), "{bad:?}"),
            }
        }
    }

    #[test]
    fn any_github_input_is_parsed_or_refused(q in pieces()) {
        match github::parse(&q) {
            Ok(parsed) => check_again(&parsed.query),
            Err(bad) => prop_assert_eq!((bad.at, bad.atom), (None, None)),
        }
    }

    #[test]
    fn every_repository_can_be_asked_for(name in text()) {
        prop_assert!(github::repository(&name).is_ok(), "{:?}", name);
    }

    #[test]
    fn any_zoekt_input_is_parsed_or_refused(q in pieces()) {
        match zoekt::parse(&q, 0) {
            Ok(zoekt) => {
                check_again(&zoekt.parsed.query);
                check_offsets(&q, &zoekt.parsed);
            }
            Err(bad) => prop_assert!(q.is_char_boundary(bad.at.unwrap_or(0)), "{bad:?}"),
        }
    }

    #[test]
    fn any_sourcegraph_input_is_parsed_or_refused(q in pieces()) {
        use PatternType::{Keyword, Literal, Regexp, Standard};
        for pattern_type in [Keyword, Standard, Literal, Regexp] {
            match sourcegraph::parse(&q, pattern_type) {
                Ok(sourcegraph::Search { parsed, .. }) => {
                    check_again(&parsed.query);
                    check_offsets(&q, &parsed);
                }
                Err(bad) => prop_assert!(q.is_char_boundary(bad.at.unwrap_or(0)), "{bad:?}"),
            }
        }
    }

    #[test]
    fn rendered_filters_parse_to_the_same_filter(filter in filter_expr(), negated: bool) {
        let filter = if negated { filter.negated() } else { filter };
        let (name, typed) = filter::typed(&filter).unwrap();
        let field = filter::field(name).unwrap();
        prop_assert_eq!(filter::parse(field, &typed), Ok(filter), "{:?}", typed);
    }

    #[test]
    fn regular_expressions_have_a_canonical_form(text in text()) {
        let once = SourceText::plain(0, &text).into_regexp();
        prop_assert_eq!(once.clone().into_regexp().as_str().to_owned(), once.as_str());
        let typed = crate::lex::slashed(once.as_str());
        if check_syntax(once.as_str()).is_ok() {
            let (again, _) = Lexer::new(&typed).regexp().unwrap();
            prop_assert_eq!(again.as_str(), once.as_str());
        }
    }
}
