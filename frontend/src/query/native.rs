//! The language of this program: words, all of which a document has, and what else can be said.
//!
//! ```text
//! query   = any
//! any     = all { ("or" | "OR") all }
//! all     = unary { ["and" | "AND"] unary }
//! unary   = { "-" | "not" | "NOT" } primary
//! primary = "(" any ")" | "line:(" any ")" | filter | option | pattern
//! filter  = key ":" ["=" | "g:"] (regexp | string | value)
//! pattern = ["content:"] (regexp | string | word)
//! ```
//!
//! What is pasted from a program is text as far as it can be: `foo(`, `std::string`, `--flag`,
//! `->next`, `/usr/include`. When that was a close decision a notice says so.
//!
//! **Invariant:** it recurses only into parentheses, which are counted.

mod notices;
mod terms;

use super::keys::{self, Begin, Key, Setting};
use super::lex::Lexer;
use super::node::Node;
use super::options::Options;
use super::{BadQuery, Notice, check, slashed};
use schema::message::{ATOMS_MAX, DEPTH_MAX, Field, Syntax};

/// What was typed, taken apart.
#[derive(Debug)]
pub(super) struct Native {
    /// `None`: nothing but options.
    pub(super) node: Option<Node>,
    pub(super) options: Options,
    pub(super) notices: Vec<Notice>,
}

pub(super) fn parse(typed: &str) -> Result<Native, BadQuery> {
    let mut parser = Parser {
        lexer: Lexer::new(typed),
        atoms: 0,
        in_line: false,
        options: Options::default(),
        notices: Vec::new(),
    };
    let node = parser.any()?;
    debug_assert!(parser.lexer.rest().is_empty());
    Ok(Native {
        node,
        options: parser.options,
        notices: parser.notices,
    })
}

struct Parser<'a> {
    lexer: Lexer<'a>,
    atoms: usize,
    /// Inside of `line:(…)`.
    in_line: bool,
    options: Options,
    notices: Vec<Notice>,
}

impl<'a> Parser<'a> {
    fn any(&mut self) -> Result<Option<Node>, BadQuery> {
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
                (None, Some(at)) => return Err(lonely(at, "or", "in front of")),
                (None, None) => match or {
                    Some(at) => return Err(lonely(at, "or", "behind")),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(one_or(parts, Node::Any)))
    }

    fn all(&mut self) -> Result<Option<Node>, BadQuery> {
        let mut parts = Vec::new();
        let mut and = None;
        while !self.at_end() && !self.is_keyword(&["or", "OR"]) {
            if let Some(at) = self.keyword(&["and", "AND"]) {
                if parts.is_empty() || and.is_some() {
                    return Err(lonely(at, "and", "in front of"));
                }
                and = Some(at);
            } else if let Some(part) = self.unary()? {
                parts.push(part);
                and = None;
            }
        }
        match (and, parts.len()) {
            (Some(at), _) => Err(lonely(at, "and", "behind")),
            (None, 0) => Ok(None),
            (None, _) => Ok(Some(one_or(parts, Node::All))),
        }
    }

    fn unary(&mut self) -> Result<Option<Node>, BadQuery> {
        let start = self.lexer.at;
        let mut negated = false;
        while let Some(at) = self.keyword(&["not", "NOT"]) {
            negated = !negated;
            if self.at_end() {
                return Err(lonely(at, "not", "behind"));
            }
        }
        let is_signed = self.is_sign();
        if is_signed {
            negated = !negated;
            self.lexer.at += 1;
        }
        let signed = (self.lexer.at > start).then_some(start);
        let node = self.primary(signed)?;
        Ok(match negated {
            true => node.map(|node| Node::Not(Box::new(node))),
            false => node,
        })
    }

    /// Whether a `-` negates what is behind it. It is a part of `--flag`, `->next` and `-=`.
    fn is_sign(&self) -> bool {
        let rest = self.lexer.rest();
        let next = rest.strip_prefix('-').and_then(|rest| rest.chars().next());
        next.is_some_and(|next| !matches!(next, '-' | '>' | '='))
            && !self.lexer.ends_at(self.lexer.at + 1)
    }

    /// A term; `None` is an option. `signed` is where its negation began.
    fn primary(&mut self, signed: Option<usize>) -> Result<Option<Node>, BadQuery> {
        let at = self.lexer.at;
        if self.lexer.peek() == Some('(') {
            return self.group(at).map(Some);
        }
        match keys::begin(self.lexer.rest()) {
            Begin::Known(name, key) => {
                self.lexer.at += name.len() + 1;
                self.keyed(at, name, key, signed)
            }
            Begin::Unknown(name) => {
                self.notice_unknown(at, name);
                self.pattern(false).map(Some)
            }
            Begin::None => self.pattern(false).map(Some),
        }
    }

    /// What is in parentheses, from the opening one on.
    fn group(&mut self, at: usize) -> Result<Node, BadQuery> {
        let open = self.lexer.at;
        if self.lexer.depth == DEPTH_MAX {
            return Err(check::too_deep(DEPTH_MAX + 1).at(open));
        }
        self.lexer.at += 1;
        self.lexer.depth += 1;
        let node = self.any()?;
        if self.lexer.peek().is_none() {
            return Err(BadQuery::new("the parenthesis ( is not closed")
                .at(open)
                .hint("close it, or write \\( for the character itself"));
        }
        self.lexer.depth -= 1;
        self.lexer.at += 1;
        let Some(node) = node else {
            return Err(BadQuery::new("there is nothing in the parentheses")
                .at(open)
                .hint("leave them out, or write \"()\" for the text"));
        };
        if at == open {
            self.notice_group(open, &node);
        }
        Ok(node)
    }

    fn count_atom(&mut self, at: usize) -> Result<(), BadQuery> {
        self.atoms += 1;
        match self.atoms > ATOMS_MAX {
            true => Err(check::too_many(self.atoms).at(at)),
            false => Ok(()),
        }
    }

    /// Skips space; whether the group, or the query, ends there.
    fn at_end(&mut self) -> bool {
        self.lexer.skip_space();
        match self.lexer.peek() {
            None => true,
            Some(letter) => letter == ')' && self.lexer.depth > 0,
        }
    }

    /// Whether one of these words stands here, as a whole.
    fn is_keyword(&self, words: &[&str]) -> bool {
        let rest = self.lexer.rest();
        let word = words.iter().find(|word| rest.starts_with(**word));
        word.is_some_and(|word| self.lexer.ends_at(self.lexer.at + word.len()))
    }

    /// Takes one of these words, and says where it was.
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

/// The only one, or all of several.
fn one_or(mut parts: Vec<Node>, list: impl Fn(Vec<Node>) -> Node) -> Node {
    match parts.len() {
        1 => parts.remove(0),
        _ => list(parts),
    }
}

/// A word that joins, with something missing on one side.
fn lonely(at: usize, word: &str, side: &str) -> BadQuery {
    BadQuery::new(format!("there is nothing {side} {word}"))
        .at(at)
        .hint(format!("\"{word}\" is the word itself"))
}
