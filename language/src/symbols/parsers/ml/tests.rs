//! OCaml, ReasonML, F# and Standard ML.

use crate::symbols::tests::check;

#[test]
fn ocaml_has_no_local_definitions() {
    check(
        "ocaml",
        r#"open Printf
exception Not_here of string
type 'a t = { mutable a : int; b : 'a list }
and u = A | B of int * string | C of { x : int }
type poly = [ `A | `B ]
type alias = Foo.t
let rec f x = let y = 1 and z = 2 in y + z + x
and g x = x
let h = fun x -> x
let i = function A -> 1 | _ -> 2
let c = 5
let c2 : int -> int = f
let () = print_endline "x"
let ( >>= ) a b = b a
let _ = 3
let x, y = 1, 2
module M = struct type t = int let compare = compare let z a b = a end
module type S = sig
  type t
  val f : t -> int
  val c : int
end
module F (X : S) : S with type t = int and module Y = Z = struct
  let f x =
    let y = x in
    begin match y with _ -> 1 end
  let g = 2
  external e : int -> int = "e"
end
class virtual ['a] k x = object (self)
  val mutable v = 1
  method m y = y
  method private virtual n : int
  inherit foo
end
let last () = ()
let%test "a" = true
let in_paren a = (let b = 1 in b)
let weird a =
let b = 1 in
b
let after ~lab ?(opt=1) () = 1
"#,
        r#"
         type Not_here 2
         type t 3
         field t.a 3
         field t.b 3
         type u 4
         enumerator u.A 4
         enumerator u.B 4
         enumerator u.C 4
         field u.x 4
         type poly 5
         enumerator poly.A 5
         enumerator poly.B 5
         type alias 6
         function f 7
         function g 8
         function h 9
         function i 10
         constant c 11
         function c2 12
         function >>= 14
         constant x 16
         constant y 16
         module M 17
         type M.t 17
         constant M.compare 17
         function M.z 17
         interface S 18-22
         type S.t 19
         function S.f; 20
         constant S.c; 21
         module F 23-29
         function F.f 24-26
         constant F.g 27
         function F.e; 28
         class k 30-35
         field k.v 31
         method k.m 32
         method k.n; 33
         function last 36
         function in_paren 38
         function weird 39-41
         function after 42
        "#,
    );
}

#[test]
fn interfaces_of_ocaml_have_declarations() {
    check(
        "ocaml",
        r#"(** Doc: val no : int *)
type t
type 'a tree = Leaf | Node of 'a tree * 'a
exception Error of string
val create : ?size:int -> unit -> t
val empty : t
val ( + ) : t -> t -> t
external length : t -> int = "len"
module M : sig
  val x : int
end
module type S = sig type t val f : t -> t end
class counter : object method get : int end
val { x : int }
"#,
        r#"
         type t 2
         type tree 3
         enumerator tree.Leaf 3
         enumerator tree.Node 3
         type Error 4
         function create; 5
         constant empty; 6
         function +; 7
         function length; 8
         module M 9-11
         constant M.x; 10
         interface S 12
         type S.t 12
         function S.f; 12
         class counter 13
         method counter.get 13
        "#,
    );
}

#[test]
fn reasonml() {
    check(
        "reasonml",
        r#"module M = {
  type t = {a: int, b: string};
  let f = (x, y) => { let z = 1; z + x };
  let c = 5;
};
type k = | A | B(int);
let g = x => x;
external e : int => int = "e";
[@react.component] let make = (~a) => { <div /> };
"#,
        r#"
         module M 1-5
         type M.t 2
         field M.t.a 2
         field M.t.b 2
         function M.f 3
         constant M.c 4
         type k 6
         enumerator k.A 6
         enumerator k.B 6
         function g 7
         function e; 8
         function make 9
        "#,
    );
}

#[test]
fn fsharp() {
    check(
        "f#",
        r#"namespace A.B
module M =
    open System
    let x = 5
    let mutable y = 6
    let f a b =
        let local = a
        let g c = c
        g local
    [<Literal>]
    let Lit = "a"
    let rec even n = odd n
    and odd n = even n
type Shape =
    | Circle of float
    | Square
type Rec = { X: int
             Y: string }
type Abbrev = List<int>
type IFoo =
    abstract member Bar : int -> int
    abstract Baz : unit -> unit
type T(x: int) =
    let priv = x
    member this.Foo(y) = y
    member _.Prop = 1
    static member Make() = T(1)
    override this.ToString() = "a"
    interface IFoo with
        member this.Bar x = x
let inline private (<+>) a b = a
exception MyErr of string
"#,
        r#"
         module A.B 1
         module M 2-13
         constant M.x 4
         variable M.y 5
         function M.f 6-9
         constant M.Lit 11
         function M.even 12
         function M.odd 13
         type Shape 14-16
         enumerator Shape.Circle 15
         enumerator Shape.Square 16
         type Rec 17-18
         field Rec.X 17
         field Rec.Y 18
         type Abbrev 19
         type IFoo 20-22
         method IFoo.Bar; 21
         method IFoo.Baz; 22
         type T 23-30
         constant T.priv 24
         method T.Foo 25
         method T.Prop 26
         method T.Make 27
         method T.ToString 28
         method T.Bar 30
         function <+> 31
         type MyErr 32
        "#,
    );
}

#[test]
fn standard_ml() {
    check(
        "standard ml",
        r#"signature S = sig
  type t
  val f : t -> int
end
structure M :> S = struct
  datatype t = A | b of int
  exception E
  fun f x = let val y = 1 fun g z = z in g y end
    | f _ = 2
  and h x = x
  val c = 1
  local fun p x = x in fun q x = p x end
end
functor F (X : S) = struct val z = fn x => x end
type r = {a : int, b : string}
infix ++
"#,
        r#"
         interface S 1-4
         type S.t 2
         function S.f; 3
         module M 5-13
         type M.t 6
         enumerator M.t.A 6
         enumerator M.t.b 6
         type M.E 7
         function M.f 8-9
         function M.h 10
         constant M.c 11
         function M.p 12
         function M.q 12
         module F 14
         function F.z 14
         type r 15
        "#,
    );
}
