//! Settings.

use crate::symbols::tests::check;

#[test]
fn sections_and_keys_of_ini() {
    check(
        "ini",
        "a = 1\n; b = 2\n[c d] # x\nKey-1=v\n  more = 3\nName[de]: y\n\n[remote \"o]\"]\n\turl = z\n\tfetch = +r\nServer {\nif (x == 1)\n$x = 1\n",
        "key a 1
         section c d 3-6
         key c d.Key-1 4
         key c d.Name[de] 6
         section remote \"o]\" 8-13
         key remote \"o]\".url 9
         key remote \"o]\".fetch 10",
    );
}

#[test]
fn keys_of_properties() {
    check(
        "java properties",
        "# a=b\n! c=d\ne.f = g \\\n  h=i\n\nj:k\nl\\:m=n\n",
        "key e.f 3
         key j 6
         key l\\:m 7",
    );
}

#[test]
fn tables_and_keys_of_toml() {
    check(
        "toml",
        "a = 1\n[package]\nname = \"b\" # [c]\nd = [\n  [\"e\", 1],\n  { f = 1 },\n]\n\n[dependencies.\"g.h\"]\n\"i j\" = '''\n[k]\n'''\n[[bin]]\nl.m = { n = 1 }\no = [\n[p]\nq=1\n",
        "key a 1
         section package 2-7
         key package.name 3
         key package.d 4
         section dependencies.g.h 9-12
         key dependencies.g.h.i j 10
         section bin 13-15
         key bin.l.m 14
         key bin.o 15
         section p 16-17
         key p.q 17",
    );
}

#[test]
fn stanzas_of_cabal_and_keys_of_opam() {
    check(
        "cabal config",
        "name: a\n-- library\nflag B\n  default: True\nlibrary\n  exposed-modules: C\nTest-Suite d-e\n  type: f\n",
        "section B 3-4
         section library 5-6
         section d-e 7-8",
    );
    check(
        "opam",
        "opam-version: \"2.0\"\ndepends: [\n  \"a\" {>= \"1\"}\nb: c\n]\nurl {\nsrc: \"d\"\n}\nbuild: []\n",
        "key opam-version 1
         key depends 2
         key build 9",
    );
}

#[test]
fn keys_are_nested_by_columns() {
    check(
        "yaml",
        "# a: b\n--- # c\nname: \"d: e\"\non:\n  push:\n    branches: [ main ]\n\njobs:\n  a-b c: &x\n    steps:\n    - uses: y@v1\n      with: {z: 1}\n    - run: |\n        echo: 1 'x\n\n        # 'y\n      \"q r\": s\n- k: l\n---\nlast: http://m\n",
        "key name 3
         key on 4-6
         key on.push 5-6
         key on.push.branches 6
         key jobs 8-18
         key jobs.a-b c 9-17
         key jobs.a-b c.steps 10-17
         key jobs.a-b c.steps.uses 11
         key jobs.a-b c.steps.with 12
         key jobs.a-b c.steps.run 13-16
         key jobs.a-b c.steps.q r 17
         key jobs.k 18
         key last 20",
    );
}

#[test]
fn texts_over_lines_have_no_keys() {
    check(
        "yaml",
        "a: 'b\n  c: d\ne: \"f\n  g: h\"\ni: it's \"j\nk: >-\n  l: m\nn: - \"o\n{{ p: q }}\n: r\n\t- s\n- - t: u\n    v: w\n",
        "key a 1-2
         key e 3-4
         key i 5
         key k 6-7
         key n 8-13
         key n.t 12
         key n.v 13",
    );
}
