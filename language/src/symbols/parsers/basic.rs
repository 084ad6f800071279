//! Visual Basic, VBScript, MATLAB and COBOL: a statement a line.

#[cfg(test)]
mod tests;

use super::super::Kind;
use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use super::words::{Scopes, Word, behind_brackets, define_list};

#[derive(Default)]
pub(crate) struct Basic {
    scopes: Scopes,
    is_continued: bool,
}

impl Parser for Basic {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let is_continued = self.is_continued;
        let is_bar = |last: &Token| last.is_word() && last.text(outline) == b"_";
        self.is_continued = line.tokens.last().is_some_and(is_bar);
        if line.is_begin && !is_continued && !line.tokens.is_empty() {
            self.statement(line.tokens, outline);
        }
    }
}

impl Basic {
    fn statement(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let end = tokens.last().map_or(0, |last| last.end);
        let (mut rest, mut is_declaration, mut is_const) = (tokens, false, false);
        while let [token, behind @ ..] = rest {
            let word = Word::of(Some(token), outline);
            match word.text() {
                b"end" => {
                    let word = Word::of(behind.first(), outline);
                    return self.scopes.close_to(word.text(), end, outline);
                }
                b"mustoverride" | b"declare" | b"delegate" => is_declaration = true,
                b"const" => is_const = true,
                text if is_modifier(text) => {}
                _ => break,
            }
            rest = behind;
        }
        let Some((first, behind)) = rest.split_first() else {
            return;
        };
        let word = Word::of(Some(first), outline);
        let (kind, scope) = match word.text() {
            b"class" => (Kind::Class, "class"),
            b"structure" => (Kind::Struct, "structure"),
            b"type" if rest.len() == 2 => (Kind::Struct, "type"),
            b"module" => (Kind::Module, "module"),
            b"namespace" => (Kind::Module, "namespace"),
            b"interface" => (Kind::Interface, "interface"),
            b"enum" => (Kind::Enum, "enum"),
            b"sub" => (Kind::Function, "sub"),
            b"function" => (Kind::Function, "function"),
            b"operator" => (Kind::Function, "operator"),
            b"property" | b"event" => (Kind::Field, ""),
            _ => {
                let has_modifier = rest.len() < tokens.len();
                return self.variable(rest, has_modifier, is_const, outline);
            }
        };
        let accessor = Word::of(behind.first(), outline);
        let is_accessor = matches!(accessor.text(), b"get" | b"let" | b"set") && behind.len() > 1;
        let Some(name) = behind.get(usize::from(is_accessor && kind == Kind::Field)) else {
            return;
        };
        self.define(*name, kind, scope, is_declaration, outline);
    }

    fn define(
        &mut self,
        name: Token,
        kind: Kind,
        scope: &'static str,
        is_declaration: bool,
        outline: &mut Outline<'_>,
    ) {
        let inside = self.scopes.innermost();
        let in_type = matches!(inside, "class" | "structure" | "interface");
        let kind = match kind {
            Kind::Function if in_type => Kind::Method,
            kind => kind,
        };
        if is_declaration || inside == "interface" {
            outline.declare(name.range(), kind);
            return;
        }
        let index = outline.define(name.range(), kind);
        if !scope.is_empty() {
            self.scopes.open(scope, index, outline);
        }
    }

    fn variable(
        &mut self,
        tokens: &[Token],
        has_modifier: bool,
        is_const: bool,
        outline: &mut Outline<'_>,
    ) {
        let kind = match self.scopes.innermost() {
            "enum" => Kind::Enumerator,
            "type" => Kind::Field,
            "" | "module" | "class" | "structure" if is_const => Kind::Constant,
            "" | "module" if has_modifier => Kind::Variable,
            "class" | "structure" if has_modifier => Kind::Field,
            _ => return,
        };
        let is_list = kind == Kind::Variable;
        let tokens = if is_list { tokens } else { &tokens[..1] };
        define_list(tokens, kind, outline);
    }
}

fn is_modifier(text: &[u8]) -> bool {
    let is_access = matches!(
        text,
        b"public" | b"private" | b"protected" | b"friend" | b"global" | b"dim" | b"static"
    );
    let is_class = matches!(
        text,
        b"shared" | b"partial" | b"mustinherit" | b"notinheritable" | b"shadows" | b"default"
    );
    let is_method = matches!(
        text,
        b"overridable" | b"overrides" | b"notoverridable" | b"overloads" | b"async" | b"iterator"
    );
    is_access
        || is_class
        || is_method
        || matches!(
            text,
            b"readonly" | b"writeonly" | b"withevents" | b"ptrsafe"
        )
        || matches!(text, b"widening" | b"narrowing" | b"custom")
}

/// MATLAB: functions of a file may have no `end`.
#[derive(Default)]
pub(crate) struct Matlab {
    scopes: Scopes,
}

impl Parser for Matlab {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let (mut depth, mut start) = (0_usize, 0);
        for (at, token) in line.tokens.iter().enumerate() {
            match token.role {
                Role::Sign(b'(' | b'[' | b'{') => depth += 1,
                Role::Sign(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                Role::Sign(b',' | b';') if depth == 0 => {
                    self.statement(&line.tokens[start..at], outline);
                    start = at + 1;
                }
                _ => {}
            }
        }
        self.statement(&line.tokens[start..], outline);
    }
}

