//! The language of Debian Code Search, for its links and clients.
//!
//! A search term, spaces included, and keywords before it and behind it: `package:`, `-package:`,
//! `path:`, `-path:`, `filetype:`, `-filetype:`, `pkg:` and `file:` for the first and the third. A
//! keyword has a search term, or another keyword, next to it, and none is seen within the term; what
//! stands alone is searched for. White space next to a keyword is dropped, that within the term is
//! kept.
//!
//! Where the original takes no notice of what was asked for (the second `package:`, `file:`, a
//! regular expression that cannot be parsed, a file type that it does not know), this does as it was
//! told, or says what is wrong.

mod re2;

use super::check::{self, too_many};
use super::limits::TYPED_BYTES_MAX;
use super::place::Places;
use super::{BadQuery, Notice, ParsedQuery, Query, SourceText};
use schema::message::{ATOMS_MAX, Expr, Field, Filter, Pattern, Reading, Syntax};

/// Extensions of the types that there are.
const TYPES: &[(&[&str], &[&str])] = &[
    (&["c"], &["c", "h"]),
    // Of C++ the original leaves out `.cc` and `.hh`.
    (
        &["c++"],
        &["cpp", "cxx", "cc", "hpp", "hxx", "hh", "h", "c"],
    ),
    (&["objc"], &["m", "h", "c"]),
    (&["objc++"], &["mm", "cc", "cpp", "h"]),
    (&["perl"], &["pl", "pm", "t"]),
    (&["php"], &["php"]),
    (&["python"], &["py"]),
    (&["golang", "go"], &["go"]),
    (&["java"], &["java"]),
    (&["ruby"], &["rb"]),
    (&["shell"], &["sh", "bash", "zsh"]),
    (&["vala"], &["vala", "vapi"]),
    (&["erlang"], &["erl"]),
    (&["javascript", "js"], &["js"]),
    (&["json"], &["json"]),
];

/// Keywords without their sign, and whether a minus makes another of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Package,
    Path,
    Type,
}

/// A keyword with its value.
#[derive(Clone, Copy, Debug)]
struct Keyword<'a> {
    negated: bool,
    key: Key,
    value: &'a str,
    /// Where the value begins.
    at: usize,
}

/// Parses a query. `syntax` is how its term is read: `match_mode` or `literal` say it.
pub fn parse(query: &str, syntax: Syntax) -> Result<ParsedQuery, BadQuery> {
    if query.len() > TYPED_BYTES_MAX {
        let bytes = query.len();
        let reason = format!("a query of {bytes} bytes, the most is {TYPED_BYTES_MAX}");
        return Err(BadQuery::new(reason));
    }
    let (term, term_at, keywords) = taken_apart(query);
    if term.is_empty() {
        return Err(check::empty());
    }
    if keywords.len() >= ATOMS_MAX {
        return Err(too_many(keywords.len() + 1));
    }
    let mut places = Places::default();
    let mut parts = vec![pattern(term, term_at, syntax, &mut places)];
    parts.extend(
        keywords
            .iter()
            .filter_map(|keyword| keyword.regexp(&mut places)),
    );
    parts.extend(types(&keywords, &mut places));
    let parsed =
        ParsedQuery::new(Expr::all(parts), Query::CONTEXT_DEFAULT, places).map_err(|bad| {
            bad.hint("escape the character with \\, or search for it as literal text")
        })?;
    Ok(ParsedQuery {
        notices: notices(term, term_at),
        ..parsed
    })
}

/// The search term, where it begins, and the keywords in their order.
fn taken_apart(query: &str) -> (&str, usize, Vec<Keyword<'_>>) {
    let (mut start, mut end) = (0, query.len());
    let (mut front, mut back) = (Vec::new(), Vec::new());
    while let Some((keyword, behind)) = first(query, start) {
        front.push(keyword);
        start = behind;
    }
    while let Some((keyword, before)) = last(query, start, end) {
        back.push(keyword);
        end = before;
    }
    front.extend(back.into_iter().rev());
    (&query[start..end], start, front)
}

/// The keyword that a query begins with from `start` on, and where it goes on behind it.
fn first(query: &str, start: usize) -> Option<(Keyword<'_>, usize)> {
    let rest = &query[start..];
    let at = query.len() - rest.trim_start().len();
    let end = at + query[at..].find(char::is_whitespace)?;
    let behind = query.len() - query[end..].trim_start().len();
    Some((Keyword::parse(query, at, end)?, behind))
}

