//! Nim.

use super::super::Kind;
use super::super::outline::{Outline, SCOPES_MAX};
use super::super::parser::{Line, Parser, Role, Token};
use std::ops::Range;

const OPERATOR_TOKENS_MAX: usize = 8;

struct Scope {
    indent: usize,
    inside: Inside,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Routine,
    Fields,
    Values,
    /// `type`, `const`, `let`, `var`, with the indentation of entries.
    Section(Option<Kind>, Option<usize>),
}

#[derive(Default)]
pub(crate) struct Nim {
    scopes: Vec<Scope>,
    brackets: usize,
    /// Routine before its `=`.
    routine: Option<u32>,
    end: u32,
    /// `when` in the first column, whose entries are the file's.
    is_in_when: bool,
}

impl Parser for Nim {
    fn line(&mut self, line: &Line<'_>, outline: &mut Outline<'_>) {
        let Some(last) = line.tokens.last() else {
            return;
        };
        if line.is_begin && !line.begins_inside {
            let indent = line.indent(outline);
            let restarts = indent == 0 && routine(line.tokens[0].text(outline)).is_some();
            if self.brackets == 0 || restarts {
                self.brackets = 0;
                self.close(indent, outline);
                self.head(line.tokens, indent, outline);
            }
        }
        self.count(line.tokens);
        self.end = last.end;
    }

    fn finish(&mut self, outline: &mut Outline<'_>) {
        self.close(0, outline);
    }
}

impl Nim {
    fn close(&mut self, indent: usize, outline: &mut Outline<'_>) {
        while self.scopes.last().is_some_and(|it| it.indent >= indent) {
            self.scopes.pop();
            outline.leave(self.end);
            if let Some(index) = self.routine.take() {
                outline.definition(index).is_declaration = true;
            }
        }
    }

    fn count(&mut self, tokens: &[Token]) {
        for token in tokens {
            match token.role {
                Role::Sign(b'(' | b'[' | b'{') => self.brackets += 1,
                Role::Sign(b')' | b']' | b'}') => self.brackets = self.brackets.saturating_sub(1),
                Role::Sign(b'=') if self.brackets == 0 => self.routine = None,
                _ => {}
            }
        }
    }

    fn enter(
        &mut self,
        definition: Option<u32>,
        indent: usize,
        inside: Inside,
        outline: &mut Outline<'_>,
    ) {
        if self.scopes.len() < SCOPES_MAX {
            self.scopes.push(Scope { indent, inside });
            outline.enter(definition);
        }
    }

    fn head(&mut self, tokens: &[Token], indent: usize, outline: &mut Outline<'_>) {
        let word = tokens[0].text(outline);
        let inside = self.scopes.last().map(|it| it.inside);
        if let Some(kind) = routine(word) {
            let name = name(tokens, 1).and_then(|name| outline.define(name, kind));
            self.routine = name;
            return self.enter(name, indent, Inside::Routine, outline);
        }
        match inside {
            Some(Inside::Fields) => return fields(tokens, outline),
            Some(Inside::Values) => return list(tokens, Kind::Enumerator, outline),
            Some(Inside::Section(kind, entries)) => {
                let entries = entries.unwrap_or(indent);
                if let Some(scope) = self.scopes.last_mut() {
                    scope.inside = Inside::Section(kind, Some(entries));
                }
                if indent == entries {
                    self.entry(tokens, kind, indent, outline);
                }
                return;
            }
            _ => {}
        }
        if indent == 0 {
            self.is_in_when = matches!(word, b"when" | b"elif" | b"else");
        }
        let is_local = indent > 0 && !self.is_in_when
            || self.scopes.iter().any(|it| it.inside == Inside::Routine);
        let kind = match word {
            b"type" => None,
            b"const" if !is_local => Some(Kind::Constant),
            b"let" | b"var" if !is_local => Some(Kind::Variable),
            _ => return,
        };
        if tokens.len() > 1 {
            self.entry(&tokens[1..], kind, indent, outline);
        } else {
            self.enter(None, indent, Inside::Section(kind, None), outline);
        }
    }

