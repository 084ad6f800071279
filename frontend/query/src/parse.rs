//! Parses the native query language. A document must contain all words of a query.
//!
//! ```text
//! query   = any
//! any     = all { ("or" | "OR") all }
//! all     = unary { ["and" | "AND"] unary }
//! unary   = { "-" | "not" | "NOT" } primary
//! primary = "(" any ")" | "line:(" any ")" | filter | option | place | symbol | pattern
//! filter  = key ":" ["=" | "g:"] (regexp | string | value)
//! pattern = ["content:"] (regexp | string | word)
//! symbol  = "sym:" ["="] (regexp | string | value) | "uses:" (string | value)
//! place   = ("in:" | "kind:") name | "parent:" ["="] (regexp | string | value)
//! ```
//!
//! Text pasted from a program stays text where possible: `foo(`, `std::string`, `--flag`, `->next`,
//! `/usr/include`; ambiguity gives a notice. A misplaced token is text too: the query is parsed
//! again with it as a word.
//!
//! **Invariant:** recursion happens only in parentheses of limited depth. Only known keys and
//! closed regular expressions are refused.

mod notices;
mod symbols;
mod texts;

use super::error::{BadQuery, Notice};
use super::filter;
use super::keys::{self, Key, Options, Prefix, Setting};
use super::lex::{Flags, Lexer};
use super::place::Restriction;
use super::regexp::check_syntax;
use super::source_text::SourceText;
use schema::message::{ATOMS_MAX, DEPTH_MAX, Field, Filter, Role, Syntax};
use std::collections::HashSet;
use std::ops::Range;
use texts::{Fault, Texts};

/// Words of a query that is too large, with room for filter parameters.
const WORDS_MAX: usize = ATOMS_MAX - 16;

#[derive(Debug, Default)]
pub(super) struct Ast {
    /// `None`: only options.
    pub(super) node: Option<Node>,
    pub(super) options: Options,
    pub(super) notices: Vec<Notice>,
    /// Places of required terms and options. Alternatives are one term.
    pub(super) terms: Vec<Range<usize>>,
    /// Places of words typed side by side, and operators between them.
    pub(super) phrase: Vec<Range<usize>>,
    /// Signs are text because all terms are negated.
    pub(super) has_signs_as_text: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Pattern(Term),
    Filter(Filter, SourceText),
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Line(Box<Node>),
    /// A part whose patterns match only in a place.
    Placed(Box<Node>, Restriction),
    /// All symbols, by the term at this offset.
    AnySymbol(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) text: SourceText,
    pub(super) syntax: Syntax,
    pub(super) flags: Flags,
    /// Searches document text, even if names are searched.
    pub(super) in_text: bool,
    /// Definition, use, or any text.
    pub(super) role: Role,
    pub(super) is_whole: bool,
}

impl Node {
    fn has_pattern(&self) -> bool {
        match self {
            Node::Pattern(_) | Node::AnySymbol(_) => true,
            Node::Filter(..) => false,
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().any(Node::has_pattern),
            Node::Not(inner) | Node::Line(inner) | Node::Placed(inner, _) => inner.has_pattern(),
        }
    }

    fn is_text(&self) -> bool {
        match self {
            Node::Pattern(term) => term.role == Role::Any,
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().all(Node::is_text),
            Node::Placed(inner, _) => inner.is_text(),
            Node::Filter(..) | Node::Not(_) | Node::Line(_) | Node::AnySymbol(_) => false,
        }
    }
}

impl Term {
    pub(super) fn of_text(text: SourceText) -> Term {
        Term {
            text,
            syntax: Syntax::Literal,
            flags: Flags::default(),
            in_text: false,
            role: Role::Any,
            is_whole: false,
        }
    }
}

/// Parses a query. In one with only negated terms, `signs_are_text`, except those of filters.
pub(super) fn parse(typed: &str, signs_are_text: bool) -> Result<Ast, BadQuery> {
    let mut texts = Texts::new(signs_are_text);
    loop {
        match parse_with(typed, &texts) {
            Ok(mut ast) => {
                ast.notices.extend(texts.notices(typed));
                ast.notices.sort_by_key(|notice| notice.at);
                return Ok(ast);
            }
            Err(Fault::Bad(bad)) => return Err(bad),
            Err(Fault::Text(at, bad)) => {
                if !texts.add(at, bad.clone()) {
                    return Ok(words(typed, &bad));
                }
            }
            Err(Fault::All(bad)) => return Ok(words(typed, &bad)),
        }
    }
}

