//! Qualifiers in the native language.

use super::{Rewriter, Value, any, by_path, exact, paths, repositories};
use crate::error::{BadQuery, Notice};
use crate::filter;
use crate::lex::{quoted, slashed};
use crate::regexp::check_syntax;
use language::Language;
use schema::message::{Field, Filter};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Qualifier {
    Repository,
    Owner,
    Path,
    FileName,
    Extension,
    Language,
    Symbol,
    Content,
    In,
    Is,
    Fork,
    Archived,
    Unjudged,
}

impl Qualifier {
    fn named(name: &str) -> Option<Qualifier> {
        Some(match &name.to_ascii_lowercase()[..] {
            "repo" | "repository" => Qualifier::Repository,
            "org" | "user" | "owner" | "organization" => Qualifier::Owner,
            "path" | "file" => Qualifier::Path,
            "filename" => Qualifier::FileName,
            "extension" | "ext" => Qualifier::Extension,
            "language" | "lang" => Qualifier::Language,
            "symbol" | "sym" => Qualifier::Symbol,
            "content" => Qualifier::Content,
            "in" => Qualifier::In,
            "is" => Qualifier::Is,
            "fork" => Qualifier::Fork,
            "archived" => Qualifier::Archived,
            "size" | "visibility" | "license" | "enterprise" => Qualifier::Unjudged,
            _ => return None,
        })
    }
}

impl Rewriter<'_> {
    pub(super) fn qualified(&mut self) -> Result<bool, BadQuery> {
        let start = self.lexer.at;
        let rest = self.lexer.rest();
        let end = rest.find(|letter: char| !letter.is_ascii_alphabetic());
        let (name, value) = rest.split_at(end.unwrap_or(rest.len()));
        if !value.starts_with(':') || value.starts_with("::") {
            return Ok(false);
        }
        let Some(qualifier) = Qualifier::named(name) else {
            return Ok(false);
        };
        self.step(name.len() + 1);
        let Some(value) = self.value() else {
            self.lexer.at = start;
            return Ok(false);
        };
        self.qualifier(qualifier, &value, start)?;
        Ok(true)
    }

    fn qualifier(
        &mut self,
        qualifier: Qualifier,
        value: &Value,
        start: usize,
    ) -> Result<(), BadQuery> {
        let text = value.text();
        let filter = match qualifier {
            Qualifier::Repository | Qualifier::Owner => {
                self.owned(qualifier, value);
                return Ok(());
            }
            Qualifier::Path => by_path(paths::path(value)),
            Qualifier::FileName => by_path(paths::file_name(value)),
            Qualifier::Extension => extension(text),
            Qualifier::Language => exact(Field::Language, &language(text)),
            Qualifier::Symbol => {
                self.push(&symbol(value));
                return Ok(());
            }
            Qualifier::Content => {
                self.push(&content(value));
                return Ok(());
            }
            Qualifier::Is if ["vendored", "generated"].contains(&text) => {
                exact(Field::Kind, "vendored")
            }
            Qualifier::In => return self.places(text),
            _ => return self.unjudged(qualifier, text, start),
        };
        self.push(&filter::in_query(&filter));
        Ok(())
    }

    fn owned(&mut self, qualifier: Qualifier, value: &Value) {
        let is_negated = self.is_negated();
        let found = match qualifier {
            Qualifier::Owner => vec![repositories::of_owner(value, is_negated)],
            _ => repositories::named(value),
        };
        if !self.sign.is_empty() {
            return self.push(&any(&found));
        }
        if self.or {
            self.begin();
        }
        let group = self.group();
        group.repositories.extend(found);
        group.has_term = true;
    }

    fn places(&mut self, value: &str) -> Result<(), BadQuery> {
        for place in value.split(',') {
            match place {
                "file" | "content" => self.named.text = true,
                "path" => self.named.path = true,
                other => {
                    let bad = BadQuery::new(format!("in:{other} is not a place of code"));
                    return Err(bad.hint("type in:file, in:path or in:file,path"));
                }
            }
        }
        self.leave_out();
        Ok(())
    }

    fn leave_out(&mut self) {
        (self.or, self.sign) = (false, "");
    }

    /// Ignores what the index does not know, unless it would exclude everything.
    fn unjudged(&mut self, of: Qualifier, value: &str, start: usize) -> Result<(), BadQuery> {
        let typed = &self.lexer.typed[start..self.lexer.at];
        let wants = match of {
            Qualifier::Is => !["public", "private", "internal"].contains(&value),
            Qualifier::Fork => value == "only",
            Qualifier::Archived => value != "false",
            _ => false,
        };
        if wants && !self.is_negated() {
            let bad = BadQuery::new(format!("the index does not know what {typed} selects"));
            return Err(bad.hint("remove it; repo:, org: and path: select files"));
        }
        self.notices.push(Notice {
            at: None,
            reason: format!("{typed} is ignored: the index does not know it"),
            hint: None,
        });
        self.leave_out();
        Ok(())
    }
}

fn extension(typed: &str) -> Filter {
    let text = typed.trim_start_matches('*').trim_start_matches('.');
    if text.contains(['.', '/', '*']) || text.is_empty() {
        by_path(format!("{}$", regex_syntax::escape(&format!(".{text}"))))
    } else {
        exact(Field::Extension, text)
    }
}

/// Accepts `common-lisp`. Backends refuse unknown names.
fn language(typed: &str) -> String {
    let spaced = typed.replace(['-', '_', '+'], " ");
    let known = Language::named(typed).or_else(|| Language::named(&spaced));
    known.map_or(typed, |known| known.name).to_owned()
}

fn content(value: &Value) -> String {
    match value {
        Value::Regexp(regexp) => format!("content:{}", slashed(regexp)),
        Value::Bare(text) | Value::Quoted(text) => format!("content:{}", quoted(text)),
    }
}

fn symbol(value: &Value) -> String {
    let separators = ["::", ".", "#"];
    let parts = separators
        .iter()
        .find_map(|at| value.text().rsplit_once(at));
    let parts = parts.filter(|(parent, name)| !parent.is_empty() && !name.is_empty());
    match (value, parts) {
        (Value::Regexp(_), Some((parent, name)))
            if value.text().contains("::")
                && check_syntax(parent).is_ok()
                && check_syntax(name).is_ok() =>
        {
            format!(
                "(sym:{} parent:{})",
                slashed(&format!("^(?:{name})")),
                slashed(&format!("(?:{parent})$"))
            )
        }
        (Value::Regexp(regexp), _) => format!("sym:{}", slashed(regexp)),
        (_, Some((parent, name))) => format!("(sym:{} parent:={})", quoted(name), quoted(parent)),
        (_, None) => format!("sym:{}", quoted(value.text())),
    }
}
