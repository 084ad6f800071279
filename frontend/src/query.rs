//! What the user typed, understood or refused.
//!
//! A query is a pattern, how it is read, which documents are searched, what is wanted of what matches
//! and how much of it, and how many lines of context its matches carry. Page, page size and grouping are not part of it: they are ways to look at its
//! answer.
//! This is not the judge of what a line can contain: a backend refuses a pattern that asks for a
//! line end, and its refusal arrives as a [`BadQuery`] too.
//!
//! **Invariant:** a [`Query`] has been checked; one that exists can be sent to a backend.

use crate::filter;
use fnv::FnvHasher;
use regex_syntax::ParserBuilder;
use schema::message::{ATOMS_MAX, DEPTH_MAX, Expr, Field, Pattern, Search, Syntax, Want};
use std::hash::{Hash, Hasher};
use std::time::Duration;

/// Bytes of a pattern and its filters. A person's query is far below it; a longer one is a mistake of a script,
/// and costs every backend the time to compile it.
pub const QUERY_BYTES_MAX: usize = 4 << 10;

/// Lines of context a match may carry on either side.
pub const CONTEXT_LINES_MAX: u32 = 10;

/// The most that a limit may be. It is for those who want the first few pages and no more; beyond
/// it all matches are no dearer.
pub const LIMIT_MAX: u64 = 10_000;

/// How deep groups and repetitions may nest: the parser recurses, and so does every backend.
const NESTING_MAX: u32 = 250;

/// Who may see the answer. There is one scope until an authorization service says otherwise; it is
/// part of a run's identity so that answers never cross scopes then.
const SCOPE: &str = "public";

/// A query that is well formed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    expr: Expr,
    /// What is found of a document is its name.
    names: bool,
    context_lines: u32,
    want: Want,
    /// 0: all.
    limit: u64,
}

/// What was understood of what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The query.
    pub query: Query,
    /// How long it may take, when that was typed too.
    pub timeout: Option<Duration>,
    /// What may have been meant otherwise.
    pub notices: Vec<Notice>,
}

/// Something in a query that may have been meant otherwise than it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where in the query, in bytes.
    pub at: Option<usize>,
    /// How it was understood.
    pub reason: String,
    /// What to type for the other meaning.
    pub hint: Option<String>,
}

/// Why a query cannot be searched for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BadQuery {
    /// Where in the pattern, or in the filter, in bytes, when the fault has a place.
    pub at: Option<usize>,
    /// The text of the filter that is at fault; `None`: the pattern is.
    pub filter: Option<String>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it, when there is something to say.
    pub hint: Option<String>,
    /// Which of [`Expr::atoms`] a backend refuses, before its place in the text is known.
    pub(crate) atom: Option<usize>,
}

impl BadQuery {
    /// A reason alone.
    pub fn new(reason: impl Into<String>) -> Self {
        BadQuery {
            at: None,
            filter: None,
            reason: reason.into(),
            hint: None,
            atom: None,
        }
    }

    fn at(self, at: usize) -> Self {
        BadQuery {
            at: Some(at),
            ..self
        }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        BadQuery {
            hint: Some(hint.into()),
            ..self
        }
    }
}

/// A query's fields as they were typed; `None` stands for the field's default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Typed<'a> {
    /// The pattern.
    pub q: &'a str,
    /// `literal` (the default) or `regexp`.
    pub mode: Option<&'a str>,
    /// `yes` (the default): upper and lower case differ; or `no`.
    pub case: Option<&'a str>,
    /// Lines of context.
    pub context: Option<&'a str>,
    /// `matches` (the default), `documents` or `count`.
    pub want: Option<&'a str>,
    /// How many of the best are wanted; 0 (the default): all.
    pub limit: Option<&'a str>,
    /// Filters, as [`filter::parse`] takes them.
    pub filters: &'a [(Field, &'a str)],
}

