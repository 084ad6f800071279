//! Query language of Debian Code Search, for its links and clients.
//!
//! A query is one term, spaces included, with keywords before and after: `package:`
//! (`pkg:`), `path:` (`file:`) and `filetype:`, each negated with `-`. A keyword within the
//! term, or alone, is text.
//!
//! Debian Code Search ignores a second `package:` or `file:`, invalid regular expressions and
//! unknown file types. This parser applies them or reports an error.

use super::checked::Query;
use super::error::{BadQuery, Notice};
use super::input::{ParsedQuery, check_length};
use super::re2;
use super::source_text::{SourceMap, SourceText};
use schema::message::{ATOMS_MAX, Expr, Field, Filter, Pattern, Reading, Syntax};

const TYPES: [(&str, &str); 15] = [
    ("c", "c h"),
    // Debian Code Search omits `.cc` and `.hh`.
    ("c++", "cpp cxx cc hpp hxx hh h c"),
    ("objc", "m h c"),
    ("objc++", "mm cc cpp h"),
    ("perl", "pl pm t"),
    ("php", "php"),
    ("python", "py"),
    ("golang go", "go"),
    ("java", "java"),
    ("ruby", "rb"),
    ("shell", "sh bash zsh"),
    ("vala", "vala vapi"),
    ("erlang", "erl"),
    ("javascript js", "js"),
    ("json", "json"),
];

#[derive(Clone, Copy, Debug)]
struct Keyword<'a> {
    negated: bool,
    /// `None`: a file type.
    field: Option<Field>,
    value: &'a str,
    at: usize,
}

/// Parses a query. `syntax` is that of its term, from `match_mode` and `literal`.
pub fn parse(query: &str, syntax: Syntax) -> Result<ParsedQuery, BadQuery> {
    check_length(query)?;
    let (term, term_at, keywords) = split(query);
    if term.is_empty() {
        return Err(BadQuery::empty());
    }
    if keywords.len() >= ATOMS_MAX {
        return Err(BadQuery::too_many(keywords.len() + 1));
    }
    let mut sources = SourceMap::default();
    let mut parts = vec![pattern(term, term_at, syntax, &mut sources)];
    let regexps = keywords.iter();
    parts.extend(regexps.filter_map(|keyword| keyword.regexp(&mut sources)));
    parts.extend(types(&keywords, &mut sources));
    let parsed = ParsedQuery::new(Expr::all(parts), Query::CONTEXT_DEFAULT, sources);
    let hint = "escape the character with \\, or search for it as literal text";
    let parsed = parsed.map_err(|bad| bad.hint(hint))?;
    Ok(ParsedQuery {
        notices: notices(term, term_at),
        ..parsed
    })
}

fn split(query: &str) -> (&str, usize, Vec<Keyword<'_>>) {
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

fn first(query: &str, start: usize) -> Option<(Keyword<'_>, usize)> {
    let rest = &query[start..];
    let at = query.len() - rest.trim_start().len();
    let end = at + query[at..].find(char::is_whitespace)?;
    let behind = query.len() - query[end..].trim_start().len();
    Some((Keyword::parse(query, at, end)?, behind))
}

fn last(query: &str, start: usize, end: usize) -> Option<(Keyword<'_>, usize)> {
    let trimmed = start + query[start..end].trim_end().len();
    let mut letters = query[start..trimmed].char_indices();
    let (space, letter) = letters.rfind(|(_, letter)| letter.is_whitespace())?;
    let at = start + space + letter.len_utf8();
    let before = start + query[start..at].trim_end().len();
    Some((Keyword::parse(query, at, trimmed)?, before))
}

impl<'a> Keyword<'a> {
    fn parse(query: &'a str, start: usize, end: usize) -> Option<Keyword<'a>> {
        let (typed, value) = query[start..end].split_once(':')?;
        let name = typed.strip_prefix('-').unwrap_or(typed);
        let field = match &name.to_ascii_lowercase()[..] {
            "package" | "pkg" => Some(Field::Package),
            "path" | "file" => Some(Field::Name),
            "filetype" => None,
            _ => return None,
        };
        (!value.is_empty()).then_some(Keyword {
            negated: name.len() < typed.len(),
            field,
            value,
            at: end - value.len(),
        })
    }

    fn regexp(&self, sources: &mut SourceMap) -> Option<Expr> {
        let text = re2::translated(self.value, self.at);
        Some(self.filter(self.field?, Reading::Regexp, text, sources))
    }

    fn filter(
        &self,
        field: Field,
        reading: Reading,
        text: SourceText,
        sources: &mut SourceMap,
    ) -> Expr {
        let filter = Expr::Filter(Filter {
            field,
            reading,
            text: text.as_str().to_owned(),
        });
        sources.add(&filter, text, None);
        if self.negated {
            filter.negated()
        } else {
            filter
        }
    }

    /// Filters of a file type: extensions, or a language if unknown.
    fn filters(&self, sources: &mut SourceMap) -> Vec<Expr> {
        let name = self.value.to_lowercase();
        let is_name = |(names, _): &&(&str, &str)| names.split(' ').any(|known| known == name);
        let (field, texts) = match TYPES.iter().find(is_name) {
            Some((_, extensions)) => (Field::Extension, extensions.split(' ').collect()),
            None => (Field::Language, vec![&name[..]]),
        };
        let filter = |text| {
            let typed = SourceText::plain(self.at, text);
            self.filter(field, Reading::Exact, typed, sources)
        };
        texts.into_iter().map(filter).collect()
    }
}

fn types(keywords: &[Keyword<'_>], sources: &mut SourceMap) -> Vec<Expr> {
    let types = keywords.iter().filter(|keyword| keyword.field.is_none());
    let (unwanted, wanted) = types.partition::<Vec<&Keyword<'_>>, _>(|keyword| keyword.negated);
    let mut alternatives: Vec<Expr> = Vec::new();
    for filter in wanted.iter().flat_map(|keyword| keyword.filters(sources)) {
        if !alternatives.contains(&filter) {
            alternatives.push(filter);
        }
    }
    let mut parts = Vec::new();
    if !alternatives.is_empty() {
        parts.push(Expr::any(alternatives));
    }
    parts.extend(unwanted.iter().flat_map(|keyword| keyword.filters(sources)));
    parts
}

fn pattern(term: &str, at: usize, syntax: Syntax, sources: &mut SourceMap) -> Expr {
    let text = match syntax {
        Syntax::Literal => SourceText::plain(at, term),
        Syntax::Regexp => re2::translated(term, at),
    };
    let pattern = Expr::Pattern(Pattern {
        text: text.as_str().to_owned(),
        syntax,
        ..Pattern::default()
    });
    sources.add(&pattern, text, None);
    pattern
}

/// A keyword without a term is searched for as text.
fn notices(term: &str, at: usize) -> Vec<Notice> {
    let is_keyword = Keyword::parse(term, 0, term.len()).is_some();
    let alone = (is_keyword && !term.contains(char::is_whitespace)).then(|| Notice {
        at: Some(at),
        reason: format!("{term} is searched for as text: it has no search term next to it"),
        hint: Some("add a search term before or after it".to_owned()),
    });
    alone.into_iter().collect()
}
