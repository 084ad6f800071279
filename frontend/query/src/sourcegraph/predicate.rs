//! Predicates of files and repositories, such as `repo:has.path(go\.mod)`.

use super::field::regexp;
use super::key::FieldKey;
use super::parser::Parser;
use super::scan;
use super::tree::{Tree, Word, one_or};
use crate::checked::Query;
use crate::error::BadQuery;
use crate::re2;
use crate::source_text::SourceText;
use schema::message::{Field, Syntax};

/// Each costs a search.
const PREDICATES_MAX: usize = 4;

/// Condition on repositories: `query` finds files in those that satisfy it.
#[derive(Clone, Debug)]
pub struct Predicate {
    pub query: Query,
    pub(super) negated: bool,
}

/// Conditions on repositories; true if negated.
type Conditions = Vec<(bool, Tree)>;

/// Returns the rest, and the conditions on repositories.
pub(super) fn split(node: Option<Tree>) -> Result<(Option<Tree>, Conditions), BadQuery> {
    let parts = match node {
        Some(Tree::All(parts)) => parts,
        node => node.into_iter().collect(),
    };
    let (mut rest, mut conditions) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Tree::Repositories(_, files) => conditions.push((false, *files)),
            Tree::Not(inner) if matches!(*inner, Tree::Repositories(..)) => {
                if let Tree::Repositories(_, files) = *inner {
                    conditions.push((true, *files));
                }
            }
            part => rest.push(part),
        }
    }
    if let Some(at) = rest.iter().find_map(place) {
        let bad = BadQuery::new("a predicate of repositories cannot be an alternative").at(at);
        return Err(bad.hint("search for each alternative alone"));
    }
    if conditions.len() > PREDICATES_MAX {
        let reason = format!("at most {PREDICATES_MAX} predicates of repositories are supported");
        return Err(BadQuery::new(reason));
    }
    Ok((one_or(rest, Tree::All), conditions))
}

fn place(node: &Tree) -> Option<usize> {
    match node {
        Tree::Repositories(at, _) => Some(*at),
        Tree::All(parts) | Tree::Any(parts) => parts.iter().find_map(place),
        Tree::Not(inner) => place(inner),
        Tree::Pattern(_) | Tree::Filter(..) => None,
    }
}

impl Parser<'_> {
    pub(super) fn predicate(&mut self, key: FieldKey, at: usize) -> Result<Option<Tree>, BadQuery> {
        let rest = self.rest();
        let Some(name) = ["has", "contains"]
            .into_iter()
            .find(|name| rest.starts_with(name))
        else {
            return Ok(None);
        };
        let open = rest.find('(').filter(|open| {
            let mut kind = rest[name.len()..*open].bytes();
            matches!(key, FieldKey::Repository | FieldKey::File)
                && kind.all(|byte| byte.is_ascii_lowercase() || byte == b'.')
        });
        let Some(open) = open else { return Ok(None) };
        let kind = rest[name.len()..open].trim_start_matches('.');
        let (kind, start) = (kind.to_owned(), self.at + open + 1);
        let Some(inner) = scan::group(&rest[open..]).map(str::len) else {
            return Err(BadQuery::new("the parenthesis is not closed").at(self.at + open));
        };
        self.at = start + inner + 1;
        let inner = SourceText::plain(start, self.typed[start..start + inner].trim_start());
        let node = match (key, &kind[..]) {
            (FieldKey::File, "content") => text(&inner),
            (FieldKey::Repository, "content") => of_repository(at, text(&inner)),
            (FieldKey::Repository, "path") => of_repository(at, regexp(Field::Path, &inner)),
            (FieldKey::Repository, "file") => of_repository(at, file(&inner)?),
            (_, kind) => {
                let reason = format!("the predicate {name}.{kind}(…) is not supported");
                let hint = match kind {
                    "meta" | "topic" | "tag" | "key" | "description" => UNKNOWN,
                    _ => SUPPORTED,
                };
                return Err(BadQuery::new(reason).at(at).hint(hint));
            }
        };
        Ok(Some(node))
    }
}

const SUPPORTED: &str =
    "supported are repo:has.path, repo:has.file, repo:has.content and file:has.content";
const UNKNOWN: &str = "repositories have names and files here; select them with repo:NAME, \
                       repo:has.path(…) or repo:has.content(…)";

fn of_repository(at: usize, files: Tree) -> Tree {
    Tree::Repositories(at, Box::new(files))
}

fn text(value: &SourceText) -> Tree {
    Tree::Pattern(Word {
        text: re2::translated(value.as_str(), value.at(0)),
        syntax: Syntax::Regexp,
        in_text: true,
        joins: false,
    })
}

/// `path:a content:b`, or only a path.
fn file(value: &SourceText) -> Result<Tree, BadQuery> {
    let mut nodes = Vec::new();
    let mut at = value.at(0);
    for word in value.as_str().split_inclusive(' ') {
        let typed = word.trim_end();
        let part = |name: &str| {
            let rest = typed.strip_prefix(name)?;
            Some(SourceText::plain(at + name.len(), rest))
        };
        match (part("path:"), part("content:")) {
            (Some(path), _) => nodes.push(regexp(Field::Path, &path)),
            (_, Some(content)) => nodes.push(text(&content)),
            _ if typed.is_empty() => {}
            _ => nodes.push(regexp(Field::Path, &SourceText::plain(at, typed))),
        }
        at += word.len();
    }
    one_or(nodes, Tree::All).ok_or_else(|| BadQuery::new("the predicate is empty").at(value.at(0)))
}