impl Typed<'_> {
    fn want(&self) -> Result<Want, BadQuery> {
        match self.want {
            None | Some("matches") => Ok(Want::Matches),
            Some("documents") => Ok(Want::Documents),
            Some("count") => Ok(Want::Count),
            Some(other) => Err(unknown("want", other, "matches, documents or count")),
        }
    }

    fn limit(&self) -> Result<u64, BadQuery> {
        let Some(number) = self.limit else {
            return Ok(0);
        };
        number.parse().map_err(|_| {
            let most = format!("a number from 0 (all) to {LIMIT_MAX}");
            unknown("limit", number, &most)
        })
    }
}

impl Query {
    /// Lines of context when nobody says otherwise.
    pub const CONTEXT_DEFAULT: u32 = 2;

    /// Checks an expression. All matches are wanted.
    pub fn new(expr: Expr, context_lines: u32) -> Result<Query, BadQuery> {
        let atoms = expr.atoms();
        let text = |atom: &&Expr| match atom {
            Expr::Pattern(pattern) => pattern.text.len(),
            Expr::Filter(filter) => filter.text.len(),
            _ => 0,
        };
        let bytes: usize = atoms.iter().map(text).sum();
        if bytes > QUERY_BYTES_MAX {
            return Err(BadQuery::new(format!(
                "a query of {bytes} bytes, the most is {QUERY_BYTES_MAX}"
            )));
        }
        if atoms.len() > ATOMS_MAX {
            return Err(BadQuery::new(format!(
                "{} patterns and filters, the most is {ATOMS_MAX}",
                atoms.len()
            )));
        }
        if expr.depth() > DEPTH_MAX {
            return Err(BadQuery::new(format!(
                "a query that nests {} deep, the most is {DEPTH_MAX}",
                expr.depth()
            )));
        }
        if context_lines > CONTEXT_LINES_MAX {
            return Err(BadQuery::new(format!(
                "{context_lines} lines of context, the most is {CONTEXT_LINES_MAX}"
            )));
        }
        for (index, atom) in atoms.into_iter().enumerate() {
            let checked = match atom {
                Expr::Filter(filter) => filter::check(filter),
                Expr::Pattern(pattern) if pattern.text.is_empty() => {
                    Err(BadQuery::new("the query is empty").hint("type what a line should contain"))
                }
                Expr::Pattern(pattern) if pattern.syntax == Syntax::Regexp => {
                    check_syntax(&pattern.text, pattern.ignore_case)
                }
                _ => Ok(()),
            };
            checked.map_err(|bad| BadQuery {
                atom: Some(index),
                ..bad
            })?;
        }
        Ok(Query {
            expr: in_order(expr),
            names: false,
            context_lines,
            want: Want::Matches,
            limit: 0,
        })
    }

    /// The same, which finds names of documents, never lines.
    pub fn of_names(self) -> Query {
        Query {
            names: true,
            ..self
        }
    }

    /// The same, with another wish: only the best `limit` matches or documents, 0 for all. A count
    /// has neither lines of context nor a limit.
    pub fn wanting(self, want: Want, limit: u64) -> Result<Query, BadQuery> {
        if limit > LIMIT_MAX {
            return Err(
                BadQuery::new(format!("a limit of {limit}, the most is {LIMIT_MAX}"))
                    .hint("leave it out for all; pages take only what is on them"),
            );
        }
        let is_count = matches!(want, Want::Count | Want::Estimate);
        if is_count && limit > 0 {
            return Err(BadQuery::new("a count has no limit").hint("leave it out"));
        }
        Ok(Query {
            want,
            limit,
            context_lines: if is_count { 0 } else { self.context_lines },
            ..self
        })
    }

