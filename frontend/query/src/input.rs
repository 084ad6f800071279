//! Typed fields of a query, and their conversion to a [`Query`]: text is parsed, lowered to an
//! expression with options and defaults, and joined with filter parameters.

use super::case::Case;
use super::checked::{Query, check_positive, filter_order, text_bytes};
use super::error::{BadQuery, Notice, YES_OR_NO, choose};
use super::filter;
use super::forms;
use super::keys::{Options, ResultKind};
use super::limits::{CONTEXT_LINES_MAX, LIMIT_MAX, QUERY_BYTES_MAX, TYPED_BYTES_MAX};
use super::parse::{self, Ast, Node, Term};
use super::phrase;
use super::place::{self, Restriction};
use super::source_text::{SourceMap, SourceText};
use language::symbols;
use schema::message::{DocumentKind, Expr, Field, Pattern, Place, Reading, Role, Syntax, Want};
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

/// Typed fields of a query; `None` is the default. The text [`q`](Self::q) takes precedence.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueryInput<'a> {
    /// Query text.
    pub q: &'a str,
    /// `keyword` (default): native language; `literal` or `regexp`: one pattern, spaces included.
    pub mode: Option<&'a str>,
    /// `yes`, `no`, or `auto` (smart case). Default: `auto` for keywords, else `yes`.
    pub case: Option<&'a str>,
    /// `yes`: whole words; `no` (default).
    pub word: Option<&'a str>,
    /// `yes`: text only as typed; `no` (default): also in other forms.
    pub exact: Option<&'a str>,
    pub context: Option<&'a str>,
    /// `matches` (the default), `documents` or `count`.
    pub want: Option<&'a str>,
    /// Number of best results; 0 (default): all.
    pub limit: Option<&'a str>,
    /// With a limit: `exact` (default), or `estimate`: matches past it need not be counted.
    pub total: Option<&'a str>,
    /// Filters for [`filter::parse`]. Joined by AND, but exact filters of a package, path,
    /// language, extension or kind by OR.
    pub filters: &'a [(Field, &'a str)],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedQuery {
    pub query: Query,
    /// Time limit, if given.
    pub timeout: Option<Duration>,
    pub notices: Vec<Notice>,
    /// Byte ranges of required terms and options. Joined by spaces they are the same query, without
    /// `and` in its phrase. Alternatives are one term.
    pub terms: Vec<Range<usize>>,
    /// True if all terms are negated and some signs are text.
    pub has_signs_as_text: bool,
    pub(super) sources: SourceMap,
}

impl ParsedQuery {
    /// Converts a backend's atom error to a position in the input.
    pub fn locate(&self, bad: BadQuery) -> BadQuery {
        self.sources.locate(&self.query.expr, bad)
    }

    pub(super) fn new(
        expr: Expr,
        context_lines: u32,
        sources: SourceMap,
    ) -> Result<ParsedQuery, BadQuery> {
        let query = Query::new(expr.clone(), context_lines);
        Ok(ParsedQuery {
            query: query.map_err(|bad| sources.locate(&expr, bad))?,
            timeout: None,
            notices: Vec::new(),
            terms: Vec::new(),
            has_signs_as_text: false,
            sources,
        })
    }
}

