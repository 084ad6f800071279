//! Verilog and SystemVerilog: modules, types, members, parameters, variables, ports.

#[cfg(test)]
mod tests;

use super::super::outline::Outline;
use super::super::parser::{Line, Parser, Role, Token};
use super::super::{Kind, Parent};
use super::words::{Scopes, Statement, Word, define_members};

#[derive(Default)]
pub(crate) struct Verilog {
    statement: Statement,
    scopes: Scopes,
    /// Open `begin`: variables inside are local.
    begins: usize,
    in_macro: bool,
}

impl Parser for Verilog {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let goes_on = outline.bytes(line.range.clone()).ends_with(b"\\");
        let in_macro = self.in_macro;
        self.in_macro = in_macro && goes_on;
        let Some(first) = line.tokens.first().filter(|_| !in_macro) else {
            return;
        };
        match first.text(outline) {
            b"`define" => {
                if let Some(name) = line.tokens.get(1) {
                    outline.define(name.range(), Kind::Macro);
                }
                self.in_macro = goes_on;
            }
            b"`ifdef" | b"`ifndef" | b"`elsif" | b"`else" | b"`endif" | b"`include"
            | b"`timescale" | b"`undef" | b"`default_nettype" | b"`resetall" => {}
            _ => {
                self.end_macro(outline);
                for token in line.tokens {
                    self.token(*token, outline);
                }
            }
        }
    }
}

impl Verilog {
    fn token(&mut self, token: Token, outline: &mut Outline<'_>) {
        if self.statement.depth > 0 {
            self.statement.push(token);
            let is_closed = self.statement.depth == 0 && token.is(b'}');
            let first = self.statement.tokens.first();
            if is_closed && first.is_some_and(|it| it.text(outline) == b"constraint") {
                self.end_statement(outline);
            }
        } else if token.is(b';') {
            self.end_statement(outline);
        } else if token.role != Role::Keyword || !self.block(token, outline) {
            self.statement.push(token);
        }
    }

    fn end_macro(&mut self, outline: &Outline<'_>) {
        let first = self.statement.tokens.first();
        if first.is_some_and(|it| it.text(outline).starts_with(b"`")) && self.statement.depth == 0 {
            self.statement.clear();
        }
    }

    fn block(&mut self, token: Token, outline: &mut Outline<'_>) -> bool {
        let text = token.text(outline);
        match text {
            b"begin" | b"fork" => self.begins += 1,
            b"end" | b"join" | b"join_any" | b"join_none" => {
                self.begins = self.begins.saturating_sub(1);
            }
            b"endmodule" | b"endinterface" | b"endprogram" | b"endpackage" | b"endclass"
            | b"endfunction" | b"endtask" => {
                self.begins = 0;
                self.scopes.close_to(&text[3..], token.end, outline);
            }
            b"endcase" | b"endgenerate" | b"generate" | b"endproperty" | b"endsequence"
            | b"endgroup" | b"endclocking" | b"endspecify" => {}
            _ => return false,
        }
        self.statement.clear();
        true
    }

    fn end_statement(&mut self, outline: &mut Outline<'_>) {
        let tokens = std::mem::take(&mut self.statement.tokens);
        let code = match tokens.as_slice() {
            [colon, _, rest @ ..] if colon.is(b':') => rest,
            code => code,
        };
        self.declaration(code, outline);
        self.statement.tokens = tokens;
        self.statement.clear();
    }

    fn declaration(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let (mut rest, mut is_declaration) = (tokens, false);
        while let [token, behind @ ..] = rest {
            match token.text(outline) {
                b"extern" | b"pure" | b"import" | b"export" => is_declaration = true,
                b"virtual" | b"static" | b"protected" | b"local" | b"automatic" => {}
                _ if token.role == Role::String && is_declaration => {}
                _ => break,
            }
            rest = behind;
        }
        let Some((first, behind)) = rest.split_first() else {
            return;
        };
        let (kind, word) = match first.text(outline) {
            b"module" | b"macromodule" => (Kind::Module, "module"),
            b"package" => (Kind::Module, "package"),
            b"program" => (Kind::Module, "program"),
            b"interface" => (Kind::Interface, "interface"),
            b"class" => (Kind::Class, "class"),
            b"function" => return self.function(behind, "function", is_declaration, outline),
            b"task" => return self.function(behind, "task", is_declaration, outline),
            b"typedef" => return typedef(behind, outline),
            b"property" | b"sequence" => return define_first(behind, Kind::Function, outline),
            b"covergroup" => return define_first(behind, Kind::Class, outline),
            b"constraint" => return define_first(behind, Kind::Field, outline),
            _ => return self.variables(rest, outline),
        };
        let mut names = behind
            .iter()
            .filter(|token| !matches!(token.text(outline), b"automatic" | b"static"));
        let Some(name) = names.next().filter(|token| token.is_word()) else {
            return;
        };
        if is_declaration {
            outline.declare(name.range(), kind);
            return;
        }
        let index = outline.define(name.range(), kind);
        self.scopes.open(word, index, outline);
        self.begins = 0;
        if kind != Kind::Class {
            header(behind, outline);
        }
    }

