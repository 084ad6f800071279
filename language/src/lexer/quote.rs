//! Forms: comments, strings, and all else between an opening and a closing sign.

use super::Colour;

/// `'\u{10FFFF}'`
const CHARACTER_BYTES_MAX: usize = 12;

const INDENT_BYTES_MAX: usize = 256;

#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    /// Empty for a line comment.
    pub(super) close: &'static str,
    pub(super) colour: Option<Colour>,
    pub(super) holes: &'static [Hole],
    rules: u32,
}

/// Part of a form with another look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hole {
    pub(super) open: &'static str,
    /// End of code; 0 if the hole is the form with the same beginning.
    pub(super) close: u8,
}

impl Hole {
    pub(super) const fn code(open: &'static str, close: u8) -> Hole {
        Hole { open, close }
    }

    pub(super) const fn form(open: &'static str) -> Hole {
        Hole { open, close: 0 }
    }

    pub(super) const fn first(&self) -> u8 {
        self.open.as_bytes()[0]
    }

    /// True if a doubled brace is text, and a format follows a colon.
    pub(super) fn is_brace(&self) -> bool {
        self.open == "{"
    }
}

/// May outlast its line.
pub(super) const LINES: u32 = 1;
/// A backslash escapes a byte or the line's end.
pub(super) const BACKSLASH: u32 = 2;
/// A doubled end is content.
pub(super) const DOUBLED: u32 = 4;
pub(super) const NESTS: u32 = 8;
/// One character: `'a` is something else in Rust.
pub(super) const ONE: u32 = 16;
/// Follows a blank or a bracket, or is first.
pub(super) const BLANK: u32 = 32;
pub(super) const FIRST: u32 = 64;
/// Begins in the first column, as do its holes.
pub(super) const COLUMN: u32 = 128;
pub(super) const CLOSES_IN_COLUMN: u32 = 256;
/// Begins only as a hole, or with a prefix.
pub(super) const INNER: u32 = 512;
/// Ends before a `?>`.
pub(super) const TAG: u32 = 1024;
/// `'`, `$` or `\` behind the end makes it content.
pub(super) const INDENTED: u32 = 2048;
/// Has an end in its line, unlike an apostrophe in JSX.
pub(super) const CLOSED: u32 = 4096;
/// Fence of Markdown.
pub(super) const FENCE: u32 = 8192;
/// Begins where YAML expects a value, and lasts over indented lines.
pub(super) const VALUE: u32 = 16384;
/// Stands apart from signs of operators: `-->` is one in Haskell.
pub(super) const NO_OPERATOR: u32 = 32768;

impl Quote {
    pub(super) const fn holes(self, holes: &'static [Hole]) -> Quote {
        Quote { holes, ..self }
    }

    const fn with(self, rule: u32) -> Quote {
        Quote {
            rules: self.rules | rule,
            ..self
        }
    }

    pub(super) const fn within_line(self) -> Quote {
        Quote {
            rules: self.rules & !LINES,
            ..self
        }
    }

    pub(super) const fn coloured(self, colour: Colour) -> Quote {
        Quote {
            colour: Some(colour),
            ..self
        }
    }

    pub(super) const fn plain(self) -> Quote {
        Quote {
            colour: None,
            ..self
        }
    }

    pub(super) const fn has(self, rule: u32) -> bool {
        self.rules & rule != 0
    }
}

macro_rules! rules {
    ($($name:ident: $rule:ident;)*) => {
        impl Quote {$(
            pub(super) const fn $name(self) -> Quote {
                self.with($rule)
            }
        )*}
    };
}

rules! {
    lines: LINES;
    blank: BLANK;
    first: FIRST;
    column: COLUMN;
    inner: INNER;
    closed: CLOSED;
    fence: FENCE;
    value: VALUE;
    no_operator: NO_OPERATOR;
}

macro_rules! forms {
    ($($(#[$doc:meta])* $name:ident($open:ident $(, $sign:ident)?): $close:expr, $colour:ident, $rules:expr;)*) => {$(
        $(#[$doc])*
        pub(super) const fn $name($open: &'static str $(, $sign: &'static str)?) -> Quote {
            let (close, colour, rules) = ($close, Some(Colour::$colour), $rules);
            Quote { open: $open, close, colour, holes: &[], rules }
        }
    )*};
}

forms! {
    line(open): "", Comment, 0;
    continued_line(open): "", Comment, BACKSLASH;
    php_line(open): "", Comment, TAG;
    block(open, close): close, Comment, LINES;
    nested(open, close): close, Comment, LINES | NESTS;
    column_block(open, close): close, Comment, LINES | COLUMN | CLOSES_IN_COLUMN;
    string(open): open, String, BACKSLASH;
    text(open, close): close, String, LINES | BACKSLASH;
    raw(open, close): close, String, LINES;
    indented(open): open, String, LINES | INDENTED;
    doubled(open, close): close, String, DOUBLED;
    one(open): open, String, BACKSLASH | ONE;
    attribute(open): "]", Meta, LINES;
}

pub(super) fn is_indent(before: &[u8]) -> bool {
    before.len() <= INDENT_BYTES_MAX && before.trim_ascii_start().is_empty()
}

/// True for "- ```c", not for "```a``` b".
pub(super) fn is_fence(before: &[u8], rest: &[u8]) -> bool {
    let sign = rest.first();
    let mut info = rest.iter().skip_while(|byte| Some(*byte) == sign);
    let is_mark = |byte: &u8| b" \t-*+.)0123456789".contains(byte);
    before.len() <= INDENT_BYTES_MAX
        && before.iter().all(is_mark)
        && !info.any(|byte| Some(byte) == sign)
}

pub(super) fn is_closed(text: &[u8], quote: &Quote) -> bool {
    let close = quote.close.as_bytes();
    quote.has(BACKSLASH) && text.ends_with(b"\\")
        || memchr::memchr_iter(close[0], text).any(|at| text[at..].starts_with(close))
}

pub(super) fn is_character(text: &[u8], quote: u8) -> bool {
    let text = &text[..text.len().min(CHARACTER_BYTES_MAX)];
    match text {
        [b'\\', _, rest @ ..] => rest.contains(&quote),
        [first, rest @ ..] if *first != quote => {
            let inside = rest.iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
            rest.get(inside) == Some(&quote)
        }
        _ => false,
    }
}