    /// Parses what came over HTTP.
    pub fn parse(typed: &Typed<'_>) -> Result<Parsed, BadQuery> {
        let syntax = match typed.mode {
            None | Some("literal") => Syntax::Literal,
            Some("regexp") => Syntax::Regexp,
            Some(other) => return Err(unknown("mode", other, "literal or regexp")),
        };
        let ignore_case = match typed.case {
            None | Some("yes") => false,
            Some("no") => true,
            Some(other) => return Err(unknown("case", other, "yes or no")),
        };
        let context_lines = match typed.context {
            None => Query::CONTEXT_DEFAULT,
            Some(number) => number.parse().map_err(|_| {
                let most = format!("a number from 0 to {CONTEXT_LINES_MAX}");
                unknown("context", number, &most)
            })?,
        };
        let pattern = Expr::Pattern(Pattern {
            text: typed.q.to_owned(),
            syntax,
            ignore_case,
            ..Pattern::default()
        });
        let filters = typed.filters.iter();
        let filters = filters.map(|&(field, typed)| filter::parse(field, typed));
        let parts = std::iter::once(Ok(pattern)).chain(filters);
        let query = Query::new(
            Expr::all(parts.collect::<Result<Vec<_>, _>>()?),
            context_lines,
        )?;
        Ok(Parsed {
            query: query.wanting(typed.want()?, typed.limit()?)?,
            timeout: None,
            notices: Vec::new(),
        })
    }

    /// What is searched for.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// Whether what is found of a document is its name, never a line.
    pub fn names(&self) -> bool {
        self.names
    }

    /// Lines of context before and after each match.
    pub fn context_lines(&self) -> u32 {
        self.context_lines
    }

    /// What is wanted of what matches.
    pub fn want(&self) -> Want {
        self.want
    }

    /// How many of the best matches or documents are wanted; 0: all.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The query as it was understood, in the notation of the query language to come: a literal in
    /// quotes, a regular expression between slashes.
    pub fn interpreted_as(&self) -> String {
        let (mut parts, mut ignores_case) = (Vec::new(), false);
        for factor in self.expr.factors() {
            parts.push(match factor {
                Expr::Pattern(pattern) => {
                    ignores_case |= pattern.ignore_case;
                    match pattern.syntax {
                        Syntax::Literal => filter::quoted(&pattern.text),
                        Syntax::Regexp => format!("/{}/", pattern.text),
                    }
                }
                other => filter::interpreted_as(other),
            });
        }
        if ignores_case {
            parts.insert(1, "case:no".to_owned());
        }
        let mut out = parts.join(" ");
        match self.want {
            Want::Matches => {}
            Want::Documents => out.push_str(" want:documents"),
            Want::Count => out.push_str(" want:count"),
            Want::Estimate => out.push_str(" want:estimate"),
        }
        if self.limit > 0 {
            out.push_str(&format!(" limit:{}", self.limit));
        }
        out
    }

    /// What backends are asked, but for shards and deadline.
    pub(crate) fn search(&self) -> Search {
        Search {
            expr: self.expr.clone(),
            names: self.names,
            context_lines: self.context_lines,
            want: self.want,
            limit: self.limit,
            ..Search::default()
        }
    }

    /// The query that asks this.
    pub(crate) fn of(search: Search) -> Result<Query, BadQuery> {
        let query = Query::new(search.expr, search.context_lines)?;
        let query = match search.names {
            true => query.of_names(),
            false => query,
        };
        query.wanting(search.want, search.limit)
    }

