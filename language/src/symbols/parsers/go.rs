//! Go.

use crate::symbols::blocks::{Grammar, Heads, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, Parent, Role};

pub(crate) struct Go;

impl Grammar for Go {
    const HEADS: Heads = &[(Scope::Top, "func type const var import")];

    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        let last = it.last().map_or(&b""[..], |last| last.text(outline));
        let is_type = matches!(last, b"struct" | b"interface");
        match it.scope {
            Scope::Top if it.word(0, outline) == b"func" && !is_type => {
                Open::Ignored(function(it, outline))
            }
            Scope::Top if it.word(0, outline) == b"type" && is_type => open_type(it, 1, outline),
            Scope::Types if is_type => open_type(it, 0, outline),
            Scope::Record if last == b"struct" => Open::Scope(field(it, outline), Scope::Record),
            _ => Open::Part,
        }
    }

    fn end(&mut self, it: &Statement, _sign: u8, outline: &mut Outline<'_>) {
        match it.scope {
            Scope::Constants => drop(it.define_list(0, Kind::Constant, outline)),
            Scope::Variables => drop(it.define_list(0, Kind::Variable, outline)),
            Scope::Types => drop(define_type(it, 0, outline)),
            Scope::Record => drop(field(it, outline)),
            Scope::Methods if it.is(1, b'(') => {
                let method = outline.define_token(it.name(0), Kind::Method);
                outline.set_declaration(method);
            }
            Scope::Top => end_at_top(it, outline),
            _ => {}
        }
    }

    fn is_end_of_line(&self, it: &Statement, _outline: &Outline<'_>) -> bool {
        match it.last().map(|last| last.role) {
            Some(Role::Sign(sign)) => matches!(sign, b')' | b']' | b'}'),
            _ => true,
        }
    }

    fn group(&self, it: &Statement, outline: &Outline<'_>) -> Option<Scope> {
        if it.scope != Scope::Top || it.tokens().len() != 1 {
            return None;
        }
        match it.word(0, outline) {
            b"const" => Some(Scope::Constants),
            b"var" => Some(Scope::Variables),
            b"type" => Some(Scope::Types),
            _ => None,
        }
    }
}

fn end_at_top(it: &Statement, outline: &mut Outline<'_>) {
    match it.word(0, outline) {
        b"package" => drop(outline.define_token(it.name(1), Kind::Module)),
        b"func" => {
            let function = function(it, outline);
            outline.set_declaration(function);
        }
        b"type" => drop(define_type(it, 1, outline)),
        b"const" => drop(it.define_list(1, Kind::Constant, outline)),
        b"var" => drop(it.define_list(1, Kind::Variable, outline)),
        _ => {}
    }
}

fn function(it: &Statement, outline: &mut Outline<'_>) -> Option<u32> {
    let at = it.behind(1);
    let name = it.name(at)?;
    if name.text(outline) == b"_" {
        return None;
    }
    if at == 1 {
        return outline.define(name.range(), Kind::Function);
    }
    let receiver = it.tokens().get(2..at)?;
    let receiver = receiver.iter().take_while(|token| !token.is(b'['));
    let of = receiver.filter(|token| token.is_word()).last();
    let parent = of.map_or(Parent::None, |of| Parent::Name(of.range()));
    outline.define_in(parent, name.range(), Kind::Method)
}

fn open_type(it: &Statement, at: usize, outline: &mut Outline<'_>) -> Open {
    let definition = define_type(it, at, outline);
    match definition.map(|index| outline.definition(index).kind) {
        Some(Kind::Interface) => Open::Scope(definition, Scope::Methods),
        _ => Open::Scope(definition, Scope::Record),
    }
}

fn define_type(it: &Statement, at: usize, outline: &mut Outline<'_>) -> Option<u32> {
    let name = it.name(at)?;
    let mut next = at + 1;
    // An array's length follows a blank, type parameters do not.
    if it.is(next, b'[') && it.is_adjacent(next) {
        next = it.behind(next);
    }
    next += usize::from(it.is(next, b'='));
    let kind = match it.word(next, outline) {
        b"struct" => Kind::Struct,
        b"interface" => Kind::Interface,
        _ => Kind::Type,
    };
    outline.define(name.range(), kind)
}

