//! A query from the command line, sent to a server as typed.
//!
//! `frontend::query` parses it. [`files`] turns PATH, `-t`, `-T` and `-g` into filters.

mod files;

use crate::terminal::{complain, escaped};
use crate::work_tree::WorkTree;
use anyhow::Result;
use clap::ValueEnum;
use files::FileFlags;
use frontend::query::filter;
use frontend::{BadQuery, Notice, ParsedQuery, Query, QueryInput};
use schema::message::{Expr, Field};

/// The query, how it is read, and filters.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct QueryFlags {
    /// Syntax of QUERY
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<QueryMode>,
    /// Search for exactly this text (--mode literal); with -e, every REGEXP is a literal
    #[arg(short = 'F', long, conflicts_with = "mode")]
    fixed_strings: bool,
    /// Search for REGEXP (syntax of Rust's regex crate); may be repeated: any of them may match
    #[arg(short = 'e', long, value_name = "REGEXP")]
    #[arg(allow_hyphen_values = true, conflicts_with = "mode")]
    regexp: Vec<String>,
    /// Ignore case
    #[arg(short, long, overrides_with_all = ["case_sensitive", "smart_case"])]
    ignore_case: bool,
    /// Respect case (the default of -F and -e)
    #[arg(short = 's', long, overrides_with_all = ["ignore_case", "smart_case"])]
    case_sensitive: bool,
    /// Ignore case unless QUERY has an upper case letter (the default without -F and -e)
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    smart_case: bool,
    /// Match whole words only
    #[arg(short, long)]
    word_regexp: bool,
    /// Find text only as typed, without other line ends, normal forms and plain quotes
    #[arg(long)]
    exact: bool,
    /// Words or text to search for; with -e, the first PATH
    #[arg(value_name = "QUERY", index = 1, required_unless_present = "regexp")]
    query: Option<String>,
    /// Search packages with REGEXP in their name, or the package =NAME; -REGEXP excludes
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    package: Vec<String>,
    /// Search files with REGEXP in their path, or the file =PATH; -REGEXP excludes
    #[arg(long, value_name = "REGEXP", allow_hyphen_values = true)]
    path: Vec<String>,
    /// Search files in this language, such as c or Python; -NAME excludes
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    lang: Vec<String>,
    /// Search files of this kind (source, tests, documentation, vendored), or symbols (function,
    /// type, macro …); -KIND excludes
    #[arg(long, value_name = "KIND", allow_hyphen_values = true)]
    kind: Vec<String>,
    /// Search this revision of git repositories (branch, tag, commit id or glob); -NAME excludes
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    rev: Vec<String>,
    #[command(flatten)]
    files: FileFlags,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum QueryMode {
    /// Words that a file must all contain, filters, `or`, `-`, /regexp/
    Keyword,
    /// Literal text: every character stands for itself
    Literal,
    /// Regular expression
    Regexp,
}

impl QueryFlags {
    fn parameters(&self, q: &str) -> Vec<(&'static str, String)> {
        let default = match (self.fixed_strings, &self.regexp[..]) {
            (true, _) => QueryMode::Literal,
            (false, []) => QueryMode::Keyword,
            (false, _) => QueryMode::Regexp,
        };
        let mode = self.mode.unwrap_or(default).to_possible_value();
        let mode = mode.expect("no mode is hidden").get_name().to_owned();
        let options = [
            (self.ignore_case, ("case", "no")),
            (self.case_sensitive, ("case", "yes")),
            (self.smart_case, ("case", "auto")),
            (self.word_regexp, ("word", "yes")),
            (self.exact, ("exact", "yes")),
        ];
        let given = options.into_iter().filter(|(is_given, _)| *is_given);
        let given = given.map(|(_, (name, value))| (name, value.to_owned()));
        let q = ("q", q.to_owned());
        [q, ("mode", mode)].into_iter().chain(given).collect()
    }

    /// Query text, unless `-e` gives patterns, and paths.
    fn words(&self) -> (Option<&str>, Vec<&str>) {
        let words = self.query.iter().chain(&self.files.paths);
        let mut words = words.map(String::as_str);
        let has_query = self.regexp.is_empty();
        let query = has_query.then(|| words.next()).flatten();
        (query, words.collect())
    }

    /// Suggestion, if paths were meant as words.
    pub(crate) fn in_one_query(&self) -> Option<String> {
        let (query, paths) = self.words();
        let words = [&[query?], &paths[..]].concat();
        (!paths.is_empty()).then(|| words.join(" "))
    }

    fn filters(&self) -> Vec<(Field, &str)> {
        let filters = [
            (Field::Package, &self.package),
            (Field::Path, &self.path),
            (Field::Language, &self.lang),
            (Field::Kind, &self.kind),
            (Field::Revision, &self.rev),
        ];
        let filters = filters.into_iter();
        filters
            .flat_map(|(field, typed)| typed.iter().map(move |text| (field, &text[..])))
            .collect()
    }
}

