use crate::symbols::tests::check;

#[test]
fn selectors_of_css() {
    check(
        "css",
        "@charset \"x\";\n:root {\n  --main-bg: red;\n}\n.a .b > .c:hover, #d,\nul li:not(.n),\nh1::before { color: red; background: url(//x;y) }\n@media (min-width: 1px) {\n  .m.n#o { a: b }\n}\na.e{}a>f:hover{}\n[data-p] .q-r[s] {}\n@keyframes t { from { x: y } 50% {} }\n@font-face { font-family: \"u\" }\n* {}\n.w\\:x { y: z\n}\n",
        "variable --main-bg 3
             selector c 5-7
             selector d 5
             selector li 6
             selector h1 7
             selector m 9
             selector n 9
             selector o 9
             selector e 11
             selector f 11
             selector q-r 12
             selector w 16-17",
    );
}

#[test]
fn definitions_of_scss_and_less() {
    check(
        "scss",
        "// .a {\n$v: 1px !default;\n@mixin m-n($a: (b: c)) { .in { &:hover {} &-x { d: e } &.f {} } }\n@function g($x) { @return $x; }\n%ph { h: i; }\n.top {\n  $local: 1; font: { family: j; }\n  @include m-n { k: l; }\n  .nest-#{$v} o { p: #{$v}; }\n  @if $a == b { > q { r: s } } @else { t: u }\n}\n",
        "variable v 2
             function m-n 3
             selector m-n.in 3
             selector m-n.in.f 3
             function g 4
             selector ph 5
             selector top 6-11
             selector top.o 9
             selector top.q 10",
    );
    check(
        "less",
        "@v: 1;\n.mix(@a; @b: 2) when (@a) { c: @a }\n.d { .mix(1; 2); .e(); @{v}-f: g; &:extend(.h all); .@{v} i { j: k } }\n@plugin \"l\"; @detached: { m: n };\n",
        "variable v 1
             function mix 2
             selector d 3
             selector d.i 3
             variable detached 4",
    );
}

#[test]
fn definitions_of_sass_and_stylus() {
    check(
        "sass",
        "$v: 1\n@mixin m($a)\n  b: $a\n\n.c,\n.d\n  e: f\n  &:hover\n    g: h\n  i\n    j: k\n#l\n  @include m(1)\n",
        "variable v 1
             function m 2-3
             selector c 5-11
             selector d 6
             selector c.i 10-11
             selector l 12-13",
    );
    check(
        "stylus",
        "v = 1px\nf(a, b)\n  for c in a\n    d(c)\n      e: a\nbody\n  d e\n  .g\n    h i\n.j {\n  k: l\n}\n.m { n: o }\n",
        "variable v 1
             function f 2-5
             selector body 6-9
             selector body.g 8-9
             selector j 10-12
             selector m 13",
    );
}

#[test]
fn hostile_text_is_left_behind() {
    check(
        "css",
        "}}{{(\"\n'\n.a { b: c(;\n}\n.d {}\n#{{@{",
        "selector d 5",
    );
}
