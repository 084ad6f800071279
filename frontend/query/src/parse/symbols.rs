//! Terms about symbols and places: `sym:`, `uses:`, `in:`, `kind:` of symbols, `parent:`.

use super::{Fault, Node, Parser, Term};
use crate::error::BadQuery;
use crate::filter::HISTORY_TYPES;
use crate::lex::Flags;
use crate::place::{Restriction, Value, class_bits};
use crate::regexp::check_syntax;
use crate::similar::similar;
use crate::source_text::SourceText;
use language::symbols::{Class, Kind};
use schema::message::{DocumentKind, Role, Syntax};

impl Parser<'_> {
    /// `sym:NAME`, a regular expression, `sym:=NAME` or `sym:"part"`.
    pub(super) fn symbol(&mut self, at: usize) -> Result<Node, Fault> {
        self.count_atom(at)?;
        let (text, syntax, flags, is_whole) = self.name(at)?;
        Ok(Node::Pattern(Term {
            syntax,
            flags,
            in_text: true,
            role: Role::Definition,
            is_whole: is_whole || flags.word,
            ..Term::of_text(text)
        }))
    }

    /// `uses:NAME`: a whole word.
    pub(super) fn uses(&mut self, at: usize) -> Result<Node, Fault> {
        self.count_atom(at)?;
        let (text, flags) = match self.lexer.peek() {
            Some('"' | '\'') => self.lexer.string().map_err(|bad| Fault::Text(at, bad))?,
            _ => (self.lexer.bare(false).0, Flags::default()),
        };
        Ok(Node::Pattern(Term {
            flags,
            in_text: true,
            role: Role::Use,
            is_whole: true,
            ..Term::of_text(text)
        }))
    }

    /// Value that names symbols: text, syntax, flags, and true if it is the whole name.
    fn name(&mut self, at: usize) -> Result<(SourceText, Syntax, Flags, bool), Fault> {
        let is_whole = self.lexer.rest().starts_with('=');
        self.lexer.at += usize::from(is_whole);
        if self.lexer.ends_at(self.lexer.at) {
            return Err(Fault::text(at, "= has no value"));
        }
        let enclosed = match self.lexer.peek() {
            Some('"' | '\'') => {
                let string = self.lexer.string().map_err(|bad| Fault::Text(at, bad))?;
                Some((string, Syntax::Literal))
            }
            Some('/') if !is_whole => self.lexer.regexp().map(|it| (it, Syntax::Regexp)),
            _ => None,
        };
        if let Some(((text, flags), syntax)) = enclosed {
            return Ok((text, syntax, flags, is_whole));
        }
        let (text, _) = self.lexer.bare(!is_whole);
        let syntax = [Syntax::Regexp, Syntax::Literal][usize::from(is_whole)];
        let text = if is_whole { text } else { text.into_regexp() };
        Ok((text, syntax, Flags::default(), is_whole))
    }

    pub(super) fn is_of_history(&self) -> bool {
        let (value, _) = self.lexer.clone().bare(false);
        HISTORY_TYPES.contains(&value.as_str())
    }

    /// Pattern in changed lines: `added:TEXT`, `removed:/RE/`.
    pub(super) fn changed(&mut self, at: usize, classes: u32) -> Result<Node, Fault> {
        let pattern = self.pattern(true).map_err(|fault| fault.moved(at))?;
        let mut place = Restriction::default();
        if classes == 0 || !place.add(Value::Classes(classes), false) {
            return Ok(pattern);
        }
        Ok(Node::Placed(Box::new(pattern), place))
    }

    pub(super) fn classes(&mut self, at: usize, negated: bool) -> Result<(), Fault> {
        let (value, _) = self.lexer.bare(false);
        let Some(bits) = class_bits(value.as_str()) else {
            let names = Class::ALL.map(Class::name);
            let near = similar(value.as_str().to_ascii_lowercase(), names);
            let fault = Fault::text(at, format!("there is no class {}", value.as_str()));
            return Err(fault.hint(&match near.first() {
                Some(near) => format!("did you mean in:{near}?"),
                None => format!("the classes are {}", names.join(", ")),
            }));
        };
        self.restrict(at, Value::Classes(bits), negated)
    }

    /// `kind:function`. Returns false for a kind of documents, which is a filter.
    pub(super) fn kinds(&mut self, at: usize, negated: bool) -> Result<bool, Fault> {
        let mut lexer = self.lexer.clone();
        let (value, _) = lexer.bare(false);
        let value = value.as_str().to_ascii_lowercase();
        if DocumentKind::named(&value).is_some() {
            return Ok(false);
        }
        let Some(bits) = Kind::bits_of(&value) else {
            return Ok(false);
        };
        self.lexer = lexer;
        self.restrict(at, Value::Kinds(bits), negated)?;
        Ok(true)
    }

    fn restrict(&mut self, at: usize, value: Value, negated: bool) -> Result<(), Fault> {
        let (_, place) = self
            .place
            .get_or_insert_with(|| (at, Restriction::default()));
        if place.add(value, negated) {
            return Ok(());
        }
        let bad = BadQuery::new("the terms beside each other leave out every place");
        Err(bad.at(at).into())
    }

    pub(super) fn parent(&mut self, at: usize, signed: Option<usize>) -> Result<(), Fault> {
        if signed.is_some() {
            return Err(BadQuery::new("parent: cannot be negated").at(at).into());
        }
        let value = self.lexer.at;
        let (text, syntax, _, is_whole) = self.name(at)?;
        let text = match syntax {
            Syntax::Regexp => text.as_str().to_owned(),
            Syntax::Literal => regex_syntax::escape(text.as_str()),
        };
        check_syntax(&text).map_err(|bad| Fault::Bad(bad.at(value)))?;
        let text = if is_whole {
            format!("^(?:{text})$")
        } else {
            text
        };
        let (_, place) = self
            .place
            .get_or_insert_with(|| (at, Restriction::default()));
        if place.parent.replace(text).is_some() {
            let bad = BadQuery::new("parent: is given twice").at(at);
            return Err(bad.hint("type parent:/one|other/").into());
        }
        Ok(())
    }
}
