//! CSS, SCSS, Less, Sass and Stylus: `.a .b.c > d:hover, #e` defines `d` and `e`, the last parts of
//! selectors; classes go before elements.

use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};
use std::ops::Range;

const NAMES_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct Style {
    head: Head,
    /// Columns of blocks without braces.
    columns: Option<Vec<usize>>,
    column: usize,
    end: u32,
}

/// Statement before `{`, `;` or `}`.
#[derive(Default)]
struct Head {
    names: Vec<Range<u32>>,
    /// First name behind the last comma.
    selector: usize,
    /// Name in `@mixin name` and `.mixin(`.
    function: Option<Range<u32>>,
    at_rule: AtRule,
    is_element: bool,
    brackets: usize,
    interpolations: usize,
    /// Variable before `:` or `=`.
    variable: Option<Range<u32>>,
    /// Name without `$`: `a:hover` is none.
    is_plain: bool,
    last: Option<Token>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum AtRule {
    #[default]
    None,
    Function,
    Other,
}

impl Parser for Style {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if line.is_begin && !line.tokens.is_empty() {
            self.begin_line(line, outline);
        }
        for token in line.tokens {
            match token.role {
                Role::Sign(sign) => self.sign(token.start, sign, outline),
                Role::Number | Role::String => self.head.skip(*token),
                _ => self.pieces(*token, outline),
            }
        }
        if let Some(last) = line.tokens.last() {
            self.end = last.end;
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        outline.leave_to(0, self.end);
    }
}

impl Style {
    pub(crate) fn columns() -> Style {
        Style {
            columns: Some(Vec::new()),
            ..Style::default()
        }
    }

    /// Opens or closes blocks without braces.
    fn begin_line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(columns) = &mut self.columns else {
            return;
        };
        let column = line.indent(outline);
        let continues = self.head.last.is_some_and(|last| last.is(b','));
        if continues || self.head.brackets > 0 && column > 0 {
            return;
        }
        if column > self.column && columns.len() < crate::symbols::SCOPES_MAX {
            columns.push(self.column);
            self.head.open(outline);
        } else {
            while columns.last().is_some_and(|last| *last >= column) {
                columns.pop();
                outline.leave(self.end);
            }
        }
        self.head.clear();
        self.column = column;
    }

    fn sign(&mut self, at: u32, sign: u8, outline: &mut Outline<'_>) {
        let head = &mut self.head;
        match sign {
            b'{' if head.is_interpolation(at) => head.interpolations += 1,
            b'}' if head.interpolations > 0 => head.interpolations -= 1,
            b'{' => {
                self.columns = None;
                head.open(outline);
                return head.clear();
            }
            b'}' => {
                if matches!(before(at, outline), None | Some(b'\n')) {
                    outline.leave_to(0, at + 1);
                }
                outline.leave(at + 1);
                return head.clear();
            }
            b';' if head.brackets == 0 => return head.clear(),
            _ => head.sign(at, sign, outline),
        }
        head.last = Some(Token::new(at..at + 1, Role::Sign(sign)));
    }

    /// Splits a token: `.a:hover` may be a key.
    fn pieces(&mut self, token: Token, outline: &mut Outline<'_>) {
        let text = token.text(outline);
        if text == b"@" {
            return self.sign(token.start, b'@', outline);
        }
        let is_of_word =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"_-$@".contains(byte) || *byte >= 0x80;
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            let start = token.start + at as u32;
            let length = text[at..].iter().take_while(|it| is_of_word(it)).count();
            if length == 0 {
                self.sign(start, *byte, outline);
                at += 1;
                continue;
            }
            at += length;
            let is_keyword = token.role == Role::Keyword;
            self.head
                .word(start..token.start + at as u32, is_keyword, outline);
        }
    }
}

impl Head {
    fn clear(&mut self) {
        let mut names = std::mem::take(&mut self.names);
        names.clear();
        *self = Head {
            names,
            ..Head::default()
        };
    }

    fn open(&mut self, outline: &mut Outline<'_>) {
        // `font: { family: a }`
        let is_property = self.last.is_some_and(|last| last.is(b':'));
        if let Some(name) = self.function.take() {
            let index = outline.define(name, Kind::Function);
            return outline.enter(index);
        }
        let mut first = None;
        if self.at_rule == AtRule::None && !is_property {
            for name in self.names.drain(..) {
                let index = outline.define(name, Kind::Selector);
                first = first.or(index);
            }
        }
        outline.enter(first);
    }

