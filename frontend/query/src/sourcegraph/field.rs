//! Values of fields.

use super::key::{self, FieldKey};
use super::options::{Show, Type};
use super::parser::Parser;
use super::tree::Tree;
use crate::error::{BadQuery, Notice, choose};
use crate::limits::LIMIT_MAX;
use crate::re2;
use crate::source_text::SourceText;
use language::symbols::Kind;
use schema::message::{Field, Reading};
use std::time::Duration;

impl Parser<'_> {
    pub(super) fn field(&mut self) -> Result<Option<Tree>, BadQuery> {
        let at = self.at;
        let Some((negated, key, length)) = key::prefix(self.rest()) else {
            return Ok(None);
        };
        self.at += length;
        let node = match key {
            FieldKey::Content => self.content()?,
            _ => self.filter(key, at)?,
        };
        match node {
            None if negated => {
                let bad = BadQuery::new("this field cannot be negated").at(at);
                Err(bad.hint("remove the -"))
            }
            Some(node) if negated => Ok(Some(Tree::Not(Box::new(node)))),
            node => Ok(node),
        }
    }

    fn content(&mut self) -> Result<Option<Tree>, BadQuery> {
        let Some(mut term) = self.term()? else {
            return Ok(None);
        };
        (term.in_text, term.joins) = (true, false);
        Ok(Some(Tree::Pattern(term)))
    }

    fn filter(&mut self, key: FieldKey, at: usize) -> Result<Option<Tree>, BadQuery> {
        if let Some(node) = self.predicate(key, at)? {
            return Ok(Some(node));
        }
        let value = self.value();
        if value.is_empty() && key != FieldKey::Repository {
            return Ok(None);
        }
        match key {
            FieldKey::Repository => return Ok(repository(&value)),
            FieldKey::Revision => return Ok(revisions(&value)),
            FieldKey::File => return Ok(Some(regexp(Field::Path, &value))),
            FieldKey::Language => {
                let language = (Field::Language, Reading::Exact);
                return Ok(Some(Tree::Filter(language.0, Some(language.1), value)));
            }
            _ => self.option(key, &value).map_err(|bad| bad.at(at))?,
        }
        Ok(None)
    }

    fn option(&mut self, key: FieldKey, value: &SourceText) -> Result<(), BadQuery> {
        let (value, at) = (value.as_str().to_ascii_lowercase(), value.at(0));
        let options = &mut self.options;
        match key {
            FieldKey::Case => options.respects_case = choose("case:", &value, &YES_OR_NO)?,
            FieldKey::Count => options.count = Some(count(&value)?),
            FieldKey::Timeout => options.timeout = Some(duration(&value)?),
            FieldKey::Type => match choose("type:", &value, &TYPES).map_err(of_commits(&value))? {
                Some(one) => options.types.push(one),
                None => options.is_text_only = true,
            },
            FieldKey::Select => {
                let (name, kind) = match value.strip_prefix("symbol.") {
                    Some(kind) => ("symbol", Some(kind)),
                    None => (&value[..], None),
                };
                let show = choose("select:", name, &SHOWS).map_err(of_commits(&value))?;
                options.is_text_only |= name == "content";
                options.show = Some(show);
                options.kinds |= kind.map_or(Ok(0), kinds)?;
            }
            FieldKey::Context if !matches!(&value[..], "global" | "") => {
                let bad = BadQuery::new(format!("context:{value} is not known"));
                return Err(bad.hint("remove it, or name the repositories with repo:"));
            }
            FieldKey::Ignored if matches!(&value[..], "only" | "private") => {
                options.notices.push(Notice {
                    at: Some(at),
                    reason: format!("{value} has no effect: all repositories are searched"),
                    hint: None,
                });
            }
            FieldKey::Commit => return Err(commits()),
            _ => {}
        }
        Ok(())
    }
}

const YES_OR_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];

const TYPES: [(&str, Option<Type>); 5] = [
    ("file", Some(Type::File)),
    ("path", Some(Type::Path)),
    ("repo", Some(Type::Repository)),
    ("symbol", Some(Type::Symbol)),
    ("content", None),
];

const SHOWS: [(&str, Show); 7] = [
    ("repo", Show::Repositories),
    ("file", Show::Files),
    ("file.path", Show::Files),
    ("file.directory", Show::Directories),
    ("path", Show::Files),
    ("content", Show::Matches),
    ("symbol", Show::Symbols),
];

