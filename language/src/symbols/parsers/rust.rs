//! Rust. Braces of a macro between items are transparent, because `bitflags!` has items inside.

use crate::symbols::blocks::{Grammar, Heads, Open, Scope, Statement};
use crate::symbols::{Kind, Outline, Role, Token};

pub(crate) struct Rust;

impl Grammar for Rust {
    const HEADS: Heads = &[
        (Scope::Methods, "pub fn const type unsafe async"),
        (Scope::Top, "impl struct enum trait mod use macro_rules"),
    ];
    const COMMAS: &'static [Scope] = &[Scope::Record, Scope::Values];

    fn open(&mut self, it: &Statement, outline: &mut Outline<'_>) -> Open {
        match it.scope {
            Scope::Record => return Open::Part,
            Scope::Values => {
                let value = outline.define_token(name(it, 0, outline), Kind::Enumerator);
                return Open::Scope(value, Scope::Record);
            }
            _ => {}
        }
        if let Some(item) = Item::of(it, outline) {
            let definition = outline.define(item.name.range(), item.kind);
            return match item.inside {
                Some(scope) => Open::Scope(definition, scope),
                None => Open::Ignored(definition),
            };
        }
        let is_macro = it.last().is_some_and(|last| last.is(b'!'));
        match (it.scope, it.word(0, outline)) {
            (Scope::Body, _) if is_macro => Open::Ignored(None),
            // `pub {const} fn` in a macro.
            (Scope::Top | Scope::Methods, b"pub") => Open::Part,
            (scope, _) => Open::Scope(None, scope),
        }
    }

    fn open_in_brackets(&mut self, it: &Statement, outline: &Outline<'_>) -> Open {
        let last = it.last().filter(|_| it.scope == Scope::Body);
        let is_closure = last.is_some_and(|last| {
            last.is(b'|') || matches!(last.text(outline), b"async" | b"move" | b"unsafe")
        });
        if is_closure {
            Open::Scope(None, Scope::Body)
        } else {
            Open::Part
        }
    }

    fn end(&mut self, it: &Statement, sign: u8, outline: &mut Outline<'_>) {
        match it.scope {
            Scope::Record => field(it, outline),
            Scope::Values => drop(outline.define_token(name(it, 0, outline), Kind::Enumerator)),
            _ if sign == b';' => end_item(it, outline),
            _ => {}
        }
    }
}

fn field(it: &Statement, outline: &mut Outline<'_>) {
    if it.word(0, outline) == b"const" {
        outline.define_token(name(it, 1, outline), Kind::Constant);
        return;
    }
    let name = name(it, modifiers(it, outline), outline);
    let name = name.filter(|name| it.index(*name).is_some_and(|at| has_type(it, at)));
    outline.define_token(name, Kind::Field);
}

/// Excludes the path `name::`.
fn has_type(it: &Statement, at: usize) -> bool {
    it.is(at + 1, b':') && !(it.is(at + 2, b':') && it.is_adjacent(at + 2))
}

fn end_item(it: &Statement, outline: &mut Outline<'_>) {
    let Some(item) = Item::of(it, outline) else {
        return;
    };
    if matches!(item.kind, Kind::Function | Kind::Method | Kind::Module) {
        outline.declare(item.name.range(), item.kind);
    } else if item.kind != Kind::Implementation {
        outline.define(item.name.range(), item.kind);
    }
}

struct Item {
    kind: Kind,
    name: Token,
    /// Scope of its braces, if not ignored.
    inside: Option<Scope>,
}

