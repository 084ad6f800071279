//! Hostile texts, and forms of definitions.

use crate::Language;
use crate::symbols::Symbols;

const LANGUAGES: [&str; 18] = [
    "go", "rust", "zig", "php", "nim", "nix", "proto", "thrift", "capnp", "fbs", "webidl",
    "graphql", "hcl", "puppet", "antlr", "sql", "tfvars", "tf",
];

fn count(text: &[u8]) -> usize {
    let of = |name| Symbols::of(Language::named(name), text).definitions.len();
    LANGUAGES.map(of).iter().sum()
}

#[test]
fn hostile_texts_end() {
    let open = [
        "{",
        "(",
        "[",
        "<",
        "\"",
        "'",
        "`",
        "fn a(",
        "func f(x interface {",
        "struct s {",
        "type T struct {",
        "a = {",
        "with ",
        "class a {",
        "create table t(",
        "<?php ",
        "#[",
        "  proc a =\n    ",
        "a:",
        "/*",
        "enum e { a,",
        "union {",
        "const (",
        "= ",
        "x ? {",
    ];
    for part in open {
        count(part.repeat(5_000).as_bytes());
        count(format!("{}{}", part.repeat(2000), "}])>".repeat(9000)).as_bytes());
    }
    let mut state = 1_u32;
    let bytes = b"{}()[]<>;:,=.#\"'`@$&|\n\n\t -/*\\afntype0\xff\0";
    let random = (0..100_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes[(state >> 16) as usize % bytes.len()]
    });
    count(&random.collect::<Vec<_>>());
}

#[test]
fn definitions_behind_an_open_bracket_are_found() {
    for (language, head) in [
        ("go", "func NAME() {}\n"),
        ("rust", "pub fn NAME() {}\n"),
        ("zig", "pub fn NAME() void {}\n"),
        ("php", "class NAME {}\n"),
        ("nim", "proc NAME() = 1\n"),
        ("proto", "message NAME {}\n"),
        ("thrift", "struct NAME {}\n"),
        ("capnp", "struct NAME {}\n"),
        ("fbs", "table NAME {}\n"),
        ("webidl", "interface NAME {};\n"),
        ("graphql", "type NAME {}\n"),
        ("hcl", "resource \"a\" \"NAME\" {}\n"),
        ("puppet", "class NAME {}\n"),
        ("antlr", "fragment NAME : 'a' ;\n"),
        ("sql", "create table NAME (a int);\n"),
    ] {
        let php = if language == "php" { "<?php\n" } else { "" };
        let text = format!("{php}a = ((\n\n{head}");
        let symbols = Symbols::of(Language::named(language), text.as_bytes());
        let mut names = symbols.definitions.iter().map(|it| it.name.clone());
        let is_name = |it| {
            &text[std::ops::Range {
                start: it,
                end: it + 4,
            }] == "NAME"
        };
        assert!(names.any(|it| is_name(it.start as usize)), "{language}");
    }
}

/// Defines NAME once.
#[test]
fn forms_of_definitions_are_found() {
    for (language, form) in [
        ("go", "func NAME(x int) error {\n}"),
        ("go", "func (s *T) NAME(x int) error {\n}"),
        ("go", "func (s T[K]) NAME() (a, b int) {}"),
        ("go", "func NAME[T any](x T) {}"),
        ("go", "type NAME struct {\n}"),
        ("go", "type NAME = other.Type"),
        ("go", "type (\n\tNAME interface {\n\t}\n)"),
        ("go", "type I interface {\n\tNAME(x int) error\n}"),
        ("go", "const (\n\tA = iota\n\tNAME\n)"),
        ("go", "var a, NAME = 1, 2"),
        ("rust", "pub(crate) async fn NAME(x: T) {"),
        (
            "rust",
            "pub const unsafe extern \"C\" fn NAME<'a>(x: &'a T) -> u8 {}",
        ),
        ("rust", "impl<T> A<T> { #[inline] fn NAME(&self) {} }"),
        ("rust", "pub struct NAME<T>(T) where T: X;"),
        ("rust", "enum E { A, NAME { x: u8 } }"),
        ("rust", "pub(in a::b) trait NAME: X {}"),
        ("rust", "static mut NAME: [u8; 2] = [0; 2];"),
        ("rust", "macro_rules! NAME { () => {} }"),
        ("rust", "pub type NAME<T> = Result<T, E>;"),
        ("rust", "fn f() { fn NAME() {} }"),
        ("php", "<?php function NAME($x) { }"),
        (
            "php",
            "<?php class A { public static function &NAME(): ?T { } }",
        ),
        ("php", "<?php class A { private readonly ?int $NAME; }"),
        ("php", "<?php abstract class NAME extends B {}"),
        ("php", "<?php define('NAME', 1);"),
        ("zig", "pub const NAME = extern struct { a: u8 };"),
        ("zig", "export fn NAME(x: u8) callconv(.C) void {}"),
        ("nim", "proc NAME*(x: int): int = x"),
        ("nim", "type\n  NAME* = ref object of RootObj\n    x: int"),
        ("nix", "{ a = 1; NAME = x: x; }"),
        ("proto", "message NAME {\n}"),
        ("proto", "service S { rpc NAME(stream A) returns (B) {} }"),
        ("proto", "message M { repeated .a.B NAME = 1; }"),
        ("thrift", "service S { list<map<i32, T>> NAME(1: i32 a) }"),
        ("thrift", "struct S {\n  1: optional list<i64> NAME\n}"),
        ("capnp", "struct S { NAME @0 :List(Text); }"),
        ("fbs", "table NAME { a:[ubyte]; }"),
        (
            "webidl",
            "interface A { Promise<sequence<B>> NAME(any x); };",
        ),
        ("webidl", "dictionary NAME : B { long a = 1; };"),
        ("graphql", "type NAME implements A & B { a: Int }"),
        ("graphql", "type A {\n  NAME(x: [Int!]! = [1]): B!\n}"),
        ("tf", "resource \"aws_x\" \"NAME\" {\n}"),
        ("tf", "locals {\n  NAME = { a = 1 }\n}"),
        ("puppet", "define NAME ($x = {}) {\n}"),
        ("antlr", "r : a ;\nNAME returns [int x] : 'b' ;"),
        (
            "sql",
            "CREATE OR REPLACE FUNCTION a.\"NAME\"(x int) AS $$ $$;",
        ),
        ("sql", "create table if not exists `a`.`NAME` (b int);"),
        ("sql", "CREATE UNIQUE INDEX NAME ON a (b);"),
    ] {
        let symbols = Symbols::of(Language::named(language), form.as_bytes());
        let names = symbols.definitions.iter().map(|it| it.name.clone());
        let found = names.filter(|it| &form[it.start as usize..it.end as usize] == "NAME");
        assert_eq!(found.count(), 1, "{language}: {form}");
    }
}
