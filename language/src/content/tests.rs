use super::*;
use crate::content::interpreter::PROGRAMS;
use crate::content::mode::MODES;
use crate::content::rules::{OTHER, RULES};
use proptest::prelude::*;

fn check(table: &[(&str, &str, &str)]) {
    for &(path, head, expected) in table {
        let found = Language::of(path.as_bytes(), head.as_bytes());
        let name = found.map_or("", |it| it.name);
        assert_eq!(name, expected, "{path}: {head}");
    }
}

#[test]
fn interpreters_decide_for_names_without_extension() {
    check(&[
        ("script", "#!/usr/bin/env python3\nx = 1\n", "Python"),
        ("script", "#!/usr/bin/python3.11", "Python"),
        ("script", "#! /bin/sh -e\n", "Shell"),
        ("script", "\u{feff}#!/bin/bash\r\n", "Shell"),
        ("script", "#!/usr/bin/env -S node --harmony\n", "JavaScript"),
        ("script", "#!/usr/bin/env -Sruby -w\n", "Ruby"),
        ("script", "#!/usr/bin/env -i LC_ALL=C perl\n", "Perl"),
        ("script", "#!/usr/bin/lua5.4\n", "Lua"),
        ("script", "#!/usr/bin/php\n", "PHP"),
        ("script", "#!/usr/bin/gawk -f\n", "Awk"),
        ("script", "#!/usr/bin/tclsh8.6\n", "Tcl"),
        (
            "script",
            "#!/bin/sh\n# \\\nexec tclsh \"$0\" \"$@\"\n",
            "Tcl",
        ),
        ("script", "#!/bin/sh\nexec python\n", "Shell"),
        ("script", "#!/usr/bin/Rscript\n", "R"),
        ("script", "#!/usr/bin/make -f\n", "Makefile"),
        ("script", "#!/usr/bin/perl6\n", "Raku"),
        ("script.in", "#!@PERL@\n", ""),
        ("script.in", "#!/usr/bin/perl\n", "Perl"),
        ("script", "#!/opt/unheard-of\n", ""),
        ("script", "#!/usr/bin/env\n", ""),
        ("script", "#!\n", ""),
        ("script", "#!/bin/2\n", ""),
        ("script", " #!/bin/sh\n", ""),
        ("a.c", "#!/usr/bin/tcc -run\n", "C"),
        ("a.pl", "#!/usr/bin/swipl\n", "Prolog"),
        ("a.t", "#!/bin/sh\n", "Shell"),
        ("a.cgi", "#!/usr/bin/python\n", "Python"),
        ("a.ts", "#!/usr/bin/env node\n", "TypeScript"),
        ("Makefile", "#!/bin/sh\n", "Makefile"),
    ]);
}

#[test]
fn mode_lines_precede_extensions() {
    let sixth = "\n\n\n\n\n// -*- C++ -*-\n";
    check(&[
        ("vector", "// -*- C++ -*-\n", "C++"),
        ("a.h", "//===- a.h ---*-C++-*-===//\n", "C++"),
        (
            "a.h",
            "/* -*- mode: C; c-file-style: \"gnu\" -*- */\nclass x {\n",
            "C",
        ),
        (
            "a.spec",
            "# -*- coding: utf-8; Mode: python -*-\n",
            "Python",
        ),
        ("a.spec", "# -*- coding: utf-8 -*-\n", "RPM Spec"),
        ("a", "#!/bin/sh\n# -*- tcl -*-\n", "Tcl"),
        ("README", "-*- text -*-\n", "Text"),
        ("a.el", ";;; -*- emacs-lisp -*-\n", "Emacs Lisp"),
        ("a", "# -*- python-ts-mode -*-\n", "Python"),
        ("a.c", "/* -*- fundamental -*- */\n", "C"),
        ("a.c", "/* -*- */\n", "C"),
        ("a", "# vim: set ft=sh :\n", "Shell"),
        ("a", "x\n/* vim:ts=8:filetype=c: */", "C"),
        ("a", "\" vi: syntax=vim\n", "Vim Script"),
        ("a", "envim: ft=sh\n", ""),
        ("a", sixth, ""),
        ("a", &format!("{sixth}x\n# vim: ft=ruby\n"), "Ruby"),
        (
            "a",
            &format!("{}\n# vim: ft=ruby\n", "x".repeat(HEAD_BYTES)),
            "",
        ),
        ("Makefile", "# -*- sh -*-\n", "Makefile"),
        ("a.diff", "@@ -1 +1 @@\n // -*- C++ -*-\n", "Diff"),
    ]);
}

