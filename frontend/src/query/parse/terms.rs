//! The parser's state, and the terms without recursion: patterns, filters and options.

use super::notices;
use crate::query::ast::{Node, Term};
use crate::query::check;
use crate::query::error::{BadQuery, Notice};
use crate::query::filter;
use crate::query::keys::Setting;
use crate::query::lex::Lexer;
use crate::query::options::Options;
use schema::message::{ATOMS_MAX, Field, Syntax};

/// The state of the parser.
pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    atoms: usize,
    /// Inside of `line:(…)`.
    pub(super) in_line: bool,
    pub(super) options: Options,
    pub(super) notices: Vec<Notice>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(typed: &'a str) -> Self {
        Parser {
            lexer: Lexer::new(typed),
            atoms: 0,
            in_line: false,
            options: Options::default(),
            notices: Vec::new(),
        }
    }

    pub(super) fn filter(&mut self, at: usize, name: &str, field: Field) -> Result<Node, BadQuery> {
        if self.in_line {
            return Err(BadQuery::new(format!("{name}: is not allowed in line:(…)"))
                .at(at)
                .hint("put it outside of the parentheses"));
        }
        let value = self.lexer.at;
        let (filter, text) = filter::read(field, &mut self.lexer)?;
        if text.is_empty() {
            return Err(BadQuery::new(format!("{name}: has no value")).at(value));
        }
        self.check_closed(value, name)?;
        let notice = notices::directory(&self.lexer, value, name, &filter.text);
        self.notices.extend(notice);
        self.count_atom(at)?;
        Ok(Node::Filter(filter, text))
    }

    /// Refuses a value in parentheses with a space in it: it would end at the space.
    fn check_closed(&self, value: usize, name: &str) -> Result<(), BadQuery> {
        let mut lexer = self.lexer.clone();
        lexer.at = value;
        if lexer.peek() == Some('(') && !lexer.bare(true).1 {
            let bad = BadQuery::new(format!("{name}: takes one value without spaces")).at(value);
            return Err(bad.hint(format!(
                "type ({name}:a or {name}:b), or a regular expression in quotes"
            )));
        }
        Ok(())
    }

    pub(super) fn option(
        &mut self,
        at: usize,
        name: &str,
        setting: Setting,
        signed: Option<usize>,
    ) -> Result<(), BadQuery> {
        let hint =
            format!("it applies to the whole query; to search for the text, quote it: \"{name}:\"");
        if let Some(signed) = signed {
            let reason = format!("{name}: cannot be negated");
            return Err(BadQuery::new(reason).at(signed).hint(hint));
        }
        if self.lexer.depth > 0 {
            let reason = format!("{name}: is not allowed in parentheses");
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
                    self.notices.extend(notices::slashes(&self.lexer, at));
                    return Ok(term(regexp, Syntax::Regexp));
                }
                None => self.check_open(at)?,
            },
            _ => {}
        }
        let (text, stray) = self.lexer.word();
        notices::word(&self.lexer, at, stray, &mut self.notices);
        Ok(term((text, Default::default()), Syntax::Literal))
    }

    /// Refuses text that begins with a slash and has a backslash; adds a notice if it may be a regular
    /// expression.
    fn check_open(&mut self, at: usize) -> Result<(), BadQuery> {
        let rest = self.lexer.rest();
        let typed = rest.split(char::is_whitespace).next().unwrap_or_default();
        let close = "a regular expression ends with /, and a slash in it is typed \\/";
        if typed.contains('\\') {
            return Err(BadQuery::new("the regular expression is not closed")
                .at(at)
                .hint(format!("{close}; to search for the text, begin with \\/")));
        }
        self.notices.extend(notices::unclosed(at, typed, close));
        Ok(())
    }

    fn count_atom(&mut self, at: usize) -> Result<(), BadQuery> {
        self.atoms += 1;
        if self.atoms > ATOMS_MAX {
            return Err(check::too_many(self.atoms).at(at));
        }
        Ok(())
    }
}