impl Query {
    pub fn parse(input: &QueryInput<'_>) -> Result<ParsedQuery, BadQuery> {
        check_length(input.q)?;
        let ast = input.ast()?;
        let defaults = input.defaults(&ast.options)?;
        let as_typed = Defaults {
            exact: true,
            ..defaults
        };
        let plain = input.expr(&ast, as_typed)?;
        let with_forms = input.expr(&ast, defaults)?;
        let fits = text_bytes(&with_forms.0) <= QUERY_BYTES_MAX;
        let has_forms = fits && !defaults.exact;
        let phrase = phrase::patterns(input.q, &ast.phrase, &plain.0, has_forms);
        let notices = input.forms_notices(&with_forms.1, fits)?;
        let (expr, sources) = if fits { with_forms } else { plain };
        check_positive(&expr).map_err(|bad| sources.locate(&expr, bad))?;
        let options = ast.options;
        let context_lines = options.context_lines;
        let context_lines = context_lines.map_or_else(|| input.context_lines(), Ok)?;
        let limit = options.count.map_or_else(|| input.limit(), Ok)?;
        let mut parsed = ParsedQuery::new(expr, context_lines, sources)?;
        parsed.query = parsed.query.preferring(phrase);
        if options.kind == Some(ResultKind::Names) {
            parsed.query = parsed.query.of_names();
        }
        let mut query = parsed.query.wanting(input.want()?, limit)?;
        if input.is_uncounted()? {
            query = query.uncounted()?;
        }
        Ok(ParsedQuery {
            query,
            timeout: options.timeout,
            notices: sorted(ast.notices, notices),
            terms: ast.terms,
            has_signs_as_text: ast.has_signs_as_text,
            sources: parsed.sources,
        })
    }
}

pub(super) fn check_length(typed: &str) -> Result<(), BadQuery> {
    if typed.len() > TYPED_BYTES_MAX {
        let bytes = typed.len();
        return Err(BadQuery::too_long("the query", bytes, TYPED_BYTES_MAX));
    }
    Ok(())
}

