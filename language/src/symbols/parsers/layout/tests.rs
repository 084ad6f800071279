//! Haskell, PureScript, Elm, Idris and Agda.

use crate::symbols::tests::check;

#[test]
fn haskell_has_one_definition_a_function() {
    check(
        "haskell",
        r#"{-# LANGUAGE GADTs #-}
module Data.Foo.Bar
  ( foo, (<+>)
  ) where

import qualified Data.Map as Map

infixl 6 <+>

-- | Type with record fields.
data Foo a = A Int !a | B { bx, by :: Int, bz :: Map.Map Int (a, a) } | a :*: a
  deriving (Eq, Show)
newtype Wrap m a = Wrap { unWrap :: forall r. m (a, r) }
type Alias = Foo Int
type family Elem c :: Type where
  Elem [a] = a
data Term :: Type -> Type where
  Lit, Neg :: Int -> Term Int
  Pair :: Term a -> Term b -> Term (a, b)
data Void
class (Eq a, Show a) => Shape a where
  type Point a
  area, perimeter :: a -> Double
  area x = 0
  (<->) :: a -> a -> a
instance Shape a => Shape (Maybe a) where
  area (Just x) = area x
  area Nothing = 0
  x <-> y = x
instance Shape Map.Map
deriving instance Ord a => Ord (Foo a)
pattern P :: Int -> Foo a
pattern P n <- A n _
foreign import ccall safe "math.h sin" c_sin :: Double -> Double

foo, foo' :: Int -> Int
foo 0 = 1
foo n
  | n > 1, let m = n = go m
  | otherwise = 2
  where
    go k = k
foo' !x = x
(<+>) :: Foo a -> Foo a -> Foo a
A x y <+> b = b
_ <+> b = b
x `plus` y = x + y
(-->) = const
a --> b = a
f# x# = x#
#if X
main = do
  let local = 1
  print local
#else
main = return ()
#endif
long
  :: Int
  -> Int
long
  x = x
makeLenses ''Foo
$(deriveJSON defaultOptions { x = 1 } ''Foo)
instance Category I where
  I f . I g = I f
type role Foo nominal
pattern (:<) a s <- (f -> (a, s))
foreign export ccall foo :: Int
"#,
        r#"
         module Data.Foo.Bar 2
         type Foo 11-12
         enumerator Foo.A 11
         enumerator Foo.B 11
         field Foo.bx 11
         field Foo.by 11
         field Foo.bz 11
         enumerator Foo.:*: 11
         type Wrap 13
         enumerator Wrap.Wrap 13
         field Wrap.unWrap 13
         type Alias 14
         type Elem 15-16
         type Term 17-19
         enumerator Term.Lit 18
         enumerator Term.Neg 18
         enumerator Term.Pair 19
         type Void 20
         interface Shape 21-25
         type Shape.Point 22
         method Shape.area; 23
         method Shape.perimeter; 23
         method Shape.area 24
         method Shape.<->; 25
         implementation Maybe 26-29
         method Maybe.area 27-28
         method Maybe.<-> 29
         implementation Map 30
         enumerator P; 32
         enumerator P 33
         function c_sin; 34
         function foo; 36
         function foo'; 36
         function foo 37-42
         function foo' 43
         function <+>; 44
         function <+> 45-46
         function plus 47
         function --> 48-49
         function f# 50
         function main 52-56
         function long; 58
         function long 61-62
         implementation I 65-66
         method I.. 66
         enumerator :< 68
        "#,
    );
}

#[test]
fn literate_haskell_has_code_behind_signs() {
    check(
        "haskell",
        r#"This is text, it's :: not code = here.

> module Main where
> import Data.List

The main = function.

> main :: IO ()
> main = do
>   print x
>   where x = 1
"#,
        r#"
         module Main 3
         function main; 8
         function main 9-11
        "#,
    );
}

#[test]
fn elm() {
    check(
        "elm",
        r#"port module Page.Main exposing (main, Msg(..))

import Html exposing (..)

{-| Doc: x = 1
-}
type Msg
    = NoOp
    | SetName String
    | Got (Result Http.Error { x : Int })

type alias Model =
    { name : String
    , age : Int
    , pair : ( Int, Int )
    }

type alias Id = String

port save : String -> Cmd msg

update : Msg -> Model -> Model
update msg model =
    case msg of
        NoOp ->
            model
        SetName name ->
            let
                new = name
            in
            { model | name = new }

infix left 5 (|.) = ignorer

main =
    text """
main = "x"
"""
"#,
        r#"
         module Page.Main 1
         type Msg 7-10
         enumerator Msg.NoOp 8
         enumerator Msg.SetName 9
         enumerator Msg.Got 10
         type Model 12-16
         field Model.name 13
         field Model.age 14
         field Model.pair 15
         type Id 18
         function save; 20
         function update; 22
         function update 23-31
         function main 35-38
        "#,
    );
}

#[test]
fn purescript() {
    check(
        "purescript",
        r#"module Data.Show (class Show, show) where
import Prelude
class Show a where
  show :: a -> String
instance showInt :: Show Int where
  show = showIntImpl
data Color = Red | Green Int
newtype Name = Name String
type Row = { a :: Int }
foreign import showIntImpl :: Int -> String
derive instance eqColor :: Eq Color
twice :: forall a. (a -> a) -> a -> a
twice f = f <<< f
"#,
        r#"
         module Data.Show 1
         interface Show 3-4
         method Show.show; 4
         implementation Int 5-6
         method Int.show 6
         type Color 7
         enumerator Color.Red 7
         enumerator Color.Green 7
         type Name 8
         enumerator Name.Name 8
         type Row 9
         function showIntImpl; 10
         function twice; 12
         function twice 13
        "#,
    );
}

#[test]
fn idris() {
    check(
        "idris",
        r#"module Main
data Vect : Nat -> Type -> Type where
  Nil : Vect 0 a
  (::) : a -> Vect n a -> Vect (S n) a
record Person where
  constructor MkPerson
  name : String
  age : Int
interface Shape a where
  area : a -> Double
total
append : Vect n a -> Vect m a -> Vect (n + m) a
append [] ys = ys
append (x :: xs) ys = x :: append xs ys
public export
double : Int -> Int
double x = x + x
"#,
        r#"
         module Main 1
         type Vect 2-4
         enumerator Vect.Nil 3
         enumerator Vect.:: 4
         struct Person 5-8
         field Person.name 7
         field Person.age 8
         interface Shape 9-10
         method Shape.area; 10
         function append; 12
         function append 13-14
         function double; 16
         function double 17
        "#,
    );
}

#[test]
fn agda() {
    check(
        "agda",
        r#"module Nat where
data Nat : Set where
  zero : Nat
  suc : Nat -> Nat
plus : Nat -> Nat -> Nat
plus zero n = n
plus (suc m) n = suc (plus m n)
postulate
  ext : Nat
record Pair (A B : Set) : Set where
  field
    fst : A
    snd : B
"#,
        r#"
         module Nat 1
         type Nat 2-4
         enumerator Nat.zero 3
         enumerator Nat.suc 4
         function plus; 5
         function plus 6-7
         function ext; 9
         struct Pair 10-13
         field Pair.fst 12
         field Pair.snd 13
        "#,
    );
}