fn words(typed: &str, bad: &BadQuery) -> Ast {
    let (mut lexer, mut known) = (Lexer::new(typed), HashSet::new());
    let mut words = Vec::new();
    lexer.skip_space();
    while !lexer.rest().is_empty() {
        let (text, _) = lexer.word();
        if known.insert(text.as_str().to_owned()) {
            words.push(Node::Pattern(Term::of_text(text)));
        }
        lexer.skip_space();
    }
    let left_out = words.len().saturating_sub(WORDS_MAX);
    words.truncate(WORDS_MAX);
    let mut reason = format!("all of it is searched for as text: {}", bad.reason);
    if left_out > 0 {
        reason.push_str(&format!("; {left_out} of its words are left out"));
    }
    Ast {
        node: Some(Node::All(words)),
        notices: vec![Notice {
            at: Some(0),
            reason,
            hint: None,
        }],
        terms: std::iter::once(0..typed.len()).collect(),
        phrase: std::iter::once(0..typed.len()).collect(),
        ..Ast::default()
    }
}

fn parse_with(typed: &str, texts: &Texts) -> Result<Ast, Fault> {
    let mut parser = Parser {
        lexer: Lexer::new(typed),
        texts,
        atoms: 0,
        in_line: false,
        is_in_phrase: false,
        place: None,
        ast: Ast::default(),
    };
    let node = parser.any()?;
    debug_assert!(parser.lexer.rest().is_empty());
    let Ast { mut terms, .. } = parser.ast;
    if let (Some(Node::Any(_)), [first, .., last]) = (&node, &terms[..]) {
        terms = std::iter::once(first.start..last.end).collect();
    }
    Ok(Ast {
        node,
        terms,
        ..parser.ast
    })
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    texts: &'a Texts,
    atoms: usize,
    in_line: bool,
    is_in_phrase: bool,
    /// Restrictions beside the current term, and the place of the first.
    place: Option<(usize, Restriction)>,
    ast: Ast,
}

