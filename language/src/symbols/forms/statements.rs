//! Statements as words, in languages in which lines and blanks hardly count.

use super::scopes::{Found, Scopes};
use super::{Act, MARGIN, METHODS, Match, Table};
use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};
use std::ops::Range;

const TOKENS_MAX: usize = 4096;

const MATCHES_MAX: usize = 4;

/// Column of a continuation's sign in Fortran's fixed form.
const CONTINUATION: u32 = 5;

#[derive(Clone, Copy)]
pub(crate) struct Endings {
    pub(crate) signs: &'static [u8],
    /// A line ends a statement, unless this sign goes before it.
    pub(crate) lines: Option<u8>,
    pub(crate) alone: &'static str,
    pub(crate) before: &'static str,
    /// Words that end a statement, unless it begins with `end`.
    pub(crate) after: &'static str,
    pub(crate) block: &'static [u8],
    pub(crate) directive: u8,
}

impl Endings {
    pub(crate) const NONE: Endings = Endings {
        signs: b";",
        lines: None,
        alone: "",
        before: "",
        after: "",
        block: b"",
        directive: b'\n',
    };
}

pub(crate) struct Statements {
    table: &'static Table,
    ends: &'static Endings,
    scopes: Scopes,
    tokens: Vec<Token>,
    depth: usize,
    text: Vec<u8>,
    starts: Vec<usize>,
    in_directive: bool,
}

impl Parser for Statements {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(first) = line.tokens.first() else {
            return;
        };
        let goes_on = outline.bytes(line.range.clone()).ends_with(b"\\");
        let is_directive = outline.text[first.start as usize] == self.ends.directive;
        if self.in_directive || is_directive && self.directive(line.tokens, outline) {
            self.in_directive = goes_on;
            return;
        }
        for token in self.begin_line(line, outline) {
            self.token(*token, outline);
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.end_statement(outline);
    }
}

impl Statements {
    pub(crate) fn of(table: &'static Table, ends: &'static Endings) -> Statements {
        Statements {
            table,
            ends,
            scopes: Scopes::new(table.has(METHODS)),
            tokens: Vec::new(),
            depth: 0,
            text: Vec::new(),
            starts: Vec::new(),
            in_directive: false,
        }
    }

    fn directive(&mut self, tokens: &[Token], outline: &mut Outline<'_>) -> bool {
        let code = std::mem::replace(&mut self.tokens, tokens.to_vec());
        let is_known = self.find(outline);
        self.tokens = code;
        is_known
    }

