//! Outlines of languages with braces.

use crate::symbols::tests::check;

#[test]
fn perl_has_packages_subroutines_and_constants() {
    check(
        "perl",
        "\
#!/usr/bin/perl
package A::B;
our ($VERSION, @list) = (1);
my %h = (sub => 1, y => \"}\", s => '{');
use constant PI => 3;
use constant {
    # comment
    X => 1, Y => { z => 2 },
};
has 'name' => (is => 'ro');

=head1 NAME

sub no { }

=head2 Methods  of x

=cut

sub new($class, %args) {
    my $self = { map { $_ => 1 } split /[{\"]/, $x };
    if ($x =~ m{^\\{} and s/'/}/g) { $h{y}{s} = $'; }
    print <<\"EOT\", <<'X';
sub in_heredoc {
EOT
X
    return sub { 1 };
}
sub declared;
sub proto ($$);
sub C::qualified { 1 }
{
    package D;
    sub m : lvalue
    {
        isn't($a, 1);
    }
}
package E {
    sub e { qw/}/ }
}
package # hidden
    F;
OUTER: for (@x) { last OUTER }
sub f'g { }
__END__
sub over { }

=head1 AFTER
",
        "module A.B 2-42
         variable A.B.VERSION 3
         variable A.B.list 3
         variable A.B.h 4
         constant A.B.PI 5
         constant A.B.X 8
         constant A.B.Y 8
         field A.B.name 10
         section NAME 12
         section Methods  of x 16
         function A.B.new 20-28
         function A.B.declared; 29
         function A.B.proto; 30
         function C.qualified 31
         module A.B.D 33-38
         function A.B.D.m 34-37
         module A.B.E 39-41
         function A.B.E.e 40
         module F 43-49
         label F.OUTER 44
         function F.f'g 45
         section AFTER 49",
    );
}

#[test]
fn raku_has_classes_and_rules() {
    check(
        "raku",
        "\
unit module A::B;
my constant PI = 3;
enum Color <Red Green>;
subset Even of Int where * %% 2;
role Shape { method area() { ... } }
class Square does Shape {
    has Int $.side = 1;
    has $!hidden;
    method area(--> Int) { $!side ** 2 }
    submethod BUILD() { }
}
grammar G {
    token word { \\w+ }
    rule TOP { <word> }
}
multi sub f-g(Int $x) {
    my sub inner { }
}
multi method m { }
sub MAIN($x) is export { }
=begin pod
sub no { }
=end pod
sub after { }
",
        "module A.B 1-24
         constant A.B.PI 2
         enum A.B.Color 3
         type A.B.Even 4
         interface A.B.Shape 5
         method A.B.Shape.area 5
         class A.B.Square 6-11
         field A.B.Square.side 7
         field A.B.Square.hidden 8
         method A.B.Square.area 9
         method A.B.Square.BUILD 10
         class A.B.G 12-15
         rule A.B.G.word 13
         rule A.B.G.TOP 14
         function A.B.f-g 16-18
         function A.B.f-g.inner 17
         method A.B.m 19
         function A.B.MAIN 20
         function A.B.after 24",
    );
}

#[test]
fn shells_have_functions_variables_and_aliases() {
    check(
        "shell",
        "\
#!/bin/bash
A=1
export B=2 C
readonly D=${A#\"x\"}
A=3
alias ll='ls -l' g=grep
f() {
    local x=1
    echo ${x:-{} # '
    cat <<-\\EOF && echo }
\tno() {
\tEOF
}
function g-h {
    case $1 in
        a) inner () { echo; } ;;
        \"b\") ;;
    esac
}
function k::l () { echo; }
sub() (
    cd x
    (echo y)
)
m ()
{
  for i in a; do n() { :; }; done
}
awk '
function no() {
}' x; last() { :; }
x=$(f() { :; })
",
        "variable A 2
         variable B 3
         constant D 4
         macro ll 6
         macro g 6
         function f 7-13
         function g-h 14-19
         function g-h.inner 16
         function k::l 20
         function sub 21-24
         function m 25-28
         function m.n 27
         function last 31
         variable x 32",
    );
    check(
        "rpm spec",
        "%define name foo\n%global with_x(o:) 1\nName: x\n%package -n lib-x\n%package devel\n%build\nf() { :; }\n",
        "macro name 1\nmacro with_x 2\nmodule lib-x 4\nmodule devel 5\nfunction f 7",
    );
}

#[test]
fn awk_has_functions() {
    check(
        "awk",
        "BEGIN { FS = \":\" }\nfunction f(a, b) {\n  if ($0 ~ /{\"/) { return a }\n}\nfunc g(x)\n{\n  x = 1 / 2\n}\nfunction ns::h() { }\n/x/ { f(1) }\n",
        "function f 2-4
         function g 5-8
         function ns::h 9",
    );
}

#[test]
fn tcl_has_procedures_and_namespaces() {
    check(
        "tcl",
        "\
set top 1
namespace eval ::a::b {
    variable v 1
    proc p {x {y {}} args} {
        set local 1
        regexp {[^\"]+} $x
    }
    namespace export p
}
proc ::a::q args {
    if {$x} { proc inner {} {} }
}
oo::class create C {
    variable n
    constructor {x} { set n $x }
    method m {} {
        return {\"}
    }
}
itcl::class D { method k {x} {} }
itcl::body D::k {x} {
}
namespace eval $x {}
proc last {} {}
",
        "variable top 1
         module a.b 2-9
         variable a.b.v 3
         function a.b.p 4-7
         function a.q 10-12
         function a.q.inner 11
         class C 13-19
         variable C.n 14
         method C.m 16-18
         class D 20
         method D.k 20
         function D.k 21-22
         function last 24",
    );
}

#[test]
fn power_shell_has_functions_and_classes() {
    check(
        "powershell",
        "\
<# function no { } #>
$Top = 1
$script:Other = @{ a = 1 }
function Get-Thing($x = {1}) {
    $local = @'
function no {
'@
    if ($x) { $x | ForEach-Object { $_ } }
}
Function global:Set-It
{
    param([string]$Name)
}
filter F { $_ }
class Point : Base {
    [int]$X
    hidden [string] $Y = 'a'
    Point([int]$x) { $this.X = $x }
    [double] Area([int]$n) {
        return 1
    }
    static [void] Reset() { }
}
enum Color {
    Red
    Green = 2
}
",
        "variable Top 2
         variable Other 3
         function Get-Thing 4-9
         function global.Set-It 10-13
         function F 14
         class Point 15-23
         field Point.X 16
         field Point.Y 17
         method Point.Point 18
         method Point.Area 19-21
         method Point.Reset 22
         enum Color 24-27
         enumerator Color.Red 25
         enumerator Color.Green 26",
    );
}

#[test]
fn r_has_assigned_functions_and_classes() {
    check(
        "r",
        "\
x <- 1
f.g <- function(a, b = {1}) {
    h = function(y) y + 1
    lapply(a, function(z) z)
    sapply(a,
        FUN = function(z) z)
    local <- 2
}
k <<- function(x) x
\"%+%\" <- function(a, b) paste(a, b)
`my name<-` = function(x, value)
{
    x
}
setClass(\"Person\", representation(name = \"character\"))
setGeneric(\"area\", function(obj) standardGeneric(\"area\"))
setMethod(\"area\", \"Person\", function(obj) {
    1
})
Stack <- R6Class(\"Stack\",
    public = list(
        items = NULL,
        push = function(x) {
            self$items <- x
        }
    )
)
if (x == 1) y <- 2
last <- function() NULL
",
        "variable x 1
         function f.g 2-8
         function f.g.h 3
         function k 9
         function %+% 10
         function my name<- 11-14
         class Person 15
         function area 16
         method area 17
         class Stack 20
         method push 23
         function last 29",
    );
}

#[test]
fn wrong_braces_are_corrected_by_indentation() {
    check(
        "perl",
        "sub a {\n    if (1) {\n}\nsub b {\n    }}}\n}\npackage P;\n}\nsub c {\n  my $x = ((;\nsub d {\n}\n",
        "function a 1-3
         function b 4-5
         module P 7-12
         function P.c 9-10
         function P.d 11-12",
    );
}