    fn function(
        &mut self,
        tokens: &[Token],
        word: &'static str,
        is_declaration: bool,
        outline: &mut Outline<'_>,
    ) {
        let mut depth = 0_usize;
        let (mut name, mut at_name) = (None, 0);
        for (at, token) in tokens.iter().enumerate() {
            match token.role {
                Role::Sign(b'(') if depth == 0 => break,
                Role::Sign(b'[') => depth += 1,
                Role::Sign(b']') => depth = depth.saturating_sub(1),
                _ if token.is_word() && depth == 0 => (name, at_name) = (Some(token), at),
                _ => {}
            }
        }
        let Some(name) = name else { return };
        let in_class = self.scopes.innermost() == "class";
        let of = match &tokens[..at_name] {
            [.., class, first, second] if first.is(b':') && second.is(b':') => Some(class),
            _ => None,
        };
        let kind = match of {
            None if !in_class => Kind::Function,
            _ => Kind::Method,
        };
        if is_declaration {
            outline.declare(name.range(), kind);
            return;
        }
        let index = match of {
            Some(of) => outline.define_in(Parent::Name(of.range()), name.range(), kind),
            None => outline.define(name.range(), kind),
        };
        self.scopes.open(word, index, outline);
    }

    /// `parameter A = 1, B = 2`, `wire [3:0] a, b`
    fn variables(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let inside = self.scopes.innermost();
        if matches!(inside, "function" | "task" | "deep") || self.begins > 0 {
            return;
        }
        let kind = match tokens[0].text(outline) {
            b"parameter" | b"localparam" => Kind::Constant,
            b"input" | b"output" | b"inout" => Kind::Field,
            b"rand" | b"randc" => Kind::Field,
            b"wire" | b"tri" | b"wand" | b"wor" | b"supply0" | b"supply1" | b"reg" | b"logic"
            | b"bit" | b"byte" | b"int" | b"integer" | b"longint" | b"shortint" | b"time"
            | b"real" | b"string" | b"const" | b"var" | b"genvar" => match inside {
                "class" => Kind::Field,
                _ => Kind::Variable,
            },
            _ => return,
        };
        parts(tokens, b';', kind, outline);
    }
}

fn define_first(tokens: &[Token], kind: Kind, outline: &mut Outline<'_>) {
    if let Some(name) = tokens.first().filter(|token| token.is_word()) {
        outline.define(name.range(), kind);
    }
}

fn parts(tokens: &[Token], ending: u8, kind: Kind, outline: &mut Outline<'_>) {
    let (mut depth, mut name, mut is_value) = (0_usize, None, false);
    for token in tokens {
        match token.role {
            Role::Sign(b'(' | b'[' | b'{') => depth += 1,
            Role::Sign(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            Role::Sign(b'=') => is_value = true,
            Role::Sign(sign) if depth == 0 && (sign == b',' || sign == ending) => {
                name.take().map(|name| outline.define(name, kind));
                is_value = false;
            }
            Role::Word if depth == 0 && !is_value => name = Some(token.range()),
            _ => {}
        }
    }
    name.map(|name| outline.define(name, kind));
}

fn header(tokens: &[Token], outline: &mut Outline<'_>) {
    let (mut depth, mut start, mut is_parameters) = (0_usize, 0, false);
    for (at, token) in tokens.iter().enumerate() {
        match token.role {
            Role::Sign(b'(') => {
                if depth == 0 {
                    start = at + 1;
                    is_parameters = at > 0 && tokens[at - 1].is(b'#');
                }
                depth += 1;
            }
            Role::Sign(b')') => {
                depth = depth.saturating_sub(1);
                let inside = &tokens[start..at];
                if depth == 0 && is_parameters {
                    parts(inside, b',', Kind::Constant, outline);
                } else if depth == 0 && has_direction(inside, outline) {
                    parts(inside, b',', Kind::Field, outline);
                }
            }
            _ => {}
        }
    }
}

fn has_direction(tokens: &[Token], outline: &Outline<'_>) -> bool {
    tokens.iter().any(|token| {
        token.role == Role::Keyword
            && matches!(
                token.text(outline),
                b"input" | b"output" | b"inout" | b"ref"
            )
    })
}

/// `enum {A, B} name`, `class name`
fn typedef(tokens: &[Token], outline: &mut Outline<'_>) {
    let open = tokens.iter().position(|token| token.is(b'{'));
    let close = tokens.iter().rposition(|token| token.is(b'}'));
    let word = Word::of(tokens.first(), outline);
    let kind = match word.text() {
        b"enum" => Kind::Enum,
        b"struct" => Kind::Struct,
        b"union" => Kind::Union,
        b"class" => Kind::Class,
        _ => Kind::Type,
    };
    let behind = &tokens[close.map_or(0, |close| close + 1)..];
    let name = behind.iter().rposition(|token| token.role == Role::Word);
    let name = match (kind, close) {
        (Kind::Type | Kind::Class, _) => name,
        _ => behind.iter().position(|token| token.role == Role::Word),
    };
    let Some(name) = name.map(|at| behind[at].range()) else {
        return;
    };
    let is_forward = kind != Kind::Type && open.is_none();
    if is_forward {
        outline.declare(name, kind);
        return;
    }
    let index = outline.define(name, kind);
    if let Some((open, close)) = open.zip(close).filter(|(open, close)| open < close) {
        outline.enter(index);
        if kind == Kind::Enum {
            define_members(&tokens[open..], Kind::Enumerator, outline);
        } else {
            parts(&tokens[open + 1..close], b';', Kind::Field, outline);
        }
        outline.leave(tokens[close].end);
    }
}
