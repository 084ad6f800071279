//! Zig, whose containers are values of constants.

use crate::symbols::blocks::{Grammar, Heads, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, Role, Token};

pub(crate) struct Zig;

impl Grammar for Zig {
    const HEADS: Heads = &[(Scope::Top, "pub fn const export test")];
    const COMMAS: &'static [Scope] = &[Scope::Record, Scope::Values];

    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        let at = modifiers(it, outline);
        let container = container(it, outline);
        let word = it.word(at, outline);
        let name = it.name(at + 1);
        match (word, container) {
            // `fn f() error{A}!void {`
            (b"fn", Some(_)) => Open::Part,
            (b"fn", None) => Open::Scope(function(it, name, outline), Scope::Body),
            (b"const" | b"var", Some((kind, scope))) => {
                let name = name.filter(|_| it.is(at + 2, b'=') || it.scope != Scope::Body);
                Open::Scope(outline.define_token(name, kind), scope)
            }
            (_, Some((_, scope))) if is_members(it.scope) => {
                Open::Scope(field(it, at, outline), scope)
            }
            (_, Some((_, scope))) => Open::Scope(None, scope),
            (b"test" | b"comptime", None) => Open::Scope(None, Scope::Body),
            _ if it.scope == Scope::Body => Open::Scope(None, Scope::Body),
            _ => Open::Part,
        }
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        if it.scope == Scope::Body {
            return;
        }
        let at = modifiers(it, outline);
        let name = it.name(at + 1);
        let kind = match it.word(at, outline) {
            b"fn" => {
                let function = function(it, name, outline);
                return outline.set_declaration(function);
            }
            b"const" => Kind::Constant,
            b"var" => Kind::Variable,
            _ if is_members(it.scope) => {
                field(it, at, outline);
                return;
            }
            _ => return,
        };
        let value = it.get(at + 3).filter(|value| value.role == Role::Meta);
        let is_import = value.is_some_and(|value| value.text(outline) == b"@import");
        outline.define_token(name.filter(|_| !is_import), kind);
    }
}

fn is_members(scope: Scope) -> bool {
    matches!(scope, Scope::Record | Scope::Values)
}

fn function(it: &Statement, name: Option<Token>, outline: &mut Outline<'_>) -> Option<u32> {
    outline.define_token(name, Kind::of_function(is_members(it.scope)))
}

fn field(it: &Statement, at: usize, outline: &mut Outline<'_>) -> Option<u32> {
    let name = it.name(at).filter(|name| name.role != Role::Keyword)?;
    match it.scope {
        Scope::Values => outline.define(name.range(), Kind::Enumerator),
        _ if it.is(at + 1, b':') || it.tokens().len() == at + 1 => {
            outline.define(name.range(), Kind::Field)
        }
        _ => None,
    }
}

fn modifiers(it: &Statement, outline: &Outline<'_>) -> usize {
    let mut at = 0;
    loop {
        let is_name = it.is_string(at);
        at += match it.word(at, outline) {
            b"pub" | b"export" | b"extern" | b"inline" | b"noinline" | b"threadlocal" => 1,
            b"comptime" if it.is_word(at + 1) => 1,
            _ if is_name && at > 0 => 1,
            _ => return at,
        }
    }
}

fn container(it: &Statement, outline: &Outline<'_>) -> Option<(Kind, Scope)> {
    let end = it.tokens().len();
    let from = end.saturating_sub(4);
    let at = (from..end).find(|at| {
        let kind = kind_of(it.word(*at, outline));
        kind.is_some() && it.behind(at + 1) == end
    })?;
    kind_of(it.word(at, outline))
}

fn kind_of(word: &[u8]) -> Option<(Kind, Scope)> {
    match word {
        b"struct" | b"opaque" => Some((Kind::Struct, Scope::Record)),
        b"union" => Some((Kind::Union, Scope::Record)),
        b"enum" | b"error" => Some((Kind::Enum, Scope::Values)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn containers_have_fields_and_functions() {
        check(
            "zig",
            "const std = @import(\"std\");\nconst Allocator = std.mem.Allocator;\npub const Point = struct {\n    x: f32,\n    y: f32 = 0,\n    const zero = Point{ .x = 0 };\n    pub fn init(x: f32) Point {\n        const local = .{ .a = 1 };\n        return Point{ .x = x };\n    }\n    inner: struct { z: u8 },\n};\nconst Color = enum(u8) {\n    red,\n    green = 2,\n    fn name(self: Color) []const u8 { return \"}\"; }\n    blue,\n};\nconst U = union(enum) { a: u8, b };\nconst E = error{ NotFound, Bad };\npub fn List(comptime T: type) type {\n    return struct {\n        items: []T,\n        const Self = @This();\n        pub fn push(self: *Self, item: T) !void {\n            if (x) { } else { }\n        }\n    };\n}\nfn f() error{A}!void {}\nextern \"c\" fn printf(format: [*:0]const u8, ...) c_int;\nexport fn g() void { while (true) {} }\nvar count: usize = 0;\nthreadlocal var t = 1;\nconst text =\n    \\\\ fn no() {\n;\nconst x = blk: { break :blk 1; };\ntest \"add { \" { const y = 1; }\ncomptime { _ = g; }\npub inline fn last() void {}\n",
            "constant Allocator 2
             struct Point 3-12
             field Point.x 4
             field Point.y 5
             constant Point.zero 6
             method Point.init 7-10
             field Point.inner 11
             field Point.inner.z 11
             enum Color 13-18
             enumerator Color.red 14
             enumerator Color.green 15
             method Color.name 16
             enumerator Color.blue 17
             union U 19
             field U.a 19
             field U.b 19
             enum E 20
             enumerator E.NotFound 20
             enumerator E.Bad 20
             function List 21-29
             field List.items 23
             constant List.Self 24
             method List.push 25-27
             function f 30
             function printf; 31
             function g 32
             variable count 33
             variable t 34
             constant text 35
             constant x 38
             function last 41",
        );
    }
}
