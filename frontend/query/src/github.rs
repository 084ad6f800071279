//! Query language of GitHub's code search, old and new.
//!
//! Rewrites a query in the native language, which has fallbacks for pasted text. Errors and notices
//! have no places.

mod paths;
mod qualifiers;
mod repositories;

use super::checked::Query;
use super::error::{BadQuery, Notice};
use super::filter;
use super::input::{ParsedQuery, QueryInput, check_length};
use super::keys::{self, Prefix};
use super::lex::{Lexer, quoted};
use super::source_text::SourceMap;
use schema::message::{Expr, Field, Filter, Reading};

/// Owner of packages without one, in answers.
pub const OWNER: &str = "pkg";

pub fn parse(q: &str) -> Result<ParsedQuery, BadQuery> {
    check_length(q)?;
    let mut rewriter = Rewriter::run(q, Places::default())?;
    if rewriter.named.path {
        rewriter = Rewriter::run(q, rewriter.named)?;
    }
    let input = QueryInput {
        q: &rewriter.out,
        case: Some("no"),
        ..QueryInput::default()
    };
    let parsed = Query::parse(&input).map_err(|bad| BadQuery {
        at: None,
        filter: None,
        hint: bad.hint.map(without_marks),
        ..bad
    })?;
    Ok(ParsedQuery {
        notices: rewriter.notices,
        terms: Vec::new(),
        sources: SourceMap::default(),
        ..parsed
    })
}

fn without_marks(hint: String) -> String {
    let marks = hint.find(", or mark").unwrap_or(hint.len());
    hint[..marks].to_owned()
}

/// Queries for the files of a repository: with this owner, and without one.
pub fn repository(full_name: &str) -> Result<[Query; 2], BadQuery> {
    let name = full_name.rsplit('/').next().unwrap_or_default();
    let of = |start: &str, name: &str| {
        let regexp = format!("{start}{}$", regex_syntax::escape(name));
        Query::new(by_package(regexp), 0)
    };
    Ok([of("(?:^|/)", full_name)?, of("^", name)?])
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Places {
    text: bool,
    path: bool,
}

#[derive(Debug, Default)]
struct Group {
    start: usize,
    has_term: bool,
    is_negated: bool,
    /// Alternatives side by side.
    repositories: Vec<Expr>,
}

#[derive(Debug, Default)]
struct Rewriter<'a> {
    lexer: Lexer<'a>,
    /// Places of all words, then those read so far.
    places: Places,
    named: Places,
    out: String,
    /// End of `out` behind a parenthesis.
    opened: usize,
    groups: Vec<Group>,
    or: bool,
    sign: &'static str,
    notices: Vec<Notice>,
}

enum Value {
    Bare(String),
    Quoted(String),
    Regexp(String),
}

impl Value {
    fn text(&self) -> &str {
        let (Value::Bare(text) | Value::Quoted(text) | Value::Regexp(text)) = self;
        text
    }
}

