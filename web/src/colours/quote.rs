//! Comments, strings and whatever else begins with a sign and lasts to another: one shape for all of them.

use super::Colour;

/// A form: `/* … */`, `"…"`, `# …`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quote {
    pub(super) open: &'static str,
    /// What ends it; a line comment has none.
    pub(super) close: &'static str,
    pub(super) colour: Option<Colour>,
    rules: u16,
}

/// It may go on in the next line.
const LINES: u16 = 1;
/// A backslash takes the meaning from the next byte; at the end of a line, the line goes on.
const BACKSLASH: u16 = 2;
/// A doubled end is a part of it.
const DOUBLED: u16 = 4;
const NESTS: u16 = 8;
/// It holds one character, or is none: `'a` is something else in Rust.
const ONE: u16 = 16;
/// It begins after a blank or a bracket, or begins the line.
const BLANK: u16 = 32;
/// It is the first of its line, or is none.
const FIRST: u16 = 64;
/// It begins in the first column, or is none.
const COLUMN: u16 = 128;
/// Its end begins in the first column.
const CLOSES_IN_COLUMN: u16 = 256;

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

    pub(super) const fn has(self, rule: Rule) -> bool {
        self.rules & rule as u16 != 0
    }
}

/// What a form is asked about.
#[derive(Clone, Copy)]
pub(super) enum Rule {
    Lines = LINES as isize,
    Backslash = BACKSLASH as isize,
    Doubled = DOUBLED as isize,
    Nests = NESTS as isize,
    One = ONE as isize,
    Blank = BLANK as isize,
    First = FIRST as isize,
    Column = COLUMN as isize,
    ClosesInColumn = CLOSES_IN_COLUMN as isize,
}

/// A comment to the end of the line.
pub(super) const fn line(open: &'static str) -> Quote {
    Quote::new(open, "", Colour::Comment, 0)
}

/// A comment to the end of the line, which a backslash continues.
pub(super) const fn continued_line(open: &'static str) -> Quote {
    Quote::new(open, "", Colour::Comment, BACKSLASH)
}

/// A comment over lines.
pub(super) const fn block(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::Comment, LINES)
}

/// A comment over lines in which comments nest.
pub(super) const fn nested(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::Comment, LINES | NESTS)
}

/// A comment from a line that begins so to one that begins so, at the first column.
pub(super) const fn column_block(open: &'static str, close: &'static str) -> Quote {
    Quote::new(
        open,
        close,
        Colour::Comment,
        LINES | COLUMN | CLOSES_IN_COLUMN,
    )
}

/// A string within a line, with backslashes.
pub(super) const fn string(open: &'static str) -> Quote {
    Quote::new(open, open, Colour::String, BACKSLASH)
}

/// A string over lines, with backslashes.
pub(super) const fn text(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::String, LINES | BACKSLASH)
}

/// A string over lines in which nothing is special.
pub(super) const fn raw(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::String, LINES)
}

/// A string within a line, whose end is doubled to be a part of it.
pub(super) const fn doubled(open: &'static str, close: &'static str) -> Quote {
    Quote::new(open, close, Colour::String, DOUBLED)
}

/// A character.
pub(super) const fn one(open: &'static str) -> Quote {
    Quote::new(open, open, Colour::String, BACKSLASH | ONE)
}