    fn skip(&mut self, token: Token) {
        self.variable = None;
        self.last = Some(Token::new(token.range(), Role::Number));
    }

    fn is_interpolation(&self, at: u32) -> bool {
        let last = self.last.filter(|last| last.end == at);
        last.is_some_and(|last| last.is_of(b"#@"))
    }

    fn sign(&mut self, at: u32, sign: u8, outline: &mut Outline<'_>) {
        let is_apart = self.last.is_none_or(|last| last.end != at);
        if let Some(name) = self.variable.take()
            && (sign == b'=' || sign == b':' && !self.is_plain)
        {
            outline.define(name, Kind::Variable);
            self.at_rule = AtRule::Other;
        }
        match sign {
            b'(' | b'[' => {
                if sign == b'(' && !is_apart && self.at_rule == AtRule::None && self.brackets == 0 {
                    self.mixin(at, outline.innermost().is_none());
                }
                self.brackets += 1;
            }
            b')' | b']' => self.brackets = self.brackets.saturating_sub(1),
            b',' if self.brackets == 0 => self.selector = self.names.len(),
            b'>' | b'+' | b'~' if self.brackets == 0 => self.begin_part(),
            _ => {}
        }
    }

    /// Mixin: a class with arguments in Less, a word in Stylus.
    fn mixin(&mut self, at: u32, is_top: bool) {
        if self.names.len() == 1 && self.names[0].end == at {
            let name = self.names.pop();
            self.function = name.filter(|_| is_top || !self.is_element);
        }
    }

    fn begin_part(&mut self) {
        self.names.truncate(self.selector);
        self.is_element = false;
    }

    fn word(&mut self, word: Range<u32>, is_keyword: bool, outline: &mut Outline<'_>) {
        let last = self.last;
        self.last = Some(Token::new(word.clone(), Role::Word));
        if self.brackets > 0 || self.interpolations > 0 {
            return;
        }
        let text = outline.bytes(word.clone());
        let Some(last) = last else {
            return self.first(word, text, is_keyword, outline);
        };
        self.variable = None;
        match self.at_rule {
            AtRule::None if text[0] == b'@' => return,
            AtRule::None => {}
            AtRule::Function => {
                self.function = Some(word);
                self.at_rule = AtRule::Other;
                return;
            }
            AtRule::Other => return,
        }
        self.part(word, text, last, is_keyword, outline);
    }

    fn part(
        &mut self,
        word: Range<u32>,
        text: &[u8],
        last: Token,
        is_keyword: bool,
        outline: &Outline<'_>,
    ) {
        let is_adjacent = last.end == word.start;
        let starts_class = is_adjacent && last.is_of(b".#%");
        let is_start = match starts_class {
            true => before(last.start, outline).is_none_or(begins_part),
            false => !is_adjacent || last.is_of(b">+~,"),
        };
        if is_start && !last.is(b',') {
            self.begin_part();
        }
        if starts_class {
            self.class(word);
        } else if is_start && !is_keyword && is_element(text) {
            self.add(word, true);
        }
    }

    fn first(&mut self, word: Range<u32>, text: &[u8], is_keyword: bool, outline: &Outline<'_>) {
        let is_top = outline.innermost().is_none();
        match text {
            b"@mixin" | b"@function" => self.at_rule = AtRule::Function,
            [b'@' | b'$', ..] => {
                self.at_rule = AtRule::Other;
                self.variable = is_top.then_some(word.start + 1..word.end);
            }
            [b'-', b'-', ..] => self.variable = Some(word),
            // `for a in b` of Stylus.
            _ if is_keyword => self.at_rule = AtRule::Other,
            _ if is_element(text) => {
                self.is_plain = true;
                self.variable = is_top.then_some(word.clone());
                self.add(word, true);
            }
            _ => {}
        }
    }

    fn class(&mut self, word: Range<u32>) {
        if self.is_element {
            self.names.pop();
        }
        self.add(word, false);
    }

    fn add(&mut self, word: Range<u32>, is_element: bool) {
        self.is_element = is_element;
        if self.names.len() < NAMES_MAX {
            self.names.push(word);
        }
    }
}

fn before(at: u32, outline: &Outline<'_>) -> Option<u8> {
    outline.text[..at as usize].last().copied()
}

/// Begins a part: ` .a`, not `b.a`.
fn begins_part(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b">+~,{};/".contains(&byte)
}

fn is_element(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests;