    fn begin_line<'l>(&mut self, line: &Line<'l>, outline: &mut Outline<'_>) -> &'l [Token] {
        let begin = self
            .tokens
            .first()
            .map(|it| outline.text[it.start as usize]);
        if begin == Some(self.ends.directive) && self.depth == 0 {
            self.tokens.clear();
        }
        let (Some(sign), [first, rest @ ..]) = (self.ends.lines, line.tokens) else {
            return line.tokens;
        };
        let is_sign = |token: &mut Token| outline.bytes(token.range()) == [sign];
        let is_behind = self.tokens.pop_if(is_sign).is_some();
        let column = first.start - line.range.start;
        let is_fixed = column == CONTINUATION && first.end - first.start == 1 && !first.is_word();
        let is_sign = sign == b'&' && (first.is(sign) || is_fixed);
        if line.is_begin && !is_behind && !is_sign {
            self.end_statement(outline);
        }
        if is_sign { rest } else { line.tokens }
    }

    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        let mut is_end = false;
        if self.depth == 0 {
            let text = token.text(outline);
            let is_one = |words: &str| {
                let mut words = words.split(' ');
                token.role == Role::Keyword
                    && words.any(|it| it.as_bytes().eq_ignore_ascii_case(text))
            };
            let is_alone = is_one(self.ends.alone);
            if is_alone || is_one(self.ends.before) {
                self.end_statement(outline);
            }
            is_end = is_alone
                || is_one(self.ends.after) && !self.begins_with(b"end", outline)
                || matches!(token.role, Role::Sign(sign) if self.ends.signs.contains(&sign));
        }
        match token.role {
            Role::Sign(b'(' | b'[' | b'{') => self.depth += 1,
            Role::Sign(b')' | b']' | b'}') => {
                self.depth = self.depth.saturating_sub(1);
                let is_block = self.depth == 0 && token.is(b'}');
                is_end = is_block && self.begins_with(self.ends.block, outline);
            }
            _ => {}
        }
        if self.tokens.len() < TOKENS_MAX {
            self.tokens.push(token);
        }
        if is_end {
            self.end_statement(outline);
        }
    }

    fn begins_with(&self, word: &[u8], outline: &Outline<'_>) -> bool {
        let first = self.tokens.first();
        first.is_some_and(|first| first.text(outline).eq_ignore_ascii_case(word))
    }

    fn end_statement(&mut self, outline: &mut Outline<'_>) {
        if self
            .tokens
            .first()
            .is_some_and(|first| first.role != Role::Number || self.ends.lines.is_some())
        {
            self.find(outline);
        }
        self.tokens.clear();
        self.depth = 0;
    }

    fn find(&mut self, outline: &mut Outline<'_>) -> bool {
        for count in 0..MATCHES_MAX {
            self.write(outline);
            let Some(found) = self.table.find(&self.text, 0) else {
                return count > 0;
            };
            if !self.apply(&found, outline) {
                break;
            }
        }
        true
    }

    fn write(&mut self, outline: &Outline<'_>) {
        self.text.clear();
        self.text.extend(self.scopes.innermost().as_bytes());
        self.text.push(b'>');
        let start = self.tokens.first().map_or(0, |first| first.start as usize);
        if self.table.has(MARGIN)
            && outline.text[..start]
                .last()
                .is_none_or(|byte| *byte == b'\n')
        {
            self.text.push(b'-');
        }
        self.starts.clear();
        for token in &self.tokens {
            self.starts.push(self.text.len());
            match token.role {
                Role::String => self.text.push(b'"'),
                _ => self.text.extend(token.text(outline)),
            }
            self.text.push(b' ');
        }
    }

    fn apply(&mut self, found: &Match, outline: &mut Outline<'_>) -> bool {
        let words = |part: &Option<Range<usize>>| {
            let place = |at: usize| self.starts.partition_point(|start| *start <= at);
            let part = part.as_ref().filter(|part| !part.is_empty())?;
            self.tokens.get(place(part.start) - 1..place(part.end - 1))
        };
        let (name, list) = (words(&found.name), words(&found.list));
        let whole = range(&self.tokens);
        let place = Found {
            act: found.act,
            name: name.map(range),
            of: words(&found.of).map(range),
            start: whole.start,
            end: whole.end,
        };
        match (found.act, name, list) {
            (Act::List(kind), Some(tokens), _) => define_list(tokens, kind, outline),
            (Act::Turn(..), _, Some(list)) => {
                define_list(list, Kind::Enumerator, outline);
                self.scopes.apply(&place, outline);
            }
            (Act::Define(kind), _, Some(list)) => {
                let member = match kind {
                    Kind::Enum => Kind::Enumerator,
                    _ => Kind::Field,
                };
                self.scopes.define(kind, &place, outline);
                outline.enter(self.scopes.last);
                define_list(list, member, outline);
                outline.leave(place.end);
            }
            (Act::Ports(kind, word), Some(_), _) => {
                self.scopes.open(kind, word, &place, outline);
                define_ports(&self.tokens, outline);
            }
            _ => return self.scopes.apply(&place, outline),
        }
        false
    }
}

fn range(tokens: &[Token]) -> Range<u32> {
    match tokens {
        [it] if it.role == Role::String && it.end - it.start > 2 => it.start + 1..it.end - 1,
        [it] => it.range(),
        [first, .., last] => first.start..last.end,
        [] => 0..0,
    }
}

fn define_list(tokens: &[Token], kind: Kind, outline: &mut Outline<'_>) {
    let (mut depth, mut name, mut is_value) = (0_usize, None, false);
    for token in tokens {
        match token.role {
            Role::Sign(b'(' | b'[' | b'{') => depth += 1,
            Role::Sign(b')' | b']' | b'}') if depth == 0 => break,
            Role::Sign(b')' | b']' | b'}') => depth -= 1,
            _ if depth > 0 => {}
            Role::Sign(b',' | b';') => {
                name.take().map(|name| outline.define(name, kind));
                is_value = false;
            }
            Role::Sign(b'=' | b':') => is_value = true,
            _ if is_value || !token.is_word() => {}
            _ if token.text(outline).eq_ignore_ascii_case(b"as") => is_value = true,
            Role::Word => name = Some(token.range()),
            _ => name = name.or(Some(token.range())),
        }
    }
    name.map(|name| outline.define(name, kind));
}

/// `#(parameters) (ports with directions)`
fn define_ports(tokens: &[Token], outline: &mut Outline<'_>) {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.role {
            Role::Sign(b'(') if depth == 0 => {
                depth = 1;
                let inside = &tokens[at + 1..];
                let first = inside.first().map_or(&b""[..], |first| first.text(outline));
                if at > 0 && tokens[at - 1].is(b'#') {
                    define_list(inside, Kind::Constant, outline);
                } else if matches!(first, b"input" | b"output" | b"inout" | b"ref") {
                    define_list(inside, Kind::Field, outline);
                }
            }
            Role::Sign(b'(') => depth += 1,
            Role::Sign(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}
