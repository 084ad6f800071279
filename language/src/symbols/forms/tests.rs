//! Hostile texts of all languages.

use crate::Language;
use crate::symbols::tests::check;
use crate::symbols::{Parent, Symbols};

const LANGUAGES: &str = "Agda,Ada,Assembly,BibTeX,Clojure,COBOL,Common Lisp,Eiffel,Elm,\
    Emacs Lisp,Erlang,F#,Forth,Fortran,Haskell,Idris,MATLAB,OCaml,Pascal,PostScript,Prolog,\
    PureScript,Racket,ReasonML,Roff,Scheme,Standard ML,SystemVerilog,TeX,Texinfo,VBScript,\
    Verilog,VHDL,Visual Basic .NET,WebAssembly";

const WORDS: &str = "( ) [ ] { } ; . , : :: = | -> => ' \" ` `` @ $ # ^ \\ % - a B 'c' \"d\" 1 \
    module where data type class instance let in and struct sig end begin object val fun local \
    function procedure is record package body entity architecture port generic declare do case \
    if then loop interface implementation unit program const var of for helper forward external \
    endmodule endfunction `define typedef enum constraint subroutine contains enumerator \
    properties methods classdef Sub Function Property End Enum program-id section division \
    feature (defun (define (defvar (import (func $f (defprotocol (setf ^{ -module( -record(s,{ \
    :- .macro .endm PROC equ .SH .de @node @section \\section{ \\def \\label{ /x > # --";

#[test]
fn any_text_has_definitions_inside_of_it() {
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (seed >> 33) as usize % below
    };
    let words: Vec<&str> = WORDS.split_ascii_whitespace().collect();
    let blanks = [" ", " ", " ", "\n", "\n", "\n  ", "", "\t", "\r\n"];
    for round in 0..30 {
        let mut text = Vec::new();
        for _ in 0..random(600) {
            text.extend(words[random(words.len())].bytes());
            text.extend(blanks[random(blanks.len())].bytes());
            if round % 3 == 0 {
                text.push(random(256) as u8);
            }
        }
        for name in LANGUAGES.split(',') {
            is_inside(name, &text);
        }
    }
}

#[test]
fn deep_and_long_forms_are_bounded() {
    for name in LANGUAGES.split(',') {
        for part in WORDS.split_ascii_whitespace() {
            is_inside(name, part.repeat(1_000).as_bytes());
            is_inside(name, format!("{part} ").repeat(1_000).as_bytes());
            is_inside(name, format!("{part} x\n").repeat(500).as_bytes());
        }
    }
}

#[track_caller]
fn is_inside(name: &str, text: &[u8]) {
    let language = Language::named(name).unwrap();
    let symbols = Symbols::of(Some(language), text);
    let mut last = 0;
    for (at, it) in symbols.definitions.iter().enumerate() {
        let is_valid = match &it.parent {
            Parent::None => true,
            Parent::Definition(parent) => (*parent as usize) != at,
            Parent::Name(range) => range.end as usize <= text.len(),
        };
        assert!(is_valid && it.name.start < it.name.end, "{name}");
        assert!(last <= it.name.start && it.name.end <= it.end, "{name}");
        assert!(it.end as usize <= text.len(), "{name}");
        last = it.name.start;
    }
}

#[test]
fn parsers_resume_behind_forms_without_an_end() {
    check(
        "ocaml",
        "let f x = (begin match x with A\nlet g x = 1\n",
        "function f 1
         function g 2",
    );
    check(
        "common lisp",
        "(defun f (x) (((\n(defun g ())\n",
        "function f 1
         function g 2",
    );
    check(
        "haskell",
        "f x = [(\ng = 1\n",
        "function f 1
         function g 2",
    );
    check(
        "pascal",
        "procedure F; begin if x then begin\nprocedure G; begin end;\n",
        "function F 1
         function G 2",
    );
    check(
        "fortran",
        "module a\nsubroutine f\nmodule b\nend\n",
        "module a 1-2
         function a.f 2
         module b 3-4",
    );
}
