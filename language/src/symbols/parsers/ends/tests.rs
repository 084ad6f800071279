//! Outlines of languages with `end`.

use crate::symbols::tests::check;

#[test]
fn ruby_has_classes_and_methods() {
    check(
        "ruby",
        "\
module A
  class B::C < D
    X = 1
    attr_accessor :a, :b
    def self.x(y) = y
    def y=(v)
      v if v
    end
    def [](i); end
    def ==(o)
      while o do o.end end
    end
    class << self
      def z?
        x = if a
              1
            end
        foo(1,
            2) do |x|
          return unless x
        end
      end
    end
    alias foo bar
    alias_method :q, :r
    private def hidden(if: 1)
      { end: 1, class: :end }.class
    end
  end
end
def Foo.f; end
__END__
def no; end
",
        "module A 1-30
         class B.C 2-29
         constant B.C.X 3
         field B.C.a 4
         field B.C.b 4
         method B.C.x 5
         method B.C.y= 6-8
         method B.C.[] 9
         method B.C.== 10-12
         method B.C.z? 14-22
         method B.C.foo 24
         method B.C.q 25
         method B.C.hidden 26-28
         function Foo.f 31",
    );
}

#[test]
fn crystal_has_more_types() {
    check(
        "crystal",
        "\
struct P
  property x : Int32, y : Int32
  getter? z : Bool = false
  def initialize(@x : Int32)
  end
end
enum Color
  Red
  Green = 2
  def red?
    true
  end
end
lib LibC
  fun puts(s : UInt8*) : Int32
  struct T
    a : Int32
  end
end
abstract class A(T) < B
  abstract def f(x : T) : Nil
  def g : Int32
    {% if flag?(:x) %} 1 {% else %} 2 {% end %}
  end
  class Error < Exception; end
end
macro define(name)
  def {{name}}; end
end
alias Id = Int32
record Point, x : Int32
annotation Foo
end
fun main(argc : Int32) : Int32
  0
end
",
        "struct P 1-6
         field P.x 2
         field P.y 2
         method P.initialize 4-5
         enum Color 7-13
         enumerator Color.Red 8
         enumerator Color.Green 9
         method Color.red? 10-12
         module LibC 14-19
         function LibC.puts; 15
         struct LibC.T 16-18
         class A 20-26
         method A.f; 21
         method A.g 22-24
         class A.Error 25
         macro define 27-29
         type Id 30
         struct Point 31
         class Foo 32
         function main 34-36",
    );
}

#[test]
fn elixir_has_functions_with_do() {
    check(
        "elixir",
        "\
defmodule A.B do
  @moduledoc \"\"\"
  def no do
  \"\"\"
  use X, only: [if: 1]
  @timeout 5000
  @type t :: %{a: integer}
  @callback init(x :: term) :: :ok
  @spec f(t) :: t
  def f(x, y \\\\ 1)
  def f(x, y) when x > 1 do
    if y, do: x, else: @timeout
    Enum.map(x, fn a -> a end)
  end
  defp g?(x), do: x
  defmacro m(x) do
    quote do
      unquote(x)
    end
  end
  defguard is_x(x) when x == 1
  defdelegate h(x), to: C
  def unquote(n)(x), do: x
  defimpl P, for: T do
    def to_s(x),
      do: x
  end
end
defprotocol Q do
  def size(x)
end
",
        "module A.B 1-28
         constant A.B.timeout 6
         type A.B.t 7
         method A.B.init; 8
         function A.B.f; 10
         function A.B.f 11-14
         function A.B.g? 15
         macro A.B.m 16-20
         macro A.B.is_x 21
         function A.B.h 22
         implementation A.B.P 24-27
         function A.B.P.to_s 25
         interface Q 29-31
         function Q.size; 30",
    );
}

#[test]
fn lua_has_functions_with_names_before_or_behind() {
    check(
        "lua",
        "\
local a, b <const> = 1, 2
local M = {
  field = 1,
  f = function(x) return x end,
}
function M.g(x)
  local y = 1
  for i = 1, 2 do if i then break end end
  repeat local z = [[
end
]] until x
  return function() end
end
function M.sub:h() end
local function l()
  while true do
  end
end
M.k = function(a, ...)
end
g = 1
call(function()
  inner = function() end
end)
",
        "variable a 1
         variable b 1
         variable M 2
         function f 4
         function M.g 6-13
         method M.sub.h 14
         function l 15-18
         function M.k 19-20
         variable g 21
         function inner 23",
    );
}

#[test]
fn julia_has_long_and_short_functions() {
    check(
        "julia",
        "\
module A
export f
const X = 1
abstract type Q{T} end
mutable struct S{T} <: Q{T}
    x::Int
    y
    S(a) = new(a)
end
primitive type B 8 end
f(x) = x[end]
Base.show(io::IO, x::S{T}) where {T} = print(io, x)
g(x)::Int = 1
function h(x; y=1)
    v = [a for a in x if a > 1]
    s = sum(a for a in x)
    if x == 1 return x[end] end
    map(x) do z
        begin end
    end
    :end
end
function Base.print(x)
end
function f end
macro m(x)
    quote
        $x
    end
end
f(x)
f(x) == 1
end
Base.:+(a, b) = 1
",
        "module A 1-33
         constant A.X 3
         type A.Q 4
         struct A.S 5-9
         field A.S.x 6
         field A.S.y 7
         function A.S.S 8
         type A.B 10
         function A.f 11
         function Base.show 12
         function A.g 13
         function A.h 14-22
         function Base.print 23-24
         function A.f 25
         macro A.m 26-30
         function Base.+ 34",
    );
}

#[test]
fn fish_has_functions() {
    check(
        "fish",
        "\
set -g fish_x 1
set -gx PATH a b
set -q y
alias ll='ls -l'
function __fish_a-b --description 'end'
    if test $x; and begin true; end
        echo end
    else if false
    end
    set -l z 1
end
function c; echo 1; end
function d -a x
    switch $x
        case a
    end
end
",
        "variable fish_x 1
         variable PATH 2
         macro ll 4
         function __fish_a-b 5-11
         function c 12
         function d 13-17",
    );
}

#[test]
fn wrong_counts_are_corrected_by_indentation() {
    check(
        "ruby",
        "class A\n  def f\n    if\n    begin\n  end\n  def g\n    x)) end\n    end\n  end\nend\nend\nend\ndef h\n  (\ndef i\nend\n",
        "class A 1-10
         method A.f 2-5
         method A.g 6-7
         function h 13-14
         function i 15-16",
    );
    check(
        "lua",
        "function a()\n  if x then\nfunction b()\nend\nlocal s = '\nfunction c() end\n",
        "function a 1-2
         function b 3-4
         variable s 5
         function c 6",
    );
}