    /// Takes an entry of a section; a type without `kind`.
    fn entry(
        &mut self,
        tokens: &[Token],
        kind: Option<Kind>,
        indent: usize,
        outline: &mut Outline<'_>,
    ) {
        if let Some(kind) = kind {
            return list(tokens, kind, outline);
        }
        let Some(name) = name(tokens, 0) else { return };
        let mut depth = 0;
        let equals = tokens.iter().position(|token| {
            match token.role {
                Role::Sign(b'[' | b'{') => depth += 1,
                Role::Sign(b']' | b'}') => depth -= 1,
                _ => {}
            }
            depth == 0 && token.is(b'=')
        });
        let value = equals.map_or(&[][..], |equals| &tokens[equals + 1..]);
        let words = value.iter().map(|token| token.text(outline));
        let word = words.clone().find(|word| !matches!(*word, b"ref" | b"ptr"));
        let (kind, inside) = match word {
            Some(b"object" | b"tuple") => (Kind::Struct, Inside::Fields),
            Some(b"enum") => (Kind::Enum, Inside::Values),
            Some(b"concept") => (Kind::Interface, Inside::Section(None, Some(usize::MAX))),
            _ => (Kind::Type, Inside::Section(None, Some(usize::MAX))),
        };
        let definition = outline.define(name, kind);
        self.enter(definition, indent, inside, outline);
        if inside == Inside::Values {
            list(value.get(1..).unwrap_or(&[]), Kind::Enumerator, outline);
        }
    }
}

fn routine(word: &[u8]) -> Option<Kind> {
    match word {
        b"proc" | b"func" | b"iterator" | b"converter" => Some(Kind::Function),
        b"method" => Some(Kind::Method),
        b"template" | b"macro" => Some(Kind::Macro),
        _ => None,
    }
}

/// Name, or an operator in back quotes.
fn name(tokens: &[Token], at: usize) -> Option<Range<u32>> {
    let first = tokens.get(at)?;
    if !first.is(b'`') {
        return first.is_word().then(|| first.range());
    }
    let mut rest = tokens.iter().skip(at + 1).take(OPERATOR_TOKENS_MAX);
    let end = rest.find(|token| token.is(b'`'))?;
    Some(first.end..end.start)
}

fn fields(tokens: &[Token], outline: &mut Outline<'_>) {
    match tokens[0].text(outline) {
        b"of" | b"else" | b"when" | b"elif" | b"discard" | b"nil" => {}
        b"case" => list(&tokens[1..], Kind::Field, outline),
        _ => list(tokens, Kind::Field, outline),
    }
}

/// `a*, b {.x.}: T = v`
fn list(tokens: &[Token], kind: Kind, outline: &mut Outline<'_>) {
    let (mut depth, mut is_expected) = (0, true);
    for token in tokens {
        match token.role {
            Role::Sign(b'(' | b'[' | b'{') => depth += 1,
            Role::Sign(b')' | b']' | b'}') => depth -= 1,
            Role::Sign(b',') if depth == 0 => is_expected = true,
            // Only enumerators follow a value.
            Role::Sign(b':' | b'=') if depth == 0 && kind != Kind::Enumerator => return,
            _ if is_expected && depth == 0 && token.is_word() => {
                is_expected = false;
                outline.define(token.range(), kind);
            }
            Role::Sign(b'`' | b'*') => {}
            _ => is_expected = false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn routines_and_types_have_members() {
        check(
            "nim",
            "import strutils\nconst\n  Version* = \"1.0\"\n  A, B = (1, 2)\nlet x* = 5\nvar\n  count, total: int\n  table = {\n    \"a\": 1,\n  }.toTable\ntype\n  Point* = object of RootObj\n    ## Doc: comment\n    x*, y*: float\n    case kind: Kind\n    of a: name: string\n    else: discard\n  Color {.pure.} = enum\n    red, green = 2,\n    blue\n  Ref[T] = ref object\n    value: T\n  Callback = proc (x: int): int\n  Inline = enum one, two\n\nproc forward(a: int): int\nproc add*[T](a, b: T;\n    c = 1): T {.inline.} =\n  let local = 1\n  proc nested(x: int) = discard\n  result = a\n\nfunc `+`(a, b: Point): Point = a\nproc `name=`*(p: Point) =\n  discard\nmethod draw(p: Point) {.base.} =\n  echo \"\"\"\nproc no() =\n\"\"\"\ntemplate t(x: untyped) =\n  x\nmacro m(x): untyped = x\niterator items*(p: Point): int =\n  yield 1\nwhen defined(windows):\n  proc c_exit(x: cint) {.importc.}\n  const W = 1\ntest \"x\":\n  let local = 1\n",
            "constant Version 3
             constant A 4
             constant B 4
             variable x 5
             variable count 7
             variable total 7
             variable table 8
             struct Point 12-17
             field Point.x 14
             field Point.y 14
             field Point.kind 15
             enum Color 18-20
             enumerator Color.red 19
             enumerator Color.green 19
             enumerator Color.blue 20
             struct Ref 21-22
             field Ref.value 22
             type Callback 23
             enum Inline 24
             enumerator Inline.one 24
             enumerator Inline.two 24
             function forward; 26
             function add 27-31
             function add.nested 30
             function + 33
             function name= 34-35
             method draw 36-39
             macro t 40-41
             macro m 42
             function items 43-44
             function c_exit; 46
             constant W 47",
        );
    }
}
