//! CSS, SCSS, Less, Sass and Stylus: selectors, mixins, functions, variables.
//!
//! The last part of each selector names the rule: `.a .b.c > d:hover, #e` defines `d` and `e`. A
//! part with classes is not named by its element. Sass and Stylus have no braces: the next line's
//! columns tell whether a line is the head of a block.

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use std::ops::Range;

/// Names of a rule.
const NAMES_MAX: usize = 64;

pub(in super::super) struct Style {
    head: Head,
    /// Columns of open blocks, if blocks have no braces.
    columns: Option<Vec<usize>>,
    /// Columns of the statement, and the end of its last line.
    column: usize,
    end: u32,
}

/// Statement up to `{`, `;` or `}`.
#[derive(Default)]
struct Head {
    names: Vec<Range<u32>>,
    /// First name of the selector behind the last comma.
    selector: usize,
    /// Kind and name of `@mixin name`, `.mixin(`.
    function: Option<Range<u32>>,
    at_rule: AtRule,
    /// True if the last name is an element.
    is_element: bool,
    /// Open round and square brackets.
    brackets: usize,
    /// Open `#{` and `@{`.
    interpolations: usize,
    /// Variable that needs a `:` or `=`.
    variable: Option<Range<u32>>,
    /// True if it has no sign such as `$`: `a:hover` is none.
    is_plain: bool,
    last: Option<Piece>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum AtRule {
    #[default]
    None,
    Function,
    Other,
}

/// Word or sign.
#[derive(Clone, Copy)]
struct Piece {
    start: u32,
    end: u32,
    /// 0 for a word.
    sign: u8,
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
    pub(in super::super) fn braces() -> Style {
        Style {
            head: Head::default(),
            columns: None,
            column: 0,
            end: 0,
        }
    }

    pub(in super::super) fn columns() -> Style {
        Style {
            columns: Some(Vec::new()),
            ..Style::braces()
        }
    }