impl Item {
    fn of(it: &Statement, outline: &Outline<'_>) -> Option<Item> {
        let at = modifiers(it, outline);
        let (kind, inside) = match it.word(at, outline) {
            b"fn" if it.scope == Scope::Methods => (Kind::Method, Some(Scope::Body)),
            b"fn" => (Kind::Function, Some(Scope::Body)),
            b"struct" => (Kind::Struct, Some(Scope::Record)),
            b"union" => (Kind::Union, Some(Scope::Record)),
            b"enum" => (Kind::Enum, Some(Scope::Values)),
            b"trait" => (Kind::Interface, Some(Scope::Methods)),
            b"mod" => (Kind::Module, Some(Scope::Top)),
            b"type" => (Kind::Type, Some(Scope::Body)),
            b"const" if it.scope == Scope::Body => return None,
            b"const" | b"static" => (Kind::Constant, Some(Scope::Body)),
            b"macro" => (Kind::Macro, None),
            b"macro_rules" if it.is(at + 1, b'!') => {
                let name = name(it, at + 2, outline)?;
                return Item::new(Kind::Macro, name, None);
            }
            b"impl" => {
                let name = implemented(it, at + 1, outline)?;
                return Item::new(Kind::Implementation, name, Some(Scope::Methods));
            }
            _ => return None,
        };
        let name_at = at + 1 + usize::from(matches!(it.word(at + 1, outline), b"mut" | b"ref"));
        let name = name(it, name_at, outline)?;
        let at = it.index(name)?;
        let is_item = match kind {
            Kind::Constant => has_type(it, at) && name.text(outline) != b"_",
            Kind::Function | Kind::Method => it.is(at + 1, b'(') || it.is(at + 1, b'<'),
            _ => true,
        };
        Item::new(kind, name, inside).filter(|_| is_item)
    }

    fn new(kind: Kind, name: Token, inside: Option<Scope>) -> Option<Item> {
        Some(Item { kind, name, inside })
    }
}

/// Index behind `pub(crate) unsafe extern "C"`.
fn modifiers(it: &Statement, outline: &Outline<'_>) -> usize {
    let mut at = 0;
    loop {
        at = match it.word(at, outline) {
            b"pub" => {
                let brace = usize::from(it.is(at + 1, b'}'));
                it.behind(at + 1 + brace)
            }
            b"async" | b"unsafe" | b"default" | b"safe" | b"auto" => at + 1,
            b"extern" => at + 1 + usize::from(it.is_string(at + 1)),
            b"const" if is_modifier(it.word(at + 1, outline)) => at + 1,
            _ => return at,
        }
    }
}

fn is_modifier(behind_const: &[u8]) -> bool {
    matches!(
        behind_const,
        b"fn" | b"unsafe" | b"extern" | b"async" | b"trait"
    )
}

/// Word, or `type` of `r#type`.
fn name(it: &Statement, at: usize, outline: &Outline<'_>) -> Option<Token> {
    let is_raw = it.word(at, outline) == b"r" && it.is(at + 1, b'#') && it.is_adjacent(at + 1);
    let name = it.get(at + 2 * usize::from(is_raw))?;
    name.is_word().then_some(name)
}

/// `Type` of `impl<T> Trait for path::Type<T> where …`
fn implemented(it: &Statement, at: usize, outline: &Outline<'_>) -> Option<Token> {
    let mut at = it.behind(at);
    let mut name = None;
    while let Some(token) = it.get(at) {
        match token.role {
            Role::Sign(b'<') => {
                at = it.behind(at);
                continue;
            }
            Role::Sign(b'\'') => at += 1,
            _ if !token.is_word() => {}
            _ => match token.text(outline) {
                b"for" => name = None,
                b"where" => break,
                b"dyn" | b"mut" | b"const" | b"unsafe" => {}
                _ => name = Some(token),
            },
        }
        at += 1;
    }
    name
}

#[cfg(test)]
mod tests {
    use crate::symbols::tests::check;