/// Excludes embedded types. Returns the last name.
fn field(it: &Statement, outline: &mut Outline<'_>) -> Option<u32> {
    let mut names = 0;
    while it.is_word(names) && it.is(names + 1, b',') {
        names += 2;
    }
    let is_embedded = match it.get(names + 1)?.role {
        Role::Sign(b'.' | b'}') | Role::String => true,
        Role::Sign(b'[') => it.is_adjacent(names + 1),
        _ => false,
    };
    if is_embedded {
        return None;
    }
    let mut last = None;
    for name in it.tokens()[..=names].iter().filter(|name| name.is_word()) {
        if name.text(outline) != b"_" {
            last = outline.define(name.range(), Kind::Field);
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn functions_have_receivers() {
        check(
            "go",
            "package a\n\nimport (\n\t\"fmt\"\n\tx \"b/c\"\n)\n\nfunc F(a, b int) error {\n\tvar l int\n\ttype T struct{ x int }\n\tfunc() { l++ }()\n}\nfunc (s *S) M(x int) error {\n}\nfunc (S[K, V]) G() (a int, err error) { return }\nfunc Map[K comparable, V any](m map[K]V, f func(V) struct{}) interface{} {\n\treturn nil\n}\nfunc asm(x int) int\nfunc (v pkg) _() {}\nfunc many(\n\ta int,\n\tb interface{},\n) (\n\tc struct{ d int },\n) {\n}\n",
            "module a 1
             function F 8-12
             method S.M 13-14
             method S.G 15
             function Map 16-18
             function asm; 19
             function many 21-27",
        );
    }

    #[test]
    fn types_have_members() {
        check(
            "go",
            "type S struct {\n\tsync.Mutex\n\t*T\n\tU `x:\"y\"`\n\tG[int]\n\ta, b int `json:\"a\"`\n\tc map[string]struct {\n\t\td int\n\t} `json:\"c\"`\n\te [5]byte\n\tf func(x struct{}) interface{}\n\tErr error; ok bool\n}\ntype (\n\tA = B\n\tI interface {\n\t\tRead(p []byte) (n int, err error)\n\t\tio.Writer\n\t\t~int | ~string\n\t\tClose() error // closes\n\t}\n\tP[T any] struct{ x T }\n\tArr [5]struct{ y int }\n\tF func(a int) (b int)\n)\ntype Empty struct{}\ntype E interface{}\ntype M map[string]interface{}\ntype W = struct {\n\tz int\n}\n",
            "struct S 1-13
             field S.a 6
             field S.b 6
             field S.c 7-9
             field S.c.d 8
             field S.e 10
             field S.f 11
             field S.Err 12
             field S.ok 12
             type A 15
             interface I 16-21
             method I.Read; 17
             method I.Close; 20
             struct P 22
             field P.x 22
             type Arr 23
             field Arr.y 23
             type F 24
             struct Empty 26
             interface E 27
             type M 28
             struct W 29-31
             field W.z 30",
        );
    }

    #[test]
    fn groups_have_constants_and_variables() {
        check(
            "go",
            "const Pi = 3\nconst (\n\tA Kind = iota\n\tB\n\t_\n\tC, D = 1,\n\t\t2\n\tE = `\nconst X = 1\n` + f(func() { x := 1 })\n\tF = 1 +\n\t\tG\n)\nvar x, y = T{\n\ta: 1,\n}, func() {\n\tvar z int\n}\nvar (\n\terr error\n\t_ I = (*S)(nil)\n\tm = map[string]struct {\n\t\ta int\n\t}{\n\t\t\"a\": {1},\n\t}\n\tn int\n)\n",
            "constant Pi 1
             constant A 3
             constant B 4
             constant C 6
             constant D 6
             constant E 8
             constant F 11
             variable x 14
             variable y 14
             variable err 20
             variable m 22
             variable n 27",
        );
    }

    #[test]
    fn definitions_after_garbage_are_found() {
        check(
            "go",
            "func a() {\n\tif {\n}\nfunc b() { x(\n}}}\ntype T struct {\n\ta int\nvar v = (1\nfunc c() {}\nconst (\n\tA = 1\nfunc d() {}\n",
            "function a 1-3
             function b 4-5
             struct T 6-7
             field T.a 7
             variable v 8
             function c 9
             constant A 11
             function d 12",
        );
    }
}
