//! Outlines of languages with C in parts.

use crate::symbols::tests::check;

#[test]
fn rules_of_yacc_have_c_around() {
    check(
        "Yacc",
        r#"%{
#include <a.h>
static int lexed(void);
%}
%union {
  int number;
}
%token <number> NUMBER
%type <number> expr
%%
input: /* empty */
  | input line { printf("}"); }
  ;
expr
  : NUMBER { $$ = $1; }
  | expr '+' expr { int x = 1; if (x) { } }
last : ':' ;
%%
int yyerror(const char *s)
{
  return 0;
}
"#,
        "function lexed; 3
         rule input 11-13
         rule expr 14-16
         rule last 17
         function yyerror 19-22",
    );
}

#[test]
fn code_of_lex() {
    check(
        "Lex",
        r#"%{
static int count;
%}
DIGIT [0-9]
%%
"{"     { count++; }
{DIGIT}+  return '{';
%%
int yywrap(void) { return 1; }
"#,
        "variable count 2
         function yywrap 9",
    );
}

#[test]
fn functions_of_xs_have_a_package() {
    check(
        "Perl XS",
        r#"#include "EXTERN.h"
static int helper(int a) { return a; }
MODULE = Digest::MD5   PACKAGE = Digest::MD5  PREFIX = x_

void
new(xclass)
	SV* xclass
  PREINIT:
    int i;
  CODE:
    if (x) { }

int
x_add(a, b)
    int a
    int b
  OUTPUT:
    RETVAL
"#,
        "function helper 2
         module Digest::MD5 3-18
         function Digest::MD5.new 6
         function Digest::MD5.x_add 14",
    );
}

#[test]
fn declarations_of_swig() {
    check(
        "SWIG",
        r#"%module example
%{
#include "example.h"
int wrapped(void);
%}
%include "std.i"
%rename(foo) bar;
int add(int a, int b);
%inline %{
int twice(int a) { return a * 2; }
%}
%extend Vector {
  int length();
}
struct Vector { int x; };
"#,
        "module example 1
         function wrapped; 4
         function add; 8
         function twice 10
         function length; 13
         struct Vector 15
         field Vector.x 15",
    );
}
