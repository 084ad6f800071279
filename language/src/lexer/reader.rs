//! Reader of a line, from state to state.

mod holes;
mod lasting;
mod perl;
mod signs;

pub use holes::Holes;

use super::families::{
    ANY_CASE, AT, BACKSLASH, BLOCKS, CHARACTERS, CODES, COMMANDS, DIGIT_QUOTES, DOLLAR, HASHES,
    HEREDOC, LONG, MARKUP, PERCENT, PLAIN, QUOTING, RAW, REGEX, SIGILS,
};
use super::quote::{self, Quote, is_character, is_closed, is_fence, is_indent};
use super::syntax::Syntax;
use super::{Colour, LineState, Tokens, markup};

/// Delimiter of a raw string, by the C++ standard.
const DELIMITER_BYTES_MAX: usize = 16;

/// Bound for names, ends of here-documents, and the like.
const NAME_BYTES_MAX: usize = 64;

const PHP_TAG: &str = "<?";

impl Syntax {
    /// State at the beginning of a file.
    pub fn begin(&self) -> LineState {
        let form = self.family.begins_in;
        form.map_or(LineState::Code, |form| LineState::Quote { form, depth: 1 })
    }

    /// State at the beginning of a text: PHP without a tag is code.
    pub fn begin_of(&self, text: &[u8]) -> LineState {
        let begin = self.begin();
        let LineState::Quote { form, .. } = begin else {
            return begin;
        };
        let is_outside = self.quote(form).is_some_and(|it| it.close == PHP_TAG);
        if is_outside && memchr::memmem::find(text, PHP_TAG.as_bytes()).is_none() {
            LineState::Code
        } else {
            begin
        }
    }

    /// State before a line: code if the end of a string is missing before a definition.
    pub(crate) fn resume(&self, line: &[u8], state: LineState) -> LineState {
        let form = match state {
            LineState::Quote { form, .. } => form,
            LineState::Hole(holes) => holes.outermost(),
            state => return state,
        };
        let quote = self.quote(form);
        let is_string =
            |quote: &Quote| quote.colour == Some(Colour::String) && quote.close.len() == 1;
        let begins = |head: &&str| line.starts_with(head.as_bytes());
        if quote.is_some_and(is_string) && self.family.heads.iter().any(begins) {
            LineState::Code
        } else {
            state
        }
    }

    fn quote(&self, form: u8) -> Option<&Quote> {
        self.family.quotes.get(usize::from(form))
    }

    /// Lexes a line without its end. Returns the state behind it.
    pub fn line(&self, line: &[u8], state: LineState, tokens: &mut impl Tokens) -> LineState {
        let state = self.resume(line, state);
        if self.has(MARKUP) {
            return markup::line(line, state, tokens);
        }
        let mut reader = Reader {
            syntax: self,
            line,
            at: 0,
            tokens,
            last: 0,
            heredoc: None,
            no_regex_before: 0,
            holes: Holes::default(),
        };
        let is_inside = self.is_inside(line, state);
        let inside = is_inside.then(|| reader.go_on(state)).flatten();
        let state = inside.unwrap_or_else(|| reader.code());
        let state = match (state, reader.heredoc) {
            (LineState::Code, Some(end)) => LineState::Heredoc(end),
            (LineState::Code, _) if self.has(BLOCKS) => reader.block().unwrap_or(state),
            (state, _) => state,
        };
        reader.holes.around(state, self)
    }
}

struct Reader<'a, T> {
    syntax: &'a Syntax,
    line: &'a [u8],
    at: usize,
    tokens: &'a mut T,
    /// Last non-blank byte of code; `(` for a keyword, as a value may follow.
    last: u8,
    /// End of a here-document that the next line begins.
    heredoc: Option<u32>,
    no_regex_before: usize,
    holes: Holes,
}