impl Parser<'_> {
    fn any(&mut self) -> Result<Option<Node>, Fault> {
        let mut parts = Vec::new();
        let mut or = None;
        loop {
            match (self.all()?, self.keyword(&["or", "OR"])) {
                (Some(part), next) => {
                    parts.push(part);
                    match next {
                        Some(at) => or = Some(at),
                        None => break,
                    }
                }
                (None, Some(at)) => return Err(lonely(at, "or", "before")),
                (None, None) => match or {
                    Some(at) => return Err(lonely(at, "or", "after")),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(one_or(parts, Node::Any)))
    }

    fn all(&mut self) -> Result<Option<Node>, Fault> {
        let mut parts = Vec::new();
        let mut and = None;
        let outer = self.place.take();
        while !self.at_end() && !self.is_keyword(&["or", "OR"]) {
            if let Some(at) = self.keyword(&["and", "AND"]) {
                if parts.is_empty() || and.is_some() {
                    return Err(lonely(at, "and", "before"));
                }
                and = Some(at);
                continue;
            }
            let start = self.lexer.at;
            let part = self.unary()?;
            if self.lexer.depth == 0 {
                // A word `and` that is text is so behind the operator alone.
                let behind = and.filter(|_| self.texts.has(start));
                self.ast.terms.push(behind.unwrap_or(start)..self.lexer.at);
                self.add_to_phrase(start, part.as_ref().is_some_and(Node::is_text));
            }
            // An option may follow `and`, too.
            and = None;
            parts.extend(part);
        }
        let place = std::mem::replace(&mut self.place, outer);
        if let Some(at) = and {
            return Err(lonely(at, "and", "after"));
        }
        let Some((at, place)) = place else {
            return Ok((!parts.is_empty()).then(|| one_or(parts, Node::All)));
        };
        if !parts.iter().any(Node::has_pattern) {
            if !place.is_of_symbols() {
                let bad = BadQuery::new("in: has no term beside it").at(at);
                let hint = "add what to search for; values of in: side by side are alternatives";
                return Err(bad.hint(hint).into());
            }
            self.count_atom(at)?;
            parts.push(Node::AnySymbol(at));
        }
        Ok(Some(Node::Placed(
            Box::new(one_or(parts, Node::All)),
            place,
        )))
    }

    fn add_to_phrase(&mut self, start: usize, is_text: bool) {
        let end = self.lexer.at;
        match self.ast.phrase.last_mut() {
            _ if !is_text => {}
            Some(last) if self.is_in_phrase => last.end = end,
            _ => self.ast.phrase.push(start..end),
        }
        self.is_in_phrase = is_text;
    }

    fn unary(&mut self) -> Result<Option<Node>, Fault> {
        let start = self.lexer.at;
        let mut negated = false;
        while let Some(at) = self.keyword(&["not", "NOT"]) {
            negated = !negated;
            if self.at_end() {
                return Err(lonely(at, "not", "after"));
            }
        }
        if self.is_sign() {
            negated = !negated;
            self.lexer.at += 1;
        }
        let signed = (self.lexer.at > start).then_some(start);
        if let Some(signed) = signed
            && self.texts.has_signs
            && !matches!(
                keys::prefix(self.lexer.rest()),
                Prefix::Known(_, Key::Filter(_) | Key::In | Key::Option(Setting::Type))
            )
        {
            return Err(Fault::text(signed, "the query has only negated terms"));
        }
        let node = self.primary(signed, negated)?;
        Ok(if negated {
            node.map(|node| Node::Not(Box::new(node)))
        } else {
            node
        })
    }

    /// True if a `-` negates the next term. In `--flag`, `->next`, `-=` and `-1` it is text.
    fn is_sign(&self) -> bool {
        let rest = self.lexer.rest();
        let next = rest.strip_prefix('-').and_then(|rest| rest.chars().next());
        next.is_some_and(|next| !matches!(next, '-' | '>' | '=' | '0'..='9'))
            && !self.lexer.ends_at(self.lexer.at + 1)
            && !self.texts.has(self.lexer.at)
    }

    /// Parses a term; `None` for an option. `signed` is the offset of its negation.
    fn primary(&mut self, signed: Option<usize>, negated: bool) -> Result<Option<Node>, Fault> {
        let at = self.lexer.at;
        if self.texts.has(at) {
            return self.text(at).map(Some);
        }
        if self.lexer.peek() == Some('(') {
            return self.group(at).map(Some);
        }
        match keys::prefix(self.lexer.rest()) {
            Prefix::Known(name, key) => {
                self.lexer.at += name.len() + 1;
                self.keyed((at, name), key, signed, negated)
            }
            Prefix::Unknown(name) => {
                let notice = notices::unknown_key(&self.lexer, at, name);
                self.ast.notices.push(notice);
                self.pattern(false).map(Some)
            }
            Prefix::None => self.pattern(false).map(Some),
        }
    }

    fn keyed(
        &mut self,
        (at, name): (usize, &str),
        key: Key,
        signed: Option<usize>,
        negated: bool,
    ) -> Result<Option<Node>, Fault> {
        let value = self.lexer.at;
        if self.lexer.ends_at(value) {
            let fault = Fault::text(at, format!("{name}: has no value"));
            return Err(fault.hint("the value follows the colon without a space"));
        }
        match key {
            Key::Filter(Field::Kind) if self.kinds(at, negated)? => Ok(None),
            Key::Option(Setting::Type) if self.is_of_history() => {
                self.filter(at, name, Field::Type).map(Some)
            }
            Key::Filter(field) => self.filter(at, name, field).map(Some),
            Key::Changed(classes) => self.changed(at, classes).map(Some),
            Key::Symbol => self.symbol(at).map(Some),
            Key::Uses => self.uses(at).map(Some),
            Key::In => self.classes(at, negated).map(|()| None),
            Key::Parent => self.parent(at, signed).map(|()| None),
            Key::Content if self.lexer.peek() == Some('(') => {
                let fault = Fault::text(at, "content: takes one pattern");
                Err(fault.hint("repeat it before each pattern"))
            }
            Key::Content => match self.pattern(true) {
                Ok(pattern) => Ok(Some(pattern)),
                Err(fault) => Err(fault.moved(at)),
            },
            Key::Line => self.line(at).map(Some),
            Key::Option(setting) => self.option(at, name, setting, signed).map(|()| None),
        }
    }

    fn line(&mut self, at: usize) -> Result<Node, Fault> {
        if self.in_line {
            let bad = BadQuery::new("line: is not allowed in line:(…)").at(at);
            return Err(bad.hint("remove the inner one").into());
        }
        if self.lexer.peek() != Some('(') || self.texts.has(self.lexer.at) {
            let fault = Fault::text(at, "line: needs parentheses");
            return Err(fault.hint("line:(a b) finds lines with both words"));
        }
        self.in_line = true;
        let inner = self.group(at);
        self.in_line = false;
        Ok(Node::Line(Box::new(inner?)))
    }

    fn group(&mut self, at: usize) -> Result<Node, Fault> {
        let open = self.lexer.at;
        if self.lexer.depth == DEPTH_MAX {
            return Err(Fault::All(BadQuery::too_deep(DEPTH_MAX + 1)));
        }
        self.lexer.at += 1;
        self.lexer.depth += 1;
        let node = self.any()?;
        if self.lexer.peek().is_none() {
            return Err(Fault::text(open, "the parenthesis ( is not closed"));
        }
        self.lexer.depth -= 1;
        self.lexer.at += 1;
        let Some(node) = node else {
            return Err(Fault::text(open, "the parentheses are empty"));
        };
        if at == open {
            let is_word = matches!(&node, Node::Pattern(term) if term.syntax == Syntax::Literal);
            let notice = notices::group(&self.lexer, open, is_word);
            self.ast.notices.extend(notice);
        }
        Ok(node)
    }

    fn filter(&mut self, at: usize, name: &str, field: Field) -> Result<Node, Fault> {
        if self.in_line {
            let bad = BadQuery::new(format!("{name}: is not allowed in line:(…)")).at(at);
            return Err(bad.hint("put it outside of the parentheses").into());
        }
        let value = self.lexer.at;
        self.check_closed(value, name, field)?;
        let (filter, text) = filter::read(field, &mut self.lexer)?;
        if text.is_empty() {
            let bad = BadQuery::new(format!("{name}: has no value"));
            return Err(bad.at(value).into());
        }
        let notice = notices::directory(&self.lexer, value, name, &filter.text);
        self.ast.notices.extend(notice);
        self.count_atom(at)?;
        Ok(Node::Filter(filter, text))
    }

    /// Refuses a value in parentheses with a space, at which it would end.
    fn check_closed(&self, value: usize, name: &str, field: Field) -> Result<(), Fault> {
        let mut lexer = self.lexer.clone();
        lexer.at = value;
        if lexer.peek() == Some('(') && !lexer.bare(true).1 {
            let bad = BadQuery::new(format!("{name}: takes one value without spaces")).at(value);
            let other = match field {
                Field::Revision | Field::Branch => format!("a glob: {name}:{{a,b}}"),
                _ => "a regular expression in quotes".to_owned(),
            };
            let hint = format!("type ({name}:a or {name}:b), or {other}");
            return Err(bad.hint(hint).into());
        }
        Ok(())
    }

    fn option(
        &mut self,
        at: usize,
        name: &str,
        setting: Setting,
        signed: Option<usize>,
    ) -> Result<(), Fault> {
        let hint =
            format!("it applies to the whole query; to search for the text, quote it: \"{name}:\"");
        if let Some(signed) = signed {
            let reason = format!("{name}: cannot be negated");
            return Err(BadQuery::new(reason).at(signed).hint(hint).into());
        }
        if self.lexer.depth > 0 {
            let reason = format!("{name}: is not allowed in parentheses");
            return Err(BadQuery::new(reason).at(at).hint(hint).into());
        }
        let value = self.lexer.at;
        let (text, _) = self.lexer.bare(false);
        let set = self.ast.options.set(setting, name, text.as_str());
        if set.map_err(|bad| Fault::Text(at, bad))? {
            let bad = BadQuery::new(format!("{name}: is given twice")).at(value);
            return Err(bad.hint("remove one").into());
        }
        Ok(())
    }

    fn text(&mut self, at: usize) -> Result<Node, Fault> {
        self.count_atom(at)?;
        let (text, _) = self.lexer.word();
        Ok(Node::Pattern(Term::of_text(text)))
    }

    fn pattern(&mut self, in_text: bool) -> Result<Node, Fault> {
        let at = self.lexer.at;
        self.count_atom(at)?;
        let term = |(text, flags), syntax| {
            Node::Pattern(Term {
                syntax,
                flags,
                in_text,
                ..Term::of_text(text)
            })
        };
        match self.lexer.peek() {
            Some('"' | '\'') => {
                let string = self.lexer.string().map_err(|bad| Fault::Text(at, bad))?;
                return Ok(term(string, Syntax::Literal));
            }
            Some('“' | '”') => {
                if let Ok(string) = self.lexer.string() {
                    notices::quotes(&self.lexer, at, &mut self.ast.notices);
                    return Ok(term(string, Syntax::Literal));
                }
            }
            Some('/') => match self.lexer.regexp() {
                Some(regexp) => {
                    check_division(at, regexp.0.as_str())?;
                    self.ast.notices.extend(notices::slashes(&self.lexer, at));
                    return Ok(term(regexp, Syntax::Regexp));
                }
                None => self.check_open(at)?,
            },
            _ => {}
        }
        let (text, stray) = self.lexer.word();
        notices::word(&self.lexer, at, stray, &mut self.ast.notices);
        Ok(term((text, Default::default()), Syntax::Literal))
    }

    /// Notice for text with a leading slash that may be a regular expression.
    fn check_open(&mut self, at: usize) -> Result<(), Fault> {
        let rest = self.lexer.rest();
        let typed = rest.split(char::is_whitespace).next().unwrap_or_default();
        let close = "a regular expression ends with /, and a slash in it is typed \\/";
        if typed.contains('\\') {
            let fault = Fault::text(at, "a regular expression is not closed");
            return Err(fault.hint(close));
        }
        self.ast.notices.extend(notices::unclosed(at, typed, close));
        Ok(())
    }

    fn count_atom(&mut self, at: usize) -> Result<(), Fault> {
        self.atoms += 1;
        if self.atoms > ATOMS_MAX {
            return Err(Fault::All(BadQuery::too_many(self.atoms).at(at)));
        }
        Ok(())
    }

    fn at_end(&mut self) -> bool {
        self.lexer.skip_space();
        match self.lexer.peek() {
            None => true,
            Some(letter) => letter == ')' && self.lexer.depth > 0,
        }
    }

    fn is_keyword(&self, words: &[&str]) -> bool {
        let rest = self.lexer.rest();
        let word = words.iter().find(|word| rest.starts_with(**word));
        let at = self.lexer.at;
        word.is_some_and(|word| self.lexer.ends_at(at + word.len())) && !self.texts.has(at)
    }

    fn keyword(&mut self, words: &[&str]) -> Option<usize> {
        self.lexer.skip_space();
        let at = self.lexer.at;
        let is_there = self.is_keyword(words);
        if is_there {
            self.lexer.at += words[0].len();
            self.lexer.skip_space();
        }
        is_there.then_some(at)
    }
}

fn one_or(mut parts: Vec<Node>, list: impl Fn(Vec<Node>) -> Node) -> Node {
    match parts.len() {
        1 => parts.remove(0),
        _ => list(parts),
    }
}

fn lonely(at: usize, word: &str, side: &str) -> Fault {
    Fault::text(at, format!("there is no term {side} {word}"))
}

/// Treats an invalid regular expression after a space as text: `a / (b / c`.
fn check_division(at: usize, regexp: &str) -> Result<(), Fault> {
    match check_syntax(regexp) {
        Err(bad) if regexp.starts_with(' ') => Err(Fault::Text(at, bad)),
        _ => Ok(()),
    }
}
