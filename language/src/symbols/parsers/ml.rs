//! OCaml, ReasonML, F# and Standard ML: a word such as `let` begins an item of a structure, by
//! column in F#, in braces in ReasonML, before `end` in the others, there behind an expression:
//! else the `let` is local.

mod item;
mod part;

#[cfg(test)]
mod tests;

use crate::symbols::words::Words;
use crate::symbols::{Kind, Line, Outline, Parser, Role, Token};
use item::{Form, Item, Part};

pub(crate) use item::Dialect;

const SCOPES_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct Ml {
    dialect: Dialect,
    words: Words<Option<Kind>>,
    scopes: Vec<Scope>,
    deeper: usize,
    depth: usize,
    /// Local `let` before their `in`.
    lets: usize,
    item: Item,
    last: Option<Token>,
    column: u32,
    is_first: bool,
}

struct Scope {
    holds_items: bool,
    form: Form,
    /// Item around, which another structure may follow.
    item: Item,
    /// Scopes around, in the outline.
    base: usize,
    depth: usize,
    column: u32,
}

impl Parser for Ml {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(first) = line.tokens.first() else {
            return;
        };
        if line.is_begin {
            self.column = first.start - line.range.start;
            let is_new = !line.begins_inside && !first.is(b'#') && !first.is(b'|');
            if self.dialect == Dialect::FSharp && is_new {
                self.leave_columns(outline);
            }
        }
        self.is_first = line.is_begin;
        for (at, token) in line.tokens.iter().enumerate() {
            self.token(*token, line.tokens.get(at + 1), outline);
            self.last = Some(*token);
            let is_attribute = self.dialect == Dialect::FSharp && token.is(b']') && first.is(b'[');
            self.is_first = is_attribute;
        }
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        outline.leave_to(0, self.end());
    }
}

impl Ml {
    pub(crate) fn new(dialect: Dialect) -> Ml {
        Ml {
            dialect,
            words: item::words(),
            ..Ml::default()
        }
    }

    fn end(&self) -> u32 {
        self.last.map_or(0, |last| last.end)
    }

    fn base(&self) -> usize {
        self.scopes.last().map_or(0, |scope| scope.base)
    }

    fn holds_items(&self) -> bool {
        self.deeper == 0 && self.scopes.last().is_none_or(|scope| scope.holds_items)
    }

    fn token(&mut self, token: Token, next: Option<&Token>, outline: &mut Outline<'_>) {
        match token.role {
            Role::Sign(b'{') if self.dialect == Dialect::Reason && self.item.is_container() => {
                self.push(true, Form::Structure, outline);
            }
            Role::Sign(b'}') if self.dialect == Dialect::Reason && self.depth == 0 => {
                self.pop(outline);
            }
            Role::Keyword if self.keyword(token, next, outline) => {}
            _ => self.part(token, next, outline),
        }
    }

    fn keyword(&mut self, token: Token, next: Option<&Token>, outline: &mut Outline<'_>) -> bool {
        let text = token.text(outline);
        // `with type t = … and type u = …`
        let next = next.map_or(&b""[..], |next| next.text(outline));
        if text == b"and" && matches!(next, b"type" | b"module") {
            return false;
        }
        if self.dialect != Dialect::FSharp && self.scope(text, outline) {
            return true;
        }
        if !self.is_item(text, outline) {
            self.lets += usize::from(text == b"let");
            return false;
        }
        let is_fun = text == b"fun" && self.dialect != Dialect::StandardMl;
        let Some(kind) = self.words.get(text).filter(|_| !is_fun) else {
            return false;
        };
        let scope = self.scopes.last();
        let form = scope.map_or(Form::Structure, |scope| scope.form);
        outline.leave_to(self.base(), self.end());
        self.lets = 0;
        self.item = Item::of(text, kind, &self.item, self.dialect, form);
        if self.dialect == Dialect::FSharp {
            self.enter_column(outline);
        }
        true
    }

