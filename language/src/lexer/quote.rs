//! Forms: comments, strings, and everything else between an opening and a closing sign.

use super::Colour;

/// A form: `/* … */`, `"…"`, `# …`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    /// Empty for a line comment.
    pub(super) close: &'static str,
    pub(super) colour: Option<Colour>,
    rules: u16,
}

/// May continue in the next line.
pub(super) const LINES: u16 = 1;
/// A backslash escapes a byte, or the end of the line.
pub(super) const BACKSLASH: u16 = 2;
/// A doubled end is content.
pub(super) const DOUBLED: u16 = 4;
pub(super) const NESTS: u16 = 8;
/// Exactly one character: `'a` is something else in Rust.
pub(super) const ONE: u16 = 16;
/// Follows a blank or a bracket, or is first.
pub(super) const BLANK: u16 = 32;
/// First in its line.
pub(super) const FIRST: u16 = 64;
/// Begins in the first column.
pub(super) const COLUMN: u16 = 128;
/// Ends in the first column.
pub(super) const CLOSES_IN_COLUMN: u16 = 256;

impl Quote {
    const fn new(open: &'static str, close: &'static str, colour: Colour, rules: u16) -> Quote {
        Quote {
            open,
            close,
            colour: Some(colour),
            rules,
        }
    }

    const fn with(self, rule: u16) -> Quote {
        Quote {
            rules: self.rules | rule,
            ..self
        }
    }

    pub(super) const fn blank(self) -> Quote {
        self.with(BLANK)
    }

    pub(super) const fn first(self) -> Quote {
        self.with(FIRST)
    }

    pub(super) const fn column(self) -> Quote {
        self.with(COLUMN)
    }

    pub(super) const fn lines(self) -> Quote {
        self.with(LINES)
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

    pub(super) const fn has(self, rule: u16) -> bool {
        self.rules & rule != 0
    }
}

pub(super) const fn line(open: &'static str) -> Quote {
    Quote::new(open, "", Colour::Comment, 0)
}

/// A backslash continues it.
pub(super) const fn continued_line(open: &'static str) -> Quote {
    Quote::new(open, "", Colour::Comment, BACKSLASH)
}

pub(super) const fn block(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::Comment, LINES)
}

/// Block with nesting.
pub(super) const fn nested(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::Comment, LINES | NESTS)
}

/// Block with both signs in the first column.
pub(super) const fn column_block(open: &'static str, close: &'static str) -> Quote {
    Quote::new(
        open,
        close,
        Colour::Comment,
        LINES | COLUMN | CLOSES_IN_COLUMN,
    )
}

/// Single line, with backslashes.
pub(super) const fn string(open: &'static str) -> Quote {
    Quote::new(open, open, Colour::String, BACKSLASH)
}

/// Several lines, with backslashes.
pub(super) const fn text(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::String, LINES | BACKSLASH)
}

/// Several lines, without escapes.
pub(super) const fn raw(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::String, LINES)
}

/// Single line. Doubling escapes the end.
pub(super) const fn doubled(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::String, DOUBLED)
}

pub(super) const fn one(open: &'static str) -> Quote {
    Quote::new(open, open, Colour::String, BACKSLASH | ONE)
}
