//! Outlines of languages with braces.

use crate::symbols::tests::check;

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
y=`cat <<_E | wc
no() {
_E`
z() { :; }
(sub2() { :; }; x=(a b))
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
         variable x 32
         variable y 33
         function z 36
         function sub2 37",
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
proc class {class body} {
}
proc 02_x {} {}
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
         function last 24
         function class 25-26
         function 02_x 27",
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