    fn scope(&mut self, text: &[u8], outline: &mut Outline<'_>) -> bool {
        let is_container = self.item.is_container();
        let is_sml = self.dialect == Dialect::StandardMl;
        match text {
            b"struct" => self.push(is_container, Form::Structure, outline),
            b"sig" => self.push(is_container, Form::Signature, outline),
            b"object" => self.push(is_container, Form::Object, outline),
            b"begin" => self.push(false, Form::Structure, outline),
            b"let" if is_sml => self.push(false, Form::Structure, outline),
            b"local" if is_sml => {
                if self.holds_items() {
                    outline.leave_to(self.base(), self.end());
                }
                self.push(true, Form::Structure, outline);
            }
            b"end" => self.pop(outline),
            b"in" => self.lets = self.lets.saturating_sub(1),
            _ => return false,
        }
        true
    }

    fn push(&mut self, holds_items: bool, form: Form, outline: &Outline<'_>) {
        if self.scopes.len() == SCOPES_MAX {
            self.deeper += 1;
            return;
        }
        self.scopes.push(Scope {
            holds_items: holds_items && self.holds_items(),
            form,
            item: self.item.with_rest(),
            base: outline.depth(),
            depth: self.depth,
            column: self.column,
        });
        self.depth = 0;
    }

    fn pop(&mut self, outline: &mut Outline<'_>) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(scope) = self.scopes.pop() {
            if scope.holds_items {
                outline.leave_to(scope.base, self.end());
                self.item = scope.item;
            }
            self.depth = scope.depth;
        }
    }

    fn leave_columns(&mut self, outline: &mut Outline<'_>) {
        while let Some(scope) = self.scopes.pop_if(|it| it.column >= self.column) {
            outline.leave_to(scope.base.saturating_sub(1), self.end());
            self.deeper = 0;
            self.depth = 0;
            self.item = Item::default();
        }
    }

    fn enter_column(&mut self, outline: &mut Outline<'_>) {
        let holds_items = self.item.is_container() || self.item.is_type();
        outline.enter(None);
        self.push(holds_items, Form::Object, outline);
    }

    fn enter(&mut self, index: Option<u32>, outline: &mut Outline<'_>) {
        if self.dialect == Dialect::FSharp {
            outline.leave(0);
        }
        outline.enter(index);
    }

    fn is_item(&mut self, text: &[u8], outline: &mut Outline<'_>) -> bool {
        if self.dialect == Dialect::FSharp {
            return self.is_first && self.holds_items();
        }
        let may_follow = self.may_follow(text, outline);
        let is_at_margin = self.is_first && self.column == 0 && may_follow;
        if is_at_margin && !(self.holds_items() && self.depth == 0) && is_head(text) {
            while self.deeper > 0 || !self.holds_items() {
                self.pop(outline);
            }
            self.depth = 0;
            self.lets = 0;
        }
        let is_inner = text == b"and" && self.lets > 0;
        self.holds_items() && self.depth == 0 && may_follow && !is_inner
    }

    fn may_follow(&self, text: &[u8], outline: &Outline<'_>) -> bool {
        let Some(last) = self.last else { return true };
        match last.role {
            Role::Keyword => {
                let last = last.text(outline);
                match last {
                    b"end" | b"done" | b"true" | b"false" | b"struct" | b"sig" | b"object" => true,
                    b"in" | b"local" => self.dialect == Dialect::StandardMl,
                    _ => text == b"method" && last == b"new",
                }
            }
            Role::Sign(b';') => {
                let before = outline.bytes(last.start.saturating_sub(1)..last.start);
                before == b";" || self.dialect != Dialect::OCaml
            }
            Role::Sign(b'{') => self.dialect == Dialect::Reason,
            Role::Sign(sign) => b")]}.".contains(&sign),
            _ => true,
        }
    }
}

fn is_head(text: &[u8]) -> bool {
    const HEADS: &str = "let type module val external exception class open fun structure signature
        functor datatype";
    let mut heads = HEADS.split_ascii_whitespace();
    heads.any(|head| head.as_bytes() == text)
}