    /// Without braces: opens the block of the line before, or closes blocks.
    fn begin_line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(columns) = &mut self.columns else {
            return;
        };
        let column = line.indent(outline);
        let continues = self.head.last.is_some_and(|last| last.sign == b',');
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
                let is_first = outline.text[..at as usize]
                    .last()
                    .is_none_or(|byte| *byte == b'\n');
                let depth = outline.depth().saturating_sub(1);
                outline.leave_to(if is_first { 0 } else { depth }, at + 1);
                return head.clear();
            }
            b';' if head.brackets == 0 => return head.clear(),
            _ => head.sign(at, sign, outline),
        }
        head.last = Some(Piece {
            start: at,
            end: at + 1,
            sign,
        });
    }

    /// Reads the words and signs of a token: `.a:hover` may be a key.
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
            let length = text[at..]
                .iter()
                .take_while(|byte| is_of_word(byte))
                .count();
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

    /// Defines the names of a block, and opens it.
    fn open(&mut self, outline: &mut Outline<'_>) {
        // `font: { family: a }`
        let is_property = self.last.is_some_and(|last| last.sign == b':');
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
        let Token { start, end, .. } = token;
        self.variable = None;
        self.last = Some(Piece {
            start,
            end,
            sign: b'0',
        });
    }

    fn is_interpolation(&self, at: u32) -> bool {
        let is_before = |last: &Piece| last.end == at && matches!(last.sign, b'#' | b'@');
        self.last.as_ref().is_some_and(is_before)
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

    /// A class with arguments is a mixin of Less, a word with arguments one of Stylus.
    fn mixin(&mut self, at: u32, is_top: bool) {
        if self.names.len() == 1 && self.names[0].end == at {
            let name = self.names.pop();
            self.function = name.filter(|_| is_top || !self.is_element);
        }
    }

    /// Drops the names of the part before: those of the last part count.
    fn begin_part(&mut self) {
        self.names.truncate(self.selector);
        self.is_element = false;
    }

    fn word(&mut self, word: Range<u32>, is_keyword: bool, outline: &mut Outline<'_>) {
        let last = self.last;
        self.last = Some(Piece {
            start: word.start,
            end: word.end,
            sign: 0,
        });
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
        let is_adjacent = last.end == word.start;
        let starts_class = is_adjacent && b".#%".contains(&last.sign) && last.sign != 0;
        let is_start = match starts_class {
            true => self.is_apart_before(last, outline),
            false => !is_adjacent || b">+~,".contains(&last.sign),
        };
        if is_start && last.sign != b',' {
            self.begin_part();
        }
        if starts_class {
            self.class(word);
        } else if is_start && !is_keyword && is_element(text) {
            self.add(word, true);
        }
    }

    /// Reads the first word of a statement.
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

    /// Returns whether the sign of a class begins a part: ` .a`, and not `b.a`.
    fn is_apart_before(&self, sign: Piece, outline: &Outline<'_>) -> bool {
        let before = sign.start.checked_sub(1);
        let before = before.and_then(|at| outline.text.get(at as usize));
        before.is_none_or(|byte| byte.is_ascii_whitespace() || b">+~,{};/".contains(byte))
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

fn is_element(text: &[u8]) -> bool {
    text.first().is_some_and(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn selectors_of_css() {
        check(
            "css",
            "@charset \"x\";\n:root {\n  --main-bg: red;\n}\n.a .b > .c:hover, #d,\nul li:not(.n),\nh1::before { color: red; background: url(//x;y) }\n@media (min-width: 1px) {\n  .m.n#o { a: b }\n}\na.e{}a>f:hover{}\n[data-p] .q-r[s] {}\n@keyframes t { from { x: y } 50% {} }\n@font-face { font-family: \"u\" }\n* {}\n.w\\:x { y: z\n}\n",
            "variable --main-bg 3
             selector c 5-7
             selector d 5
             selector li 6
             selector h1 7
             selector m 9
             selector n 9
             selector o 9
             selector e 11
             selector f 11
             selector q-r 12
             selector w 16-17",
        );
    }

    #[test]
    fn definitions_of_scss_and_less() {
        check(
            "scss",
            "// .a {\n$v: 1px !default;\n@mixin m-n($a: (b: c)) { .in { &:hover {} &-x { d: e } &.f {} } }\n@function g($x) { @return $x; }\n%ph { h: i; }\n.top {\n  $local: 1; font: { family: j; }\n  @include m-n { k: l; }\n  .nest-#{$v} o { p: #{$v}; }\n  @if $a == b { > q { r: s } } @else { t: u }\n}\n",
            "variable v 2
             function m-n 3
             selector m-n.in 3
             selector m-n.in.f 3
             function g 4
             selector ph 5
             selector top 6-11
             selector top.o 9
             selector top.q 10",
        );
        check(
            "less",
            "@v: 1;\n.mix(@a; @b: 2) when (@a) { c: @a }\n.d { .mix(1; 2); .e(); @{v}-f: g; &:extend(.h all); .@{v} i { j: k } }\n@plugin \"l\"; @detached: { m: n };\n",
            "variable v 1
             function mix 2
             selector d 3
             selector d.i 3
             variable detached 4",
        );
    }

    #[test]
    fn definitions_of_sass_and_stylus() {
        check(
            "sass",
            "$v: 1\n@mixin m($a)\n  b: $a\n\n.c,\n.d\n  e: f\n  &:hover\n    g: h\n  i\n    j: k\n#l\n  @include m(1)\n",
            "variable v 1
             function m 2-3
             selector c 5-11
             selector d 6
             selector c.i 10-11
             selector l 12-13",
        );
        check(
            "stylus",
            "v = 1px\nf(a, b)\n  for c in a\n    d(c)\n      e: a\nbody\n  d e\n  .g\n    h i\n.j {\n  k: l\n}\n.m { n: o }\n",
            "variable v 1
             function f 2-5
             selector body 6-9
             selector body.g 8-9
             selector j 10-12
             selector m 13",
        );
    }

    #[test]
    fn hostile_text_is_left_behind() {
        check(
            "css",
            "}}{{(\"\n'\n.a { b: c(;\n}\n.d {}\n#{{@{",
            "selector d 5",
        );
    }
}