impl<'a> Rewriter<'a> {
    fn run(q: &'a str, places: Places) -> Result<Rewriter<'a>, BadQuery> {
        let mut it = Rewriter {
            lexer: Lexer::new(q),
            places,
            groups: vec![Group::default()],
            ..Rewriter::default()
        };
        loop {
            it.lexer.skip_space();
            match it.lexer.peek() {
                None => break,
                Some('(') => it.open(),
                Some(')') if it.groups.len() > 1 => it.close(),
                Some(_) if it.operator() => {}
                Some(_) => it.term()?,
            }
        }
        it.end_list();
        if places.path && !places.text {
            it.out.push_str(" type:path");
        }
        Ok(it)
    }

    fn group(&mut self) -> &mut Group {
        self.groups.last_mut().expect("the query is never closed")
    }

    fn open(&mut self) {
        let start = self.out.len();
        let is_negated = self.is_negated();
        self.begin();
        self.out.push('(');
        self.opened = self.out.len();
        self.step(1);
        self.groups.push(Group {
            start,
            is_negated,
            ..Group::default()
        });
        self.lexer.depth += 1;
    }

    fn close(&mut self) {
        self.end_list();
        self.step(1);
        self.lexer.depth -= 1;
        let group = self.groups.pop().expect("a group is open");
        if group.has_term {
            self.out.push(')');
            self.group().has_term = true;
        } else {
            self.out.truncate(group.start);
            self.opened = self.opened.min(group.start);
        }
    }

    fn step(&mut self, bytes: usize) {
        self.lexer.at += bytes;
    }

    /// Reads an operator; one without terms is left out.
    fn operator(&mut self) -> bool {
        let rest = self.lexer.rest();
        let ends =
            |word: &str| rest.starts_with(word) && self.lexer.ends_at(self.lexer.at + word.len());
        if ends("AND") {
            self.step("AND".len());
        } else if ends("OR") {
            self.step("OR".len());
            self.end_list();
            self.or = self.group().has_term;
        } else if ends("NOT") {
            self.step("NOT".len());
            self.sign = if self.sign.is_empty() { "not " } else { "" };
        } else if self.sign.is_empty() && self.is_sign() {
            self.step(1);
            self.sign = "-";
        } else {
            return false;
        }
        true
    }

    fn is_sign(&self) -> bool {
        let next = self.lexer.rest().strip_prefix('-');
        let next = next.and_then(|rest| rest.chars().next());
        next.is_some_and(|next| !next.is_whitespace() && !"->=".contains(next))
            && !next.is_some_and(|next| next.is_ascii_digit())
            && !self.lexer.ends_at(self.lexer.at + 1)
    }

    fn is_negated(&self) -> bool {
        let group = self.groups.last().is_some_and(|group| group.is_negated);
        group == self.sign.is_empty()
    }

    fn begin(&mut self) {
        if self.out.len() > self.opened {
            self.out.push(' ');
        }
        if std::mem::take(&mut self.or) {
            self.out.push_str("or ");
        }
        self.out.push_str(std::mem::take(&mut self.sign));
    }

    fn push(&mut self, term: &str) {
        self.begin();
        self.out.push_str(term);
        self.group().has_term = true;
    }

    fn end_list(&mut self) {
        let repositories = std::mem::take(&mut self.group().repositories);
        (self.or, self.sign) = (false, "");
        if !repositories.is_empty() {
            self.push(&any(&repositories));
        }
    }

    fn term(&mut self) -> Result<(), BadQuery> {
        if !self.qualified()? {
            let term = self.pattern();
            self.push(&term);
        }
        Ok(())
    }

    fn value(&mut self) -> Option<Value> {
        if self.lexer.ends_at(self.lexer.at) {
            return None;
        }
        let found = match self.lexer.peek() {
            Some('"') => self.lexer.string().ok().map(|(it, _)| (it, true)),
            Some('/') => self.lexer.regexp().map(|(it, _)| (it, false)),
            _ => None,
        };
        let value = match found {
            Some((text, true)) => Value::Quoted(text.as_str().to_owned()),
            Some((text, false)) => Value::Regexp(text.as_str().to_owned()),
            None => {
                let (text, _) = self.lexer.bare(false);
                Value::Bare(text.as_str().trim_matches('"').to_owned())
            }
        };
        (!value.text().is_empty()).then_some(value)
    }

    fn pattern(&mut self) -> String {
        let start = self.lexer.at;
        let (term, path) = match self.lexer.peek() {
            Some('/') if let Some((regexp, _)) = self.lexer.regexp() => {
                let typed = &self.lexer.typed[start..self.lexer.at];
                (typed.to_owned(), regexp.as_str().to_owned())
            }
            Some('"') if let Ok((text, _)) = self.lexer.string() => {
                (quoted(text.as_str()), regex_syntax::escape(text.as_str()))
            }
            _ => {
                let (text, _) = self.lexer.word();
                let typed = &self.lexer.typed[start..self.lexer.at];
                self.notices.extend(unknown(typed));
                let term = if is_plain(typed) {
                    typed.to_owned()
                } else {
                    quoted(text.as_str())
                };
                (term, regex_syntax::escape(text.as_str()))
            }
        };
        if self.places.text && self.places.path {
            format!("({term} or {})", filter::in_query(&by_path(path)))
        } else {
            term
        }
    }
}

fn unknown(word: &str) -> Option<Notice> {
    let Prefix::Unknown(name) = keys::prefix(word) else {
        return None;
    };
    let value = word[name.len() + 1..].chars().next();
    let is_qualifier = value.is_some_and(|first| !":/".contains(first));
    is_qualifier.then(|| Notice {
        at: None,
        reason: format!("{word} is searched for as text: there is no qualifier {name}:"),
        hint: None,
    })
}

/// Returns true for text of the native language.
fn is_plain(word: &str) -> bool {
    let is_operator = ["or", "and", "not"].contains(&word);
    let is_quote = word.starts_with(['\'', '“', '”']);
    !is_operator && !is_quote && !matches!(keys::prefix(word), Prefix::Known(..))
}

fn any(filters: &[Expr]) -> String {
    let each = filters.iter().map(crate::interpreted_as);
    let each: Vec<String> = each.collect();
    match &each[..] {
        [one] => one.clone(),
        _ => format!("({})", each.join(" or ")),
    }
}

fn by_path(regexp: String) -> Filter {
    Filter {
        field: Field::Path,
        reading: Reading::RegexpIgnoringCase,
        text: regexp,
    }
}

fn by_package(regexp: String) -> Expr {
    Expr::Filter(Filter {
        field: Field::Package,
        reading: Reading::RegexpIgnoringCase,
        text: regexp,
    })
}

fn exact(field: Field, text: &str) -> Filter {
    Filter {
        field,
        reading: Reading::Exact,
        text: text.to_owned(),
    }
}