impl<T: Tokens> Reader<'_, T> {
    fn byte(&self, ahead: usize) -> u8 {
        self.line.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &[u8] {
        &self.line[self.at..]
    }

    fn push(&mut self, start: usize, colour: Option<Colour>) {
        if let Some(colour) = colour.filter(|_| start < self.at) {
            self.tokens.coloured(start..self.at, colour);
        }
    }

    fn push_to(&mut self, start: usize, end: usize, colour: Option<Colour>) {
        if let Some(colour) = colour.filter(|_| start < end) {
            self.tokens.coloured(start..end, colour);
        }
    }

    fn code(&mut self) -> LineState {
        self.line_head();
        while self.at < self.line.len() {
            if let Some(state) = self.next() {
                return state;
            }
        }
        LineState::Code
    }

    /// Returns a state if a form outlasts the line.
    fn next(&mut self) -> Option<LineState> {
        let syntax = self.syntax;
        if syntax.has(PLAIN) {
            self.skip(|byte| !syntax.opens(byte));
        }
        let (start, byte) = (self.at, self.byte(0));
        if matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c) {
            self.at += 1;
            self.skip(|byte| byte == b' ');
            return None;
        }
        if self.syntax.opens(byte)
            && let Some((form, quote)) = self.form()
        {
            self.at += quote.open.len();
            return self.quoted(form, quote, start, 1);
        }
        if syntax.has(PLAIN) {
            self.at = (self.at + 1).min(self.line.len());
            return None;
        }
        if byte.is_ascii_digit() {
            self.number();
            return None;
        }
        if self.syntax.is_in_name(byte) {
            return self.name();
        }
        self.sign(byte)
    }

    fn sign(&mut self, byte: u8) -> Option<LineState> {
        let (syntax, start) = (self.syntax, self.at);
        match byte {
            b'\\' if syntax.has(BACKSLASH) => {
                self.at = (self.at + 2).min(self.line.len());
                self.last = byte;
                return None;
            }
            b'\\' if syntax.has(COMMANDS) => {
                self.at = (self.at + 1).min(self.line.len());
                if self.byte(0).is_ascii_alphabetic() {
                    self.skip(|byte| byte.is_ascii_alphabetic() || byte == b'@');
                    self.push(start, Some(Colour::Keyword));
                } else {
                    self.at = (self.at + 1).min(self.line.len());
                }
                return None;
            }
            b'$' if syntax.has(CODES) => {
                let is_escape = self.byte(1) == b'\\';
                self.at = (self.at + 2 + usize::from(is_escape)).min(self.line.len());
                self.push(start, Some(Colour::String));
                self.last = b'"';
                return None;
            }
            b'/' if syntax.has(REGEX) && self.regex() => return None,
            b'/' if syntax.has(QUOTING) && self.last_is_before_regex() => {
                self.at += 1;
                return self.delimited(byte, byte, 1, false, start);
            }
            b'<' if syntax.has(HEREDOC) && self.heredoc.is_none() => self.here_document(),
            b'$' if syntax.has(DOLLAR) && self.variable() => return None,
            b'@' if syntax.has(AT) => {
                let is_meta = self.byte(1) == b':' && syntax.is_in_name(self.byte(2));
                self.at += 1 + usize::from(is_meta);
                self.skip(|byte| syntax.is_in_name(byte) || byte == b'.');
                self.push(start, Some(Colour::Meta));
                self.last = byte;
                return None;
            }
            b'[' | b'-' if syntax.has(LONG) => {
                if let Some((level, is_comment, bytes)) = long_bracket(self.rest()) {
                    self.at += bytes;
                    return self.raw(LineState::Long { level, is_comment }, start);
                }
                if self.rest().starts_with(b"--") {
                    self.at = self.line.len();
                    self.push(start, Some(Colour::Comment));
                    return None;
                }
            }
            b'~' if syntax.has(SIGILS) && self.byte(1).is_ascii_alphabetic() => {
                let letters = self.rest().iter().skip(1).take(NAME_BYTES_MAX);
                let letters = letters
                    .take_while(|byte| byte.is_ascii_alphabetic())
                    .count();
                let (open, next) = (self.byte(1 + letters), self.byte(2 + letters));
                if b"([{<|/\"'".contains(&open) && next != open {
                    self.at += 2 + letters;
                    return self.delimited(open, closing(open), 1, false, start);
                }
            }
            b'%' if syntax.has(PERCENT) && (self.may_be_value() || self.may_be_argument()) => {
                let has_letter = b"wWiIqQr".contains(&self.byte(1));
                let open = self.byte(1 + usize::from(has_letter));
                if b"([{<|!".contains(&open) && (has_letter || open != b'<') {
                    self.at += 2 + usize::from(has_letter);
                    return self.delimited(open, closing(open), 1, false, start);
                }
            }
            _ => {}
        }
        self.at = (self.at + 1).min(self.line.len());
        if self.holes.are_open()
            && let Some((form, quote)) = self.leave_hole(byte)
        {
            return self.quoted(form, quote, start, 1);
        }
        self.tokens.sign(start, byte);
        self.last = byte;
        None
    }

    fn skip(&mut self, is_part: impl Fn(u8) -> bool) {
        let parts = self.rest().iter().take_while(|byte| is_part(**byte));
        self.at += parts.count();
    }

    fn number(&mut self) {
        let start = self.at;
        let quotes = self.syntax.has(DIGIT_QUOTES);
        while self.at < self.line.len() {
            let (byte, next) = (self.byte(0), self.byte(1));
            let is_sign = matches!(byte, b'+' | b'-')
                && matches!(self.line[self.at - 1], b'e' | b'E' | b'p' | b'P')
                && self.at - start < NAME_BYTES_MAX
                && !self.line[start..self.at].contains(&b'x');
            let is_point = byte == b'.' && next != b'.' && !next.is_ascii_alphabetic();
            let is_quote = quotes && byte == b'\'' && next.is_ascii_hexdigit();
            let is_part = byte.is_ascii_alphanumeric() || byte == b'_';
            let is_exponent = is_sign && next.is_ascii_digit();
            if !(is_part || is_point || is_quote || is_exponent) {
                break;
            }
            self.at += 1;
        }
        if self.syntax.has(CODES) && self.byte(0) == b'\'' && self.at == start + 1 {
            // `0'a` of Prolog.
            let is_escape = self.byte(1) == b'\\';
            self.at = (self.at + 2 + usize::from(is_escape)).min(self.line.len());
        }
        self.push(start, Some(Colour::Number));
        self.last = b'0';
    }

    fn name(&mut self) -> Option<LineState> {
        let (syntax, start) = (self.syntax, self.at);
        if syntax.has(QUOTING) {
            self.perl_name();
        } else {
            self.skip(|byte| syntax.is_in_name(byte));
        }
        if syntax.has(QUOTING | CHARACTERS) {
            self.quote_in_name(start);
        }
        let word = &self.line[start..self.at];
        if matches!(self.byte(0), b'"' | b'\'')
            && let Some(state) = self.prefixed(start)
        {
            return state;
        }
        if syntax.has(HASHES) && matches!(word, b"r" | b"br" | b"cr") {
            let hashes = self.rest().iter().take_while(|byte| **byte == b'#').count();
            if self.byte(hashes) == b'"' && hashes < 256 {
                self.at += hashes + 1;
                return self.raw(LineState::Hashes(hashes as u16), start);
            }
        }
        if syntax.has(RAW) && matches!(word, b"R" | b"LR" | b"uR" | b"UR" | b"u8R") {
            let bytes = self.rest().iter().take(DELIMITER_BYTES_MAX + 2);
            let open = bytes.clone().position(|byte| *byte == b'(');
            if let Some(open) = open.filter(|open| *open > 0 && self.byte(0) == b'"') {
                let delimiter = hash(&self.rest()[1..open]);
                self.at += open + 1;
                return self.raw(LineState::Raw(delimiter), start);
            }
        }
        if syntax.has(QUOTING) && self.is_quoting(word, start) {
            let has_second = matches!(word, b"s" | b"tr" | b"y");
            return self.quoting(has_second, start);
        }
        let is_word = self.last != b'.' || syntax.has(ANY_CASE);
        let colour = syntax.word(word).filter(|_| is_word);
        match colour {
            Some(colour) => self.tokens.coloured(start..self.at, colour),
            None => self.tokens.word(start..self.at),
        }
        self.last = match colour {
            Some(Colour::Keyword) => b'(',
            _ if self.line[start..self.at].ends_with(b"&") => b'&',
            _ => b'a',
        };
        None
    }

    fn form(&self) -> Option<(u8, &'static Quote)> {
        let (rest, mut forms) = (self.rest(), (0..).zip(self.syntax.family.quotes));
        let fits = |quote: &Quote| {
            let open = quote.open.as_bytes();
            let before = &self.line[..self.at];
            let is_apart = || match before.last() {
                None => true,
                Some(byte) => byte.is_ascii_whitespace() || b"();[],|&".contains(byte),
            };
            let is_there = if self.syntax.has(ANY_CASE) {
                rest.len() >= open.len() && rest[..open.len()].eq_ignore_ascii_case(open)
            } else {
                rest.starts_with(open)
            };
            is_there
                && !quote.has(quote::INNER)
                && (!quote.has(quote::BLANK) || is_apart())
                && (!quote.has(quote::COLUMN) || self.at == 0)
                && (!quote.has(quote::FIRST) || is_indent(before))
                && (!quote.has(quote::NO_OPERATOR) || !is_operator(before, rest))
                && (!quote.has(quote::ONE) || is_character(&rest[open.len()..], open[0]))
                && (!quote.has(quote::FENCE) || is_fence(before, rest))
                && (!quote.has(quote::CLOSED) || is_closed(&rest[open.len()..], quote))
                && (!quote.has(quote::VALUE) || self.last == 0 || b":-[{,?".contains(&self.last))
        };
        forms.find(|(_, quote)| fits(quote))
    }
}

