//! Lisps and WebAssembly.

use crate::symbols::tests::check;

#[test]
fn emacs_lisp_resumes_in_the_first_column() {
    check(
        "emacs lisp",
        r#";;; foo.el --- x  -*- lexical-binding: t -*-
(require 'cl-lib)
(declare-function bar "bar" (x))
(defvar undefined)
(defvar foo-map (make-sparse-keymap) "Doc (defun no ()).")
(defcustom foo-size 3 "Doc" :type 'integer)
(defconst foo-version "1")
(define-key foo-map (kbd "C-c") #'foo)
(cl-defun foo (&key a) "Doc
(defun in a string ())" (let ((b ?\()) b))
(defun foo-unbalanced (x) (when x (list x)
(defmacro with-foo (&rest body) `(progn (defvar ,x) ,@body))
(define-minor-mode foo-mode "Doc" :lighter " F")
(define-derived-mode bar-mode prog-mode "Bar")
(cl-defmethod frob ((x foo)) x)
(cl-defstruct (point (:constructor nil)) x y)
(eval-when-compile
  (defsubst foo-inner () 1))
(defalias 'foo-old #'foo)
(my-call (default x))
"#,
        r#"
         function bar; 3
         variable undefined; 4
         variable foo-map 5
         variable foo-size 6
         constant foo-version 7
         function foo 9-10
         function foo-unbalanced 11
         macro with-foo 12
         function foo-mode 13
         function bar-mode 14
         method frob 15
         struct point 16
         function foo-inner 18
         function foo-old 19
        "#,
    );
}

#[test]
fn common_lisp() {
    check(
        "common lisp",
        r#"(defpackage #:foo (:use #:cl))
(in-package #:foo)
(eval-when (:compile-toplevel)
  (defun f (x &key (y 1)) (flet ((g (z) z)) (g x))))
(defmethod (setf area) (v (s shape)) v)
(defgeneric area (s))
(defclass shape (base) ((x :accessor x)))
(defstruct (point (:copier nil)) x y)
(defvar *x*)
(defvar *y* 1)
(defparameter *z* #\()
(defconstant +c+ 2)
(defmacro with-x (&body b) `(progn ,@b))
(deftask build () 1)
(define-condition my-error (error) ())
(defun @ (doc) doc)
"#,
        r#"
         module foo 1
         function f 4
         method area 5
         method area; 6
         class shape 7
         struct point 8
         variable *x*; 9
         variable *y* 10
         variable *z* 11
         constant +c+ 12
         macro with-x 13
         function build 14
         class my-error 15
         function @ 16
        "#,
    );
}

#[test]
fn scheme() {
    check(
        "scheme",
        r#"(define-module (ice-9 foo) #:export (a))
(define (f x) (define (g y) y) (g x))
(define ((curried a) b) a)
(define pi 3.14)
(define-syntax swap!
  (syntax-rules () ((_ a b) a)))
(define-record-type point (make-point x y) point? (x point-x))
"#,
        r#"
         module ice-9 1
         function f 2
         function curried 3
         variable pi 4
         macro swap! 5-6
         struct point 7
        "#,
    );
}

#[test]
fn racket() {
    check(
        "racket",
        r#"#lang racket
(provide f)
(module+ test (check-equal? 1 1))
(struct point (x y) #:transparent)
(define-struct old (a b))
(define (f x #:key [y 1]) (define z 1) (+ x y))
(define-values (a b) (values 1 2))
(define-syntax-rule (swap! x y) (void))
(define/contract (g x) (-> any/c any/c) x)
(define c 3) ; comment (define d 1)
#| (define e 1) |#
"#,
        r#"
         module test 3
         struct point 4
         struct old 5
         function f 6
         function a 7
         macro swap! 8
         function g 9
         variable c 10
        "#,
    );
}

#[test]
fn clojure() {
    check(
        "clojure",
        r#"(ns foo.bar
  (:require [a.b :as c]))
(def ^:private x 1)
(def ^{:doc "x" :a {:b 1}} y 2)
(defn ^String f "doc" [x] (let [y x] (g y)))
(defn- g [x] x)
(defprotocol P "d" (m [this]) (n [this a]))
(defrecord R [a b] P (m [this] (foo)) (n [_ a] 1))
(defmulti area :shape)
(defmethod area :circle [x] x)
(defmacro w [x] `(f ~x))
(s/defn typed :- Int [x] x)
(deftest t (is (= 1 1)))
(declare foo)
"#,
        r#"
         module foo.bar 1-2
         variable x 3
         variable y 4
         function f 5
         function g 6
         interface P 7
         method P.m; 7
         method P.n; 7
         struct R 8
         method R.m 8
         method R.n 8
         function area 9
         method area 10
         macro w 11
         function typed 12
         function t 13
        "#,
    );
}

#[test]
fn webassembly() {
    check(
        "webassembly",
        r#"(module $m
  (import "env" "p" (func $p (param i32)))
  (type $t (func (param i32)))
  (memory $mem 1)
  (global $g (mut i32) (i32.const 0))
  (func $add (export "add") (param $a i32) (result i32)
    (local $l i32)
    local.get $a)
  (func (export "x") (result i32) i32.const 1))
"#,
        r#"
         module $m 1-9
         function $m.$p; 2
         type $m.$t 3
         variable $m.$mem 4
         variable $m.$g 5
         function $m.$add 6-8
        "#,
    );
}