impl QueryInput<'_> {
    fn expr(&self, ast: &Ast, defaults: Defaults) -> Result<(Expr, SourceMap), BadQuery> {
        let mut sources = SourceMap::default();
        let node = ast.node.clone();
        let mut lowered = node.map(|node| lower(node, defaults, &mut sources));
        let (place, filters) = self.restriction(&ast.options);
        if place.is_of_symbols() {
            let has_patterns = |expr: &Expr| !expr.patterns().is_empty();
            let all = (!lowered.as_ref().is_some_and(has_patterns))
                .then(|| lower(Node::AnySymbol(0), defaults, &mut sources));
            let mut expr = joined(all.into_iter().chain(lowered).collect());
            place.apply(&mut expr);
            lowered = Some(expr);
        }
        let mut parts: Vec<Expr> = lowered.into_iter().collect();
        for (field, typed) in filters {
            parts.push(parameter(field, typed, &mut sources)?);
        }
        if parts.is_empty() {
            return Err(BadQuery::empty());
        }
        Ok((joined(parts), sources))
    }

    /// Restriction of the whole query by `type:symbol` and kinds of symbols, and other parameters.
    fn restriction(&self, options: &Options) -> (Restriction, Vec<(Field, &str)>) {
        let mut place = Restriction {
            symbols: options.kind == Some(ResultKind::Symbols),
            ..Restriction::default()
        };
        let mut filters = self.filters.to_vec();
        filters.retain(|(field, typed)| {
            let bits = symbols::Kind::bits_of(typed.trim_start_matches(['-', '=']));
            let bits =
                bits.filter(|_| *field == Field::Kind && DocumentKind::named(typed).is_none());
            // With nothing left, no symbol is found.
            bits.is_none_or(|bits| {
                place.add(place::Value::Kinds(bits), typed.starts_with('-'));
                false
            })
        });
        (place, filters)
    }

    fn ast(&self) -> Result<Ast, BadQuery> {
        let Some(syntax) = self.syntax()? else {
            return self.native_ast();
        };
        let typed = SourceText::plain(0, self.q);
        let text = match syntax {
            Syntax::Literal => typed,
            Syntax::Regexp => typed.into_regexp(),
        };
        let node = (!text.is_empty()).then(|| {
            Node::Pattern(Term {
                syntax,
                ..Term::of_text(text)
            })
        });
        Ok(Ast {
            node,
            terms: std::iter::once(0..self.q.len()).collect(),
            ..Ast::default()
        })
    }

    /// `None`: native.
    fn syntax(&self) -> Result<Option<Syntax>, BadQuery> {
        let modes = [
            ("keyword", None),
            ("literal", Some(Syntax::Literal)),
            ("regexp", Some(Syntax::Regexp)),
        ];
        choose("mode=", self.mode.unwrap_or("keyword"), &modes)
    }

    /// Signs of a query that would only exclude are text, even with filter parameters: `-Wall`,
    /// `NOT NULL`.
    fn native_ast(&self) -> Result<Ast, BadQuery> {
        let ast = parse::parse(self.q, false)?;
        let defaults = self.defaults(&ast.options)?;
        let lower = |node: &Node| lower(node.clone(), defaults, &mut SourceMap::default());
        let expr = ast.node.as_ref().map(lower);
        let is_positive = |expr: &Expr| check_positive(expr).is_ok();
        if expr.as_ref().is_none_or(is_positive) {
            return Ok(ast);
        }
        let ast = parse::parse(self.q, true)?;
        Ok(Ast {
            has_signs_as_text: ast.node.as_ref().map(lower) != expr,
            ..ast
        })
    }

    fn defaults(&self, options: &Options) -> Result<Defaults, BadQuery> {
        let word = choose("word=", self.word.unwrap_or("no"), &YES_OR_NO)?;
        let exact = choose("exact=", self.exact.unwrap_or("no"), &YES_OR_NO)?;
        let case = match (self.case, self.syntax()?) {
            (Some(case), _) => choose("case=", case, &Case::CHOICES)?,
            (None, None) => Case::Auto,
            (None, Some(_)) => Case::Yes,
        };
        Ok(Defaults {
            case: options.case.unwrap_or(case),
            word: options.word.unwrap_or(word),
            exact: options.exact.unwrap_or(exact),
            names: options.kind == Some(ResultKind::Names),
            in_line: false,
        })
    }

    fn forms_notices(&self, sources: &SourceMap, fit: bool) -> Result<Vec<Notice>, BadQuery> {
        let switch = match self.syntax()? {
            None => "exact:yes",
            Some(_) => "exact=yes",
        };
        let notice = |at: usize, reason: &str| Notice {
            at: Some(at),
            reason: reason.to_owned(),
            hint: fit.then(|| format!("{switch} finds only the text as typed")),
        };
        if !fit {
            let reason = "the query is too long for other line ends, normal forms and plain signs";
            return Ok(vec![notice(0, reason)]);
        }
        let kinds = forms::Kind::ALL.into_iter().filter_map(|(kind, reason)| {
            let mut texts = sources.with_forms();
            let at = texts.find_map(|text| Some(text.at(forms::find(text.as_str(), kind)?)))?;
            Some(notice(at, reason))
        });
        Ok(kinds.collect())
    }

    fn context_lines(&self) -> Result<u32, BadQuery> {
        let expected = format!("a number from 0 to {CONTEXT_LINES_MAX}");
        number("context=", self.context, Query::CONTEXT_DEFAULT, &expected)
    }

    fn want(&self) -> Result<Want, BadQuery> {
        let wants = [
            ("matches", Want::Matches),
            ("documents", Want::Documents),
            ("count", Want::Count),
        ];
        choose("want=", self.want.unwrap_or("matches"), &wants)
    }

    fn is_uncounted(&self) -> Result<bool, BadQuery> {
        let totals = [("exact", false), ("estimate", true)];
        choose("total=", self.total.unwrap_or("exact"), &totals)
    }

    fn limit(&self) -> Result<u64, BadQuery> {
        let expected = format!("a number from 0 (all) to {LIMIT_MAX}");
        number("limit=", self.limit, 0, &expected)
    }
}

fn sorted(mut notices: Vec<Notice>, others: Vec<Notice>) -> Vec<Notice> {
    notices.extend(others);
    notices.sort_by_key(|notice| notice.at);
    notices
}

fn number<T: FromStr>(
    key: &str,
    value: Option<&str>,
    default: T,
    expected: &str,
) -> Result<T, BadQuery> {
    value.map_or(Ok(default), |value| {
        let invalid = |_| BadQuery::invalid(&format!("{key}{value}"), expected);
        value.parse().map_err(invalid)
    })
}

