//! Outlines of small and unbalanced texts.

mod systems;
mod types_first;
mod words_first;

use crate::symbols::tests::check_rows;

#[test]
fn definitions_in_column_0_close_open_scopes() {
    for (language, text, expected) in [
        (
            "Java",
            "class A {\n  void f() {\n    if (x) {\n  }\n}\nclass B {\n  int g() { }\n}\n",
            "class A 1-5 | method A.f 2-5 | class B 6-8 | method B.g 7",
        ),
        (
            "Java",
            "class A {\n  void f() {\n}\n  void g() { }\n}\nclass B { }\n",
            "class A 1-5 | method A.f 2-3 | method A.g 4 | class B 6",
        ),
        (
            "D",
            "void f() {\n  if (x) {\n}\nvoid g() { }\n",
            "function f 1-3 | function g 4",
        ),
        (
            "C#",
            "namespace N {\nclass A {\n  void f() {\n#if X\n    if (a) {\n#else\n    if (b) {\n#endif\n    }\n  }\n  void g() { }\n}\n}\n",
            "module N 1-13 | class N.A 2-12 | method N.A.f 3-10 | method N.A.g 11",
        ),
        (
            "Java",
            "}}} class A { void f(); ) ] }\n",
            "class A 1 | method A.f; 1",
        ),
        (
            "Java",
            "class A { String s = \"a\n  int f() { }\n}\n",
            "class A 1-3 | field A.s 1-2",
        ),
        ("Kotlin", "fun `a\nfun b() {}\n", "function b 2"),
        (
            "Scala",
            "class A:\n\tdef f =\n\n\t\t1\nclass B\n",
            "class A 1-4 | method A.f 2-4 | class B 5",
        ),
        ("Java Server Pages", "<%! class A { } %>\n", ""),
    ] {
        check_rows(language, text, expected);
    }
}

#[test]
fn any_nesting_is_bounded() {
    for language in ["Java", "C#", "Kotlin", "Scala", "D", "Swift", "Haxe"] {
        let text = "class A { ".repeat(2000) + &"} ".repeat(2000) + "\nclass B {}\n";
        let symbols =
            crate::symbols::Symbols::of(crate::Language::named(language), text.as_bytes());
        let last = symbols.definitions.last().unwrap();
        assert_eq!(last.parent, crate::symbols::Parent::None, "{language}");
    }
}
