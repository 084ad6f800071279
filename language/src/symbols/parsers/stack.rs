//! Forth, PostScript and Eiffel: a word defines the name beside it.

#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Token};
use super::words::Word;

/// `: name … ;`, `variable name`
#[derive(Default)]
pub(crate) struct Forth;

impl Parser for Forth {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        for token in line.tokens.iter().filter(|token| token.is_word()) {
            let text = token.text(outline);
            let is = |other: &[u8]| text.eq_ignore_ascii_case(other);
            let kind = match () {
                () if is(b":") || is(b"code") || is(b"defer") => Kind::Function,
                () if is(b"variable") || is(b"2variable") || is(b"fvariable") => Kind::Variable,
                () if is(b"create") || is(b"value") || is(b"user") => Kind::Variable,
                () if is(b"constant") || is(b"2constant") || is(b"fconstant") => Kind::Constant,
                () if is(b";") || is(b"end-code") => {
                    outline.leave(token.end);
                    continue;
                }
                () => continue,
            };
            let is_body = is(b":") || is(b"code");
            let index = define_next(*token, line.range.end, kind, outline);
            if is_body && index.is_some() {
                outline.leave_to(0, token.start);
                outline.enter(index);
            }
        }
    }
}

fn define_next(word: Token, end: u32, kind: Kind, outline: &mut Outline<'_>) -> Option<u32> {
    if outline.depth() > 0 && kind != Kind::Function {
        return None;
    }
    let text = outline.bytes(word.end..end);
    let blanks = text
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let name = text[blanks..]
        .iter()
        .take_while(|byte| !byte.is_ascii_whitespace())
        .count();
    let start = word.end + blanks as u32;
    outline.define(start..start + name as u32, kind)
}

/// `/name {…} def`, `/name … def`
#[derive(Default)]
pub(crate) struct PostScript {
    depth: usize,
}

impl Parser for PostScript {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if let [name, next @ ..] = line.tokens
            && self.depth == 0
        {
            self.definition(*name, next, outline);
        }
        for token in line.tokens {
            if token.is(b'{') {
                self.depth += 1;
            } else if token.is(b'}') {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    outline.leave_to(0, token.end);
                }
            }
        }
    }
}

impl PostScript {
    fn definition(&mut self, name: Token, next: &[Token], outline: &mut Outline<'_>) {
        let is_name = name.text(outline).starts_with(b"/") && name.end - name.start > 1;
        let is_def = |token: &Token| matches!(token.text(outline), b"def" | b"bind");
        let kind = match next.first() {
            Some(open) if open.is(b'{') => Kind::Function,
            Some(_) if next.iter().any(is_def) => Kind::Constant,
            _ => return,
        };
        if is_name {
            let index = outline.define(name.start + 1..name.end, kind);
            if kind == Kind::Function {
                outline.enter(index);
            }
        }
    }
}

/// Eiffel: features have the column of the first one.
#[derive(Default)]
pub(crate) struct Eiffel {
    column: usize,
    in_features: bool,
    feature: Option<u32>,
    /// Name in the next line.
    is_class: bool,
}

impl Parser for Eiffel {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(first) = line.tokens.first().filter(|_| !line.begins_inside) else {
            return;
        };
        let column = line.indent(outline);
        if std::mem::take(&mut self.is_class) {
            return self.class(*first, outline);
        }
        let text = Word::of(Some(first), outline);
        let class = line
            .tokens
            .iter()
            .position(|token| token.text(outline) == b"class");
        match text.text() {
            b"feature" => self.in_features = true,
            b"class" | b"deferred" | b"expanded" | b"frozen" if column == 0 => {
                if let Some(at) = class {
                    match line.tokens.get(at + 1) {
                        Some(name) => self.class(*name, outline),
                        None => self.is_class = true,
                    }
                }
            }
            b"end" | b"invariant" | b"note" if column == 0 => self.in_features = false,
            b"do" | b"once" | b"deferred" | b"external" | b"require" | b"local" => {
                if let Some(index) = self.feature.take() {
                    outline.definition(index).kind = Kind::Method;
                }
            }
            _ if self.in_features && first.is_word() => self.member(line, column, outline),
            _ => {}
        }
    }
}

impl Eiffel {
    fn class(&mut self, name: Token, outline: &mut Outline<'_>) {
        let index = outline.define(name.range(), Kind::Class);
        outline.leave_to(0, name.start);
        outline.enter(index);
        self.in_features = false;
        self.column = 0;
    }

    fn member(&mut self, line: &Line<'_>, column: usize, outline: &mut Outline<'_>) {
        if self.column == 0 {
            self.column = column;
        }
        if column != self.column {
            return;
        }
        let has_arguments = line.tokens.get(1).is_none_or(|next| next.is(b'('));
        let kind = if has_arguments {
            Kind::Method
        } else {
            Kind::Field
        };
        self.feature = outline.define(line.tokens[0].range(), kind);
    }
}