fn parameter(field: Field, typed: &str, sources: &mut SourceMap) -> Result<Expr, BadQuery> {
    let (filter, text, negated) = filter::parse_parameter(field, typed)?;
    let filter = Expr::Filter(filter);
    sources.add(&filter, text, Some(typed));
    Ok(if negated { filter.negated() } else { filter })
}

#[derive(Clone, Copy, Debug)]
struct Defaults {
    case: Case,
    word: bool,
    exact: bool,
    names: bool,
    in_line: bool,
}

fn lower(node: Node, defaults: Defaults, sources: &mut SourceMap) -> Expr {
    let list = |nodes: Vec<Node>, sources: &mut SourceMap| -> Vec<Expr> {
        let nodes = nodes.into_iter();
        nodes.map(|node| lower(node, defaults, sources)).collect()
    };
    match node {
        Node::Pattern(term) => {
            let pattern = Expr::Pattern(pattern(&term, defaults));
            sources.add(&pattern, term.text, None);
            pattern
        }
        Node::Filter(filter, text) => {
            let filter = Expr::Filter(filter);
            sources.add(&filter, text, None);
            filter
        }
        Node::All(nodes) => joined(list(nodes, sources)),
        Node::Any(nodes) => Expr::any(list(nodes, sources)),
        Node::Not(inner) => lower(*inner, defaults, sources).negated(),
        Node::Placed(inner, place) => {
            let mut expr = lower(*inner, defaults, sources);
            place.apply(&mut expr);
            expr
        }
        Node::AnySymbol(at) => {
            let pattern = place::any_symbol();
            sources.add(&pattern, SourceText::plain(at, place::ANY_NAME), None);
            pattern
        }
        Node::Line(inner) => {
            let in_text = Defaults {
                names: false,
                in_line: true,
                ..defaults
            };
            Expr::Line(Box::new(lower(*inner, in_text, sources)))
        }
    }
}

fn pattern(term: &Term, defaults: Defaults) -> Pattern {
    let text = term.text.as_str();
    let smart = defaults.case.ignores(text, term.syntax);
    // A line end on one line is refused as typed.
    let has_forms = term.syntax == Syntax::Literal
        && !defaults.exact
        && !(defaults.in_line && text.contains('\n'));
    let forms = has_forms.then(|| forms::regexp(text)).flatten();
    Pattern {
        syntax: forms.as_ref().map_or(term.syntax, |_| Syntax::Regexp),
        text: forms.unwrap_or_else(|| text.to_owned()),
        ignore_case: term.flags.ignore_case.unwrap_or(smart),
        word: term.is_whole || term.role == Role::Any && (term.flags.word || defaults.word),
        in_path: defaults.names && !term.in_text,
        place: Place {
            role: term.role,
            classes: match term.role {
                Role::Use => 1 << symbols::Class::Code as u32,
                Role::Any | Role::Definition => 0,
            },
            ..Place::default()
        },
    }
}

/// Joins by AND, but exact filters of one of these fields by OR.
pub(super) fn joined(parts: Vec<Expr>) -> Expr {
    use Field::{Extension, Kind, Language, Package, Path};
    let mut parts = match Expr::all(parts) {
        Expr::All(parts) => parts,
        other => return other,
    };
    for field in [Package, Path, Language, Extension, Kind] {
        parts = with_alternatives(parts, field);
    }
    Expr::all(parts)
}

fn with_alternatives(parts: Vec<Expr>, field: Field) -> Vec<Expr> {
    let is_exact = |part: &Expr| {
        matches!(part, Expr::Filter(filter)
            if filter.field == field && filter.reading == Reading::Exact)
    };
    let first = parts.iter().position(is_exact);
    let (mut found, mut rest): (Vec<_>, Vec<_>) = parts.into_iter().partition(is_exact);
    found.sort_by_cached_key(filter_order);
    found.dedup();
    if let Some(first) = first {
        rest.insert(first, Expr::any(found));
    }
    rest
}