    #[test]
    fn items_have_kinds_bodies_and_parents() {
        check(
            "rust",
            "pub struct A<T> {\n    a: ::T<[T; 3]>,\n    pub(crate) b: HashMap<K, B::C>,\n    #[serde(rename = \"]\")]\n    pub r#type: Box<dyn Fn(u8) -> u8>\n}\nimpl<T: Fn() -> u8> Display for &'a mut a::A<T> where T: X {\n    const N: usize = 1;\n    type Out = u8;\n    fn f(&self) -> u8 {\n        let g = map(|x| { fn inner() {} }, [async { [1] }]);\n        fn nested<'a>(x: &'a str) -> [u8; 2] { [0; 2] }\n        const LOCAL: &[fn(u8)] = &[];\n        quote! { fn not() {} struct No; }\n        for i in 0..1 { if let X { y } = z {} }\n    }\n}\nextern \"C\" {\n    pub fn g(x: *const c_char, ...) -> c_int;\n    static ENV: u8;\n}\npub(in a::b) const unsafe extern \"C\" fn h() {}\nconst C: u8 = 1;\nstatic mut S: X = X { a: 1 };\nmacro_rules! m { ($x:expr) => { fn no() {} } }\nmacro_rules! n (() => (struct No;));\nunion U { a: u8, b: f32 }\nstruct Unit;\nstruct Tuple(pub u8, String);\nmod file;\n",
            "struct A 1-6
             field A.a 2
             field A.b 3
             field A.type 5
             implementation A 7-17
             constant A.N 8
             type A.Out 9
             method A.f 10-16
             function A.f.inner 11
             function A.f.nested 12
             function g; 19
             constant ENV 20
             function h 22
             constant C 23
             constant S 24
             macro m 25
             macro n 26
             union U 27
             field U.a 27
             field U.b 27
             struct Unit 28
             struct Tuple 29
             module file; 30",
        );
    }

    #[test]
    fn traits_enumerations_and_modules_have_members() {
        check(
            "rust",
            "pub unsafe trait T: Sized + 'static {\n    type Item: Clone;\n    fn a(&self);\n    fn b(&self) -> bool { true }\n}\nenum E<'a> {\n    A,\n    B(&'a str, [u8; 2]) ,\n    #[doc = \"x\"]\n    C { x: u8, y: u8 },\n    D = 1 << 3\n}\nmod m {\n    use super::*;\n    #[test]\n    async fn t() { assert!({ true }); }\n    pub mod inner { pub fn f() {} }\n}\nimpl PartialEq<str> for dyn Any {}\nimpl !Send for X {}\nimpl X {\n    pub(crate) async fn name(x: T) {\n    }\n}\n",
            "interface T 1-5
             type T.Item 2
             method T.a; 3
             method T.b 4
             enum E 6-12
             enumerator E.A 7
             enumerator E.B 8
             enumerator E.C 10
             field E.C.x 10
             field E.C.y 10
             enumerator E.D 11
             module m 13-18
             function m.t 16
             module m.inner 17
             function m.inner.f 17
             implementation Any 19
             implementation X 20
             implementation X 21-24
             method X.name 22-23",
        );
    }

    #[test]
    fn items_of_transparent_macros_are_found() {
        check(
            "rust",
            "cfg_if! {\n    if #[cfg(unix)] {\n        pub fn a() {}\n    } else {\n        mod b;\n    }\n}\ns! {\n    pub struct S {\n        pub x: c_int,\n    }\n}\nbitflags! {\n    struct F: u32 {\n        const A = 1;\n    }\n}\nlazy_static! {\n    static ref R: u8 = { 1 };\n}\nsafe_f! {\n    pub {const} fn W(x: c_int) -> bool { x }\n}\n",
            "function a 3
             module b; 5
             struct S 9-11
             field S.x 10
             struct F 14-16
             constant F.A 15
             constant R 19
             function W 22",
        );
    }

    #[test]
    fn items_after_garbage_are_found() {
        check(
            "rust",
            "fn a() { (\n    if {\npub fn b() {}\nimpl X {\n    fn c() {\nstruct D {\n    e: (\nfn f() {} }}\n",
            "function a 1-2
             function b 3
             implementation X 4-5
             method X.c 5
             struct D 6-7
             field D.e 7
             function f 8",
        );
    }
}
