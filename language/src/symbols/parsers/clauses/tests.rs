//! Erlang and Prolog.

use crate::symbols::tests::check;

#[test]
fn erlang() {
    check(
        "erlang",
        r#"#!/usr/bin/env escript
-module(my_mod).
-export([start/0, loop/1]).
-define(TIMEOUT, 5000).
-define(LOG(X), io:format("~p", [X])).
-record(state, {name = "a,b" :: string(), count = 0, list = [a, {b, c}]}).
-type id() :: integer().
-opaque handle() :: #state{}.
-spec start() -> ok.
start() ->
    C = $", D = $', E = $\\,
    spawn(fun() -> loop(0) end),
    ok.

loop(0) ->
    ok;
loop(N) when N > 0 ->
    case N of
        1 -> ok;
        _ -> loop(N - 1)
    end.
loop(N, M) -> {N, M}.
'quoted name'(X) -> X.
handle_call({get, K},
            _From, S) ->
    {reply, K, S}.
"#,
        r#"
         module my_mod 2
         macro TIMEOUT 4
         macro LOG 5
         struct state 6
         field state.name 6
         field state.count 6
         field state.list 6
         type id 7
         type handle 8
         function start; 9
         function start 10-13
         function loop 15-21
         function loop 22
         function quoted name 23
         function handle_call 24-26
        "#,
    );
}

#[test]
fn prolog() {
    check(
        "prolog",
        r#":- module(family, [parent/2]).
:- dynamic fact/1.
:- use_module(library(lists)).
% comment. parent(x).
parent(tom, bob).
parent(bob, ann).
ancestor(X, Y) :-
    parent(X, Y).
ancestor(X, Y) :-
    parent(X, Z), ancestor(Z, Y).
greeting --> [hello], name.
halted.
code(C) :- C = 0'", C > 3.
'Quoted'(x) :- true.
"#,
        r#"
         module family 1
         function parent 5-6
         function ancestor 7-10
         function greeting 11
         function halted 12
         function code 13-14
        "#,
    );
}
