//! Extensions that languages share, after linguist: the first row with a needle decides.

use crate::table::Language;
use memchr::memmem;

pub(super) struct Rules {
    extensions: &'static str,
    has_c_comments: bool,
    /// Not TypeScript: its interpreter may be node.
    pub(super) may_be_scripts: bool,
    pub(super) rows: &'static [(&'static str, &'static [Needle])],
}

#[derive(Clone, Copy)]
pub(super) enum Needle {
    Line(&'static str),
    AnyCase(&'static str),
    Text(&'static str),
}

use Needle::{AnyCase, Line, Text};

/// Language outside the table.
pub(super) const OTHER: &str = "";

const EXTENSION_BYTES_MAX: usize = 3;

pub(super) fn of_extension(extension: &[u8]) -> Option<&'static Rules> {
    // `.H` is C++.
    if extension.len() > EXTENSION_BYTES_MAX || extension == b"H" {
        return None;
    }
    let is_it = |other: &str| other.as_bytes().eq_ignore_ascii_case(extension);
    RULES
        .iter()
        .find(|rules| rules.extensions.split(' ').any(is_it))
}

impl Rules {
    pub(super) fn language(
        &self,
        head: &[u8],
        default: Option<&'static Language>,
    ) -> Option<&'static Language> {
        let uncommented;
        let head = if self.has_c_comments {
            uncommented = without_c_comments(head);
            &uncommented
        } else {
            head
        };
        let mut rows = self.rows.iter();
        let row = rows.find(|(_, needles)| needles.iter().any(|needle| needle.is_in(head)));
        row.map_or(default, |&(name, _)| Language::canonical(name))
    }
}

impl Needle {
    fn is_in(self, head: &[u8]) -> bool {
        let begins = |line: &[u8], needle: &str| {
            line.get(..needle.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(needle.as_bytes()))
        };
        match self {
            Line(needle) => memmem::find_iter(head, needle).any(|at| begins_line(&head[..at])),
            AnyCase(needle) => head
                .split(|&byte| byte == b'\n')
                .any(|line| begins(line.trim_ascii_start(), needle)),
            Text(needle) => memmem::find(head, needle.as_bytes()).is_some(),
        }
    }
}

/// True if only blanks follow the last end of a line.
fn begins_line(before: &[u8]) -> bool {
    let blanks = before.iter().rev();
    let mut before = blanks.skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\x0c'));
    before.next().is_none_or(|byte| *byte == b'\n')
}

/// Drops comments: their lines may begin with `class`.
fn without_c_comments(mut rest: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(rest.len());
    while let Some(at) = memmem::find(rest, b"/*") {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at + 2..];
        let end = memmem::find(rest, b"*/").map_or(rest.len(), |end| end + 2);
        rest = &rest[end..];
    }
    text.extend_from_slice(rest);
    text
}

#[rustfmt::skip]
const CPP: &[Needle] = &[
    Line("class "), Line("namespace "), Line("using "), Line("template <"), Line("template<"),
    Line("public:"), Line("private:"), Line("protected:"), Line("constexpr "), Line("virtual "),
    Line("inline constexpr "), Line("enum class "), Text("std::"), Text("#include <string>"),
    Text("#include <vector>"), Text("#include <map>"), Text("#include <memory>"),
    Text("#include <iostream>"), Text("#include <algorithm>"), Text("#include <functional>"),
    Text("#include <cst"), Text("#include <unordered_"), Text("__has_cpp_attribute"),
];

#[rustfmt::skip]
const OBJECTIVE_C: &[Needle] = &[
    Line("@interface"), Line("@implementation"), Line("@protocol"), Line("@property"),
    Line("@class"), Line("@import "), Line("@end"), Line("#import"), Line("NS_ASSUME_NONNULL"),
];

#[rustfmt::skip]
const PERL: &[Needle] = &[
    Line("use strict"), Line("use warnings"), Line("use 5"), Line("use v5"), Line("use utf8"),
    Line("use lib "), Line("package "), Line("my $"), Line("my ("), Line("our "), Line("sub "),
    Line("require "), Line("use Test"), Line("=pod"), Line("=head1"),
];

#[rustfmt::skip]
const RAKU: &[Needle] = &[
    Line("use v6"), Line("unit module "), Line("unit class "), Line("unit role "),
    Line("unit grammar "),
];

#[rustfmt::skip]
const PASCAL: &[Needle] = &[
    AnyCase("unit "), AnyCase("program "), AnyCase("procedure "), AnyCase("uses "),
    AnyCase("interface"), Line("{$"),
];

#[rustfmt::skip]
const LEX: &[Needle] = &[Line("%{"), Line("%%"), Line("%option"), Line("%x "), Line("%s ")];

#[rustfmt::skip]
const LISP: &[Needle] = &[Line("(def"), Line("(in-package"), Line("(setq"), Line(";;"), Line("#|")];

#[rustfmt::skip]
const FORTH: &[Needle] = &[Line(": "), Line("\\ "), AnyCase("variable "), AnyCase("require ")];

