//! Nim.

use super::*;

const OPERATOR_TOKENS_MAX: usize = 8;

impl Indented {
    pub(super) fn nim(&mut self, tokens: &[Token], outline: &mut Outline<'_>) {
        let word = tokens[0].text(outline);
        self.section = self.section.filter(|it| self.indent > it.indent);
        if let Some(kind) = routine(word) {
            self.header = name(tokens, 1).and_then(|name| outline.define(name, kind));
            return self.open(self.header, outline);
        }
        match outline.scope_kind() {
            Some(Kind::Struct) => return fields(tokens, outline),
            Some(Kind::Enum) => return list(tokens, Kind::Enumerator, outline),
            Some(Kind::Type | Kind::Interface) => return,
            _ => {}
        }
        if let Some(section) = &mut self.section {
            let entries = *section.entries.get_or_insert(self.indent);
            if self.indent == entries {
                let kind = section.kind;
                self.entry(tokens, kind, outline);
            }
            return;
        }
        if self.indent == 0 {
            self.is_in_when = matches!(word, b"when" | b"elif" | b"else");
        }
        let is_outside = self.indent == 0 || self.is_in_when && outline.innermost().is_none();
        let kind = match word {
            b"type" => None,
            b"const" if is_outside => Some(Kind::Constant),
            b"let" | b"var" if is_outside => Some(Kind::Variable),
            _ => return,
        };
        if tokens.len() > 1 {
            self.entry(&tokens[1..], kind, outline);
        } else {
            let (indent, entries) = (self.indent, None);
            self.section = Some(Section {
                indent,
                kind,
                entries,
            });
        }
    }

    pub(super) fn begins_routine(&self, first: &Token, outline: &Outline<'_>) -> bool {
        routine(first.text(outline)).is_some()
    }

    fn entry(&mut self, tokens: &[Token], kind: Option<Kind>, outline: &mut Outline<'_>) {
        if let Some(kind) = kind {
            return list(tokens, kind, outline);
        }
        let Some(name) = name(tokens, 0) else { return };
        let mut depth = 0;
        let mut value = tokens.iter().skip_while(|token| {
            depth += token.nesting();
            depth != 0 || !token.is(b'=')
        });
        let is_reference = |token: &&Token| matches!(token.text(outline), b"=" | b"ref" | b"ptr");
        let word = value.find(|token| !is_reference(token));
        let kind = match word.map_or(&b""[..], |it| it.text(outline)) {
            b"object" | b"tuple" => Kind::Struct,
            b"enum" => Kind::Enum,
            b"concept" => Kind::Interface,
            _ => Kind::Type,
        };
        let definition = outline.define(name, kind);
        self.open(definition, outline);
        if kind == Kind::Enum {
            list(
                &value.copied().collect::<Vec<_>>(),
                Kind::Enumerator,
                outline,
            );
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
        depth += token.nesting();
        match token.role {
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
