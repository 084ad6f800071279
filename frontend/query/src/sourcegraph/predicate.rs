//! Predicates of files and repositories, such as `repo:has.path(go\.mod)`.

use super::field::regexp;
use super::key::FieldKey;
use super::options::Show;
use super::parser::Parser;
use super::scan;
use super::tree::{Tree, Word};
use crate::error::BadQuery;
use crate::re2;
use crate::source_text::SourceText;
use schema::message::{Field, Syntax};

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
            (FieldKey::Repository, "content") => self.of_repository(at, vec![text(&inner)])?,
            (FieldKey::Repository, "path") => {
                self.of_repository(at, vec![regexp(Field::Path, &inner)])?
            }
            (FieldKey::Repository, "file") => self.of_repository(at, file(&inner)?)?,
            _ => {
                let reason = format!("the predicate {name}.{kind}(…) is not supported");
                let hint = "supported are repo:has.path, repo:has.file, repo:has.content and file:has.content";
                return Err(BadQuery::new(reason).at(at).hint(hint));
            }
        };
        Ok(Some(node))
    }

    fn of_repository(&mut self, at: usize, mut nodes: Vec<Tree>) -> Result<Tree, BadQuery> {
        if self.options.predicate.replace(at).is_some() {
            let bad = BadQuery::new("only one predicate of repositories is supported").at(at);
            return Err(bad.hint("search for each of them, and name the repositories with repo:"));
        }
        self.options.show = Some(Show::Repositories);
        Ok(if nodes.len() == 1 {
            nodes.remove(0)
        } else {
            Tree::All(nodes)
        })
    }
}

fn text(value: &SourceText) -> Tree {
    Tree::Pattern(Word {
        text: re2::translated(value.as_str(), value.at(0)),
        syntax: Syntax::Regexp,
        in_text: true,
        joins: false,
    })
}

fn file(value: &SourceText) -> Result<Vec<Tree>, BadQuery> {
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
            _ => {
                let bad = BadQuery::new("expected path: or content:").at(at);
                return Err(bad.hint("repo:has.file(path:go\\.mod content:grpc)"));
            }
        }
        at += word.len();
    }
    if nodes.is_empty() {
        return Err(BadQuery::new("the predicate is empty").at(value.at(0)));
    }
    Ok(nodes)
}