impl Matlab {
    fn statement(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let Some((first, rest)) = tokens.split_first() else {
            return;
        };
        match first.text(outline) {
            b"function" => self.function(first.start, rest, outline),
            b"classdef" => {
                let rest = behind_brackets(rest);
                if let Some(name) = rest.first() {
                    let index = outline.define(name.range(), Kind::Class);
                    self.scopes.open("classdef", index, outline);
                }
            }
            b"properties" => self.scopes.open("properties", None, outline),
            b"enumeration" => self.scopes.open("enumeration", None, outline),
            b"methods" => self.scopes.open("methods", None, outline),
            b"if" | b"for" | b"while" | b"switch" | b"try" | b"parfor" | b"spmd" | b"events"
            | b"arguments" | b"unwind_protect" | b"do" => self.scopes.open("block", None, outline),
            b"end"
            | b"endif"
            | b"endfor"
            | b"endwhile"
            | b"endswitch"
            | b"endfunction"
            | b"end_try_catch"
            | b"end_unwind_protect"
            | b"endclassdef"
            | b"endmethods"
            | b"endproperties"
            | b"until" => self.scopes.close(first.end, outline),
            _ => match self.scopes.innermost() {
                "properties" => define_list(&tokens[..1], Kind::Field, outline),
                "enumeration" => define_list(&tokens[..1], Kind::Enumerator, outline),
                _ => {}
            },
        }
    }

    /// `function [a, b] = name(x)`
    fn function(&mut self, start: u32, rest: &[Token], outline: &mut Outline<'_>) {
        let before = &outline.text[..start as usize];
        let is_margin = before.last().is_none_or(|byte| *byte == b'\n');
        if is_margin {
            outline.leave_to(0, start);
            self.scopes = Scopes::default();
        }
        let results = rest.iter().position(|token| token.is(b'='));
        let rest = &rest[results.map_or(0, |at| at + 1)..];
        // Accessors: `get.name`, `set.name`.
        let name = match rest {
            [_, dot, name, ..] if dot.is(b'.') => Some(name),
            _ => rest.first(),
        };
        let in_class = self.scopes.innermost() == "methods";
        let kind = if in_class {
            Kind::Method
        } else {
            Kind::Function
        };
        let index = name.and_then(|name| outline.define(name.range(), kind));
        self.scopes.open("function", index, outline);
    }
}

#[derive(Default)]
pub(crate) struct Cobol {
    in_procedures: bool,
}

/// Column of a comment's sign in fixed form.
const INDICATOR: usize = 6;

/// Column before which paragraphs begin.
const AREA_B: u32 = 11;

impl Parser for Cobol {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let text = outline.bytes(line.range.clone());
        let is_comment = matches!(text.get(INDICATOR), Some(b'*' | b'/'));
        let is_sequence = |first: &Token| {
            first.role == Role::Number
                && first.start == line.range.start
                && first.end - first.start == INDICATOR as u32
        };
        let tokens = match line.tokens {
            [first, rest @ ..] if is_sequence(first) => rest,
            tokens => tokens,
        };
        if let Some(first) = tokens.first().filter(|_| !is_comment && line.is_begin) {
            self.statement(tokens, first.start - line.range.start, outline);
        }
    }
}

impl Cobol {
    fn statement(&mut self, tokens: &[Token], column: u32, outline: &mut Outline<'_>) {
        let (first, second) = (
            Word::of(tokens.first(), outline),
            Word::of(tokens.get(1), outline),
        );
        let has_point = tokens.get(1).is_some_and(|next| next.is(b'.'));
        match (first.text(), second.text()) {
            (b"program-id" | b"class-id" | b"function-id", _) => {
                let name = tokens.iter().skip(1).find(|token| token.is_word());
                let name = name.and_then(|name| outline.define(name.range(), Kind::Module));
                outline.leave_to(0, tokens[0].start);
                outline.enter(name);
                self.in_procedures = false;
            }
            (b"procedure", b"division") => self.in_procedures = true,
            (_, b"division") => {}
            (name, b"section") if !name.is_empty() && self.in_procedures => {
                outline.define(tokens[0].range(), Kind::Function);
            }
            (b"exit" | b"goback" | b"continue" | b"else" | b"declaratives", _) => {}
            (name, _) if self.in_procedures => {
                let is_end = name.starts_with(b"end-") || name == b"end";
                if has_point && tokens.len() == 2 && column < AREA_B && !is_end {
                    outline.define(tokens[0].range(), Kind::Function);
                }
            }
            _ if tokens[0].role == Role::Number => data(tokens, outline),
            _ => {}
        }
    }
}

fn data(tokens: &[Token], outline: &mut Outline<'_>) {
    let kind = match tokens[0].text(outline) {
        b"01" | b"1" | b"77" => Kind::Variable,
        b"78" => Kind::Constant,
        b"88" => Kind::Enumerator,
        level if level.len() < 3 => Kind::Field,
        _ => return,
    };
    let name = Word::of(tokens.get(1), outline);
    if !matches!(name.text(), b"" | b"filler" | b"pic" | b"picture") {
        outline.define(tokens[1].range(), kind);
    }
}