#[derive(Clone, Default)]
pub(crate) struct TypedQuery<'a> {
    /// Filters are separate.
    parameters: Vec<(&'static str, String)>,
    filters: Vec<(Field, &'a str)>,
    /// Notices from before a rewrite.
    notices: Vec<Notice>,
}

impl<'a> TypedQuery<'a> {
    /// Within `tree`, paths and globs are relative to the current directory.
    pub(crate) fn new(flags: &'a QueryFlags, tree: Option<&WorkTree>) -> Result<TypedQuery<'a>> {
        let (query, paths) = flags.words();
        let parameters = match (query, &flags.regexp[..]) {
            (Some(text), _) => flags.parameters(text),
            (None, [regexp]) => flags.parameters(regexp),
            (None, several) => any(flags, several)?,
        };
        let typed = TypedQuery {
            parameters,
            filters: flags.filters(),
            ..TypedQuery::default()
        };
        match flags.files.expr(&paths, tree)? {
            Some(files) => typed.within(files),
            None => Ok(typed),
        }
    }

    /// Returns one keyword query: the API has no alternatives of filters.
    fn within(self, files: Expr) -> Result<TypedQuery<'a>> {
        let parsed = self.parse()?;
        let typed = &parsed.query;
        let checked = Query::new(Expr::all(vec![typed.expr.clone(), files]), 0)
            .and_then(|query| query.wanting(typed.want, typed.limit))
            .map_err(|bad| rejected_query(self.q(), &bad))?;
        let checked = if typed.names {
            checked.of_names()
        } else {
            checked
        };
        let mut q = checked.interpreted_as();
        // Equal for all defaults if set by the query text.
        let context = |default: u32| self.clone().with("context", Some(default)).parse();
        if let [Ok(lines), Ok(again)] = [context(0), context(1)]
            && lines.query.context_lines == again.query.context_lines
        {
            q.push_str(&format!(" context:{}", lines.query.context_lines));
        }
        if let Some(timeout) = parsed.timeout {
            q.push_str(&format!(" timeout:{}s", timeout.as_secs_f64()));
        }
        Ok(TypedQuery {
            parameters: vec![("q", q), ("mode", "keyword".to_owned())],
            filters: Vec::new(),
            notices: parsed.notices,
        })
    }

    /// Adds a parameter, if it has a value.
    pub(crate) fn with(mut self, name: &'static str, value: Option<impl ToString>) -> Self {
        let value = value.map(|value| (name, value.to_string()));
        self.parameters.extend(value);
        self
    }

    pub(crate) fn parse(&self) -> Result<ParsedQuery> {
        let parsed = Query::parse(&QueryInput {
            q: self.q(),
            mode: self.get("mode"),
            case: self.get("case"),
            word: self.get("word"),
            exact: self.get("exact"),
            context: self.get("context"),
            want: self.get("want"),
            limit: self.get("limit"),
            total: self.get("total"),
            filters: &self.filters,
        });
        let mut parsed = parsed.map_err(|bad| self.locate(bad.into()))?;
        parsed.notices.splice(..0, self.notices.iter().cloned());
        Ok(parsed)
    }

    pub(crate) fn parameters(&self) -> Vec<(&'static str, &[u8])> {
        let options = (self.parameters.iter()).map(|(name, value)| (*name, value.as_bytes()));
        let filters = self.filters.iter();
        let filters = filters.map(|(field, typed)| (filter::name(*field), typed.as_bytes()));
        options.chain(filters).collect()
    }

    /// Adds the query's text to a rejection.
    pub(crate) fn locate(&self, error: anyhow::Error) -> anyhow::Error {
        match error.downcast::<BadQuery>() {
            Ok(bad) => rejected_query(self.q(), &bad),
            Err(other) => other,
        }
    }

    fn q(&self) -> &str {
        self.get("q").unwrap_or_default()
    }

    fn get(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        let found = parameters.find(|(known, _)| *known == name);
        found.map(|(_, value)| &value[..])
    }
}

/// Returns one keyword query for any of several regular expressions.
fn any(flags: &QueryFlags, regexps: &[String]) -> Result<Vec<(&'static str, String)>> {
    let parsed = regexps.iter().map(|regexp| {
        let alternative = TypedQuery {
            parameters: flags.parameters(regexp),
            ..TypedQuery::default()
        };
        Ok(alternative.parse()?.query.expr.clone())
    });
    let parts: Vec<Expr> = parsed.collect::<Result<_>>()?;
    let query = Query::new(Expr::any(parts), 0).map_err(|bad| rejected_query("", &bad))?;
    let mode = ("mode", "keyword".to_owned());
    Ok(vec![("q", query.interpreted_as()), mode])
}

/// Shows the query or filter with a caret.
pub(crate) fn rejected_query(query: &str, bad: &BadQuery) -> anyhow::Error {
    let mut text = bad.reason.clone();
    let query = bad.filter.as_deref().unwrap_or(query);
    if let Some(before) = bad.at.and_then(|at| query.get(..at)) {
        let width = escaped(before).chars().count();
        text.push_str(&format!("\n  {}\n  {:width$}^", escaped(query), ""));
    }
    if let Some(hint) = &bad.hint {
        text.push_str(&format!("\n{hint}"));
    }
    anyhow::Error::msg(text)
}

/// Prints notices about ambiguous queries.
pub(crate) fn report_notices(notices: &[Notice]) {
    for Notice { reason, hint, .. } in notices {
        let reason = escaped(reason);
        match hint {
            Some(hint) => complain(format_args!("note: {reason}; {}", escaped(hint))),
            None => complain(format_args!("note: {reason}")),
        }
    }
}
