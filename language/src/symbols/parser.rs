//! Feeds a parser with the tokens of each line, and collects the classes of bytes.

use super::class::{self, Class, Run};
use super::outline::Outline;
use crate::lexer::{Colour, LineState, Syntax, Tokens};
use std::ops::Range;

/// Tokens of one call of [`Parser::line`]; a longer line comes in parts.
const TOKENS_MAX: usize = 4096;

/// Three bytes before some texts, no part of the first word.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Token of code. Comments are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) role: Role,
}

/// Role of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Word that is no keyword.
    Word,
    Keyword,
    /// Name of a built-in type.
    Type,
    Number,
    String,
    /// Directive such as `#define`, attribute, decorator.
    Meta,
    /// Key, or variable in a text.
    Key,
    /// A single byte.
    Sign(u8),
}

impl Token {
    pub(super) fn range(&self) -> Range<u32> {
        self.start..self.end
    }

    pub(super) fn is(&self, sign: u8) -> bool {
        self.role == Role::Sign(sign)
    }

    /// True for a word of any role.
    pub(super) fn is_word(&self) -> bool {
        matches!(self.role, Role::Word | Role::Keyword | Role::Type)
    }

    pub(super) fn text<'t>(&self, outline: &Outline<'t>) -> &'t [u8] {
        outline.bytes(self.range())
    }
}

/// Line of a text, or a part of a long one.
pub(super) struct Line<'l> {
    pub(super) tokens: &'l [Token],
    /// Offsets in the text, without the line's end.
    pub(super) range: Range<u32>,
    /// True if the line begins inside a comment, a string, or another form.
    pub(super) begins_inside: bool,
    /// True if the line ends inside of one.
    pub(super) ends_inside: bool,
    /// False if earlier tokens of the line came before.
    pub(super) is_begin: bool,
    /// False if more tokens of the line follow.
    pub(super) is_end: bool,
}

impl Line<'_> {
    /// Columns before the first byte that is not blank; tabs go to multiples of 8.
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

/// Finds definitions in the tokens of lines.
pub(super) trait Parser {
    /// Takes a line; also one without tokens.
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>);

    /// Takes the end of the text.
    fn finish(&mut self, _outline: &mut Outline<'_>) {}
}

/// Lexes a text once. Returns its runs.
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

    fn push(&mut self, range: Range<usize>, role: Role) {
        if self.parser.is_none() {
            return;
        }
        if self.tokens.len() == TOKENS_MAX {
            self.flush(false, false);
        }
        let Range { start, end } = self.absolute(range);
        self.tokens.push(Token { start, end, role });
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
            // Prose has no strings: those of a catalog are its text.
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