    /// Names the run of this query over one generation. A name, not a proof: whoever finds a run
    /// under it compares the query as well.
    pub(crate) fn identity(&self, generation: &str) -> String {
        let mut hasher = FnvHasher::default();
        // Lengths are part of what `Hash` of strings and lists gives, so no two run together.
        (SCOPE, generation).hash(&mut hasher);
        self.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// The same expression, with the filters that must all hold last, in order and each once: whoever
/// types them in another order asks the same.
fn in_order(expr: Expr) -> Expr {
    let (mut filters, rest): (Vec<_>, Vec<_>) =
        expr.factors()
            .iter()
            .cloned()
            .partition(|factor| match factor {
                Expr::Filter(_) => true,
                Expr::Not(inner) => matches!(**inner, Expr::Filter(_)),
                _ => false,
            });
    filters.sort_by_cached_key(filter::key);
    filters.dedup();
    Expr::all(rest.into_iter().chain(filters))
}

/// Names a set of shards, in whatever order they come and however often.
pub(crate) fn generation(shards: impl IntoIterator<Item = [u8; 32]>) -> String {
    let shards: std::collections::BTreeSet<_> = shards.into_iter().collect();
    let mut hasher = FnvHasher::default();
    shards.iter().for_each(|id| hasher.write(id));
    format!("{:016x}", hasher.finish())
}

fn unknown(field: &str, value: &str, expected: &str) -> BadQuery {
    BadQuery::new(format!("{field}={value} is not understood")).hint(format!("expected {expected}"))
}

/// Parses a regular expression with the options that backends compile patterns with, for the
/// position and the reason of what is wrong.
pub(crate) fn check_syntax(text: &str, ignore_case: bool) -> Result<(), BadQuery> {
    let parsed = ParserBuilder::new()
        .unicode(true)
        .utf8(false)
        .multi_line(true)
        .crlf(true)
        .nest_limit(NESTING_MAX)
        .case_insensitive(ignore_case)
        .build()
        .parse(text);
    let (reason, span) = match &parsed {
        Ok(_) => return Ok(()),
        Err(regex_syntax::Error::Parse(error)) => (error.kind().to_string(), error.span()),
        Err(regex_syntax::Error::Translate(error)) => (error.kind().to_string(), error.span()),
        Err(other) => return Err(BadQuery::new(other.to_string())),
    };
    Err(BadQuery::new(format!("not a regular expression: {reason}"))
        .at(span.start.offset)
        .hint("search for it as literal text, or escape the character with \\"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn parse(mode: &str, q: &str) -> Result<Query, BadQuery> {
        Query::parse(&Typed {
            q,
            mode: Some(mode),
            ..Typed::default()
        })
        .map(|parsed| parsed.query)
    }

    fn check(mode: &str, q: &str, expected: Expect) {
        let out = match parse(mode, q) {
            Ok(query) => query.interpreted_as(),
            Err(BadQuery { at, reason, .. }) => format!("{at:?}: {reason}"),
        };
        expected.assert_eq(&out);
    }

    #[test]
    fn what_is_understood_is_echoed() {
        check(
            "literal",
            "errno == EINTR",
            expect![[r#""errno == EINTR""#]],
        );
        check("literal", r#"say "\n""#, expect![[r#""say \"\\n\"""#]]);
        check("literal", "fopen(", expect![[r#""fopen(""#]]);
        check("regexp", r"fopen\(.*r", expect![[r"/fopen\(.*r/"]]);
        check("regexp", r"(?-u)\xff", expect![[r"/(?-u)\xff/"]]);
        let ignoring = Typed {
            q: "x",
            case: Some("no"),
            ..Typed::default()
        };
        expect![[r#""x" case:no"#]]
            .assert_eq(&Query::parse(&ignoring).unwrap().query.interpreted_as());
    }

    #[test]
    fn what_is_not_says_where_and_why() {
        check("literal", "", expect!["None: the query is empty"]);
        check("fuzzy", "x", expect!["None: mode=fuzzy is not understood"]);
        check(
            "regexp",
            "a(b",
            expect!["Some(1): not a regular expression: unclosed group"],
        );
        check(
            "regexp",
            "ü[z-a]",
            expect![
                "Some(3): not a regular expression: invalid character class range, the start must be <= the end"
            ],
        );
        check(
            "regexp",
            r"\p{Nonsense}",
            expect!["Some(0): not a regular expression: Unicode property not found"],
        );
        check(
            "literal",
            &"x".repeat(QUERY_BYTES_MAX + 1),
            expect!["None: a query of 4097 bytes, the most is 4096"],
        );
        for context in ["11", "-1", "two"] {
            let typed = Typed {
                q: "x",
                context: Some(context),
                ..Typed::default()
            };
            assert!(Query::parse(&typed).is_err(), "context {context}");
        }
        assert!(parse("regexp", &"(".repeat(2000)).is_err());
    }

    #[test]
    fn identity_covers_everything_that_changes_the_matches() {
        let base = parse("literal", "x").unwrap();
        let mut ids = vec![base.identity("g"), base.identity("h")];
        ids.push(parse("regexp", "x").unwrap().identity("g"));
        ids.push(parse("literal", "y").unwrap().identity("g"));
        let mut other = base.clone();
        other.context_lines = 0;
        ids.push(other.identity("g"));
        let mut other = base.clone();
        other.expr = Expr::Pattern(Pattern {
            text: "x".to_owned(),
            ignore_case: true,
            ..Pattern::default()
        });
        ids.push(other.identity("g"));
        for (want, limit) in [
            (Want::Matches, 1),
            (Want::Documents, 0),
            (Want::Documents, 1),
            (Want::Count, 0),
        ] {
            let other = base.clone().wanting(want, limit).unwrap();
            ids.push(other.identity("g"));
        }
        for (field, _) in filter::FIELDS {
            // A language is exact, however it is typed.
            let exact = ["=a", "-=a"]
                .iter()
                .take_while(|_| field != Field::Language);
            for typed in ["a", "-a", "b"].iter().chain(exact) {
                let short = [(field, *typed)];
                let long = [(field, *typed), (Field::Path, "c")];
                ids.push(filtered(&short).identity("g"));
                ids.push(filtered(&long).identity("g"));
            }
        }
        let distinct: std::collections::HashSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
        assert!(ids.iter().all(|id| id.len() == 16));
    }

    fn filtered(filters: &[(Field, &str)]) -> Query {
        let typed = Typed {
            q: "x",
            filters,
            ..Typed::default()
        };
        Query::parse(&typed).unwrap().query
    }

    #[test]
    fn what_is_wanted_is_part_of_the_query() {
        let check = |want, limit, expected: Expect| {
            let typed = Typed {
                q: "x",
                want,
                limit,
                ..Typed::default()
            };
            let out = match Query::parse(&typed) {
                Ok(Parsed { query, .. }) => {
                    format!("{} context {}", query.interpreted_as(), query.context_lines)
                }
                Err(bad) => bad.reason,
            };
            expected.assert_eq(&out);
        };
        check(Some("matches"), Some("0"), expect![[r#""x" context 2"#]]);
        check(
            Some("documents"),
            Some("100"),
            expect![[r#""x" want:documents limit:100 context 2"#]],
        );
        // Lines that are not sent have none around them: a count is one run, whatever the context.
        check(
            Some("count"),
            None,
            expect![[r#""x" want:count context 0"#]],
        );
        check(Some("count"), Some("9"), expect!["a count has no limit"]);
        check(Some("files"), None, expect!["want=files is not understood"]);
        check(
            None,
            Some("10001"),
            expect!["a limit of 10001, the most is 10000"],
        );
        check(None, Some("-1"), expect!["limit=-1 is not understood"]);
    }

    #[test]
    fn filters_are_a_set() {
        let filters = [
            (Field::Language, "C"),
            (Field::Path, "-vendor/"),
            (Field::Package, "=i3-wm"),
            (Field::Path, "^src/"),
        ];
        let query = filtered(&filters);
        expect![[r#""x" package:=i3-wm path:^src/ -path:vendor/ lang:C"#]]
            .assert_eq(&query.interpreted_as());
        let mut others = filters.to_vec();
        others.rotate_left(1);
        others.push(filters[0]);
        assert_eq!(filtered(&others), query);
        let bounds = [
            ("x".repeat(QUERY_BYTES_MAX), 1),
            ("y".to_owned(), ATOMS_MAX + 1),
        ];
        for (text, times) in bounds {
            let typed = Typed {
                q: "x",
                filters: &vec![(Field::Path, &text[..]); times],
                ..Typed::default()
            };
            let bad = Query::parse(&typed).unwrap_err();
            assert!(bad.reason.contains("the most is"), "{bad}");
        }
    }

    #[test]
    fn a_generation_is_a_set() {
        assert_eq!(
            generation([[1; 32], [2; 32]]),
            generation([[2; 32], [1; 32], [2; 32]])
        );
        assert_ne!(generation([[1; 32]]), generation([[2; 32]]));
    }
}
