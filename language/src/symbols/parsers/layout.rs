//! Haskell, PureScript, Elm, Idris, Agda: a line in the first column, or in that of a body's first
//! item, begins an item. A signature declares, the first equation defines; functions behind `where`
//! are local.

mod define;
mod item;

#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use std::ops::Range;

const NAMES_MAX: usize = 64;

pub(crate) struct Layout {
    dialect: Dialect,
    /// `None` before the first line.
    literate: Option<Literate>,
    form: Form,
    body: Option<Body>,
    depth: usize,
    /// Names before a colon.
    names: Vec<Range<u32>>,
    expects_name: bool,
    /// Name before the token that proves it.
    candidate: Option<Range<u32>>,
    of_type: Option<Range<u32>>,
    /// Name and index, for further equations.
    function: Option<(Range<u32>, u32)>,
    end: u32,
}

struct Body {
    kind: Kind,
    column: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Skip,
    Begin,
    /// Signature, or left side of an equation.
    Binding,
    /// Left side behind `pattern`.
    Pattern,
    /// `foreign import … name`
    Foreign,
    Module,
    /// Name behind `type`, `data`, `class`, `instance`.
    Head {
        kind: Kind,
        /// Constructors follow, unlike for `type` of Haskell.
        has_values: bool,
        is_named: bool,
    },
    Constructors,
    /// Alias of Elm and PureScript.
    Alias,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// `::` before a type.
    Haskell,
    Elm,
    /// Idris and Agda.
    Dependent,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Literate {
    No,
    /// `> ` before code.
    Bird,
    /// `\begin{code}` and `\end{code}`.
    Tex {
        is_code: bool,
    },
}

impl Parser for Layout {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let (tokens, shift) = self.code(line, outline);
        let Some(first) = tokens.first() else { return };
        let margin = line.range.start + shift;
        if line.is_begin && !line.begins_inside {
            let column = first.start.saturating_sub(margin);
            if first.is(b'#') && column == 0 {
                return;
            }
            self.begin(column, first, outline);
        }
        let mut at = 0;
        while at < tokens.len() && self.form != Form::Skip {
            if matches!(self.body, Some(Body { column: None, .. })) {
                self.open_body(tokens[at].start.saturating_sub(margin));
            }
            at += self.token(&tokens[at..], outline);
        }
        self.end = tokens.last().map_or(self.end, |last| last.end);
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.end_item(outline);
        outline.leave_to(0, self.end);
    }
}

impl Layout {
    pub(crate) fn new(dialect: Dialect) -> Layout {
        Layout {
            dialect,
            literate: None,
            form: Form::Skip,
            body: None,
            depth: 0,
            names: Vec::new(),
            expects_name: false,
            candidate: None,
            of_type: None,
            function: None,
            end: 0,
        }
    }

    /// Tokens of code, and the columns of a literate text's sign.
    fn code<'l>(&mut self, line: &Line<'l>, outline: &Outline<'_>) -> (&'l [Token], u32) {
        let literate = *self
            .literate
            .get_or_insert_with(|| Literate::of(outline.text));
        let text = outline.bytes(line.range.clone());
        match literate {
            Literate::No => (line.tokens, 0),
            Literate::Bird => match line.tokens {
                [first, rest @ ..] if first.is(b'>') && first.start == line.range.start => {
                    (rest, 2)
                }
                _ => (&[], 0),
            },
            Literate::Tex { is_code } => {
                let is_end = text.starts_with(b"\\end{code}");
                let next = text.starts_with(b"\\begin{code}") || is_code && !is_end;
                self.literate = Some(Literate::Tex { is_code: next });
                let is_code = is_code && next;
                (if is_code { line.tokens } else { &[] }, 0)
            }
        }
    }

    fn begin(&mut self, column: u32, first: &Token, outline: &mut Outline<'_>) {
        let goes_on = matches!(
            first.role,
            Role::Sign(b')' | b']' | b'}' | b'{' | b',' | b'=' | b'|')
        );
        if column == 0 {
            if !goes_on {
                self.end_item(outline);
                outline.leave_to(0, self.end);
                self.body = None;
                self.begin_item();
            }
            return;
        }
        let Some(Body {
            column: Some(of_body),
            ..
        }) = self.body
        else {
            return;
        };
        if column < of_body {
            self.end_item(outline);
            self.form = Form::Skip;
        } else if column == of_body && !goes_on {
            self.end_item(outline);
            outline.leave_to(1, self.end);
            self.begin_item();
        }
    }

    fn open_body(&mut self, column: u32) {
        if let Some(body) = &mut self.body {
            body.column = Some(column);
            self.begin_item();
        }
    }

    fn begin_item(&mut self) {
        self.form = Form::Begin;
        self.depth = 0;
        self.names.clear();
        self.expects_name = true;
        self.candidate = None;
        self.of_type = None;
    }
}

impl Literate {
    fn of(text: &[u8]) -> Literate {
        let has = |part: &str| memchr::memmem::find(text, part.as_bytes()).is_some();
        if has("\n\\begin{code}") {
            Literate::Tex { is_code: false }
        } else if text.starts_with(b"> ") || has("\n> module ") || has("\n> import ") {
            Literate::Bird
        } else {
            Literate::No
        }
    }
}
