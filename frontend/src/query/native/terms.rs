//! Terms: patterns, filters, lines and options, from behind their key on.

use super::{BadQuery, Field, Key, Node, Parser, Setting, Syntax};
use crate::query::filter;
use crate::query::node::Term;

impl Parser<'_> {
    pub(super) fn keyed(
        &mut self,
        at: usize,
        name: &str,
        key: Key,
        signed: Option<usize>,
    ) -> Result<Option<Node>, BadQuery> {
        let value = self.lexer.at;
        if self.lexer.ends_at(value) {
            return Err(BadQuery::new(format!("there is nothing behind {name}:"))
                .at(value)
                .hint(format!(
                    "its value begins right behind the colon; \"{name}:\" is the text"
                )));
        }
        match key {
            Key::Filter(field) => self.filter(at, name, field).map(Some),
            Key::Content if self.lexer.peek() == Some('(') => {
                Err(BadQuery::new("content: is about one pattern")
                    .at(value)
                    .hint("write it before each, or \\( for the character itself"))
            }
            Key::Content => self.pattern(true).map(Some),
            Key::Line => self.line(at).map(Some),
            Key::Option(setting) => self.option(at, name, setting, signed).map(|()| None),
        }
    }

    fn filter(&mut self, at: usize, name: &str, field: Field) -> Result<Node, BadQuery> {
        if self.in_line {
            return Err(BadQuery::new(format!("a line has no {name}:"))
                .at(at)
                .hint("write it outside of line:(…)"));
        }
        let value = self.lexer.at;
        let (filter, text) = filter::read(field, &mut self.lexer)?;
        if text.is_empty() {
            return Err(BadQuery::new(format!("there is nothing behind {name}:")).at(value));
        }
        self.check_closed(value, name)?;
        self.notice_path(value, name, &filter.text);
        self.count_atom(at)?;
        Ok(Node::Filter(filter, text))
    }

    /// A value in parentheses ends at a space, where they may not be closed.
    fn check_closed(&self, value: usize, name: &str) -> Result<(), BadQuery> {
        let mut lexer = self.lexer.clone();
        lexer.at = value;
        match lexer.peek() == Some('(') && !lexer.bare(true).1 {
            true => Err(
                BadQuery::new(format!("{name}: has one value, without spaces"))
                    .at(value)
                    .hint(format!(
                        "write ({name}:a or {name}:b), or a regular expression in quotes"
                    )),
            ),
            false => Ok(()),
        }
    }

    fn line(&mut self, at: usize) -> Result<Node, BadQuery> {
        if self.in_line {
            return Err(BadQuery::new("line: within line:")
                .at(at)
                .hint("leave it out"));
        }
        if self.lexer.peek() != Some('(') {
            return Err(BadQuery::new("line: is about what is in parentheses")
                .at(self.lexer.at)
                .hint("line:(a b) finds lines with both; \"line:\" is the text"));
        }
        self.in_line = true;
        let inner = self.group(at);
        self.in_line = false;
        Ok(Node::Line(Box::new(inner?)))
    }

    fn option(
        &mut self,
        at: usize,
        name: &str,
        setting: Setting,
        signed: Option<usize>,
    ) -> Result<(), BadQuery> {
        let hint = format!("it holds for the whole query; \"{name}:\" is the text");
        if let Some(signed) = signed {
            let reason = format!("{name}: cannot be negated");
            return Err(BadQuery::new(reason).at(signed).hint(hint));
        }
        if self.lexer.depth > 0 {
            let reason = format!("{name}: cannot stand in parentheses");
            return Err(BadQuery::new(reason).at(at).hint(hint));
        }
        let value = self.lexer.at;
        let (text, _) = self.lexer.bare(false);
        self.options
            .set(setting, name, text.as_str())
            .map_err(|bad| bad.at(value))
    }

    pub(super) fn pattern(&mut self, in_text: bool) -> Result<Node, BadQuery> {
        let at = self.lexer.at;
        self.count_atom(at)?;
        let term = |(text, flags), syntax| {
            Node::Pattern(Term {
                text,
                syntax,
                flags,
                in_text,
            })
        };
        match self.lexer.peek() {
            Some('"' | '\'') => return Ok(term(self.lexer.string()?, Syntax::Literal)),
            Some('/') => match self.lexer.regexp() {
                Some(regexp) => {
                    self.notice_slashes(at);
                    return Ok(term(regexp, Syntax::Regexp));
                }
                None => self.check_open(at)?,
            },
            _ => {}
        }
        let (text, stray) = self.lexer.word();
        self.notice_word(at, stray);
        Ok(term((text, Default::default()), Syntax::Literal))
    }

    /// What begins with a slash and is no regular expression may have been meant as one.
    fn check_open(&mut self, at: usize) -> Result<(), BadQuery> {
        let rest = self.lexer.rest();
        let typed = rest.split(char::is_whitespace).next().unwrap_or_default();
        let close = "a regular expression ends with a /, and one within it is written \\/";
        if typed.contains('\\') {
            return Err(BadQuery::new("the regular expression is not closed")
                .at(at)
                .hint(format!(
                    "{close}; \\/ at the beginning is the character itself"
                )));
        }
        self.notice_open(at, typed, close);
        Ok(())
    }
}
