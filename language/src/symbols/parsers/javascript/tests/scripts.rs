//! JavaScript, and scripts of other languages.

use crate::symbols::tests::check_rows;

#[test]
fn javascript() {
    check_rows(
        "JavaScript",
        r##"'use strict'
const fs = require('fs'), { a, b } = require('x')
var VERSION = '1', count;
let re = /[/'"`{]+/g.exec(s) / 2 / 1
function* gen(x) { yield x }
async function load() {
  var local = 1
  const inner = function () {}
  const arrow = async () => {
    await 1
  }
  function nested() {}
  return { ok: function () {}, cb() {} }
}
Foo.prototype.bar = function (x) {
  return this
}
Foo.prototype = {
  baz: function () {},
  qux: 1
}
exports.alpha = 1
exports.beta = function () {}
exports.gamma = exports.delta = (x) => x
module.exports.eps = function named() {}
module.exports = function makeApp(opts) {
}
module.exports = { load, other: 1, third: function () {} }
this.zeta = function () {}
window.eta = async function () {}
const Cls = class extends Base { m() {} }
class Point extends (Base || Other) {
  static #count = 0
  x = 1;
  static { this.y = 2 }
  constructor(x, y = {}) { super(x) }
  get len() { return 1 }
  static async fetch() {}
  #priv() {}
  async *stream() {}
  [computed]() {}
  get() { return 1 }
  on = () => {
    go()
  }
  'str'() {}
}
;(function ($) {
  $.fn.plugin = function () {}
  function hidden() {}
  var notFound = 1
})(jQuery)
app.get('/', function handler(req, res) { })
describe('x', () => { it('y', function () { var z = {a: 1, run: function() {}} }) })
const obj = {
  m1() {}, get p() { return 1 }, async m2() {},
  m3: x => x, f: 5, 'q-r': function () {},
  nested: { deep() {} }
}
for (var i = 0; i < 5; i++) { if (i) { var k = function () {} } }
label: for (;;) {}
const tpl = `a ${b ? `x${function () {}}` : "}"} {`
function last() {}
if (x) function cond() {}
define(['a'], function (a) {
return { inside: function () {} }
})
export default function () {}
export function named() {}
export const K = 5
Object.assign(Foo, { mix() {} })
"##,
        "constant fs 2 | variable VERSION 3 | variable count 3 | variable re 4
             function gen 5 | function load 6-14 | function load.inner 8
             function load.arrow 9-11 | function load.nested 12 | method load.ok 13
             method load.cb 13 | method Foo.bar 15-17 | method Foo.baz 19 | variable alpha 22
             function beta 23 | variable gamma 24 | function delta 24 | function eps 25
             function named 25 | function makeApp 26-27 | method third 28 | method zeta 29
             function eta 30 | class Cls 31 | method Cls.m 31 | class Point 32-47
             field Point.#count 33 | field Point.x 34 | method Point.constructor 36
             method Point.len 37 | method Point.fetch 38 | method Point.#priv 39
             method Point.stream 40 | method Point.get 42 | method Point.on 43-45
             method Point.str 46 | method fn.plugin 49 | function hidden 50 | function handler 53
             method z.run 54 | constant obj 55-59 | method obj.m1 56 | method obj.p 56
             method obj.m2 56 | method obj.m3 57 | field obj.f 57 | method obj.q-r 57
             field obj.nested 58 | method obj.nested.deep 58 | function k 60 | constant tpl 62
             function last 63 | function cond 64 | method inside 66 | function named 69
             constant K 70 | method mix 71",
    );
}

#[test]
fn vue() {
    check_rows(
        "Vue",
        r##"<template>
  <div :class="{ a: b }" @click="go">It's {{ name }}</div>
</template>
<script setup lang="ts">
import X from './x.vue'
const count = ref(0)
function go() { }
export default {
  name: 'app',
  data() { return { a: 1 } },
  methods: {
    load() { },
    save: async function () { }
  }
}
</script>
<style>
.a { color: red }
</style>
"##,
        "constant count 6 | function go 7 | method data 10 | method methods.load 12
             method methods.save 13",
    );
}

#[test]
fn qml() {
    check_rows(
        "QML",
        r##"import QtQuick 2.0
Rectangle {
    id: root
    property int count: 0
    readonly property alias label: text.text
    property var items: [{ a: 1 }]
    signal clicked(int x)
    width: 100
    function reset(x) {
        var local = { b: 2 }
        count = 0
    }
    Text { id: text; text: "a"; function inner() { } }
    MouseArea {
        onClicked: { root.reset() }
        anchors { fill: parent }
    }
    component Badge: Item { property string title }
}
"##,
        "id root 3 | field count 4 | field label 5 | field items 6 | method clicked 7
             method reset 9-12 | id text 13 | method inner 13 | type Badge 18 | field title 18",
    );
}
