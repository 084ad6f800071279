//! User input: queries, literals, regular expressions, filters, and languages of other products.

use frontend::query::filter;
use frontend::query::sourcegraph::{self, PatternType};
use frontend::query::{dcs, github, zoekt};
use frontend::{BadQuery, ParsedQuery, Query, QueryInput};
use schema::message::{Field, Syntax};

/// Longer queries are slower and reach no other code.
const QUERY_BYTES_MAX: usize = 400;

const LANGUAGES: u8 = 11;
const GITHUB: u8 = 10;

/// Errors must point into the query; rendering and parsing again must give the same query.
///
/// Input: byte for language and field, query, NUL, filter.
pub(crate) fn query(data: &[u8]) {
    let Some((&language, data)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(data);
    if text.len() > QUERY_BYTES_MAX {
        return;
    }
    let (q, filter) = text.split_once('\0').unwrap_or((&text, ""));
    if language % LANGUAGES == GITHUB {
        return github_query(q);
    }
    let field = filter::FIELDS[usize::from(language >> 4) % filter::FIELDS.len()].0;
    match parse(language, q, &[(field, filter)]) {
        Ok(parsed) => {
            check_places(q, &parsed);
            check_again(&parsed.query);
        }
        Err(bad) => check_place(bad.filter.as_deref().unwrap_or(q), &bad),
    }
}

fn github_query(q: &str) {
    match github::parse(q) {
        Ok(parsed) => check_again(&parsed.query),
        Err(bad) => assert_eq!((bad.at, bad.atom), (None, None)),
    }
}

fn parse(language: u8, q: &str, filters: &[(Field, &str)]) -> Result<ParsedQuery, BadQuery> {
    let mode = match language % LANGUAGES {
        0 => None,
        1 => Some("literal"),
        2 => Some("regexp"),
        3 => return dcs::parse(q, Syntax::Literal),
        4 => return dcs::parse(q, Syntax::Regexp),
        5 => return sourcegraph(q, PatternType::Keyword),
        6 => return sourcegraph(q, PatternType::Standard),
        7 => return sourcegraph(q, PatternType::Literal),
        8 => return sourcegraph(q, PatternType::Regexp),
        _ => return Ok(zoekt::parse(q, 0)?.parsed),
    };
    let filters = if filters[0].1.is_empty() {
        &[]
    } else {
        filters
    };
    Query::parse(&QueryInput {
        q,
        mode,
        filters,
        ..QueryInput::default()
    })
}

fn sourcegraph(q: &str, pattern_type: PatternType) -> Result<ParsedQuery, BadQuery> {
    Ok(sourcegraph::parse(q, pattern_type)?.parsed)
}

fn check_place(typed: &str, bad: &BadQuery) {
    assert!(
        typed.is_char_boundary(bad.at.unwrap_or_default()),
        "{bad:?}"
    );
    assert!(bad.atom.is_none(), "{bad:?}");
}

/// Notices and backend errors point into the query.
fn check_places(q: &str, parsed: &ParsedQuery) {
    for atom in 0..parsed.query.expr.atoms().len() {
        let mut bad = BadQuery::new("refused");
        (bad.at, bad.atom) = (Some(0), Some(atom));
        let located = parsed.locate(bad);
        check_place(located.filter.as_deref().unwrap_or(q), &located);
    }
    for notice in &parsed.notices {
        assert!(q.is_char_boundary(notice.at.unwrap_or_default()));
    }
}

fn check_again(query: &Query) {
    let text = query.interpreted_as();
    let typed = QueryInput {
        q: &text,
        ..QueryInput::default()
    };
    let again = Query::parse(&typed).unwrap_or_else(|bad| panic!("{text:?}: {bad:?}"));
    let of = |query: &Query| (query.expr.clone(), query.names, query.limit);
    assert_eq!(of(&again.query), of(query), "{text:?}");
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let queries = [
        (0, "foo bar or \"a \\\" b\"iw -(x 'y''z')"),
        (
            0,
            "/foo\\s+(bar|\\/)/i path:\\.h$ -package:=i3-wm lang:\"Common Lisp\" ext:h",
        ),
        (
            0,
            "line:(a -b) content:/x/ path:g:*.c case:no word:yes type:path count:9 timeout:2s",
        ),
        (
            0,
            "std::string foo( a[i]) /usr/lib/ --flag \\-x not and pth:x path:/tools/\0-=a b",
        ),
        (1, "errno == EINTR\0*.c"),
        (2, "(?x) a # \\/ b\\\n/\0/re/i"),
        (3, "package:a -file:b/ std::x  y filetype:c++"),
        (4, "a\\Qb(\\E[[(&&]{ x{2} PATH:^x$"),
        (
            5,
            "repo:^a$@v1 (foo OR \"a b\") -file:\\.c$ NOT /x.y/ lang:go count:all select:file type:symbol",
        ),
        (
            9,
            "(a or sym:b) -f:c r:\"d e\" case:yes lang:go type:file \\(x",
        ),
        (
            GITHUB,
            "(foo OR \"a b\") NOT repo:a/b* -path:**/*.{c,h} symbol:A::b in:file,path size:>1",
        ),
    ];
    queries
        .map(|(language, query)| [&[language], query.as_bytes()].concat())
        .into()
}
