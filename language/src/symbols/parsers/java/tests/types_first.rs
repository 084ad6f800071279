//! Languages with a type before a name.

use crate::symbols::tests::check_rows;

#[test]
fn java() {
    check_rows(
        "Java",
        r##"package org.example.app;

import java.util.*;

/** class Fake { */
@SuppressWarnings("unchecked")
public abstract class Outer<T extends Comparable<T>> extends Base<T> implements A, B {
    private static final Map<String, List<Integer>> CACHE = new HashMap<String, List<Integer>>(), OTHER = null;
    protected int[] a, b[] = {1, 2};
    static { init(); }
    { a = null; }
    public Outer(int x) throws IOException { this.x = x; }
    Outer() {}
    public static <T> List<T> name(T x) throws E {
        class Local { void inLocal() {} }
        int local = a < b ? 1 : 2;
        new Thread(new Runnable() {
            @Override public void run() { go(); }
        }).start();
        for (int i = 0; i < 3; i++) { if (x) { y(); } }
        return list.stream().map(y -> { return y; }).collect(toList());
    }
    @Deprecated
    public abstract java.util.Map.Entry<K, V>
        longName(@Nullable("x") final String first,
                 int... rest);
    native int nat();
    private final Comparator<T> cmp = new Comparator<>() {
        int calls;
        public int compare(T p, T q) { return 0; }
    };
    Supplier<T> s = () -> { return null; };
    public record Point(int x, List<String> y) implements Shape {
        Point { check(x); }
        static Point of() { return null; }
    }
    public @interface Marker { int value() default 5; String[] names() default {"a", "b"}; }
    enum Op implements IntOp {
        @Old PLUS("+") { int apply(int x) { return x; } },
        MINUS("-", X.Y), LAST;
        private final String sign;
        Op(String sign) { this.sign = sign; }
        abstract int apply(int x);
    }
    interface Inner { int K = 1; void f(); default void g() { } }
    sealed interface Sh permits P, Q {}
    String text = """
        class NotHere { void nor() {} }
        """;
    char brace = '{', quote = '\'';
    synchronized void record() { }
    void sw(int k) {
        switch (k) { case 1 -> { x(); } default -> y(); }
        label: while (true) { break label; }
    }
}
class Second<T> {}
"##,
        "module org.example.app 1 | class Outer 7-56 | constant Outer.CACHE 8
             constant Outer.OTHER 8 | field Outer.a 9 | field Outer.b 9 | method Outer.Outer 12
             method Outer.Outer 13 | method Outer.name 14-22 | class Outer.name.Local 15
             method Outer.name.Local.inLocal 15 | method Outer.name.run 18
             method Outer.longName; 25 | method Outer.nat; 27 | field Outer.cmp 28-31
             field Outer.cmp.calls 29 | method Outer.cmp.compare 30 | field Outer.s 32
             class Outer.Point 33-36 | field Outer.Point.x 33 | field Outer.Point.y 33
             method Outer.Point.of 35 | interface Outer.Marker 37 | method Outer.Marker.value; 37
             method Outer.Marker.names 37 | enum Outer.Op 38-44 | enumerator Outer.Op.PLUS 39
             method Outer.Op.PLUS.apply 39 | enumerator Outer.Op.MINUS 40
             enumerator Outer.Op.LAST 40 | field Outer.Op.sign 41 | method Outer.Op.Op 42
             method Outer.Op.apply; 43 | interface Outer.Inner 45 | field Outer.Inner.K 45
             method Outer.Inner.f; 45 | method Outer.Inner.g 45 | interface Outer.Sh 46
             field Outer.text 47 | field Outer.brace 50 | field Outer.quote 50
             method Outer.record 51 | method Outer.sw 52-55 | class Second 57",
    );
}