#[test]
fn texts_decide_for_shared_extensions() {
    check(&[
        ("a.h", "#ifndef A_H\nint f(void);\n", "C"),
        ("a.h", "namespace a {\n", "C++"),
        ("a.h.in", "namespace a {\n", "C++"),
        ("a.h", "#ifdef __cplusplus\nextern \"C\" {\n#endif\n", "C"),
        ("a.h", "/*\nclass of service\n*/\nint f(void);\n", "C"),
        ("a.h", "#import <Foundation/Foundation.h>\n", "Objective-C"),
        ("a.H", "int f();\n", "C++"),
        ("a.m", "@interface A : NSObject\n@end\n", "Objective-C"),
        (
            "a.m",
            "% text\nfunction y = f(x)\n  y = x;\nend\n",
            "MATLAB",
        ),
        ("a.m", ":- module a.\n", ""),
        ("a.m", "", "Objective-C"),
        ("a.pl", "use strict;\n", "Perl"),
        ("a.pl", ":- module(a, []).\n", "Prolog"),
        ("a.pl", "f(X) :- g(X).\n", "Prolog"),
        ("a.pl", "print 1;\n", "Perl"),
        ("a.pm", "use v6;\nunit class A;\n", "Raku"),
        ("a.pm", "/* XPM */\n", ""),
        ("a.pm", "package A;\n", "Perl"),
        ("a.t", "use Test::More;\n", "Perl"),
        ("a.v", "module a(input b);\n", "Verilog"),
        ("a.v", "Require Import List.\n", "Coq"),
        ("a.R", "f <- function(x) x\n", "R"),
        ("a.r", "REBOL [\n", ""),
        ("a.ts", "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n", "XML"),
        ("a.ts", "const a = 1;\n", "TypeScript"),
        ("a.inc", "<?php\n", "PHP"),
        ("a.inc", "#define A 1\n", "C"),
        ("a.inc", "namespace a {\n", "C++"),
        ("a.inc", "\t.macro a\n", "Assembly"),
        ("a.inc", "PROCEDURE A;\n", "Pascal"),
        ("a.inc", "/* x */\nint a[] = {\n1, 2 };\n", ""),
        ("a.i", "# 1 \"a.c\"\n", "C"),
        ("a.i", "%module a\n", "SWIG"),
        ("a.cls", "\\ProvidesClass{a}\n", "TeX"),
        ("a.cls", "VERSION 1.0 CLASS\n", ""),
        ("a.fs", "module A\n", "F#"),
        ("a.fs", "#version 300 es\n", "GLSL"),
        ("a.fs", ": square dup * ;\n", "Forth"),
        ("a.l", "%{\n#include <a.h>\n%}\n", "Lex"),
        ("a.l", "(defun a ())\n", "Common Lisp"),
        ("a.ll", "define i32 @main() {\n", ""),
        ("a.pp", "class a {\n", "Puppet"),
        ("a.pp", "{$mode objfpc}\nunit a;\n", "Pascal"),
        ("a.d", "import std.stdio;\n", "D"),
        ("a.d", "a.o: a.c a.h\n", "Makefile"),
        ("a.d", "#pragma D option quiet\n", ""),
        ("a.ml", "let a = 1\n", "OCaml"),
        ("a.ml", "structure A = struct\n", "Standard ML"),
        ("a.cl", "__kernel void a() {}\n", "OpenCL"),
        ("a.cl", ";; a\n(in-package :a)\n", "Common Lisp"),
        ("a.pro", "TEMPLATE = app\n", "QMake"),
        ("a.pro", "f(X) :- g(X).\n", "Prolog"),
        ("a.plt", "set terminal png\n", ""),
        ("a.sls", "nginx:\n  pkg.installed\n", "YAML"),
        ("a.py", "use strict;\n", "Python"),
        ("a.unheard-of", "use strict;\n", ""),
    ]);
}

#[test]
fn tables_name_known_languages() {
    let rules = RULES.iter().flat_map(|rules| rules.rows);
    let names = rules.map(|&(name, _)| name).filter(|&name| name != OTHER);
    let all = names.chain([PROGRAMS, MODES].concat().into_iter().map(|(_, name)| name));
    for name in all {
        assert!(Language::canonical(name).is_some(), "{name}");
    }
}

proptest! {
    #[test]
    fn any_bytes_have_a_language_or_none(
        path in "[a-z.]{0,3}\\.(h|m|inc|pl|in)?",
        head in proptest::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"-*:#!/ =vim\n".to_vec())], 0..300),
    ) {
        Language::of(path.as_bytes(), &head);
    }
}
