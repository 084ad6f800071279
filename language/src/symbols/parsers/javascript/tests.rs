//! Outlines of small and unbalanced texts.

mod scripts;
mod typescript;

use crate::symbols::tests::check_rows;

#[test]
fn declarations_in_column_0_close_open_scopes() {
    for (text, expected) in [
        (
            "function f() {\n  if (x) {\n}\nfunction g() {\n}\n",
            "function f 1-3 | function g 4-5",
        ),
        (
            "(function () {\nfunction f() {\n}\nvar x = 1\nfunction g() {}\n})()\nvar y\n",
            "function f 2-3 | function g 5 | variable y 7",
        ),
        (
            "var a = [f(1, {\nexport class B {\n  m() { }\n}\n",
            "variable a 1 | class B 2-4 | method B.m 3",
        ),
        (
            "}}) ] function f(a {\n}\nclass B {}\n",
            "function f 1 | class B 3",
        ),
        ("x = 'a\nfunction f() { `${ }\n", "function f 2"),
        ("function\nclass {\n= => {} : , . {\n", ""),
    ] {
        check_rows("TypeScript", text, expected);
    }
}

#[test]
fn types_in_heads_are_no_bodies() {
    for (text, expected) in [
        (
            "class A<T extends { a: 1 }> extends B<\n  T['x'] | undefined\n> {\n  m() { }\n}\n",
            "class A 1-5 | method A.m 4",
        ),
        (
            "function f<const T extends U = {}>(o: any): o is Record<T, 1> {\n  return 1\n}\n",
            "function f 1-3",
        ),
        (
            "const f = (a: { b: (c) => void }): Map<A, B> => {\n}\nconst g: (x) => y = h\n",
            "function f 1-2 | constant g 3",
        ),
    ] {
        check_rows("TypeScript", text, expected);
    }
}

#[test]
fn values_that_are_no_functions_define_nothing() {
    for text in [
        "foo(a, b => c)\nif (a) b.c(x => 1)\nreturn { a: 1 }\n",
        "a.b = c\na == b\na += function () {}\nx ? (y) : z => 1\n",
        "a[b] = function () {}\nfoo().then(function () {})\n",
        "import { a as b, c } from 'd'\nexport { e as f }\nexport * from 'g'\n",
        "foo(a)\n{ b(1) }\nfoo(a).b(c, () => { d })\nfoo(a)(b) ? c : d\n",
        "if (a) {\n} else if (b) {\n}\nswitch (c) {\n  case d: (e) => f\n}\n",
        "a\n  ? b : function () {}\nlabel: for (const c of d) { e(f) }\n",
        "for (const a of b) { let c = 1 }\nlabel: while (x) { if (y) { z() } }\n",
    ] {
        check_rows("JavaScript", text, "");
    }
}
