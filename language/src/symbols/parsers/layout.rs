//! Haskell, PureScript, Elm, Idris, Agda: a line in the first column, or in that of a body's first
//! item, begins an item. A signature declares, the first equation defines; functions behind `where`
//! are local.

mod atoms;
mod item;

#[cfg(test)]
mod tests;

use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};
use atoms::{Atom, Atoms};
use std::ops::Range;

/// Bound of an item.
const TOKENS_MAX: usize = 4096;

#[derive(Default)]
pub(crate) struct Layout {
    dialect: Dialect,
    /// `None` before the first line.
    literate: Option<Literate>,
    item: Vec<Token>,
    is_in_item: bool,
    depth: usize,
    body: Option<Body>,
    /// Name and index, for further equations.
    function: Option<(Range<u32>, u32)>,
    end: u32,
}

struct Body {
    kind: Kind,
    column: Option<u32>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
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
        let is_in_item = self.is_in_item;
        for token in tokens.iter().filter(|_| is_in_item) {
            if let Some(body) = self.body.as_mut().filter(|body| body.column.is_none()) {
                body.column = Some(token.start.saturating_sub(margin));
            }
            self.push(*token, outline);
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
            ..Layout::default()
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
        let of_body = self.body.as_ref().and_then(|body| body.column);
        if column == 0 && !goes_on {
            self.end_item(outline);
            outline.leave_to(0, self.end);
            self.body = None;
            self.is_in_item = true;
        } else if let Some(of_body) = of_body.filter(|_| column > 0)
            && (column < of_body || column == of_body && !goes_on)
        {
            self.end_item(outline);
            self.is_in_item = column == of_body;
            outline.leave_to(1, self.end);
        }
    }

    fn push(&mut self, token: Token, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(_) => self.depth = self.depth.saturating_add_signed(token.nesting()),
            _ if self.depth > 0 || !token.is_word() => {}
            _ if self.item.is_empty() => {
                if let Some(kind) = self.block(token.text(outline)) {
                    if self.body.is_none() {
                        outline.enter(None);
                    }
                    self.body = Some(Body { kind, column: None });
                    return;
                }
            }
            _ if token.text(outline) == b"where" => {
                if let Some(head) = self.head(&self.item, outline) {
                    self.end_item(outline);
                    let kind = head.kind;
                    self.body = Some(Body { kind, column: None });
                    self.function = None;
                    return;
                }
            }
            _ => {}
        }
        if self.item.len() < TOKENS_MAX {
            self.item.push(token);
        }
    }

    fn block(&self, word: &[u8]) -> Option<Kind> {
        match word {
            _ if self.dialect != Dialect::Dependent => None,
            b"mutual" | b"postulate" | b"private" | b"abstract" => Some(Kind::Module),
            b"field" => Some(Kind::Struct),
            _ => None,
        }
    }

    fn end_item(&mut self, outline: &mut Outline<'_>) {
        let mut item = std::mem::take(&mut self.item);
        self.define(&item, outline);
        item.clear();
        self.item = item;
        self.depth = 0;
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
