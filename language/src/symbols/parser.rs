//! Tokens of lines, and classes of bytes.

use super::class::{self, Class, Run};
use super::kind::Kind;
use super::outline::Outline;
use crate::lexer::{Colour, LineState, Syntax, Tokens};
use std::ops::Range;

/// Tokens of a call; a longer line comes in parts.
const TOKENS_MAX: usize = 4096;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Word,
    Keyword,
    Type,
    Number,
    String,
    Meta,
    /// Key, or variable in a text.
    Key,
    Sign(u8),
}

impl Token {
    #[inline]
    pub(super) fn new(range: Range<u32>, role: Role) -> Token {
        let Range { start, end } = range;
        Token { start, end, role }
    }

    pub(super) fn range(&self) -> Range<u32> {
        self.start..self.end
    }

    pub(super) fn is(&self, sign: u8) -> bool {
        self.role == Role::Sign(sign)
    }

    pub(super) fn nesting(&self) -> isize {
        match self.role {
            Role::Sign(b'(' | b'[' | b'{') => 1,
            Role::Sign(b')' | b']' | b'}') => -1,
            _ => 0,
        }
    }

    pub(super) fn is_of(&self, signs: &[u8]) -> bool {
        matches!(self.role, Role::Sign(sign) if signs.contains(&sign))
    }

    pub(super) fn is_word(&self) -> bool {
        matches!(self.role, Role::Word | Role::Keyword | Role::Type)
    }

    #[inline]
    pub(super) fn text<'t>(&self, outline: &Outline<'t>) -> &'t [u8] {
        outline.bytes(self.range())
    }
}

impl Outline<'_> {
    pub(super) fn define_token(&mut self, name: Option<Token>, kind: Kind) -> Option<u32> {
        self.define(name?.range(), kind)
    }
}

/// True if `words`, with blanks between, have the text.
pub(super) fn is_of(words: &str, text: &[u8]) -> bool {
    words.split(' ').any(|word| word.as_bytes() == text)
}

/// Line, or part of a long one.
pub(super) struct Line<'l> {
    pub(super) tokens: &'l [Token],
    pub(super) range: Range<u32>,
    /// Comment, string or the like goes on from the line before.
    pub(super) begins_inside: bool,
    pub(super) ends_inside: bool,
    /// First part of the line.
    pub(super) is_begin: bool,
    /// Last part of the line.
    pub(super) is_end: bool,
}

impl Line<'_> {
    /// First token, if no form or part of the line is before it.
    pub(super) fn begin(&self) -> Option<&Token> {
        let is_begin = self.is_begin && !self.begins_inside;
        self.tokens.first().filter(|_| is_begin)
    }

    /// Columns before the first byte that is not blank.
    #[inline]
    pub(super) fn indent(&self, outline: &Outline<'_>) -> usize {
        let mut columns = 0;
        for byte in outline.bytes(self.range.clone()) {
            match byte {
                b' ' => columns += 1,
                b'\t' => columns = columns / 8 * 8 + 8,
                b'\x0c' => columns = 0,
                _ => break,
            }
        }
        columns
    }
}

pub(super) trait Parser {
    /// Takes a line, even without tokens.
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>);

    fn finish(&mut self, _outline: &mut Outline<'_>) {}
}

pub(super) fn run(
    syntax: &Syntax,
    parser: Option<Box<dyn Parser>>,
    outline: &mut Outline<'_>,
) -> Vec<Run> {
    let text = outline.text;
    let mut sink = Sink {
        parser,
        outline,
        tokens: Vec::new(),
        runs: Vec::new(),
        class: syntax.class(),
        line: 0..0,
        begins_inside: false,
        is_begin: true,
    };
    let mark = usize::from(text.starts_with(BYTE_ORDER_MARK)) * BYTE_ORDER_MARK.len();
    let (mut state, mut start) = (syntax.begin_of(text), mark);
    while start < text.len() {
        let rest = &text[start..];
        let (length, next) = match memchr::memchr(b'\n', rest) {
            Some(end) => (end, end + 1),
            None => (rest.len(), rest.len()),
        };
        let line = &rest[..length];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        sink.line = start as u32..(start + line.len()) as u32;
        state = syntax.resume(line, state);
        sink.begins_inside = syntax.is_inside(line, state);
        sink.is_begin = true;
        state = syntax.line(line, state, &mut sink);
        sink.flush(true, state != LineState::Code);
        start += next;
    }
    let Sink {
        parser,
        outline,
        runs,
        ..
    } = sink;
    if let Some(mut parser) = parser {
        parser.finish(outline);
    }
    runs
}

struct Sink<'s, 't> {
    parser: Option<Box<dyn Parser>>,
    outline: &'s mut Outline<'t>,
    tokens: Vec<Token>,
    runs: Vec<Run>,
    /// Class outside of comments and strings.
    class: Class,
    line: Range<u32>,
    begins_inside: bool,
    is_begin: bool,
}

impl Sink<'_, '_> {
    #[cold]
    fn flush_part(&mut self) {
        self.flush(false, false);
    }

    fn flush(&mut self, is_end: bool, ends_inside: bool) {
        if let Some(parser) = &mut self.parser {
            let line = Line {
                tokens: &self.tokens,
                range: self.line.clone(),
                begins_inside: self.begins_inside,
                ends_inside,
                is_begin: self.is_begin,
                is_end,
            };
            parser.line(&line, self.outline);
        }
        self.tokens.clear();
        self.is_begin = false;
    }

    #[inline]
    fn push(&mut self, range: Range<usize>, role: Role) {
        if self.parser.is_none() {
            return;
        }
        if self.tokens.len() == TOKENS_MAX {
            self.flush_part();
        }
        let token = Token::new(self.absolute(range), role);
        self.tokens.push(token);
    }

    fn absolute(&self, range: Range<usize>) -> Range<u32> {
        let line = self.line.start;
        line + range.start as u32..line + range.end as u32
    }
}

impl Tokens for Sink<'_, '_> {
    fn coloured(&mut self, part: Range<usize>, colour: Colour) {
        let class = match colour {
            Colour::Comment => Some(Class::Comment),
            // Strings of a catalog are its text.
            Colour::String if self.class == Class::Code => Some(Class::String),
            _ => None,
        };
        if let Some(class) = class {
            let range = self.absolute(part.clone());
            class::add(&mut self.runs, self.outline.text, range, class);
        }
        let role = match colour {
            Colour::Comment => return,
            Colour::String => Role::String,
            Colour::Number => Role::Number,
            Colour::Keyword => Role::Keyword,
            Colour::Type => Role::Type,
            Colour::Meta | Colour::Added | Colour::Removed => Role::Meta,
            Colour::Key => Role::Key,
        };
        self.push(part, role);
    }

    fn word(&mut self, word: Range<usize>) {
        self.push(word, Role::Word);
    }

    fn sign(&mut self, at: usize, sign: u8) {
        self.push(at..at + 1, Role::Sign(sign));
    }
}