#[test]
fn csharp() {
    check_rows(
        "C#",
        r##"using System;
using static System.Math;
#if NET6
using X;
using Alias = System.Text;
#endif
namespace Acme.Widgets
{
    [Serializable]
    public abstract partial class Widget<T> : Base, IWidget where T : class, new()
    {
        public const int Max = 10;
        private static readonly Dictionary<string, List<int>> Cache = new Dictionary<string, List<int>>();
        private int a, b = 2;
        public event EventHandler<Args> Changed;
        public string Name { get; set; } = "x";
        public int Count => items.Count;
        public int this[int i] { get { return i; } }
        public Widget(int x) : base(x) { a = x; }
        static Widget() { }
        ~Widget() { }
        protected abstract void Draw(int x);
        [Obsolete("a {")]
        public async Task<List<T>> LoadAsync<TKey>(TKey key, CancellationToken ct = default)
            where TKey : IComparable
        {
            int Local(int q) => q;
            var f = new Func<int>(() => { return 1; });
            using (var s = Open()) { foreach (var i in items) { } }
            return await Task.FromResult(new List<T> { x });
        }
        public static Widget<T> operator +(Widget<T> a, Widget<T> b) { return a; }
        public static bool operator <(Widget<T> a, Widget<T> b)
        { return false; }
        public static implicit operator Widget<T>(int x) => null;
        int IFoo.Bar() { return 1; }
        public (int, string) Pair() => (1, $"{Name}");
        public override string ToString() => @"c:\";
        private enum State : byte { Idle, Running = 5, [Old] Done }
        public delegate void Handler(object sender, Args e);
        public struct Point { public int X, Y; }
#if DEBUG
        public void Check(int x) {
#else
        public void Check() {
#endif
            Go();
        }
        public void After() { }
    }
    public interface IWidget { void Draw(); string Name { get; } }
    public record Person(string First, string Last);
    public record struct Pt(int X);
    internal static class Ext
    {
        public static bool IsNull(this object o) { return o == null; }
    }
}
namespace Other;
class Late { void M() { } }
"##,
        "type Alias 5 | module Acme.Widgets 7-58 | class Acme.Widgets.Widget 10-50
             constant Acme.Widgets.Widget.Max 12 | constant Acme.Widgets.Widget.Cache 13
             field Acme.Widgets.Widget.a 14 | field Acme.Widgets.Widget.b 14
             field Acme.Widgets.Widget.Changed 15 | field Acme.Widgets.Widget.Name 16
             field Acme.Widgets.Widget.Count 17 | method Acme.Widgets.Widget.Widget 19
             method Acme.Widgets.Widget.Widget 20 | method Acme.Widgets.Widget.Widget 21
             method Acme.Widgets.Widget.Draw; 22 | method Acme.Widgets.Widget.LoadAsync 24-31
             method Acme.Widgets.Widget.Bar 36 | method Acme.Widgets.Widget.Pair 37
             method Acme.Widgets.Widget.ToString 38 | enum Acme.Widgets.Widget.State 39
             enumerator Acme.Widgets.Widget.State.Idle 39
             enumerator Acme.Widgets.Widget.State.Running 39
             enumerator Acme.Widgets.Widget.State.Done 39 | type Acme.Widgets.Widget.Handler 40
             struct Acme.Widgets.Widget.Point 41 | field Acme.Widgets.Widget.Point.X 41
             field Acme.Widgets.Widget.Point.Y 41 | method Acme.Widgets.Widget.Check 43-48
             method Acme.Widgets.Widget.After 49 | interface Acme.Widgets.IWidget 51
             method Acme.Widgets.IWidget.Draw; 51 | field Acme.Widgets.IWidget.Name 51
             class Acme.Widgets.Person 52 | field Acme.Widgets.Person.First 52
             field Acme.Widgets.Person.Last 52 | struct Acme.Widgets.Pt 53
             class Acme.Widgets.Ext 54-57 | method Acme.Widgets.Ext.IsNull 56 | module Other 59
             class Late 60 | method Late.M 60",
    );
}

#[test]
fn dart() {
    check_rows(
        "Dart",
        r##"library app.main;
import 'dart:async' show Future;
part 'a.g.dart';
const int maxItems = 10;
final cache = <String, int>{};
var counter = 0;
late String name;
typedef Callback = void Function(int);
typedef int Compare(a, b);
enum Color { red, green, blue; String get hex => '#'; }
abstract class Shape<T extends num> implements Comparable<Shape> {
  static const String kind = 'shape';
  final double width, height;
  int? _count;
  Map<String, List<int>> index = {};
  Shape(this.width, this.height);
  const Shape.square(double s) : width = s, height = s;
  factory Shape.fromJson(Map<String, dynamic> json) {
    return Square(json['s']);
  }
  double area();
  double get perimeter => 2 * (width + height);
  set scale(double s) {
    _count = 1;
  }
  @override
  bool operator ==(Object o) => true;
  Future<void> load({required String url, int retries = 3}) async {
    void helper(int x) { print(x); }
    final r = await http.get('$url/${map['x']}');
    if (r.ok) {
      setState(() { _count = 2; });
    }
  }
  static Shape? of(BuildContext context) => null;
}
abstract interface class Client$ {
  final void Function(int)? onDone;
}
extension type Id._(int x) {}
mixin Loud on Shape {
  void shout() {}
}
extension StringX on String {
  String twice() => this + this;
}
class _State extends State<App> with Loud {
  @override
  Widget build(BuildContext context) {
    return Column(children: [Text("a")]);
  }
}
void main(List<String> args) async {
  runApp(App());
}
main2() {
}
int get top => 1;
external int native(int x);
"##,
        "module app.main 1 | constant maxItems 4 | variable cache 5 | variable counter 6
             variable name 7 | type Callback 8 | type Compare 9 | enum Color 10
             enumerator Color.red 10 | enumerator Color.green 10 | enumerator Color.blue 10
             method Color.hex 10 | class Shape 11-36 | constant Shape.kind 12
             field Shape.width 13 | field Shape.height 13 | field Shape._count 14
             field Shape.index 15 | method Shape.Shape 16 | method Shape.square 17
             method Shape.fromJson 18-20 | method Shape.area; 21 | method Shape.perimeter 22
             method Shape.scale 23-25 | method Shape.load 28-34 | method Shape.of 35
             class Client$ 37-39 | field Client$.onDone 38 | implementation Id 40
             class Loud 41-43 | method Loud.shout 42 | implementation StringX 44-46
             method StringX.twice 45 | class _State 47-52 | method _State.build 49-51
             function main 53-55 | function main2 56-57 | function top 58 | function native; 59",
    );
}

#[test]
fn groovy() {
    check_rows(
        "Groovy",
        r##"package com.example
import groovy.transform.Field
@Field String version = '1.0'
final int LIMIT = 5
def config = [a: 1]
println "hello ${config.a}"
class Person extends Base implements Named {
    static final String TYPE = "p"
    String first, last
    def age
    private List<String> tags = []
    Person(String first) { this.first = first }
    def greet(String who = 'x') {
        def local = 1
        tags.each { t -> println t }
        "hi $who"
    }
    String getFull() { "${first} ${last}" }
    static <T> T make(Class<T> type) {
        type.newInstance()
    }
    abstract void todo()
}
interface Named {
    String getName()
}
trait Flying { void fly() { } }
enum Color { RED, GREEN }
def deploy(env) {
    sh "deploy ${env}"
}
void run() {
    node('linux') {
        stage('build') { sh 'make' }
    }
}
pipeline {
    agent any
    stages { stage('x') { steps { echo 'y' } } }
}
dependencies {
    implementation platform("org:x:1")
    compile 'junit:junit:4'
}
"##,
        "module com.example 1 | variable version 3 | variable LIMIT 4 | class Person 7-23
             constant Person.TYPE 8 | field Person.first 9 | field Person.last 9
             field Person.age 10 | field Person.tags 11 | method Person.Person 12
             method Person.greet 13-17 | method Person.getFull 18 | method Person.make 19-21
             method Person.todo; 22 | interface Named 24-26 | method Named.getName; 25 | interface Flying 27 | method Flying.fly 27
             enum Color 28 | enumerator Color.RED 28 | enumerator Color.GREEN 28
             function deploy 29-31 | function run 32-36",
    );
}
