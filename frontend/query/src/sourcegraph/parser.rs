//! Parses a query. `NOT` binds most, then `AND` or nothing, then `OR`.

use super::hoist::hoisted;
use super::key;
use super::options::{Options, PatternType};
use super::scan;
use super::tree::{Tree, Word, one_or};
use crate::error::{BadQuery, Notice};
use crate::re2;
use crate::source_text::SourceText;
use schema::message::{ATOMS_MAX, DEPTH_MAX, Syntax};

pub(super) fn parse(
    typed: &str,
    pattern_type: PatternType,
) -> Result<(Option<Tree>, Options), BadQuery> {
    let mut parser = Parser {
        typed,
        pattern_type,
        at: 0,
        depth: 0,
        atoms: 0,
        options: Options::default(),
    };
    let node = parser.any()?;
    Ok((node.map(hoisted), parser.options))
}

pub(super) struct Parser<'a> {
    pub(super) typed: &'a str,
    pub(super) pattern_type: PatternType,
    pub(super) at: usize,
    depth: usize,
    atoms: usize,
    pub(super) options: Options,
}

impl<'a> Parser<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.typed[self.at..]
    }

    fn any(&mut self) -> Result<Option<Tree>, BadQuery> {
        let mut parts: Vec<Tree> = self.all()?.into_iter().collect();
        while self.keyword("or", !parts.is_empty()) {
            parts.extend(self.all()?);
        }
        Ok(one_or(parts, Tree::Any))
    }

    fn all(&mut self) -> Result<Option<Tree>, BadQuery> {
        let (mut parts, mut run) = (Vec::new(), Vec::new());
        while !self.at_end() {
            let has_left = !parts.is_empty() || !run.is_empty();
            if self.is_keyword("or", has_left) {
                break;
            }
            if self.keyword("and", has_left) {
                self.join(&mut run, &mut parts);
                continue;
            }
            match self.unary()? {
                Some(Tree::Pattern(term)) if term.joins => run.push(term),
                Some(Tree::Filter(field, reading, text)) => {
                    parts.push(Tree::Filter(field, reading, text));
                }
                Some(node) => {
                    self.join(&mut run, &mut parts);
                    parts.push(node);
                }
                None => {}
            }
        }
        self.join(&mut run, &mut parts);
        Ok(one_or(parts, Tree::All))
    }

    fn join(&self, run: &mut Vec<Word>, parts: &mut Vec<Tree>) {
        let words = std::mem::take(run);
        let text = |term: &Word| match (self.pattern_type, term.syntax) {
            (PatternType::Regexp, Syntax::Literal) => scan::escaped(&term.text),
            (PatternType::Regexp, Syntax::Regexp) if words.len() > 1 => {
                let (mut text, at) = (SourceText::default(), term.text.at(0));
                for letter in "(?:".chars() {
                    text.push(at, letter.encode_utf8(&mut [0; 4]));
                }
                scan::append(&mut text, &term.text);
                text.push(at, ")");
                text
            }
            _ => term.text.clone(),
        };
        let texts: Vec<SourceText> = words.iter().map(text).collect();
        let (separator, syntax) = match self.pattern_type {
            PatternType::Regexp => (".*?", Syntax::Regexp),
            _ => (" ", Syntax::Literal),
        };
        match &words[..] {
            [] => {}
            [word] => parts.push(Tree::Pattern(word.clone())),
            _ => parts.push(Tree::Pattern(Word {
                text: scan::joined(&texts, separator),
                syntax,
                in_text: false,
                joins: true,
            })),
        }
    }

    fn unary(&mut self) -> Result<Option<Tree>, BadQuery> {
        let mut negated = false;
        while self.keyword("not", true) {
            negated = !negated;
        }
        let node = self.primary()?;
        Ok(match node {
            Some(node) if negated => Some(Tree::Not(Box::new(node))),
            node => node,
        })
    }

    fn primary(&mut self) -> Result<Option<Tree>, BadQuery> {
        if key::prefix(self.rest()).is_some() {
            self.count(self.at)?;
            return self.field();
        }
        if self.is_group() {
            return self.group();
        }
        Ok(self.term()?.map(Tree::Pattern))
    }

    /// True at parentheses around operands. Around a part of a pattern they are text.
    fn is_group(&self) -> bool {
        let Some(inner) = scan::group(self.rest()) else {
            return false;
        };
        let behind = self.rest()[inner.len() + 2..].chars().next();
        let ends = behind.is_none_or(|letter| letter.is_whitespace() || letter == ')');
        let is_operand = |word: &str| {
            let word = word.trim_start_matches('(');
            let operators = ["and", "or", "not"];
            let mut operators = operators.into_iter();
            operators.any(|known| word.eq_ignore_ascii_case(known)) || key::prefix(word).is_some()
        };
        ends && !inner.trim().is_empty()
            && (self.pattern_type == PatternType::Keyword
                || inner.split_whitespace().any(is_operand))
    }

    fn group(&mut self) -> Result<Option<Tree>, BadQuery> {
        if self.depth == DEPTH_MAX {
            return Err(BadQuery::too_deep(DEPTH_MAX + 1).at(self.at));
        }
        let open = self.at;
        self.at += 1;
        self.depth += 1;
        let node = self.any()?;
        self.depth -= 1;
        if !self.rest().starts_with(')') {
            return Err(BadQuery::new("the parenthesis is not closed").at(open));
        }
        self.at += 1;
        Ok(node)
    }

    pub(super) fn term(&mut self) -> Result<Option<Word>, BadQuery> {
        let at = self.at;
        self.count(at)?;
        let first = self.rest().chars().next();
        let reads = match first {
            Some('/') => self.pattern_type != PatternType::Literal,
            Some('"' | '\'') => {
                matches!(
                    self.pattern_type,
                    PatternType::Keyword | PatternType::Regexp
                )
            }
            _ => false,
        };
        if let Some((text, length)) = reads.then(|| self.enclosed()).flatten() {
            self.at += length;
            let is_regexp = first == Some('/');
            let text = match is_regexp {
                true => relocated(text),
                false => text,
            };
            let syntax = if is_regexp {
                Syntax::Regexp
            } else {
                Syntax::Literal
            };
            let joins = self.pattern_type == PatternType::Regexp;
            return Ok(some_term(text, syntax, joins));
        }
        let in_group = self.depth > 0;
        let length = match self.pattern_type {
            PatternType::Keyword => scan::word(self.rest(), in_group),
            _ => scan::balanced(self.rest(), in_group),
        };
        let word = &self.rest()[..length];
        self.at += length;
        self.note_sign(word, at);
        let joins = self.pattern_type != PatternType::Keyword;
        Ok(match self.pattern_type {
            PatternType::Regexp => some_term(re2::translated(word, at), Syntax::Regexp, joins),
            _ => some_term(SourceText::plain(at, word), Syntax::Literal, joins),
        })
    }

    fn note_sign(&mut self, word: &str, at: usize) {
        let excluded = word.strip_prefix('-').filter(|rest| {
            rest.starts_with(|letter: char| letter.is_ascii_alphabetic())
                && self.pattern_type == PatternType::Keyword
        });
        self.options.notices.extend(excluded.map(|rest| Notice {
            at: Some(at),
            reason: format!("{word} is searched for as text"),
            hint: Some(format!("NOT {rest} excludes it")),
        }));
    }

    fn enclosed(&self) -> Option<(SourceText, usize)> {
        let (text, length) = scan::delimited(self.rest(), self.at)?;
        let behind = self.rest()[length..].chars().next();
        let is_end =
            behind.is_none_or(|letter| letter.is_whitespace() || letter == ')' && self.depth > 0);
        (is_end && !text.is_empty()).then_some((text, length))
    }

    pub(super) fn value(&mut self) -> SourceText {
        if self.rest().starts_with(['"', '\''])
            && let Some((text, length)) = self.enclosed()
        {
            self.at += length;
            return text;
        }
        let length = scan::word(self.rest(), self.depth > 0);
        let text = SourceText::plain(self.at, &self.rest()[..length]);
        self.at += length;
        text
    }

    fn count(&mut self, at: usize) -> Result<(), BadQuery> {
        self.atoms += 1;
        if self.atoms > ATOMS_MAX {
            return Err(BadQuery::too_many(self.atoms).at(at));
        }
        Ok(())
    }

    fn at_end(&mut self) -> bool {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        let rest = self.rest();
        rest.is_empty() || self.depth > 0 && rest.starts_with(')')
    }

    fn is_keyword(&mut self, word: &str, has_left: bool) -> bool {
        if self.at_end() || !has_left {
            return false;
        }
        let rest = self.rest();
        let is_word = rest
            .get(..word.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(word));
        let behind = rest.get(word.len()..).unwrap_or_default();
        let right = behind.trim_start();
        let has_right = !(right.is_empty() || self.depth > 0 && right.starts_with(')'));
        let is_apart = behind.starts_with(|letter: char| letter.is_whitespace() || letter == '(');
        is_word && is_apart && has_right
    }

    fn keyword(&mut self, word: &str, has_left: bool) -> bool {
        let is_there = self.is_keyword(word, has_left);
        if is_there {
            self.at += word.len();
            self.at_end();
        }
        is_there
    }
}

fn relocated(text: SourceText) -> SourceText {
    let translated = re2::translated(text.as_str(), 0);
    let mut out = SourceText::default();
    for (offset, letter) in translated.as_str().char_indices() {
        let at = text.at(translated.at(offset));
        out.push(at, letter.encode_utf8(&mut [0; 4]));
    }
    out
}

fn some_term(text: SourceText, syntax: Syntax, joins: bool) -> Option<Word> {
    (!text.is_empty()).then_some(Word {
        text,
        syntax,
        in_text: false,
        joins,
    })
}