/// The keyword that it ends with before `end`, and where the rest of it ends.
fn last(query: &str, start: usize, end: usize) -> Option<(Keyword<'_>, usize)> {
    let trimmed = start + query[start..end].trim_end().len();
    let (space, letter) = query[start..trimmed]
        .char_indices()
        .rfind(|(_, letter)| letter.is_whitespace())?;
    let at = start + space + letter.len_utf8();
    let before = start + query[start..at].trim_end().len();
    Some((Keyword::parse(query, at, trimmed)?, before))
}

impl<'a> Keyword<'a> {
    fn parse(query: &'a str, start: usize, end: usize) -> Option<Keyword<'a>> {
        let (typed, value) = query[start..end].split_once(':')?;
        let name = typed.strip_prefix('-').unwrap_or(typed);
        let key = match &name.to_ascii_lowercase()[..] {
            "package" | "pkg" => Key::Package,
            "path" | "file" => Key::Path,
            "filetype" => Key::Type,
            _ => return None,
        };
        (!value.is_empty()).then_some(Keyword {
            negated: name.len() < typed.len(),
            key,
            value,
            at: end - value.len(),
        })
    }

    /// The filter, of a keyword that has a regular expression.
    fn regexp(&self, places: &mut Places) -> Option<Expr> {
        let field = match self.key {
            Key::Package => Field::Package,
            Key::Path => Field::Name,
            Key::Type => return None,
        };
        let text = re2::translated(self.value, self.at);
        Some(self.filter(field, Reading::Regexp, text, places))
    }

    fn filter(
        &self,
        field: Field,
        reading: Reading,
        text: SourceText,
        places: &mut Places,
    ) -> Expr {
        let filter = Expr::Filter(Filter {
            field,
            reading,
            text: text.as_str().to_owned(),
        });
        places.add(filter.clone(), text);
        match self.negated {
            true => filter.negated(),
            false => filter,
        }
    }

    /// What a type of files says: extensions, or a language that the original does not know.
    fn filters(&self, places: &mut Places) -> Vec<Expr> {
        let name = self.value.to_lowercase();
        let known = TYPES.iter().find(|(names, _)| names.contains(&&name[..]));
        let mut filter = |field, text: &str| {
            let mut typed = SourceText::default();
            typed.push(self.at, text);
            self.filter(field, Reading::Exact, typed, places)
        };
        match known {
            Some((_, extensions)) => {
                let extensions = extensions.iter();
                extensions
                    .map(|extension| filter(Field::Extension, extension))
                    .collect()
            }
            None => vec![filter(Field::Language, &name)],
        }
    }
}

/// One of the types that are wanted, and none of those that are not.
fn types(keywords: &[Keyword<'_>], places: &mut Places) -> Vec<Expr> {
    let types = keywords.iter().filter(|keyword| keyword.key == Key::Type);
    let (unwanted, wanted): (Vec<&Keyword<'_>>, Vec<_>) =
        types.partition(|keyword| keyword.negated);
    let mut alternatives: Vec<Expr> = Vec::new();
    for filter in wanted.iter().flat_map(|keyword| keyword.filters(places)) {
        if !alternatives.contains(&filter) {
            alternatives.push(filter);
        }
    }
    let mut parts = Vec::new();
    if !alternatives.is_empty() {
        parts.push(Expr::any(alternatives));
    }
    parts.extend(unwanted.iter().flat_map(|keyword| keyword.filters(places)));
    parts
}

fn pattern(term: &str, at: usize, syntax: Syntax, places: &mut Places) -> Expr {
    let text = match syntax {
        Syntax::Literal => {
            let mut text = SourceText::default();
            text.push(at, term);
            text
        }
        Syntax::Regexp => re2::translated(term, at),
    };
    let pattern = Expr::Pattern(Pattern {
        text: text.as_str().to_owned(),
        syntax,
        ..Pattern::default()
    });
    places.add(pattern.clone(), text);
    pattern
}

/// A keyword alone is not one.
fn notices(term: &str, at: usize) -> Vec<Notice> {
    let is_keyword = Keyword::parse(term, 0, term.len()).is_some();
    let alone = (is_keyword && !term.contains(char::is_whitespace)).then(|| Notice {
        at: Some(at),
        reason: format!("{term} is searched for as text: there is no search term next to it"),
        hint: Some("type one before or behind it".to_owned()),
    });
    alone.into_iter().collect()
}