fn is_operator(before: &[u8], dashes: &[u8]) -> bool {
    let is_sign = |byte: &u8| b"!#$%&*+./<=>?@\\^|~:-".contains(byte);
    let behind = dashes.iter().find(|byte| **byte != b'-');
    before.last().is_some_and(is_sign) || behind.is_some_and(is_sign)
}

/// Level of `[==[` or `--[==[`, comment or not, and length.
fn long_bracket(text: &[u8]) -> Option<(u16, bool, usize)> {
    let (is_comment, bracket) = match text.strip_prefix(b"--") {
        Some(bracket) => (true, bracket),
        None => (false, text),
    };
    let inside = bracket.strip_prefix(b"[")?;
    let equals = inside.iter().take(NAME_BYTES_MAX);
    let level = equals.take_while(|byte| **byte == b'=').count();
    let is_long = inside.get(level) == Some(&b'[');
    let bytes = level + 2 + 2 * usize::from(is_comment);
    is_long.then_some((level as u16, is_comment, bytes))
}

fn opening(close: u8) -> u8 {
    match close {
        b')' => b'(',
        b']' => b'[',
        b'}' => b'{',
        b'>' => b'<',
        _ => 0,
    }
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}

/// FNV-1a 32.
fn hash(bytes: &[u8]) -> u32 {
    let mix = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    bytes.iter().fold(0x811c_9dc5, mix)
}