fn of_commits(value: &str) -> impl Fn(BadQuery) -> BadQuery {
    let is_commit = value.starts_with("commit") || value == "diff";
    move |bad| if is_commit { commits() } else { bad }
}

fn commits() -> BadQuery {
    BadQuery::new("commits and diffs are not searched, only files")
        .hint("the page /log?repo=NAME lists commits; or search in a clone with git log -S")
}

fn kinds(name: &str) -> Result<u32, BadQuery> {
    let name = match name {
        "method" => "function",
        "interface" | "class" | "struct" | "enum" => "type",
        other => other,
    };
    let expected = "function, type, variable, constant, field, macro or module";
    Kind::bits_of(name).ok_or_else(|| BadQuery::invalid(&format!("select:symbol.{name}"), expected))
}

/// 0: all. More than the limit means all, too.
fn count(value: &str) -> Result<u64, BadQuery> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse::<u64>() {
        Ok(count @ 1..=LIMIT_MAX) => Ok(count),
        Ok(0) => Err(BadQuery::invalid("count:0", "a number from 1, or all")),
        _ if is_number || value == "all" => Ok(0),
        _ => Err(BadQuery::invalid(
            &format!("count:{value}"),
            "a number from 1, or all",
        )),
    }
}

fn duration(value: &str) -> Result<Duration, BadQuery> {
    let invalid = || BadQuery::invalid(&format!("timeout:{value}"), "a time, such as 10s or 1m30s");
    let (mut rest, mut seconds) = (value, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
        let (number, after) = rest.split_at(digits.ok_or_else(invalid)?);
        let unit = after.find(|letter: char| !letter.is_ascii_alphabetic());
        let (unit, after) = after.split_at(unit.unwrap_or(after.len()));
        let scale = match unit {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(invalid()),
        };
        seconds += scale * number.parse::<f64>().map_err(|_| invalid())?;
        rest = after;
    }
    let time = Duration::try_from_secs_f64(seconds).map_err(|_| invalid())?;
    if time.is_zero() {
        Err(invalid())
    } else {
        Ok(time)
    }
}

pub(super) fn regexp(field: Field, value: &SourceText) -> Tree {
    Tree::Filter(field, None, re2::translated(value.as_str(), value.at(0)))
}

fn repository(value: &SourceText) -> Option<Tree> {
    let typed = value.as_str();
    let (name, revision) = typed.split_once('@').unwrap_or((typed, ""));
    let whole = exact(name);
    let name = SourceText::plain(value.at(0), name);
    let behind = value.at(0) + name.as_str().len() + 1;
    let parts = [
        match whole {
            Some(whole) => {
                let text = SourceText::plain(value.at(0), &whole);
                Some(Tree::Filter(Field::Package, Some(Reading::Exact), text))
            }
            None if name.is_empty() => None,
            None => Some(regexp(Field::Package, &name)),
        },
        revisions(&SourceText::plain(behind, revision)),
    ];
    let mut parts: Vec<Tree> = parts.into_iter().flatten().collect();
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Tree::All(parts)),
    }
}

fn exact(regexp: &str) -> Option<String> {
    let inner = regexp.strip_prefix('^')?.strip_suffix('$')?;
    let (mut name, mut letters) = (String::new(), inner.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => name.push(letters.next().filter(char::is_ascii_punctuation)?),
            special if regex_syntax::is_meta_character(special) && special != '-' => return None,
            _ => name.push(letter),
        }
    }
    (!name.is_empty()).then_some(name)
}

/// Alternatives, separated by colons. A `*` is a glob.
fn revisions(value: &SourceText) -> Option<Tree> {
    let mut at = value.at(0);
    let mut parts = Vec::new();
    for name in value.as_str().split(':') {
        let glob = name.strip_prefix('*').unwrap_or(name);
        let is_glob = glob.len() < name.len() || glob.contains('*');
        let reading = if is_glob {
            Reading::Glob
        } else {
            Reading::Exact
        };
        let text = SourceText::plain(at + name.len() - glob.len(), glob);
        if !glob.is_empty() {
            parts.push(Tree::Filter(Field::Revision, Some(reading), text));
        }
        at += name.len() + 1;
    }
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Tree::Any(parts)),
    }
}
