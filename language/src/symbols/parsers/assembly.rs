//! Assembly: labels, but for local ones, macros, constants and procedures.

#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use std::ops::Range;

#[derive(Default)]
pub(crate) struct Assembly {
    function: Range<u32>,
    /// Labels may hold parameters, and are left out.
    in_macro: bool,
    end: u32,
}

impl Parser for Assembly {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        if line.is_begin && !line.begins_inside {
            self.statement(line.tokens, outline);
        }
    }
}

impl Assembly {
    fn statement(&mut self, mut tokens: &[Token], outline: &mut Outline<'_>) {
        while let [name, colon, rest @ ..] = tokens
            && name.is_word()
            && colon.is(b':')
            && name.end == colon.start
        {
            self.label(*name, outline);
            tokens = rest;
        }
        self.end = tokens.first().map_or(0, |word| word.end);
        match tokens {
            [percent, word, rest @ ..] if percent.is(b'%') || percent.is(b'.') => {
                self.directive(word.text(outline), rest, outline);
            }
            [word, name, ..] if is_define(word, outline) => {
                outline.define(name.range(), Kind::Macro);
            }
            [word, rest @ ..] if word.is_word() => {
                let text = word.text(outline);
                let is_directive = text.starts_with(b".") || text.starts_with(b"%");
                let text = text.strip_prefix(b".").unwrap_or(text);
                self.directive(text.strip_prefix(b"%").unwrap_or(text), rest, outline);
                if !is_directive {
                    self.behind_name(*word, rest, outline);
                }
            }
            _ => {}
        }
    }

    fn label(&mut self, name: Token, outline: &mut Outline<'_>) {
        let text = name.text(outline);
        if text.starts_with(b".") || self.in_macro && text.contains(&b'%') {
            return;
        }
        let is_function = text == outline.bytes(self.function.clone());
        let kind = if is_function {
            Kind::Function
        } else {
            Kind::Label
        };
        outline.define(name.range(), kind);
    }

    /// `.macro name`, `#define name`, `ENTRY(name)`
    fn directive(&mut self, word: &[u8], rest: &[Token], outline: &mut Outline<'_>) {
        let mut names = rest.iter().filter(|token| !token.is(b'('));
        let name = names.next().filter(|token| token.is_word());
        let mut lower = [0; 12];
        let Some(lower) = lower.get_mut(..word.len()) else {
            return self.entry(word, name, outline);
        };
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        let kind = match &*lower {
            b"endm" | b"endmacro" => {
                self.in_macro = false;
                return outline.leave_to(0, self.end);
            }
            b"type" => return self.set_function(rest, outline),
            b"macro" | b"imacro" | b"define" | b"xdefine" => Kind::Macro,
            b"set" | b"equ" | b"equiv" | b"assign" => Kind::Constant,
            b"struc" | b"struct" => Kind::Struct,
            b"proc" | b"cglobal" => Kind::Function,
            _ => return self.entry(word, name, outline),
        };
        // MASM: the name comes first.
        let Some(name) = name else { return };
        let is_set = kind != Kind::Constant
            || names
                .next()
                .is_some_and(|next| next.is(b',') || next.role != Role::Word);
        if is_set {
            let index = outline.define(name.range(), kind);
            if matches!(&*lower, b"macro" | b"imacro") {
                self.in_macro = true;
                outline.leave_to(0, 0);
                outline.enter(index);
            }
        }
    }

    /// Function macros of Linux; `TEXT pkg·name(SB)` of Go.
    fn entry(&mut self, word: &[u8], name: Option<&Token>, outline: &mut Outline<'_>) {
        let of_go = match word {
            b"TEXT" => Some(Kind::Function),
            b"GLOBL" => Some(Kind::Variable),
            _ => None,
        };
        if let Some((kind, name)) = of_go.zip(name) {
            let text = name.text(outline);
            let dot = memchr::memmem::rfind(text, "·".as_bytes());
            let start = name.start + dot.map_or(0, |dot| dot as u32 + 2);
            outline.define(start..name.end, kind);
            return;
        }
        let is_entry = word == b"ENTRY"
            || word.starts_with(b"SYM_FUNC_START")
            || word.starts_with(b"SYM_CODE_START");
        if let Some(name) = name.filter(|_| is_entry) {
            outline.define(name.range(), Kind::Function);
        }
    }

    fn set_function(&mut self, rest: &[Token], outline: &Outline<'_>) {
        let is_function = |token: &Token| {
            let text = token.text(outline);
            text.ends_with(b"function") || text == b"STT_FUNC"
        };
        if let [name, types @ ..] = rest
            && types.iter().any(is_function)
        {
            self.function = name.range();
        }
    }

    /// `name PROC`, `name equ 1`, `name = 1`
    fn behind_name(&mut self, name: Token, rest: &[Token], outline: &mut Outline<'_>) {
        let kind = match rest.first() {
            Some(sign) if sign.is(b'=') => Kind::Constant,
            Some(word) if word.is_word() => {
                let text = word.text(outline);
                let is = |other: &[u8]| text.eq_ignore_ascii_case(other);
                match () {
                    () if is(b"proc") => Kind::Function,
                    () if is(b"macro") => Kind::Macro,
                    () if is(b"equ") => Kind::Constant,
                    () if is(b"struct") || is(b"struc") => Kind::Struct,
                    () => return,
                }
            }
            _ => return,
        };
        let is_compared = rest.get(1).is_some_and(|next| next.is(b'='));
        if !is_compared && !name.text(outline).starts_with(b".") {
            outline.define(name.range(), kind);
        }
    }
}

/// `#define`, maybe with blanks inside.
fn is_define(word: &Token, outline: &Outline<'_>) -> bool {
    word.role == Role::Meta && word.text(outline).ends_with(b"define")
}
