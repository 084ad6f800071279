//! Outlines of languages with a definition a line.

use crate::symbols::tests::check;

#[test]
fn makefiles_have_targets_and_variables() {
    check(
        "makefile",
        "\
CC ?= gcc
export A := 1
B = $(shell echo a=b: c) \\
C = 1
A += 2
.PHONY: all
.c.o:
all clean: $(OBJS) # x: y
\techo: x = 1
define body
no: $(x)
endef
%.o: %.c
$(OBJ): x
sub/file.o: CFLAGS += -g
ifeq ($(A),b = c)
  D = 1
endif
",
        "variable CC 1
         variable A 2
         variable B 3
         target .c.o 7
         target all 8
         target clean 8
         variable body 10-12
         target %.o 13
         target sub/file.o 15
         variable D 17",
    );
    check(
        "qmake",
        "TARGET = a\nwin32 {\n  LIBS += b\n}\nunix:X = 1\n",
        "variable TARGET 1\nvariable LIBS 3",
    );
    check(
        "ninja",
        "cflags = -O2\nrule cc\n  command = gcc $in\nbuild a.o b.o: cc a.c $\n  x = 1\npool p\n",
        "variable cflags 1\nrule cc 2\ntarget a.o 4\ntarget b.o 4\nrule p 6",
    );
}

#[test]
fn build_systems_have_functions_targets_and_options() {
    check(
        "cmake",
        "\
project(Foo C)
# set(no 1)
function(my_fn a b)
  set(local 1)
endfunction()
MACRO(my_macro)
endmacro(my_macro)
set(VERSION 1.0)
option(BUILD_X \"x\" ON)
add_library(foo-lib STATIC a.c)
add_executable(\"main\" b.c)
add_executable(${X} b.c)
add_custom_target(docs)
",
        "module Foo 1
         function my_fn 3-5
         macro my_macro 6-7
         variable VERSION 8
         constant BUILD_X 9
         target foo-lib 10
         target main 11
         target docs 13",
    );
    check(
        "m4",
        "dnl define(`no')\ndefine(`a_b', `x')dnl\nAC_DEFUN([C_D],\n[AC_SUBST([E])\nm4_define([F], [1])])\nAC_ARG_ENABLE([g-h],\n",
        "macro a_b 2
         macro C_D 3
         variable E 4
         macro F 5
         key g-h 6",
    );
    check(
        "dockerfile",
        "ARG A=1\nFROM debian:12 AS build\nENV B=1 C=2\nRUN x \\\n  ARG=1\nFROM scratch\nfrom a as last-1\nCOPY x y\n",
        "variable A 1
         target build 2-5
         variable build.B 3
         variable build.C 3
         target last-1 7-8",
    );
    check(
        "kconfig",
        "menu \"x\"\nconfig NET_X\n\tbool \"x\"\n\thelp\n\t  config text\nendmenu\nmenuconfig Y\n\tbool\n",
        "constant NET_X 2-5
         constant Y 7-8",
    );
}

#[test]
fn commands_have_labels_and_functions() {
    check(
        "batchfile",
        "@echo off\nset A=1\nSET B-C=2\n:: comment\ngoto :end\n:sub-1\necho x\n:end\nexit /b\n",
        "variable A 2
         variable B-C 3
         label sub-1 6-7
         label end 8-9",
    );
    check(
        "vim",
        "\
\" comment
let g:x = 1
let s:d.y = 1
const Z = 2
function! s:foo(a) abort
  let l:y = 1
  if a | endif
endfunction
func a#b#c() range
endfunc
command! -nargs=* Foo call s:foo()
augroup Group
augroup END
export def Vim9(x: number)
enddef
fun!\tOld()
endf
",
        "variable x 2
         constant Z 4
         function s.foo 5-8
         function a#b.c 9-10
         macro Foo 11
         module Group 12
         function Vim9 14-15
         function Old 16-17",
    );
    check(
        "tcsh",
        "alias ll 'ls -l'\nset x = 1\nsetenv Y 1\nif ($x) then\nloop:\ngoto loop\n",
        "macro ll 1\nvariable x 2\nvariable Y 3\nlabel loop 5",
    );
}