#[rustfmt::skip]
pub(super) const RULES: &[Rules] = &[
    c_like("h", &[("Objective-C", OBJECTIVE_C), ("C++", CPP)]),
    c_like("m", &[
        ("Objective-C", OBJECTIVE_C),
        (OTHER, &[Line(":- module"), Line("BeginPackage["), Line("(*")]),
        ("Objective-C", &[Line("#include"), Line("//"), Line("#define")]),
        ("MATLAB", &[Line("%"), Line("function "), Line("classdef "), Line("##"), Line("disp("), Line("clear"),
            Line("end"), Line("1;"), Text("...\n")]),
    ]),
    plain("pl", &[("Raku", RAKU), ("Perl", PERL), ("Prolog", &[Line(":-"), Text(":-\n"), Text(" :- "), Line("% "), Line("%%")])]),
    plain("pm", &[("Raku", RAKU), (OTHER, &[Line("/* XPM")]), ("Perl", PERL)]),
    plain("t", &[("Raku", RAKU), ("Perl", PERL)]),
    plain("v", &[
        ("Verilog", &[Line("module "), Line("endmodule"), Line("`"), Line("//"), Line("always "), Line("assign ")]),
        ("Coq", &[Line("Require "), Line("From "), Line("Theorem "), Line("Lemma "), Line("Definition "),
            Line("Inductive "), Line("Fixpoint "), Line("Proof."), Line("Module "), Line("Section "), Line("(*")]),
    ]),
    plain("r", &[(OTHER, &[AnyCase("rebol ["), AnyCase("red [")])]),
    Rules {
        may_be_scripts: false,
        ..plain("ts", &[("XML", &[Line("<?xml"), Line("<TS"), Line("<!DOCTYPE TS")])])
    },
    c_like("inc", &[
        ("PHP", &[Text("<?php"), Text("<?\n"), Text("<?=")]),
        ("C++", CPP),
        ("C", &[Line("#include"), Line("#define"), Line("#if"), Line("#undef"), Line("typedef "), Line("static ")]),
        ("Assembly", &[Line(".macro"), Line("%define"), Line("%macro"), Line("%include"), Line("section ."),
            Line(".equ"), Line(".globl"), Line("global "), Text(" equ "), Text("\tequ\t"), Text(" EQU ")]),
        ("Pascal", PASCAL),
    ]),
    plain("i", &[("C", &[Line("# 1 \""), Line("#line 1 \"")])]),
    plain("cls", &[
        ("TeX", &[Text("\\NeedsTeXFormat"), Text("\\ProvidesClass"), Line("\\"), Line("%")]),
        (OTHER, &[Line("VERSION 1.0 CLASS"), Text("Attribute VB_Name"), Line("public "), Line("Class "),
            Line("global class"), Line("private class"), Line("@isTest")]),
    ]),
    plain("fs", &[
        ("F#", &[Line("module "), Line("namespace "), Line("open "), Line("let "), Line("#light"), Line("[<")]),
        ("GLSL", &[Line("#version"), Line("precision "), Line("uniform "), Line("varying "), Text("gl_Frag"),
            Line("void main")]),
        ("Forth", FORTH),
    ]),
    plain("l", &[
        ("Lex", LEX),
        ("Roff", &[Line(".TH "), Line(".SH "), Line(".\\\""), Line("'\\\"")]),
        ("Common Lisp", LISP),
    ]),
    plain("ll", &[("Lex", LEX), (OTHER, &[Line("define "), Line("declare "), Line("target "), Line("; "), Line("!"),
        Line("@"), Line("source_filename")])]),
    plain("pp", &[("Puppet", &[Line("class "), Line("define "), Line("include "), Line("node "), Line("$")]),
        ("Pascal", PASCAL)]),
    plain("d", &[
        ("D", &[Line("module "), Line("import "), Line("void main"), Line("int main"), Line("public import "),
            Line("version("), Line("version ("), Line("extern")]),
        (OTHER, &[Line("#pragma D option"), Line("provider "), Text("::"), Line("dtrace")]),
        ("Makefile", &[Text(".o: "), Text(".lo: "), Text(".o:\\"), Text(".d: "), Text(": \\\n"), Text(":\\\n")]),
    ]),
    plain("ml", &[
        ("OCaml", &[Line("let "), Line("module "), Line("open "), Text("let rec "), Line("type ")]),
        ("Standard ML", &[Line("structure "), Line("signature "), Line("functor "), Line("fun "), Line("datatype ")]),
    ]),
    plain("sig", &[(OTHER, &[Line("-----BEGIN PGP")])]),
    plain("cl", &[
        ("Common Lisp", LISP),
    ]),
    plain("pro pri", &[
        ("QMake", &[Line("TEMPLATE"), Line("QT "), Line("SOURCES"), Line("HEADERS"), Line("CONFIG"), Line("TARGET"),
            Line("include("), Line("SUBDIRS")]),
        ("Prolog", &[Line(":-"), Text(" :- "), Text(":-\n")]),
        (OTHER, &[AnyCase("pro "), AnyCase("function "), Line(";")]),
    ]),
    plain("plt", &[("Prolog", &[Line(":-"), Text(" :- "), Text(":-\n")]),
        (OTHER, &[Line("set "), Line("plot "), Line("splot "), Line("unset ")])]),
    plain("f", &[("Forth", &[Line(": "), Line("\\ ")])]),
    plain("re", &[("C++", &[Text("/*!re2c"), Line("#include")])]),
    plain("sls", &[("Scheme", &[Line("("), Line(";"), Line("#!")]), ("YAML", &[Text(":\n"), Text(": ")])]),
    plain("cgi", &[]),
];

type Rows = &'static [(&'static str, &'static [Needle])];

const fn plain(extensions: &'static str, rows: Rows) -> Rules {
    Rules {
        extensions,
        has_c_comments: false,
        may_be_scripts: true,
        rows,
    }
}

const fn c_like(extensions: &'static str, rows: Rows) -> Rules {
    Rules {
        has_c_comments: true,
        ..plain(extensions, rows)
    }
}
